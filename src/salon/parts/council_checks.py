"""A second look at a round: its cards, and what it published or did not. It changes nothing."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from salon.core.errors import SalonError
from salon.council.chapter_checks import verify_chapter
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
    """Check that no text of a round without a chapter stands in `completed`."""
    texts = {one.text for one in round_.candidates} | {one.text for one in round_.returns}
    handle = archive.find_handle(chapter_handle(round_.topic_id))
    ever = set() if handle is None else {handle.current}
    return RoundCheck(
        name="nothing was published",
        holds=not ever & texts,
        reason="" if not ever & texts else f"{chapter_handle(round_.topic_id)} leads to its text",
    )
