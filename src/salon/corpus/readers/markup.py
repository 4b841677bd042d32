"""Trees of HTML-like elements, walked once into headings and paragraphs.

Serves web pages, EPUB chapters and trafilatura's own small vocabulary. XML is parsed without
entities, DTDs or network, so nothing a file declares can be expanded or fetched. The walk is a
loop, not a recursion: depth costs nothing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html.entities import html5

from lxml import etree

from salon.core.errors import UnreadableSource

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_SKIPPED = frozenset(
    {
        *("script", "style", "noscript", "template", "iframe", "object", "svg", "math", "select"),
        "title",
    }
)
_BLOCKS = frozenset(
    {
        *("address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "div"),
        *("dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "li"),
        *("main", "nav", "ol", "p", "pre", "section", "table", "tbody", "tfoot", "thead", "tr"),
        "ul",
        *("item", "list", "quote", "row", "head", "code"),  # trafilatura's names
    }
)
_CELLS = frozenset({"td", "th", "cell"})
_BREAKS = frozenset({"br", "lb"})
_KEEPS_SPACE = frozenset({"pre", "code", "quote"})

# Unit separators of ASCII stand in for the tabs and newlines that must survive the folding of
# white space; cleaning removed them from the text itself.
_TAB, _NEWLINE = "\x1f", "\x1e"
_FOLDED = re.compile(r"[ \t\n\r\f\v]+")
_AROUND_BREAK = re.compile(f" ?([{_TAB}{_NEWLINE}]) ?")


@dataclass(frozen=True, slots=True)
class Block:
    """A heading (`level` 1 to 6) or a paragraph (`level` 0)."""

    level: int
    text: str


def parse_xml(content: bytes, what: str) -> etree._Element:
    """Parse a part of a document as XML, or raise `UnreadableSource` naming the part."""
    try:
        root = etree.fromstring(content, _strict_parser())
    except (etree.XMLSyntaxError, ValueError) as error:
        raise UnreadableSource(
            f"{what} is damaged: {error}", hint="the file is damaged; get a fresh copy"
        ) from error
    return root


def parse_xhtml(content: bytes, what: str) -> etree._Element:
    """Parse an XHTML page; one that is not well formed is read as browsers would."""
    try:
        return etree.fromstring(content, _strict_parser())
    except (etree.XMLSyntaxError, ValueError):
        return parse_html(content, what, encoding=None)


def parse_html(content: bytes, what: str, *, encoding: str | None) -> etree._Element:
    """Parse a page of HTML, however untidy, or raise `UnreadableSource`."""
    parser = etree.HTMLParser(
        encoding=encoding, no_network=True, remove_comments=True, remove_pis=True, huge_tree=False
    )
    try:
        root = etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise UnreadableSource(f"{what} cannot be read as HTML: {error}") from error
    if root is None:  # lxml's stubs do not know that an empty page has no root
        raise UnreadableSource(f"{what} holds no HTML")
    return root


def _strict_parser() -> etree.XMLParser:
    return etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )


def blocks(root: etree._Element) -> Iterator[Block]:
    """Yield the headings and paragraphs of a tree in their order."""
    gathered = _Gathered()
    walk = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
    for event, element in walk:
        tag = local_name(element)
        if tag in _BLOCKS or tag in _HEADINGS:
            yield from gathered.flush(0 if event == "start" else _level(element, tag))
        if event == "start" and (tag is None or tag in _SKIPPED):
            walk.skip_subtree()
            gathered.add(_entity(element))
        elif event == "start":
            gathered.enter(tag or "", element.text)
        else:
            gathered.leave(tag or "", None if element is root else element.tail)
    yield from gathered.flush(0)


class _Gathered:
    """The text of the block that is being walked through."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._keeping_space = 0

    def add(self, text: str | None) -> None:
        plain = (text or "").replace(_TAB, " ").replace(_NEWLINE, " ")
        if self._keeping_space:
            plain = plain.replace("\t", _TAB).replace("\n", _NEWLINE)
        self._pieces.append(plain)

    def enter(self, tag: str, text: str | None) -> None:
        self._keeping_space += tag in _KEEPS_SPACE
        if tag in _BREAKS:
            self._pieces.append(_NEWLINE)
        self.add(text)

    def leave(self, tag: str, tail: str | None) -> None:
        self._keeping_space -= tag in _KEEPS_SPACE
        if tag in _CELLS:
            self._pieces.append(_TAB)
        self.add(tail)

    def flush(self, level: int) -> Iterator[Block]:
        folded = _FOLDED.sub(" ", "".join(self._pieces))
        text = _AROUND_BREAK.sub(r"\1", folded).replace(_TAB, "\t").replace(_NEWLINE, "\n").strip()
        self._pieces.clear()
        if text:
            yield Block(level, text)


def local_name(element: etree._Element) -> str | None:
    """Return the tag without its namespace, in lower case; `None` for what is no element."""
    tag: object = element.tag
    return tag.rpartition("}")[2].lower() if isinstance(tag, str) else None


def _entity(element: etree._Element) -> str:
    # Unexpanded on purpose; the names that HTML itself defines are harmless, others are dropped.
    text = element.text or "" if element.tag is etree.Entity else ""
    return html5.get(text.removeprefix("&"), "")


def _level(element: etree._Element, tag: str | None) -> int:
    if tag == "head":
        return _HEADINGS.get(element.get("rend", ""), 0)
    return _HEADINGS.get(tag or "", 0)
