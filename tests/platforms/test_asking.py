"""Who is meant by a message, and what goes along with it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.conversation.discussion import Utterance
from salon.core.errors import InvalidInput, LimitReached
from salon.experts.profile import Profile
from salon.platforms.asking import Roster, clean, clean_name, discussion_of, session_of, slug
from salon.platforms.patience import REMEMBERED, Patience
from tests.experts.valley import profile_of

LINCOLN = profile_of("abraham-lincoln", "Abraham Lincoln")
THEODORE = profile_of("theodore-roosevelt", "Theodore Roosevelt")
FRANKLIN = profile_of("franklin-roosevelt", "Franklin Roosevelt")
ALL = (LINCOLN, THEODORE, FRANKLIN)


def roster(*profiles: Profile, **more: object) -> Roster:
    return Roster(profiles or ALL, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "avatar", "question"),
    [
        ("Lincoln, why did you go?", "abraham-lincoln", "why did you go?"),
        ("hey @lincoln: why?", "abraham-lincoln", "why?"),
        ("Abraham, why?", "abraham-lincoln", "why?"),
        ("abraham-lincoln why?", "abraham-lincoln", "abraham-lincoln why?"),
        ("Lincoln spoke of what?", "abraham-lincoln", "Lincoln spoke of what?"),
        ("What would Lincoln say?", "abraham-lincoln", "What would Lincoln say?"),
        ("Theodore Roosevelt - why?", "theodore-roosevelt", "why?"),
        ("Roosevelt, why?", None, ""),
        ("What would Lincoln say to Theodore Roosevelt?", None, ""),
        ("Abraham had seven sons", None, ""),
        ("why?", None, ""),
    ],
)
def test_a_name_says_who_is_meant(text: str, avatar: str | None, question: str) -> None:
    meant = roster().meant(text, "C1")
    assert (meant.avatar.id if meant else None) == avatar
    if meant:
        assert meant.question == question


def test_a_channel_has_its_own_avatar_unless_another_is_spoken_to() -> None:
    room = roster(channels={"C1": "theodore-roosevelt"}, default="franklin-roosevelt")
    cases = {
        ("what would Lincoln say?", "C1"): "theodore-roosevelt",
        ("Lincoln, why?", "C1"): "abraham-lincoln",
        ("why?", "C2"): "franklin-roosevelt",
    }
    for (text, channel), avatar in cases.items():
        meant = room.meant(text, channel)
        assert meant is not None
        assert meant.avatar.id == avatar
    assert [one.id for one in room.of_channel("C1")] == ["theodore-roosevelt"]
    assert len(room.of_channel("C2")) == 3


def test_an_only_avatar_is_always_meant() -> None:
    meant = roster(LINCOLN).meant("why?", "C1")
    assert meant is not None
    assert meant.avatar.id == "abraham-lincoln"


def test_a_command_has_the_shortest_name_that_is_nobody_elses() -> None:
    commands = {one.id: one.command for one in roster().avatars}
    assert commands == {
        "abraham-lincoln": "lincoln",
        "theodore-roosevelt": "theodore-roosevelt",
        "franklin-roosevelt": "franklin-roosevelt",
    }
    for avatar, command in commands.items():
        found = roster().find(command)
        assert found is not None
        assert found.id == avatar
    assert roster().find("roosevelt") is None


def test_names_that_commands_spell_alike_belong_to_neither() -> None:
    two = roster(profile_of("zoe-1", "Zoë Berg"), profile_of("zoe-2", "Zoe Bérg"))
    assert [one.command for one in two.avatars] == ["zoe-1", "zoe-2"]
    assert two.find("zoe-berg") is None
    assert two.meant("Zoë Berg, why?", "C1") is None
    taken = roster(profile_of("berg", "Ada Holm"), profile_of("zoe", "Zoë Berg"))
    found = taken.find("berg")
    assert found is not None
    assert found.id == "berg"
    assert len({one.command for one in taken.avatars}) == 2


def test_a_name_that_no_command_can_spell_is_a_name_all_the_same() -> None:
    two = roster(profile_of("kong-zi", "孔子"), profile_of("lao-zi", "老子"))
    for text in ("孔子, why?", "What would 孔子 say?"):
        meant = two.meant(text, "C1")
        assert meant is not None
        assert meant.avatar.id == "kong-zi"
    assert [one.command for one in two.avatars] == ["kong-zi", "lao-zi"]
    found = two.find("老子")
    assert found is not None
    assert found.id == "lao-zi"
    assert two.find("") is None
    assert two.find("?") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("lincoln why?", ("abraham-lincoln", "why?")),
        ("Franklin Roosevelt: why?", ("franklin-roosevelt", "why?")),
        ("@franklin, why?", ("franklin-roosevelt", "why?")),
        ("lincolnshire why?", None),
        ("", None),
    ],
)
def test_the_general_command_begins_with_a_name(
    text: str, expected: tuple[str, str] | None
) -> None:
    meant = roster().split_command(text)
    assert (meant and (meant.avatar.id, meant.question)) == expected


def test_a_roster_needs_avatars_and_knows_those_it_is_told_of() -> None:
    with pytest.raises(InvalidInput, match="no avatar to ask"):
        Roster([])
    with pytest.raises(InvalidInput, match="mozart"):
        roster(channels={"C1": "mozart"})
    with pytest.raises(InvalidInput, match="mozart"):
        roster(default="mozart")


@given(st.text(), st.text())
def test_no_text_breaks_the_reading(text: str, channel: str) -> None:
    meant = roster().meant(text, channel)
    assert meant is None or meant.question in text
    roster().split_command(text)
    roster().find(text)


@given(st.lists(st.tuples(st.text(), st.text()), max_size=8), st.integers(0, 5))
def test_a_discussion_stays_within_its_limits(said: list[tuple[str, str]], most: int) -> None:
    found = discussion_of(
        [Utterance(role=role, content=text) for role, text in said], most=most, longest=10
    )
    assert len(found.utterances) <= most
    for one in found.utterances:
        assert one.content
        assert len(one.content) <= 10
        assert one.role == clean_name(one.role)
        one.content.encode()


def test_what_is_no_text_is_taken_out() -> None:
    assert clean("a\x00b\u202ec\ud800d\te\n", 100) == "a b c?d\te"
    assert clean_name("  a\nb\x07 ") == "a b"
    assert clean_name("\x00") == "somebody"
    assert slug("Élisée Reclus") == "elisee-reclus"


def test_a_session_is_the_same_for_a_place_and_other_elsewhere() -> None:
    assert session_of("slack", "T1", "C1", "") == session_of("slack", "T1", "C1", "")
    assert session_of("slack", "T1", "C1", "") != session_of("slack", "T1", "C1", "5.5")
    assert session_of("slack", "T1", "C1", "") != session_of("discord", "T1", "C1", "")


def test_patience_comes_back_with_time_and_is_everybodys_own() -> None:
    now = [0.0]
    patience = Patience(per_minute=6, burst=2, now=lambda: now[0])
    patience.take("a")
    patience.take("a")
    with pytest.raises(LimitReached) as caught:
        patience.take("a")
    assert caught.value.details["retry_after_s"] == 10
    assert "10 s" in (caught.value.hint or "")
    patience.take("b")
    now[0] = 9.0
    with pytest.raises(LimitReached):
        patience.take("a")
    now[0] = 10.0
    patience.take("a")


def test_only_the_latest_people_are_remembered() -> None:
    patience = Patience(per_minute=1, burst=1, now=lambda: 0.0)
    for number in range(REMEMBERED + 1):
        patience.take(str(number))
    patience.take("0")
    with pytest.raises(LimitReached):
        patience.take(str(REMEMBERED))
