"""Lists in pages: a cursor is a place in a list, opaque to clients and checked on its return."""

import base64
import binascii
from typing import TypeVar

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

T = TypeVar("T")
PAGE = 100


def page(items: list[T], cursor: str | None) -> tuple[list[T], str | None]:
    """Return the page at a cursor, and the cursor of the next one, if there is one."""
    start = _start(cursor) if cursor else 0
    end = start + PAGE
    following = base64.urlsafe_b64encode(b"%d" % end).decode() if end < len(items) else None
    return items[start:end], following


def _start(cursor: str) -> int:
    try:
        start = int(base64.urlsafe_b64decode(cursor.encode("ascii")))
    except (ValueError, binascii.Error):
        start = -1
    if start < 0:
        raise MCPError(INVALID_PARAMS, "this cursor did not come from this server")
    return start
