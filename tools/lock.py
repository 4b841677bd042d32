"""Resolve every dependency to exact versions with hashes, into `requirements.txt`.

The file names no package index: it is good on any mirror. `uv` does the resolving, for every
platform at once, and is fetched for this run only.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEAD = """\
# Exact versions of everything Salon needs, with hashes. Made by `make lock`; do not edit.
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-m", "pip", "install", "--quiet", "--target", folder, "uv"],
            check=True,
        )
        made = subprocess.run(
            [
                f"{folder}/bin/uv", "pip", "compile", "pyproject.toml", "--extra", "dev",
                "--extra", "build", "--universal", "--generate-hashes", "--no-header",
                "--no-emit-index-url", "--python-version", "3.11",
            ],
            cwd=ROOT, check=True, capture_output=True, text=True,
        )  # fmt: skip
    (ROOT / "requirements.txt").write_text(HEAD + made.stdout)
    print(f"requirements.txt: {made.stdout.count('==')} packages pinned")


if __name__ == "__main__":
    main()
