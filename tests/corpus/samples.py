"""Documents made in code, good ones and bad ones, so that no binary file is committed."""

import io
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from functools import cache

import docx
from pypdf import PdfReader, PdfWriter
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen import canvas

from salon.corpus.readers import SourceHints

JAPANESE = "HeiseiMin-W3"


def hints(name: str, *, media_type: str | None = None, encoding: str | None = None) -> SourceHints:
    return SourceHints(name=name, media_type=media_type, encoding=encoding)


def pdf(
    pages: Sequence[str], *, title: str = "", author: str = "", font: str = "Helvetica"
) -> bytes:
    """Return a PDF with these pages; an empty string makes a blank page."""
    if font == JAPANESE:
        pdfmetrics.registerFont(UnicodeCIDFont(JAPANESE))
    target = io.BytesIO()
    drawing = canvas.Canvas(target)
    if title:
        drawing.setTitle(title)
    if author:
        drawing.setAuthor(author)
    for page in pages:
        drawing.setFont(font, 12)
        for number, line in enumerate(page.splitlines()):
            drawing.drawString(72, 780 - 14 * number, line)
        drawing.showPage()
    drawing.save()
    return target.getvalue()


def scanned_pdf(pages: int = 2) -> bytes:
    target = io.BytesIO()
    drawing = canvas.Canvas(target)
    for _ in range(pages):
        drawing.rect(72, 72, 400, 600, fill=1)
        drawing.showPage()
    drawing.save()
    return target.getvalue()


def encrypted_pdf(password: str) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf(["secret words"]))))
    writer.encrypt(user_password=password, owner_password="owner", algorithm="AES-256")
    target = io.BytesIO()
    writer.write(target)
    return target.getvalue()


@cache
def memory_bomb_pdf(unpacked: int = 1_500_000_000) -> bytes:
    """Return a few kilobytes of PDF whose one content stream unpacks, twice, to `unpacked`."""
    packer = zlib.compressobj(1)
    piece = b"0 0 m " * 200_000
    once = b"".join(packer.compress(piece) for _ in range(unpacked // len(piece)))
    twice = zlib.compress(once + packer.flush(), 9)
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>",
        b"<</Filter[/FlateDecode/FlateDecode]/Length %d>>stream\n%s\nendstream"
        % (len(twice), twice),
    ]
    body = b"%PDF-1.7\n"
    offsets = []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(body))
        body += b"%d 0 obj%s endobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return (
        body
        + b"xref\n0 5\n0000000000 65535 f \n%strailer<</Size 5/Root 1 0 R>>\n" % table
        + (b"startxref\n%d\n%%%%EOF" % len(body))
    )


def word(title: str = "") -> bytes:
    """Return a DOCX with two chapters, a table, a content control and a tracked change."""
    document = docx.Document()
    document.core_properties.title = title
    document.core_properties.author = ""
    document.add_paragraph("Before any heading.")
    document.add_heading("Commons", level=1)
    document.add_paragraph("Grass grows — naïvely 😀.")
    table = document.add_table(rows=2, cols=2)
    for number, cell in enumerate(cell for row in table.rows for cell in row.cells):
        cell.text = f"cell {number}"
    document.add_heading("Rules", level=2)
    document.add_paragraph("Rules are made together.")
    document.add_heading("Ends", level=1)
    document.add_paragraph("The end.")
    target = io.BytesIO()
    document.save(target)
    return target.getvalue()


def rezipped(content: bytes, changes: Mapping[str, bytes | None]) -> bytes:
    """Return a ZIP file with some entries replaced, added or (with `None`) removed."""
    target = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as before,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as after,
    ):
        for name in before.namelist():
            if name not in changes:
                after.writestr(name, before.read(name))
        for name, entry in changes.items():
            if entry is not None:
                after.writestr(name, entry)
    return target.getvalue()


CONTAINER = b"""<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/>
</rootfiles></container>"""
PACKAGE = b"""<?xml version="1.0"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>A Book of Commons</dc:title>
<dc:creator>Elinor Example</dc:creator><dc:creator>Second Hand</dc:creator></metadata>
<manifest>
<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="one" href="text/one%20first.xhtml" media-type="application/xhtml+xml"/>
<item id="two" href="text/two.xhtml" media-type="application/xhtml+xml"/>
<item id="three" href="text/three.xhtml" media-type="application/xhtml+xml"/>
<item id="cover" href="cover.png" media-type="image/png"/>
</manifest>
<spine><itemref idref="one"/><itemref idref="cover"/><itemref idref="two"/><itemref idref="three"/>
</spine></package>"""
NAVIGATION = b"""<html xmlns="http://www.w3.org/1999/xhtml"><body><nav><ol>
<li><a href="text/one%20first.xhtml">Chapter One</a></li></ol></nav></body></html>"""
CHAPTERS = {
    "OEBPS/text/one first.xhtml": """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd">
<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>
<h1>Chapter One</h1><p>The first&nbsp;words, caf\u00e9 😀.</p><h2>Inside</h2><p>Deeper.</p>
</body></html>""".encode(),
    "OEBPS/text/two.xhtml": b"""<html xmlns="http://www.w3.org/1999/xhtml"><body>
<h2>Two by heading</h2><p>Second <em>words</em><br/>on two lines.</p></body></html>""",
    "OEBPS/text/three.xhtml": b"<html><body><p>Nameless & not well formed.</p></body></html>",
}


def epub(changes: Mapping[str, bytes | None] | None = None) -> bytes:
    """Return an EPUB with three chapters: named by the contents, by a heading, by nothing."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as book:
        book.writestr("mimetype", "application/epub+zip")
        book.writestr("META-INF/container.xml", CONTAINER)
        book.writestr("OEBPS/book.opf", PACKAGE)
        book.writestr("OEBPS/nav.xhtml", NAVIGATION)
        book.writestr("OEBPS/cover.png", b"\x89PNG\r\n\x1a\n")
        for name, chapter in CHAPTERS.items():
            book.writestr(name, chapter)
    return rezipped(target.getvalue(), changes or {})


PAGE = """<!doctype html><html><head><title>On Commons | Site</title>
<meta property="og:title" content="On Commons"><meta name="author" content="Ann Author">
<script>var hidden = 1;</script></head><body><nav><a href="/">Home</a><a href="/b">Blog</a></nav>
<article><h1>On Commons</h1>
<p>The first paragraph is long enough for any extractor to keep it, caf\u00e9 and 😀 included.</p>
<h2>Rules</h2><p>The second paragraph speaks of rules that people make for themselves.</p>
<ul><li>Boundaries are clear to all.</li><li>Sanctions are graduated and fair.</li></ul>
<h2>Money</h2><p>The third paragraph is about money, which always comes up in the end.</p>
</article><footer>Imprint</footer></body></html>"""
