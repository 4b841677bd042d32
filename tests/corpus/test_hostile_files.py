"""Files that lie, break or attack: each one clear error, nothing expanded, nothing guessed."""

import io
import zipfile

import pytest

from salon.core.errors import EmptyContent, UnreadableSource
from salon.corpus.layout import ReadText
from salon.corpus.readers import FORMATS, SourceHints, read_content, zips
from tests.corpus import samples


def read(content: bytes, name: str, **more: str) -> ReadText:
    return read_content(content, SourceHints(name=name, **more))


def short(value: object) -> str:
    """Name a parameter in a test's id; samples differ from run to run, so not by content."""
    return value if isinstance(value, str) else "content"


# Hostile XML and ZIP

EXTERNAL = b'<!DOCTYPE x [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
LAUGHS = (
    b"<!DOCTYPE x [<!ENTITY a0 'ha'>"
    + b"".join(b"<!ENTITY a%d '%s'>" % (n, b"&a%d;" % (n - 1) * 10) for n in range(1, 12))
    + b"]>"
)


def is_refused_or_lacks(content: bytes, name: str) -> bool:
    """Tell whether nothing was expanded; libxml2 itself may refuse the declaration first."""
    try:
        found = read(content, name)
    except UnreadableSource as error:
        return "amplification" in error.message
    shown = found.text + (found.title or "")
    return "root:" not in shown and "haha" not in shown


@pytest.mark.parametrize("declaration", [EXTERNAL, LAUGHS])
def test_entities_in_a_book_are_never_expanded(declaration: bytes) -> None:
    chapter = declaration + (
        b'<html xmlns="http://www.w3.org/1999/xhtml"><body><p>left &x;&a11;right</p></body></html>'
    )
    found = read(samples.epub({"OEBPS/text/two.xhtml": chapter}), "a.epub")
    assert "root:" not in found.text
    assert "haha" not in found.text
    assert len(found.text) < 1000


@pytest.mark.parametrize(("declaration", "name"), [(EXTERNAL, b"x"), (LAUGHS, b"a11")])
def test_entities_in_a_package_are_never_expanded(declaration: bytes, name: bytes) -> None:
    package = samples.PACKAGE.replace(b'<?xml version="1.0"?>', declaration).replace(
        b"A Book", b"&" + name + b"; Book"
    )
    assert is_refused_or_lacks(samples.epub({"OEBPS/book.opf": package}), "a.epub")


@pytest.mark.parametrize(("declaration", "name"), [(EXTERNAL, b"x"), (LAUGHS, b"a11")])
def test_entities_in_a_word_document_are_never_expanded(declaration: bytes, name: bytes) -> None:
    document = zipfile.ZipFile(io.BytesIO(samples.word())).read("word/document.xml")
    hostile = document.replace(b"<w:document", declaration + b"<w:document", 1).replace(
        b"The end.", b"The &" + name + b"; end."
    )
    content = samples.rezipped(samples.word(), {"word/document.xml": hostile})
    assert is_refused_or_lacks(content, "a.docx")


def test_a_zip_bomb_is_refused_before_it_is_unpacked() -> None:
    content = samples.epub({"OEBPS/bomb.xhtml": b"\0" * 50_000_000})
    assert len(content) < 100_000
    with pytest.raises(UnreadableSource, match=r"a\.epub: refused as a possible ZIP bomb"):
        read(content, "a.epub")


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (zips.ZipLimits(entries=3), "entries"),
        (zips.ZipLimits(entry_bytes=100), "unpacks to"),
        (zips.ZipLimits(total_bytes=1000), "it unpacks to"),
        (zips.ZipLimits(ratio=1, ratio_from_bytes=100), "unpacks from"),
    ],
)
def test_each_limit_on_a_zip_container_holds(limits: zips.ZipLimits, reason: str) -> None:
    with pytest.raises(UnreadableSource, match=reason):
        zips.open_checked(samples.epub(), limits)


def test_an_entry_that_lies_about_its_size_is_caught_without_unpacking_it_whole() -> None:
    content = bytearray(samples.epub({"OEBPS/big.xhtml": b"0" * 4_000_000}))
    honest, lie = (4_000_000).to_bytes(4, "little"), (100).to_bytes(4, "little")
    assert content.count(honest) == 2
    with pytest.raises(UnreadableSource, match="damaged"):
        read(bytes(content.replace(honest, lie)), "a.epub")


def test_a_zip_container_with_a_password_is_one_clear_error() -> None:
    content = bytearray(samples.epub())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = -1
        while (at := content.find(mark, at + 1)) >= 0:
            content[at + offset] |= 1
    with pytest.raises(UnreadableSource, match="password"):
        read(bytes(content), "a.epub")


# What a file is, and what it claims


def zip_of(*names: str) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as container:
        for name in names:
            container.writestr(name, "x")
    return target.getvalue()


@pytest.mark.parametrize(
    ("content", "name", "really"),
    [
        (samples.epub(), "a.pdf", "an EPUB book"),
        (zip_of("readme.txt"), "a.pdf", "a ZIP archive"),
        (zip_of("readme.txt"), "a.docx", "a ZIP archive"),
        (zip_of("xl/workbook.xml"), "a.docx", "an Excel workbook"),
        (zip_of("mimetype", "content.xml"), "a.docx", "an OpenDocument file"),
        (samples.word(), "a.epub", "a Word document"),
        (samples.pdf(["x"]), "a.txt", "a PDF"),
        (samples.pdf(["x"]), "a.html", "a PDF"),
        (b"just words", "a.pdf", "plain text"),
        (b"just words", "a.html", "plain text"),
        (samples.PAGE.encode(), "a.txt", "an HTML page"),
        (samples.PAGE.encode(), "a.pdf", "an HTML page"),
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "a.txt", "a Portable Network Graphics file"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "a.docx", "an old or password"),
        (b"{\\rtf1 words}", "a.txt", "an RTF document"),
        (b"words\0words", "a.txt", "a binary file of unknown kind"),
    ],
    ids=short,
)
def test_a_wrong_extension_is_one_clear_error(content: bytes, name: str, really: str) -> None:
    with pytest.raises(UnreadableSource, match=f"{name}: this is really {really}") as caught:
        read(content, name)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "a.png"),
        (b"\x00\x01\x02\x03", "a"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01", "photo.jpg"),
    ],
    ids=short,
)
def test_a_file_that_no_reader_understands_is_one_clear_error(content: bytes, name: str) -> None:
    with pytest.raises(UnreadableSource, match="no reader understands") as caught:
        read(content, name)
    assert "EPUB" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (samples.pdf(["x"]), "application/pdf"),
        (samples.epub(), "application/epub+zip"),
        (samples.PAGE.encode(), "text/html"),
        (b"words", "text/plain"),
    ],
    ids=short,
)
def test_a_file_without_an_extension_is_what_its_content_is(
    content: bytes, media_type: str
) -> None:
    assert read(content, "a").media_type == media_type


def test_a_server_that_sends_markdown_as_plain_text_is_understood() -> None:
    found = read(b"# A", "https://example.org/a.md?raw=1", media_type="text/plain")
    assert found.media_type == "text/markdown"


def test_what_a_server_declares_counts_like_an_extension() -> None:
    with pytest.raises(UnreadableSource, match="really a PDF, not an HTML page"):
        read(samples.pdf(["x"]), "https://example.org/a", media_type="text/html")


def test_an_empty_file_is_empty_content() -> None:
    for form in FORMATS:
        with pytest.raises(EmptyContent, match="0 bytes"):
            read(b"", "a" + form.suffixes[0])


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b" \n\t\r\n ", "a.txt"),
        ("\u00a0\u2003\n".encode(), "a.md"),
        (b"<html><body><p> </p></body></html>", "a.html"),
        (samples.rezipped(samples.epub(), dict.fromkeys(samples.CHAPTERS, b"<p> </p>")), "a.epub"),
    ],
    ids=short,
)
def test_a_file_of_white_space_holds_no_text(content: bytes, name: str) -> None:
    with pytest.raises(UnreadableSource, match=f"{name} holds no text"):
        read(content, name)
