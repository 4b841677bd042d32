"""PDF: text by `pypdfium2`, page by page, with `pypdf` where pdfium gives up.

Pages are counted as a viewer counts them, from 1, blank ones included: a blank page has no text
and so no segment, but the page after it keeps its true number. A hyphen that only breaks a word
at the end of a line is left out, as pdfium marks it.
"""

import io

import pypdfium2

from salon.core.errors import UnreadableSource
from salon.corpus.layout import LayoutBuilder, ReadText
from salon.corpus.readers import PDF, SourceHints
from salon.corpus.readers.characters import clean, clean_title

_PAGE_END = "\n\n"
# pypdf walks broken structures with plain Python and fails in as many ways.
_PYPDF_FAILURES = (
    *(ValueError, KeyError, TypeError, AttributeError, IndexError, NotImplementedError),
)


def read(content: bytes, hints: SourceHints) -> ReadText:  # noqa: ARG001 - all readers look alike
    """Read a PDF."""
    try:
        pages, title, author = _with_pdfium(content)
    except pypdfium2.PdfiumError as error:
        if error.err_code == pypdfium2.raw.FPDF_ERR_PASSWORD:
            raise _encrypted() from error
        pages, title, author = _with_pypdf(content, reason=str(error))
    builder = LayoutBuilder()
    for number, page in enumerate(pages, start=1):
        text = clean(page).strip()
        if text:
            builder.add(text + _PAGE_END, page=number)
    if not builder.size:
        raise UnreadableSource(
            f"none of its {len(pages)} pages holds text: this is a scan, or only pictures",
            hint="run text recognition (OCR, for example ocrmypdf) and ingest the result",
        )
    name = clean_title(author)
    return builder.build(
        media_type=PDF.media_type, title=clean_title(title), authors=(name,) if name else ()
    )


def _with_pdfium(content: bytes) -> tuple[list[str], str | None, str | None]:
    pages: list[str] = []
    with pypdfium2.PdfDocument(content) as document:
        for index in range(len(document)):
            page = document[index]
            text = page.get_textpage()
            pages.append(text.get_text_bounded())
            text.close()
            page.close()  # or a long book is held in memory as a whole
        metadata = document.get_metadata_dict()
    return pages, metadata.get("Title"), metadata.get("Author")


def _with_pypdf(content: bytes, *, reason: str) -> tuple[list[str], str | None, str | None]:
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    try:
        reader = PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise _encrypted()
        pages = [page.extract_text() for page in reader.pages]
        metadata = reader.metadata
    except (PyPdfError, *_PYPDF_FAILURES) as error:
        raise UnreadableSource(
            f"the PDF is damaged: {reason}", hint="get a fresh copy, or print it to a new PDF"
        ) from error
    if metadata is None:
        return pages, None, None
    return pages, metadata.title, metadata.author


def _encrypted() -> UnreadableSource:
    return UnreadableSource(
        "the PDF is encrypted and needs a password",
        hint="save a copy without the password, for example with qpdf --decrypt",
    )
