"""Web pages: the main text by `trafilatura`, headings as sections.

Where trafilatura finds no main text (a very short or odd page), all visible text is taken. The
page is decoded strictly by what is declared, in the order browsers use.
"""

import re

import trafilatura
from lxml import etree

from salon.corpus.layout import ReadText
from salon.corpus.readers import HTML, SourceHints
from salon.corpus.readers.characters import clean, clean_title, decode
from salon.corpus.readers.markup import blocks, parse_html
from salon.corpus.readers.outline import SectionWriter

_DECLARED = re.compile(
    rb"""<(?:meta|\?xml)[^>]{1,300}?(?:charset|encoding)\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE
)
_DECLARED_WITHIN = 4096


def read(content: bytes, hints: SourceHints) -> ReadText:
    """Read a web page."""
    page = clean(decode(content, hints, declared=_declared_charset(content)))
    root = parse_html(page.encode(), "the page", encoding="utf-8")
    main_text = _main_text(page)
    writer = SectionWriter()
    for block in blocks(root if main_text is None else main_text):
        if block.level:
            writer.heading(block.level, block.text)
        else:
            writer.paragraph(block.text)
    return writer.builder.build(
        media_type=HTML.media_type, title=_title(root), authors=_authors(root)
    )


def _declared_charset(content: bytes) -> str | None:
    found = _DECLARED.search(content[:_DECLARED_WITHIN])
    return found.group(1).decode() if found else None


def _main_text(page: str) -> etree._Element | None:
    found = trafilatura.bare_extraction(page, include_comments=False, include_tables=True)
    body: etree._Element | None = getattr(found, "body", None)
    return body if body is not None and "".join(map(str, body.itertext())).strip() else None


def _title(root: etree._Element) -> str | None:
    for path in ("//meta[@property='og:title']/@content", "//title/text()", "//h1//text()"):
        title = clean_title(" ".join(_strings(root, path)[:20]))
        if title:
            return title
    return None


def _authors(root: etree._Element) -> tuple[str, ...]:
    names = map(clean_title, _strings(root, "//meta[@name='author']/@content"))
    return tuple(dict.fromkeys(name for name in names if name))


def _strings(root: etree._Element, path: str) -> list[str]:
    found = root.xpath(path)
    return [str(value) for value in found] if isinstance(found, list) else []
