"""Files that other packages carry for us, known by their digest.

Such a package is a box: it is located without being imported, and of what is in it only the
named files are read, and only if their SHA-256 is the one written down here in Salon.
"""

import hashlib
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from salon.core.errors import IntegrityFailed, UnknownProvider


def package_folder(package: str) -> Path:
    """Return where an installed package lies, without running any of it."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise UnknownProvider(f"the package {package!r} is not installed")
    return Path(next(iter(spec.submodule_search_locations)))


def require_digest(path: Path, sha256: str, *, hint: str) -> None:
    """Raise `IntegrityFailed` unless the file is there and has this digest."""
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise IntegrityFailed(f"{path} cannot be read: {error.strerror}", hint=hint) from error
    if found != sha256:
        raise IntegrityFailed(
            f"{path} is not the file that Salon knows by this name",
            hint=hint,
            expected=sha256,
            found=found,
        )


def fingerprint_of(parts: Iterable[str]) -> str:
    """Return one digest over everything that decides what the vectors of a model are."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
