"""The file of the emotion heads: what it must hold, and what a damaged one says."""

from pathlib import Path

import numpy as np
import pytest

from salon.core.errors import IntegrityFailed
from salon.steps.emotion_heads import ADAPTER, WEIGHTS, load_heads, shipped_heads

MOST_BYTES = 5_000_000


@pytest.fixture
def arrays() -> dict[str, np.ndarray]:
    with np.load(WEIGHTS, allow_pickle=False) as found:
        return {name: found[name] for name in found.files}


def saved(path: Path, arrays: dict[str, np.ndarray]) -> Path:
    np.savez(path, **arrays)  # type: ignore[arg-type]
    return path


def test_the_weights_are_small_enough_to_ship() -> None:
    assert WEIGHTS.stat().st_size + ADAPTER.stat().st_size < MOST_BYTES


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 and then nothing"], ids=["empty", "cut"])
def test_a_file_that_is_no_archive_gives_one_clear_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "heads.npz"
    path.write_bytes(content)
    with pytest.raises(IntegrityFailed, match=r"heads\.npz cannot be used") as caught:
        load_heads(path)
    assert caught.value.hint == "install Salon again"


def test_a_missing_file_gives_the_same_error(tmp_path: Path) -> None:
    with pytest.raises(IntegrityFailed, match="cannot be used"):
        load_heads(tmp_path / "none.npz")


def test_one_flipped_byte_is_noticed(tmp_path: Path) -> None:
    content = bytearray(WEIGHTS.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path = tmp_path / "flipped.npz"
    path.write_bytes(content)
    with pytest.raises(IntegrityFailed, match="cannot be used"):
        load_heads(path)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("words.weight", lambda value: value[:-1]),
        ("adapted.weight", lambda value: value[:, :-1]),
        ("adapted.bias", lambda value: value * np.nan),
    ],
    ids=["fewer words", "fewer heads", "not numbers"],
)
def test_arrays_that_do_not_fit_are_refused(
    tmp_path: Path, arrays: dict[str, np.ndarray], name: str, change: object
) -> None:
    changed = {**arrays, name: change(arrays[name])}  # type: ignore[operator]
    with pytest.raises(IntegrityFailed, match="cannot be used"):
        load_heads(saved(tmp_path / "odd.npz", changed))


def test_an_array_that_is_missing_is_named(tmp_path: Path, arrays: dict[str, np.ndarray]) -> None:
    del arrays["adapted.stack"]
    with pytest.raises(IntegrityFailed, match="cannot be used"):
        load_heads(saved(tmp_path / "less.npz", arrays))


def test_a_text_without_a_known_word_has_the_constants_of_the_words() -> None:
    heads = shipped_heads()
    assert np.array_equal(heads.word_scores(""), heads.word_scores("\u2003"))
    assert not np.array_equal(heads.word_scores("thank you"), heads.word_scores(""))
