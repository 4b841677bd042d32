"""Each format in its own words: the right text, under the right page or section."""

import codecs
import io

import docx
import pypdfium2
import pytest
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import parse_xml

from salon.core.errors import UnreadableSource
from salon.corpus.layout import ReadText
from salon.corpus.readers import FORMATS, PDF, SourceHints, pdf, read_content
from tests.corpus import samples
from tests.corpus.samples import hints

A_TO_B = "A \u203a B"


def places(read: ReadText) -> list[tuple[int | str | None, str]]:
    """Return page or section of each segment with its bytes, decoded on their own."""
    encoded = read.text.encode()
    return [
        (segment.page or segment.section, encoded[segment.start : segment.end].decode())
        for segment in read.segments
    ]


def read(content: bytes, name: str, **more: str) -> ReadText:
    return read_content(content, SourceHints(name=name, **more))


# Text


def test_plain_text_is_the_file_itself_and_its_sections_are_paragraphs() -> None:
    content = "\n\nEins 😀\r\nzwei\r\n \t\r\n\r\nDrei e\u0301\n\nvier".encode()
    found = read(content, "a.txt")
    assert found.text.encode() == content
    assert places(found) == [
        ("paragraph 1", "\n\nEins 😀\r\nzwei\r\n \t\r\n\r\n"),
        ("paragraph 2", "Drei e\u0301\n\n"),
        ("paragraph 3", "vier"),
    ]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_one_line_end_of_any_kind_does_not_end_a_paragraph(newline: str) -> None:
    text = f"one{newline}two{newline}{newline}three"
    assert [place for place, _ in places(read(text.encode(), "a.txt"))] == [
        "paragraph 1",
        "paragraph 2",
    ]


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-8", codecs.BOM_UTF8),
        ("utf-16-le", codecs.BOM_UTF16_LE),
        ("utf-16-be", codecs.BOM_UTF16_BE),
        ("utf-32-le", codecs.BOM_UTF32_LE),
    ],
)
def test_a_byte_order_mark_is_understood_and_left_out(encoding: str, mark: bytes) -> None:
    found = read(mark + "Käse 😀".encode(encoding), "a.txt")
    assert places(found) == [("paragraph 1", "Käse 😀")]


def test_invalid_utf8_is_reported_with_its_offset_and_what_to_do() -> None:
    with pytest.raises(UnreadableSource, match=r"a\.txt: .*UTF-8 at byte offset 3") as caught:
        read("caf\xe9!".encode("latin-1"), "a.txt")
    assert "--encoding" in (caught.value.hint or "")
    assert caught.value.details["offset"] == 3


def test_a_demanded_encoding_decodes_what_utf8_cannot() -> None:
    content = "caf\xe9".encode("latin-1")
    assert read(content, "a.txt", encoding="iso8859-1").text == "caf\xe9"
    assert read("café".encode("utf-16-le"), "a.txt", encoding="utf-16-le").text == "café"


@pytest.mark.parametrize("encoding", ["no-such", "zlib", "punycode", "unicode_escape", "a\0b"])
def test_an_encoding_that_no_document_has_is_refused(encoding: str) -> None:
    with pytest.raises(UnreadableSource, match="no text encoding"):
        read(b"abc", "a.txt", encoding=encoding)


def test_a_demanded_encoding_that_gives_nul_is_refused() -> None:
    with pytest.raises(UnreadableSource, match="not text"):
        read("ab".encode("utf-16-le"), "a.txt", encoding="iso8859-1")


# Markdown


def test_markdown_is_the_file_itself_and_its_sections_are_heading_paths() -> None:
    content = (
        "---\ntitle: 'The Title'\n---\nfirst 😀\n\nsecond\n"
        "# A\r\na\n```\n# no heading\n```\n> # quoted\n\nB\n-\nb\n### *C* `d`\nc\n# E\n"
    ).encode()
    found = read(content, "a.md")
    assert found.text.encode() == content
    assert found.title == "The Title"
    assert places(found) == [
        ("front matter", "---\ntitle: 'The Title'\n---\n"),
        ("paragraph 1", "first 😀\n\n"),
        ("paragraph 2", "second\n"),
        ("A", "# A\r\na\n```\n# no heading\n```\n> # quoted\n\n"),
        (A_TO_B, "B\n-\nb\n"),
        ("A \u203a B \u203a C d", "### *C* `d`\nc\n"),
        ("E", "# E\n"),
    ]


def test_markdown_takes_its_title_from_the_first_top_heading() -> None:
    assert read(b"## Sub\n\n# Top\n", "a.md").title == "Top"
    assert read(b"no heading", "a.md").title is None


def test_an_empty_heading_and_a_rule_at_the_top_do_no_harm() -> None:
    found = read(b"---\n\nwords\n\n---\n#\nmore", "a.md")
    assert places(found)[-1] == ("line 6", "#\nmore")


def test_a_long_heading_is_shortened_in_the_name_of_its_section_only() -> None:
    found = read(b"# " + b"word " * 100, "a.md")
    assert len(found.segments[0].section or "") <= 120
    assert len(found.text) == 502


# HTML


def test_a_web_page_gives_its_main_text_under_its_headings() -> None:
    found = read(samples.PAGE.encode(), "a.html")
    assert (found.title, found.authors) == ("On Commons", ("Ann Author",))
    assert [place for place, _ in places(found)] == [
        "On Commons",
        "On Commons \u203a Rules",
        "On Commons \u203a Money",
    ]
    assert "café and 😀 included.\n\n" in places(found)[0][1]
    assert "Boundaries are clear to all.\n\nSanctions" in places(found)[1][1]
    assert "hidden" not in found.text
    assert "Imprint" not in found.text


def test_a_page_without_main_text_gives_all_that_is_visible() -> None:
    page = "<html><body><pre>a\n  b</pre><table><tr><td>1</td><td>2</td></tr></table></body></html>"
    found = read(page.encode(), "a.html")
    assert "1\t2" in found.text
    assert places(found)[0][0] == "paragraph 1"


@pytest.mark.parametrize(
    "declaration",
    [
        '<meta charset="iso-8859-1">',
        '<meta http-equiv="Content-Type" content="text/html; charset=windows-1252">',
    ],
)
def test_a_page_is_decoded_as_it_declares(declaration: str) -> None:
    page = samples.PAGE.replace("<head>", "<head>" + declaration).replace("😀", "\u201cso\u201d")
    assert "café and \u201cso\u201d" in read(page.encode("cp1252"), "a.html").text


def test_what_the_server_declares_is_stronger_than_the_page() -> None:
    page = samples.PAGE.replace("<head>", '<head><meta charset="shift_jis">').encode()
    assert "café and 😀" in read(page, "http://x/a", media_type="text/html", charset="utf-8").text


def test_a_page_in_another_encoding_than_declared_is_an_error_not_a_guess() -> None:
    page = samples.PAGE.replace("😀", "").encode("latin-1")
    with pytest.raises(UnreadableSource, match="not valid UTF-8 at byte offset"):
        read(page, "a.html")


def test_entities_declared_in_a_page_are_not_expanded() -> None:
    page = samples.PAGE.replace(
        "<!doctype html>",
        '<!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/passwd"><!ENTITY l "expanded">]>',
    ).replace("The second", "&x; &l; The second")
    found = read(page.encode(), "a.html")
    assert "root:" not in found.text
    assert "expanded" not in found.text


# PDF


@pytest.mark.requirement("cap/query-corpus/true-pages")
def test_blank_pages_count() -> None:
    found = read(samples.pdf(["One", "", "Three\nlines", "", ""]), "a.pdf")
    assert places(found) == [(1, "One\n\n"), (3, "Three\nlines\n\n")]


def test_every_offset_of_a_pdf_knows_its_page() -> None:
    pages = ["日本語 です", "", "次の ページ", "最後"]
    found = read(samples.pdf(pages, font=samples.JAPANESE), "a.pdf")
    encoded = found.text.encode()
    for number, page in enumerate(pages, start=1):
        start = encoded.find(page.encode()) if page else 0
        for offset in range(start, start + len(page.encode())):
            assert found.segment_at(offset).page == number


def test_a_pdf_says_its_title_and_author_but_placeholders_are_none() -> None:
    found = read(samples.pdf(["x"], title="Governing", author="E. O."), "a.pdf")
    assert (found.title, found.authors) == ("Governing", ("E. O.",))
    found = read(samples.pdf(["x"]), "a.pdf")
    assert (found.title, found.authors) == (None, ())


def test_a_word_broken_at_the_end_of_a_line_is_whole_again() -> None:
    assert "something" in read(samples.pdf(["words are some-\nthing good"]), "a.pdf").text


def test_an_encrypted_pdf_is_one_clear_error() -> None:
    with pytest.raises(UnreadableSource, match=r"a\.pdf: the PDF is encrypted") as caught:
        read(samples.encrypted_pdf("secret"), "a.pdf")
    assert "password" in (caught.value.hint or "")


def test_a_pdf_encrypted_with_the_empty_password_is_read() -> None:
    assert "secret words" in read(samples.encrypted_pdf(""), "a.pdf").text


def test_a_scanned_pdf_says_that_it_needs_text_recognition() -> None:
    with pytest.raises(UnreadableSource, match="none of its 2 pages holds text") as caught:
        read(samples.scanned_pdf(), "a.pdf")
    assert "OCR" in (caught.value.hint or "")


def test_a_broken_pdf_is_one_clear_error() -> None:
    with pytest.raises(UnreadableSource, match=r"a\.pdf: the PDF is damaged"):
        read(samples.pdf(["x"])[:300], "a.pdf")


def test_pypdf_reads_what_pdfium_gives_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def give_up(content: bytes) -> object:
        raise pypdfium2.PdfiumError("no", err_code=3)

    monkeypatch.setattr(pdf, "_with_pdfium", give_up)
    found = read(samples.pdf(["One", "", "Three"], title="T"), "a.pdf")
    assert places(found) == [(1, "One\n\n"), (3, "Three\n\n")]
    assert found.title == "T"
    with pytest.raises(UnreadableSource, match="encrypted"):
        read(samples.encrypted_pdf("secret"), "a.pdf")


# DOCX


def test_a_word_document_keeps_the_order_of_paragraphs_and_tables() -> None:
    found = read(samples.word("The Title"), "a.docx")
    assert (found.title, found.authors) == ("The Title", ())
    assert places(found) == [
        ("paragraph 1", "Before any heading.\n\n"),
        ("Commons", "Commons\n\nGrass grows — naïvely 😀.\n\ncell 0\tcell 1\n\ncell 2\tcell 3\n\n"),
        ("Commons \u203a Rules", "Rules\n\nRules are made together.\n\n"),
        ("Ends", "Ends\n\nThe end.\n\n"),
    ]


def test_content_controls_and_insertions_are_read_and_deletions_are_not() -> None:
    w = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    document = docx.Document()
    body = document.element.body
    body.insert(
        0,
        parse_xml(
            f"<w:sdt {w}><w:sdtContent><w:p><w:r><w:t>kept</w:t><w:tab/><w:t>tab</w:t></w:r>"
            "<w:ins><w:r><w:t> inserted</w:t></w:r></w:ins>"
            "<w:del><w:r><w:delText> deleted</w:delText></w:r></w:del></w:p></w:sdtContent></w:sdt>"
        ),
    )
    target = io.BytesIO()
    document.save(target)
    assert read(target.getvalue(), "a.docx").text == "kept\ttab inserted\n\n"


def test_a_style_based_on_a_heading_is_a_heading() -> None:
    document = docx.Document()
    style = document.styles.add_style("Kapitel", WD_STYLE_TYPE.PARAGRAPH)
    style.base_style = document.styles["Heading 1"]
    document.add_paragraph("Erstes", style="Kapitel")
    target = io.BytesIO()
    document.save(target)
    assert places(read(target.getvalue(), "a.docx")) == [("Erstes", "Erstes\n\n")]


@pytest.mark.parametrize("cut", [100, 2000, 20000])
def test_a_truncated_word_document_is_one_clear_error(cut: int) -> None:
    with pytest.raises(UnreadableSource, match=r"a\.docx: "):
        read(samples.word()[:-cut], "a.docx")


@pytest.mark.parametrize(
    "changes",
    [
        {"word/document.xml": b"<not xml"},
        {"[Content_Types].xml": None},
        {"_rels/.rels": None},
        {"word/document.xml": b"<other/>"},
    ],
)
def test_a_damaged_word_document_is_one_clear_error(changes: dict[str, bytes | None]) -> None:
    with pytest.raises(UnreadableSource, match=r"a\.docx\b"):
        read(samples.rezipped(samples.word(), changes), "a.docx")


# EPUB


def test_a_book_is_read_in_the_order_of_its_spine_under_its_chapters() -> None:
    found = read(samples.epub(), "a.epub")
    assert (found.title, found.authors) == ("A Book of Commons", ("Elinor Example", "Second Hand"))
    assert places(found) == [
        ("Chapter One", "Chapter One\n\nThe first\xa0words, café 😀.\n\n"),
        ("Chapter One \u203a Inside", "Inside\n\nDeeper.\n\n"),
        ("Two by heading", "Two by heading\n\nSecond words\non two lines.\n\n"),
        ("part 3", "Nameless & not well formed.\n\n"),
    ]


def test_an_older_book_is_named_by_its_ncx() -> None:
    ncx = (
        b'<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap><navPoint><navLabel>'
        b'<text>By NCX</text></navLabel><content src="text/two.xhtml#top"/></navPoint>'
        b"</navMap></ncx>"
    )
    package = samples.PACKAGE.replace(
        b'<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>',
        b'<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>',
    )
    found = read(
        samples.epub({"OEBPS/toc.ncx": ncx, "OEBPS/book.opf": package}),
        "a.epub",
    )
    assert "By NCX \u203a Two by heading" in [place for place, _ in places(found)]


ENCRYPTION = (
    '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" '
    'xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData>'
    '<enc:EncryptionMethod Algorithm="{}"/></enc:EncryptedData></encryption>'
)


def test_a_book_under_copy_protection_is_one_clear_error() -> None:
    listing = ENCRYPTION.format("http://www.w3.org/2001/04/xmlenc#aes128-cbc").encode()
    for changes in ({"META-INF/encryption.xml": listing}, {"META-INF/rights.xml": b"<rights/>"}):
        with pytest.raises(UnreadableSource, match="DRM"):
            read(samples.epub(changes), "a.epub")


def test_a_book_whose_fonts_are_scrambled_is_read() -> None:
    listing = ENCRYPTION.format("http://www.idpf.org/2008/embedding").encode()
    assert "Deeper" in read(samples.epub({"META-INF/encryption.xml": listing}), "a.epub").text


@pytest.mark.parametrize(
    "changes",
    [
        {"OEBPS/book.opf": None},
        {"OEBPS/book.opf": b"<package/>"},
        {"OEBPS/text/two.xhtml": None},
        {"META-INF/container.xml": b"<container/>"},
        {"META-INF/container.xml": b"\xff not xml"},
    ],
)
def test_a_damaged_book_is_one_clear_error(changes: dict[str, bytes | None]) -> None:
    with pytest.raises(UnreadableSource, match=r"a\.epub: .*(damaged|missing|chapters|names no)"):
        read(samples.epub(changes), "a.epub")


# All of them


def test_every_format_gives_segments_that_decode_on_their_own() -> None:
    for content, name in (
        (samples.word(), "a.docx"),
        (samples.epub(), "a.epub"),
        (samples.PAGE.encode(), "a.html"),
        (samples.pdf(["é", "", "ü"]), "a.pdf"),
    ):
        found = read(content, name)
        assert "".join(text for _, text in places(found)) == found.text


def test_control_characters_of_a_parser_do_not_reach_the_text() -> None:
    page = samples.PAGE.replace("The first", "The\x1b[31m\x07 first")
    assert "\x1b" not in read(page.encode(), "a.html").text


def test_the_table_of_formats_names_modules_that_exist() -> None:
    for form in FORMATS:
        assert form.module.startswith("salon.corpus.readers.")
    assert hints("A.PDF").suffix == PDF.suffixes[0]
