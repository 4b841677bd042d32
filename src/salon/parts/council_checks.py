"""A second look at a round: its cards, and what it published or did not. It changes nothing."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from salon.core.errors import SalonError
from salon.council.chapter_checks import verify_chapter
from salon.council.keeping import RoundCards
from salon.council.naming import chapter_handle
from salon.council.rounds import Round
from salon.parts.council_shapes import RoundCheck, RoundReport

if TYPE_CHECKING:
    from salon.core.archive import Archive
    from salon.core.hashing import CardHash
    from salon.council.rules import CouncilRules
    from salon.grounding.verifying import Verification


def check_round(
    archive: "Archive",
    round_: Round,
    *,
    key: str,
    verification: "Callable[[], Verification]",
    rules: "CouncilRules",
) -> RoundReport:
    """Return what a check of a round finds; `key` is the public half of this home's key."""
    checks = [_cards(archive, round_)]
    if round_.published is None:
        checks.append(_nothing_published(archive, round_))
    else:
        found = verify_chapter(archive, round_.id, key=key, verification=verification, rules=rules)
        counts = f"{found.citations} citations, {found.ballots} ballots, {found.moves} moves"
        checks.append(
            RoundCheck(
                name="signature, votes, citations, handles and log of the chapter",
                holds=found.holds,
                reason="; ".join(found.faults) or counts,
            )
        )
    return RoundReport(round_id=round_.id, phase=round_.phase, checks=tuple(checks))


def _cards(archive: "Archive", round_: Round) -> RoundCheck:
    wrong = []
    cards = set(_all_cards(round_))
    for card in cards:
        try:
            archive.get(card)
        except SalonError as error:
            wrong.append(error.message)
    return RoundCheck(
        name="cards of the round",
        holds=not wrong,
        reason="; ".join(sorted(wrong)) or f"{len(cards)} cards, each under its hash",
    )


def _all_cards(round_: Round) -> "Iterator[CardHash]":
    found = (
        *((one.text, one.report) for one in round_.candidates),
        *((one.text, one.report) for one in round_.returns),
        *((one.feedback, one.entry) for one in round_.critiques),
        *((one.rationale, one.ballot) for one in round_.votes),
    )
    for cards in found:
        yield from (one for one in cards if one is not None)


def _nothing_published(archive: "Archive", round_: Round) -> RoundCheck:
    """Check that a round without a chapter published none.

    Another round may well have published the same text: programs write the same again.
    """
    wrong = ""
    handle = archive.find_handle(chapter_handle(round_.topic_id))
    texts = {one.text for one in round_.candidates} | {one.text for one in round_.returns}
    if any(
        (one.body.get("round"), one.body.get("act")) == (round_.id, "publish")
        for one in archive.audit_entries()
    ):
        wrong = "the log says that it published something"
    elif handle is not None and handle.current in texts - _published_texts(archive, round_):
        wrong = f"{handle.name} leads to its text, which no round published"
    return RoundCheck(name="nothing was published", holds=not wrong, reason=wrong)


def _published_texts(archive: "Archive", round_: Round) -> "set[CardHash]":
    return {
        one.published.text
        for one in RoundCards(archive).all()
        if one.topic_id == round_.topic_id and one.published is not None
    }
