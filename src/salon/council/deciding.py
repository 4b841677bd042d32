"""When a phase is over and what comes next. Pure: a round and the rules give a decision, or none.

A draft is published with a mean of at least 8.0 from at least 3 peers and no single score below 5.
Two drafts at most 0.5 apart go to a runoff instead; its fusion needs the same and a majority of
Up. What finds no consensus is refined again, at most three times; then there is no quorum.

Where somebody is missing: a draft that was not refined stands as it was; a runoff whose authors do
not both take part, or which fewer than three others could ratify, is decided by score; where no
draft can have three voters, the round ends at once.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from salon.council.ballots import Tally, counted_votes, is_publishable, runoff, tally
from salon.council.naming import id_in_attempt
from salon.council.phases import Event, move
from salon.council.roles import due, ratifiers
from salon.council.rounds import Phase, Round, Verdict
from salon.council.rules import CouncilRules
from salon.council.seats import Seat


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Why a round moves; `candidate` is what is to be published, `finalists` who go to a runoff."""

    event: Event
    reason: str = ""
    candidate: str = ""
    finalists: tuple[str, ...] = ()


def decide(round_: Round, rules: CouncilRules) -> Decision | None:
    """Return how the round goes on, or `None` while somebody is due or it is over."""
    if round_.is_over or any(due(round_, seat) for seat in Seat):
        return None
    return _CLOSING[round_.phase](round_, rules)


def disagreed(round_: Round, rules: CouncilRules, reason: str) -> Decision:
    """Return another attempt, or the end where there were enough."""
    event = Event.DISAGREED if round_.attempt < rules.retries else Event.GIVEN_UP
    return Decision(event=event, reason=f"attempt {round_.attempt + 1}: {reason}")


def moved(round_: Round, decision: Decision) -> Round:
    """Return the round after a decision; what is published is added by `publication`."""
    after = replace(
        round_,
        phase=move(round_.phase, decision.event),
        finalists=decision.finalists or round_.finalists,
        reasons=(*round_.reasons, decision.reason) if decision.reason else round_.reasons,
    )
    if decision.event is not Event.DISAGREED:
        return after
    # The texts of this attempt stay as they were voted on; the next one starts from copies, whose
    # ids are new, so that a vote that comes too late cannot count for another text.
    attempt = round_.attempt + 1
    again = tuple(
        replace(one, id=id_in_attempt(one.id, attempt), attempt=attempt, is_refined=False)
        for one in round_.standing
    )
    return replace(after, attempt=attempt, candidates=(*after.candidates, *again), finalists=())


def find_tally(round_: Round, candidate: str) -> Tally | None:
    """Return what the votes on a candidate of this attempt come to."""
    return next((one for one in tally(round_) if one.candidate == candidate), None)


def why_not(round_: Round, candidate: str, rules: CouncilRules) -> str | None:
    """Return why the votes do not allow a candidate to be published, `None` if they do."""
    counted = find_tally(round_, candidate)
    if counted is None:
        return "it is no candidate of this attempt"
    why = is_publishable(
        counted,
        least_mean=rules.least_mean,
        least_score=rules.least_score,
        least_voters=rules.least_voters,
    )
    if why is None and counted.is_fusion:
        said = Counter(one.verdict for one in counted_votes(round_) if one.candidate == candidate)
        if said[Verdict.UP] <= said[Verdict.DOWN]:
            return f"{said[Verdict.UP]} say Up and {said[Verdict.DOWN]} Down"
    return why


def _after_sprint(round_: Round, rules: CouncilRules) -> Decision:
    if not round_.standing:
        return Decision(event=Event.GIVEN_UP, reason=_why_no_draft(round_))
    voters = [seat for seat in Seat if seat not in round_.on_probation]
    most = max(sum(seat not in one.authors for seat in voters) for one in round_.standing)
    if most < rules.least_voters:
        return Decision(event=Event.GIVEN_UP, reason=f"no draft can have more than {most} voters")
    return Decision(event=Event.DRAFTED)


def _why_no_draft(round_: Round) -> str:
    """Say whether texts were sent back, or none came; and why, where all seats gave one reason."""
    if any(one.phase is Phase.SPRINT for one in round_.returns):
        return "no draft passed the checks"
    said = {one.reason for one in round_.absences if one.phase is Phase.SPRINT}
    return "nobody handed in a draft" + (f": {said.pop()}" if len(said) == 1 else "")


def _after_vote(round_: Round, rules: CouncilRules) -> Decision:
    enough = [one for one in tally(round_) if one.voters >= rules.least_voters]
    if not enough:
        return Decision(
            event=Event.GIVEN_UP, reason=f"no draft was graded by {rules.least_voters} peers"
        )
    pair = runoff(enough, within=rules.runoff_within)
    if pair is not None:
        authors = tuple(
            author for one in round_.standing if one.id in pair for author in one.authors
        )
        if len(ratifiers(round_, authors)) >= rules.least_voters:
            return Decision(event=Event.TIED, finalists=pair)
    return _settle(round_, enough[0].candidate, rules)


def _after_runoff(round_: Round, rules: CouncilRules) -> Decision:
    if round_.fusion is not None:
        return Decision(event=Event.FUSED)
    return _settle(round_, round_.finalists[0], rules)


def _after_ratification(round_: Round, rules: CouncilRules) -> Decision:
    assert round_.fusion is not None, "ratification opens with a fusion"
    return _settle(round_, round_.fusion.id, rules)


def _settle(round_: Round, candidate: str, rules: CouncilRules) -> Decision:
    why = why_not(round_, candidate, rules)
    if why is None:
        return Decision(event=Event.AGREED, candidate=candidate)
    return disagreed(round_, rules, f"{candidate} leads, but {why}")


_CLOSING: Mapping[Phase, Callable[[Round, CouncilRules], Decision]] = {
    Phase.SPRINT: _after_sprint,
    Phase.CRITIQUE: lambda _round, _rules: Decision(event=Event.REVIEWED),
    Phase.REFINEMENT: lambda _round, _rules: Decision(event=Event.REFINED),
    Phase.VOTE: _after_vote,
    Phase.RUNOFF: _after_runoff,
    Phase.RATIFICATION: _after_ratification,
}
