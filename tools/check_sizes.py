"""Fail when a file or a function outgrows what one sitting can read.

Files: at most 600 lines. Functions: at most 80. There are no waivers; split instead.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src", "tests", "tools", "bench")
MAX_FILE = 600
MAX_FUNCTION = 80


def problems(root: Path) -> Iterator[str]:
    """Yield one line for each file or function that is too long."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.py")):
            source = path.read_text("utf-8")
            name = path.relative_to(root)
            lines = source.count("\n")
            if lines > MAX_FILE:
                yield f"{name}: {lines} lines (at most {MAX_FILE})"
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    length = (node.end_lineno or node.lineno) - node.lineno + 1
                    if length > MAX_FUNCTION:
                        yield f"{name}:{node.lineno}: {node.name} has {length} lines"


def main() -> None:
    found = list(problems(ROOT))
    print("\n".join(found) or f"sizes: every file ≤ {MAX_FILE} lines, function ≤ {MAX_FUNCTION}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
