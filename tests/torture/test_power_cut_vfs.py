"""The simulated disk keeps the promise of a real one, and not a bit more."""

from pathlib import Path
from random import Random

import apsw
import pytest

from tests.torture.power_cut_vfs import PowerCutVfs, SimulatedDisk, Truncated, Written

PAGE = b"p" * 4096


def test_synced_bytes_survive_every_cut(tmp_path: Path) -> None:
    disk = SimulatedDisk(tmp_path)
    file = disk.open("f", is_new_journal=True)
    disk.change(file, Written(0, PAGE))
    disk.sync(file)
    disk.change(file, Written(4096, PAGE))

    for seed in range(50):
        disk.write_survivors(tmp_path, Random(seed))
        assert (tmp_path / "f").read_bytes().startswith(PAGE)


def test_unsynced_bytes_survive_whole_in_part_or_not_at_all(tmp_path: Path) -> None:
    disk = SimulatedDisk(tmp_path)
    file = disk.open("f", is_new_journal=True)
    disk.change(file, Written(0, bytes(4096)))
    disk.sync(file)
    disk.change(file, Written(0, PAGE))
    seen = set()

    for seed in range(200):
        disk.write_survivors(tmp_path, Random(seed))
        content = (tmp_path / "f").read_bytes()
        seen.add({0: "none", 4096: "all"}.get(content.count(b"p"), "torn"))
        assert content.count(b"p") % 512 == 0

    assert seen == {"none", "torn", "all"}


def test_an_unsynced_size_survives_or_not(tmp_path: Path) -> None:
    disk = SimulatedDisk(tmp_path)
    file = disk.open("f", is_new_journal=True)
    disk.change(file, Written(0, PAGE))
    disk.sync(file)
    disk.change(file, Truncated(100))
    sizes = set()

    for seed in range(50):
        disk.write_survivors(tmp_path, Random(seed))
        sizes.add((tmp_path / "f").stat().st_size)

    assert sizes == {100, 4096}


def test_a_deleted_file_comes_back_until_the_folder_is_synced(tmp_path: Path) -> None:
    full = tmp_path / "disk"
    full.mkdir()
    (full / "f").write_bytes(PAGE)

    def survivors(*, sync_folder: bool) -> set[bool]:
        disk = SimulatedDisk(full)
        disk.delete(str(full / "f"), sync_folder=sync_folder)
        seen = set()
        for seed in range(30):
            folder = tmp_path / f"{sync_folder}-{seed}"
            folder.mkdir()
            disk.write_survivors(folder, Random(seed))
            seen.add((folder / "f").exists())
        return seen

    assert survivors(sync_folder=False) == {True, False}
    assert survivors(sync_folder=True) == {False}


def test_after_the_cut_every_operation_fails(tmp_path: Path) -> None:
    disk = SimulatedDisk(tmp_path, cut_after=1_000)
    vfs = PowerCutVfs("after-the-cut", disk)
    connection = apsw.Connection(str(tmp_path / "x.db"), vfs="after-the-cut")
    connection.execute("CREATE TABLE t (x)")
    disk.cut()

    with pytest.raises(apsw.IOError):
        connection.execute("INSERT INTO t VALUES (1)")

    connection.close()
    vfs.unregister()
