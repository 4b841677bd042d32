"""The description of the HTTP routes for machines, made from the code.

python -m tools.openapi_page            # writes docs/reference/openapi.json
python -m tools.openapi_page --check    # fails where it is stale
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any, cast

from salon.api.app import create_app
from salon.api.service import Service

PLACE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "openapi.json"


class _Nobody:
    """An app of which nothing is asked: the description follows from the routes alone."""

    def __getattr__(self, name: str) -> Any:
        return None


def openapi_text() -> str:
    """Return the description as it should stand in the docs."""
    described = create_app(cast("Service", _Nobody())).openapi()
    return json.dumps(described, ensure_ascii=False, indent=2) + "\n"


def pages() -> dict[Path, str]:
    """Return the file by its path, as `make docs` wants it."""
    return {PLACE: openapi_text()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail instead of writing")
    check = parser.parse_args().check
    text = openapi_text()
    if not check:
        PLACE.write_text(text, "utf-8")
    elif not PLACE.exists() or PLACE.read_text("utf-8") != text:
        print(f"stale: {PLACE.name}; run `make docs`")
        return 1
    print(f"docs: the description of the routes {'agrees' if check else 'written'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
