"""The option `--data` of the tools: the folder of the public data sets that they learn from.

The repository holds none of these sets; docs/reference/datasets.md says which there are, under
which licence, and how they lie in the folder.
"""

import argparse
from pathlib import Path

FOLDER = "data"


def add_data_option(parser: argparse.ArgumentParser, *, is_always_needed: bool = True) -> None:
    """Add `--data`; where there is no such folder, the tool ends before it does anything."""
    parser.add_argument(
        "--data",
        type=existing_folder,
        # argparse tries a default that is text, and no other
        default=FOLDER if is_always_needed else Path(FOLDER),
        metavar="FOLDER",
        help=f"folder of the data sets (default {FOLDER}); see docs/reference/datasets.md",
    )


def existing_folder(name: str) -> Path:
    """Return the folder of a name, or say that there is none."""
    folder = Path(name)
    if not folder.is_dir():
        raise argparse.ArgumentTypeError(no_folder(folder))
    return folder


def no_folder(folder: Path) -> str:
    """Return what to say where the folder is missing."""
    return f"there is no folder {folder}; docs/reference/datasets.md says what belongs into it"
