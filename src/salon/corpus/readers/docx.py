"""Word documents (DOCX): paragraphs and tables in their order, headings as sections.

`python-docx` opens the package and knows the styles; the text is taken from the XML itself,
because python-docx passes over content controls and tracked insertions. Deleted text, comments,
headers and footnotes are left out.
"""

import io
import zipfile
from collections.abc import Iterator

import docx
from docx.opc.exceptions import OpcError
from docx.oxml.ns import qn
from lxml import etree

from salon.core.errors import UnreadableSource
from salon.corpus.layout import ReadText
from salon.corpus.readers import DOCX, SourceHints
from salon.corpus.readers.characters import clean_title
from salon.corpus.readers.outline import SectionWriter
from salon.corpus.readers.zips import open_checked

_P, _TBL, _TR, _TC = qn("w:p"), qn("w:tbl"), qn("w:tr"), qn("w:tc")
_SHOWN = {
    qn("w:tab"): "\t",
    qn("w:br"): "\n",
    qn("w:cr"): "\n",
    qn("w:noBreakHyphen"): "-",
}
_TEXT = qn("w:t")
# Fallback repeats for old programs what stands beside it already.
_HIDDEN = frozenset(
    {
        *(qn("w:del"), qn("w:moveFrom"), qn("w:pPr"), qn("w:rPr")),
        "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback",
    }
)
_MOST_LEVELS = 9
# python-docx takes the structure of a package for granted and fails in as many ways.
_FAILURES = (
    *(OpcError, etree.XMLSyntaxError, zipfile.BadZipFile),
    *(ValueError, KeyError, AttributeError, TypeError, IndexError),
)


def read(content: bytes, hints: SourceHints) -> ReadText:  # noqa: ARG001 - all readers look alike
    """Read a Word document."""
    open_checked(content).close()
    try:
        document = docx.Document(io.BytesIO(content))
        levels = _heading_levels(document)
        writer = SectionWriter()
        for body in document.element.iterchildren(qn("w:body")):
            _write(body, writer, levels)
        properties = document.core_properties
        title, author = properties.title, properties.author
    except _FAILURES as error:
        raise UnreadableSource(
            f"the Word document is damaged: {_first_line(error)}",
            hint="open it in an office program and save it again",
        ) from error
    name = clean_title(author)
    return writer.builder.build(
        media_type=DOCX.media_type, title=clean_title(title), authors=(name,) if name else ()
    )


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


def _heading_levels(document: docx.document.Document) -> dict[str, int]:
    """Return the heading level of every style that is a heading or is based on one."""
    levels: dict[str, int] = {}
    for style in document.styles:
        base = style
        for _ in range(20):  # a chain of styles may be a circle in a damaged file
            name = (base.name or "").lower() if base is not None else ""
            number = name.removeprefix("heading ")
            if number != name and number.isdigit() and 1 <= int(number) <= _MOST_LEVELS:
                levels[style.style_id] = int(number)
            base = getattr(base, "base_style", None)
            if base is None or style.style_id in levels:
                break
    return levels


def _write(body: etree._Element, writer: SectionWriter, levels: dict[str, int]) -> None:
    for block in _outermost(body, frozenset({_P, _TBL})):
        if block.tag == _TBL:
            for row in _outermost(block, frozenset({_TR})):
                cells = (_cell_text(cell) for cell in _outermost(row, frozenset({_TC})))
                writer.paragraph("\t".join(cells))
            continue
        style = block.find(f"{qn('w:pPr')}/{qn('w:pStyle')}")
        level = levels.get(style.get(qn("w:val"), "")) if style is not None else None
        if level:
            writer.heading(level, _paragraph_text(block))
        else:
            writer.paragraph(_paragraph_text(block))


def _cell_text(cell: etree._Element) -> str:
    paragraphs = (_paragraph_text(paragraph) for paragraph in cell.iter(_P))
    return " ".join(text for text in paragraphs if text.strip())


def _paragraph_text(paragraph: etree._Element) -> str:
    wanted = frozenset({_TEXT, *_SHOWN})
    return "".join(
        _SHOWN.get(str(piece.tag), piece.text or "") for piece in _outermost(paragraph, wanted)
    )


def _outermost(root: etree._Element, tags: frozenset[str]) -> Iterator[etree._Element]:
    """Yield the elements below `root` with these tags, but none inside another or hidden."""
    walk = etree.iterwalk(root, events=("start",))
    for _, element in walk:
        if element is root:
            continue
        if element.tag in tags:
            yield element
            walk.skip_subtree()
        elif element.tag in _HIDDEN:
            walk.skip_subtree()
