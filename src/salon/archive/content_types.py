"""Telling what bytes are, by `puremagic` for formats with a signature and by decoding for text."""

import puremagic

HEAD_BYTES = 8192
FORMATS_MADE_OF_TEXT = frozenset(
    {
        "application/json",
        "application/pdf",
        "application/postscript",
        "application/rtf",
        "application/xhtml+xml",
        "application/xml",
        "image/svg+xml",
        "text/html",
        "text/rtf",
        "text/xml",
    }
)


def detect_content_type(head: bytes) -> str:
    """Return the media type of content that begins with `head`."""
    try:
        found = str(puremagic.from_string(head, mime=True))
    except puremagic.PureError:
        found = ""
    if is_text(head):
        # Signatures of two or three letters begin many a sentence ("BM", "P1", "ID3").
        return found if found in FORMATS_MADE_OF_TEXT else "text/plain"
    return found or "application/octet-stream"


def is_text(head: bytes) -> bool:
    """Tell whether `head` is the beginning of UTF-8 text; its last character may be cut."""
    if b"\0" in head:
        return False
    try:
        head.decode()
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data" and error.start >= len(head) - 3
    return True
