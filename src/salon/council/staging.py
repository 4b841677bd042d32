"""Staging: how a text that a seat submits is checked, and becomes a candidate or goes back.

Only here do texts of seats get handles, all of them below `staging/` or `council/returns/`.
"""

from salon.core.clock import Clock, instant
from salon.core.errors import InvalidInput, NotAllowed
from salon.core.hashing import content_hash
from salon.core.ids import IdMaker
from salon.core.text import require_text
from salon.council import acting, naming
from salon.council.checks import Checked, Checks
from salon.council.keeping import CheckReport, report_to_json
from salon.council.phases import Skill
from salon.council.results import SENT_BACK
from salon.council.roles import finalist_authors, require_permission
from salon.council.rounds import Candidate, Phase, Returned, Round
from salon.council.rules import CouncilRules
from salon.council.seats import Seat
from salon.council.writing import Change

_FAR_TOO_LONG = 4
"""A text so many times longer than allowed is refused; one that is a little too long goes back."""


class Staging:
    """What comes of the texts that seats submit."""

    def __init__(self, checks: Checks, *, rules: CouncilRules, clock: Clock, ids: IdMaker) -> None:
        self._checks = checks
        self._rules = rules
        self._clock = clock
        self._ids = ids

    def require_room(self, round_: Round, seat: Seat, skill: Skill) -> None:
        """Refuse what cannot be taken in before it is checked: checks cost more than refusals."""
        require_permission(round_, seat, skill)
        most = self._rules.limits.returns
        if len(acting.returns_now(round_, seat)) >= most:
            raise NotAllowed(
                f"{most} texts of seat {seat} were sent back in this phase",
                hint="the round goes on without it; a later attempt gives it another chance",
            )

    def check(self, markdown: str, *, topic: str = "") -> Checked:
        """Check a text; what is far too long or no text at all is refused."""
        most = self._rules.limits.draft
        if len(markdown) > _FAR_TOO_LONG * most:
            raise InvalidInput(f"a text has at most {most:,} characters")
        return self._checks.check(require_text(markdown, "the text"), topic=topic)

    def enter(
        self, round_: Round, seat: Seat, skill: Skill, checked: Checked
    ) -> tuple[str, Change | None]:
        """Return the candidate's id, and the change that lets a text in or sends it back.

        No change: the other author of a fusion sent the same text, so both agree.
        """
        name = self._name(round_, seat, skill)
        if not checked.holds:
            return name, self._send_back(round_, seat, skill, name, checked)
        if skill is Skill.SUBMIT_FUSION:
            candidate = self._candidate(round_, _joint(round_, seat), name, checked, fused=True)
            after = acting.fused(round_, seat, candidate)
            if round_.fusion is not None and round_.fusion.text == candidate.text:
                return name, None
        else:
            candidate = self._candidate(round_, (seat,), name, checked, fused=False)
            after = acting.submitted(round_, seat, candidate)
        return name, Change(
            round=after,
            act=skill.value,
            artefact=candidate.text,
            cards=(checked.markdown.encode(), _report(checked)),
            handles=((naming.staging_handle(name), candidate.text),),
        )

    def _name(self, round_: Round, seat: Seat, skill: Skill) -> str:
        """Return the id that a text has already, as a candidate or since it was sent back."""
        is_fusion = skill is Skill.SUBMIT_FUSION
        known = round_.fusion if is_fusion else round_.find_own(seat)
        if known is not None:
            return known.id
        earlier = acting.returns_now(round_, seat)
        if earlier:
            return earlier[-1].candidate
        return naming.new_candidate_id(self._ids, round_.id, is_fusion=is_fusion)

    def _candidate(
        self, round_: Round, authors: tuple[Seat, ...], name: str, checked: Checked, *, fused: bool
    ) -> Candidate:
        return Candidate(
            id=name,
            authors=authors,
            text=content_hash(checked.markdown.encode()),
            attempt=round_.attempt,
            is_fusion=fused,
            is_refined=round_.phase is Phase.REFINEMENT,
            citations=checked.citations,
            report=content_hash(_report(checked)),
            at=instant(self._clock.now()),
        )

    def _send_back(
        self, round_: Round, seat: Seat, skill: Skill, name: str, checked: Checked
    ) -> Change:
        content, report = checked.markdown.encode(), _report(checked)
        returned = Returned(
            id=self._ids.new("return"),
            seat=seat,
            candidate=name,
            text=content_hash(content),
            report=content_hash(report),
            phase=round_.phase,
            attempt=round_.attempt,
            failings=checked.failings,
            at=instant(self._clock.now()),
        )
        return Change(
            round=acting.sent_back(round_, skill, returned, most=self._rules.limits.returns),
            act=skill.value,
            artefact=returned.report,
            cards=(content, report),
            handles=((naming.return_handle(round_.id, returned.id), returned.text),),
            rule=SENT_BACK,
        )


def _joint(round_: Round, seat: Seat) -> tuple[Seat, ...]:
    """Return the two authors of a fusion, whoever wrote it down first."""
    return (seat, *(one for one in finalist_authors(round_) if one is not seat))


def _report(checked: Checked) -> bytes:
    return report_to_json(
        CheckReport(
            text=content_hash(checked.markdown.encode()),
            citations=checked.citations,
            failings=checked.failings,
        )
    )
