"""The app: what a person means by a reference, and where the audit log's head is noted."""

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from salon.app import Salon, read_checkpoint_file
from salon.core.errors import (
    AuditBroken,
    CardNotFound,
    HandleNotFound,
    InvalidInput,
    InvalidSettings,
)
from salon.core.hashing import content_hash
from salon.settings import load_settings


@pytest.fixture
def salon(tmp_path: Path) -> Iterator[Salon]:
    with Salon(load_settings(home=tmp_path / "home", environment={})) as opened:
        yield opened


def test_a_card_is_found_by_hash_prefix_and_handle(salon: Salon) -> None:
    card = salon.archive.put("deed", b"content").current
    assert salon.find_card_hash(card) == card
    assert salon.find_card_hash(card[:6]) == card
    assert salon.find_card_hash("deed") == card


def test_a_handle_that_looks_like_a_prefix_is_still_a_handle(salon: Salon) -> None:
    card = salon.archive.put("facade", b"content").current
    assert salon.find_card_hash("facade") == card


def test_an_unknown_or_ambiguous_reference_is_an_error(salon: Salon) -> None:
    cards = salon.archive.add_many([str(number).encode() for number in range(20_000)])
    hashes = sorted(card.hash for card in cards)
    shared = next(one[:6] for one, two in pairwise(hashes) if one[:6] == two[:6])
    with pytest.raises(InvalidInput, match="several cards"):
        salon.find_card_hash(shared)
    with pytest.raises(CardNotFound):
        salon.find_card_hash("0123456789abcdef")
    with pytest.raises(HandleNotFound):
        salon.find_card_hash("no such handle")
    with pytest.raises(InvalidInput):
        salon.find_card_hash(" ")


def test_the_head_of_the_log_is_noted_outside_the_archive(salon: Salon) -> None:
    salon.archive.add(b"one")
    head = salon.archive.checkpoint()
    salon.close()
    noted = read_checkpoint_file(salon.settings.checkpoint_path)
    assert noted == head
    assert noted.signature is not None


def test_a_forged_checkpoint_does_not_pass_for_a_witness(salon: Salon, tmp_path: Path) -> None:
    salon.archive.add(b"one")
    head = salon.archive.checkpoint()
    forged = tmp_path / "forged.json"
    forged.write_text(
        json.dumps({"seq": head.seq, "hash": content_hash(b"x"), "signature": "00" * 64})
    )
    with pytest.raises(AuditBroken):
        salon.verify_audit([read_checkpoint_file(forged)])


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"seq": "x", "hash": "y"}', "\x00"])
def test_a_file_that_is_no_checkpoint_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "checkpoint"
    path.write_text(text)
    with pytest.raises(InvalidInput):
        read_checkpoint_file(path)


def test_signing_can_be_switched_off(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path, environment={"SALON_SIGN_AUDIT": "false"})
    with Salon(settings) as salon:
        salon.archive.add(b"one")
        assert salon.archive.checkpoint().signature is None
        assert salon.verify_audit().seq == 1
        assert salon.verify().seal == "not checked"
    assert not settings.key_path.exists()


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"SALON_ACTR": "x"}, "did you mean 'actor'"),
        ({"SALON_READER__MEMORY_MB": "lots"}, "settings.md"),
        ({"SALON_READER__MEMORY_MB": "1"}, "settings.md"),
        ({"SALON_READER": "x", "SALON_READER__CPU_S": "1"}, None),
    ],
)
def test_a_wrong_setting_is_explained(
    tmp_path: Path, environment: dict[str, str], said: str | None
) -> None:
    with pytest.raises(InvalidSettings) as caught:
        load_settings(home=tmp_path, environment=environment)
    if said:
        assert said in str(caught.value.hint)


def test_a_broken_settings_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "salon.toml").write_text("actor = ")
    with pytest.raises(InvalidSettings, match=r"salon\.toml"):
        load_settings(home=tmp_path, environment={})
