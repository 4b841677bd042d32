"""What seats and callers send, before a round sees it: texts, scores, verdicts, collaborators."""

from collections.abc import Sequence

from salon.core.errors import InvalidInput, NotAllowed
from salon.core.text import require_text
from salon.council.ballots import HIGHEST, LOWEST
from salon.council.roles import finalist_authors
from salon.council.rounds import Phase, Round, Scorecard, Verdict
from salon.council.rules import CouncilRules
from salon.council.seats import Seat


def as_topic(text: str, rules: CouncilRules) -> str:
    """Return the words of a topic on one line, or raise `InvalidInput`."""
    return " ".join(_as_text(text, "a topic", rules.limits.topic).split())


def as_feedback(text: str, rules: CouncilRules) -> str:
    """Return a critique, or raise `InvalidInput`."""
    return _as_text(text, "a critique", rules.limits.feedback)


def as_rationale(text: str, rules: CouncilRules) -> str:
    """Return the reasons for a grade, or raise `InvalidInput`."""
    return _as_text(text, "a rationale", rules.limits.rationale)


def as_scorecard(scores: Scorecard) -> Scorecard:
    """Return a scorecard of three whole numbers from 1 to 10, or raise `InvalidInput`."""
    for name in ("accuracy", "depth", "pedagogy"):
        value = getattr(scores, name)
        # True is a whole number to Python, and to nobody else.
        if type(value) is not int or not LOWEST <= value <= HIGHEST:
            raise InvalidInput(
                f"{name} is {value!r}", hint=f"each score is a whole number {LOWEST} to {HIGHEST}"
            )
    return scores


def verdict_of(
    round_: Round, scores: Scorecard, verdict: Verdict | None, rules: CouncilRules
) -> Verdict | None:
    """Return Up or Down where a fusion is ratified, read off the scores where it is left out."""
    if round_.phase is not Phase.RATIFICATION:
        if verdict is not None:
            raise InvalidInput("Up and Down are said of fusions, when they are ratified")
        return None
    if verdict is not None:
        return Verdict(verdict)
    is_good = scores.mean >= rules.least_mean and scores.lowest >= rules.least_score
    return Verdict.UP if is_good else Verdict.DOWN


def require_collaborators(round_: Round, seat: Seat, names: Sequence[str]) -> None:
    """Raise unless these are the two authors of the runoff and the seat is one of them.

    An author may be named by its seat or by its draft.
    """
    by_draft = {
        one.id: author for one in round_.standing if one.id in round_.finalists
        for author in one.authors
    }  # fmt: skip
    authors = finalist_authors(round_)
    named = {by_draft.get(name, name) for name in names}
    if len(names) != 2 or named != set(authors):
        raise NotAllowed(
            "a fusion has exactly two collaborators, the authors of the two drafts in the runoff",
            hint="name both; the brief of the round lists them",
        )
    if seat not in authors:
        raise NotAllowed(f"seat {seat} is not one of the two authors of this runoff")


def _as_text(text: str, what: str, most: int) -> str:
    if not require_text(text, what).strip():
        raise InvalidInput(f"{what} cannot be empty")
    if len(text) > most:
        raise InvalidInput(f"{what} has at most {most:,} characters, this one {len(text):,}")
    return text
