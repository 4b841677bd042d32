"""Handles over MCP: where a name leads now, where it led before, and the card behind it.

Which names a server tells is for it to say; of any other it says the same as of one that is not
there, so that nobody learns what else the archive holds.
"""

import json
from collections.abc import Callable, Mapping

from salon.core.archive import Archive
from salon.core.errors import HandleNotFound
from salon.core.handles import Handle
from salon.core.hashing import CardHash
from salon.mcp_server.tables import ResourceTemplate

JSON = "application/json"


def handle_template(
    archive: Archive,
    *,
    description: str,
    tells: Callable[[Handle], bool],
    tells_card: Callable[[Handle, CardHash], bool],
    reads_card: Callable[[CardHash], bool],
) -> ResourceTemplate:
    """Return the family of addresses of handles.

    `tells` says of which handles, `tells_card` which hashes of one are shown, and `reads_card`
    which of them this server hands out as `card://`.
    """

    def shown(handle: Handle, card: CardHash | None) -> dict[str, str] | None:
        if card is None or not tells_card(handle, card):
            return None
        return {"hash": card} | ({"uri": f"card://{card}"} if reads_card(card) else {})

    def read(parts: Mapping[str, str]) -> str:
        handle = archive.find_handle(parts["name"])
        if handle is None or not tells(handle):
            raise HandleNotFound(f"there is no handle {parts['name'][:100]!r} to read here")
        value = {
            "name": handle.name,
            "current": shown(handle, handle.current),
            "created_at": handle.created_at,
            "updated_at": handle.updated_at,
            "history": [
                {
                    "moved_at": one.moved_at,
                    "previous": shown(handle, one.previous),
                    "current": shown(handle, one.current),
                }
                for one in archive.history(handle.name)
            ],
        }
        return json.dumps(value, ensure_ascii=False, indent=2)

    return ResourceTemplate(
        uri_template="handle://{+name}",
        name="handle",
        title="Handle",
        description=description,
        mime_type=JSON,
        read=read,
    )
