"""EPUB books: the chapters of the spine, in reading order, each named by the table of contents.

A small reader of our own: the container names the package file, the package lists the chapters.
A chapter without an entry in the table of contents is named by its first heading, else by its
place. Encrypted books are refused; fonts that are merely scrambled do not matter.
"""

import posixpath
import zipfile
from urllib.parse import unquote

from lxml import etree

from salon.core.errors import UnreadableSource
from salon.corpus.layout import ReadText
from salon.corpus.readers import EPUB, SourceHints
from salon.corpus.readers.characters import clean_title
from salon.corpus.readers.markup import Block, blocks, local_name, parse_xhtml, parse_xml
from salon.corpus.readers.outline import SectionWriter
from salon.corpus.readers.zips import open_checked, read_entry

_NS = {
    "c": "urn:oasis:names:tc:opendocument:xmlns:container",
    "opf": "http://www.idpf.org/2007/opf",
    "dc": "http://purl.org/dc/elements/1.1/",
    "ncx": "http://www.daisy.org/z3986/2005/ncx/",
    "x": "http://www.w3.org/1999/xhtml",
    "enc": "http://www.w3.org/2001/04/xmlenc#",
}
_FONT_SCRAMBLING = frozenset(
    {"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"}
)
_RIGHTS_FILES = ("META-INF/rights.xml", "META-INF/license.lcpl", "META-INF/sinf.xml")
_PAGES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml"})


def read(content: bytes, hints: SourceHints) -> ReadText:  # noqa: ARG001 - all readers look alike
    """Read an EPUB book."""
    with open_checked(content) as container:
        _refuse_encrypted(container)
        package_path = _package_path(container)
        package = parse_xml(read_entry(container, package_path), package_path)
        book = _Book(container, package, posixpath.dirname(package_path))
        titles = book.chapter_titles()
        writer = SectionWriter()
        for number, path in enumerate(book.spine(), start=1):
            page = parse_xhtml(read_entry(container, path), path)
            _write_chapter(writer, page, titles.get(path), f"part {number}")
    creators = (clean_title(name) for name in _texts(package, ".//dc:creator"))
    return writer.builder.build(
        media_type=EPUB.media_type,
        title=next((clean_title(title) for title in _texts(package, ".//dc:title")), None),
        authors=tuple(dict.fromkeys(name for name in creators if name)),
    )


def _write_chapter(
    writer: SectionWriter, page: etree._Element, title: str | None, otherwise: str
) -> None:
    found: list[Block] = []
    for element in page:
        if local_name(element) == "body":
            found.extend(blocks(element))
    first_heading = next((block.text for block in found if block.level), None)
    writer.begin_part(clean_title(title) or clean_title(first_heading) or otherwise)
    for block in found:
        if block.level:
            writer.heading(block.level, block.text)
        else:
            writer.paragraph(block.text)


def _refuse_encrypted(container: zipfile.ZipFile) -> None:
    names = set(container.namelist())
    locked = any(name in names for name in _RIGHTS_FILES)
    if "META-INF/encryption.xml" in names:
        listing = parse_xml(read_entry(container, "META-INF/encryption.xml"), "encryption.xml")
        methods = listing.findall(".//enc:EncryptionMethod", _NS)
        locked |= any(method.get("Algorithm") not in _FONT_SCRAMBLING for method in methods)
    if locked:
        raise UnreadableSource(
            "the book is encrypted (DRM)", hint="use a copy without copy protection"
        )


def _package_path(container: zipfile.ZipFile) -> str:
    root = parse_xml(read_entry(container, "META-INF/container.xml"), "container.xml")
    rootfile = root.find(".//c:rootfile", _NS)
    path = rootfile.get("full-path") if rootfile is not None else None
    if not path:
        raise UnreadableSource(
            "container.xml names no package file", hint="the book is damaged; get a fresh copy"
        )
    return path


def _texts(element: etree._Element, path: str) -> list[str]:
    return ["".join(map(str, found.itertext())) for found in element.findall(path, _NS)]


class _Book:
    """The package file: which parts there are, and where."""

    def __init__(self, container: zipfile.ZipFile, package: etree._Element, folder: str) -> None:
        self._container = container
        self._package = package
        self._folder = folder
        self._items = {
            item.get("id", ""): item for item in package.findall(".//opf:manifest/opf:item", _NS)
        }

    def spine(self) -> list[str]:
        """Return the paths of the chapters in reading order."""
        items = (
            self._items.get(reference.get("idref", ""))
            for reference in self._package.findall(".//opf:spine/opf:itemref", _NS)
        )
        paths = [
            self._path(item.get("href", ""), self._folder)
            for item in items
            if item is not None and item.get("media-type") in _PAGES
        ]
        if not paths:
            raise UnreadableSource(
                "the book lists no chapters", hint="the book is damaged; get a fresh copy"
            )
        return list(dict.fromkeys(paths))

    def chapter_titles(self) -> dict[str, str]:
        """Return the title of each chapter, from the EPUB 3 navigation or the EPUB 2 one."""
        titles: dict[str, str] = {}
        for item in self._items.values():
            path = self._path(item.get("href", ""), self._folder)
            if path not in self._container.namelist():
                continue
            if "nav" in item.get("properties", "").split():
                links = self._navigation_links(path)
            elif item.get("media-type") == "application/x-dtbncx+xml":
                links = self._ncx_links(path)
            else:
                continue
            for href, title in links:
                # The first entry that leads into a file names the file.
                titles.setdefault(self._path(href, posixpath.dirname(path)), title)
        return titles

    def _navigation_links(self, path: str) -> list[tuple[str, str]]:
        root = parse_xhtml(read_entry(self._container, path), path)
        links = root.findall(".//x:nav//x:a", _NS) or root.findall(".//a")
        return [(link.get("href", ""), "".join(map(str, link.itertext()))) for link in links]

    def _ncx_links(self, path: str) -> list[tuple[str, str]]:
        root = parse_xml(read_entry(self._container, path), path)
        return [
            (
                point.find("ncx:content", _NS).get("src", ""),  # type: ignore[union-attr]
                " ".join(_texts(point, "ncx:navLabel/ncx:text")),
            )
            for point in root.iterfind(".//ncx:navPoint", _NS)
            if point.find("ncx:content", _NS) is not None
        ]

    def _path(self, href: str, folder: str) -> str:
        path = unquote(href.partition("#")[0])
        return posixpath.normpath(posixpath.join(folder, path)) if path else ""
