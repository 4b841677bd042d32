"""Checking a response: every citation derived again, every sentence held against what it cites.

A sentence stands if it is a quote with a true frame, a frame that claims nothing, or a claim that
the quoted text bears out; what it puts in quotation marks must stand there to the letter. Nothing
here knows avatars: what may be cited comes in as `Allowed`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from salon.conversation.discussion import NOTHING_SAID, Discussion
from salon.core.citations import Citation
from salon.grounding.citing import ANYTHING, Allowed, Citations, verdict_of
from salon.grounding.claims import Sentence, is_quote, take_apart
from salon.grounding.frames import read_frame
from salon.grounding.quotations import find_misquoted
from salon.grounding.reports import CitationCheck, ClaimCheck, Fault, ResponseReport, Support

_LONGEST_SHOWN = 120


class Judge(Protocol):
    """Says how probably a text bears a claim out."""

    @property
    def threshold(self) -> float:
        """Return the probability from which on a claim counts as borne out."""
        ...

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Support]:
        """Judge claims, each against its evidence."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaker:
    """Whose response it is: what it may cite and what its frames may say."""

    allowed: Allowed = ANYTHING
    names: frozenset[str] = frozenset()
    fixed: frozenset[str] = frozenset()
    """Sentences that the speaker says of itself, such as the label that it is an AI."""


ANYBODY = Speaker()


class Verification:
    """The check of responses against one archive."""

    def __init__(self, citations: Citations, judge: Callable[[], Judge]) -> None:
        self._citations = citations
        self._judge = judge

    def verify(
        self,
        response: str,
        cited: Sequence[Citation],
        *,
        speaker: Speaker = ANYBODY,
        discussion: Discussion = NOTHING_SAID,
    ) -> ResponseReport:
        """Check a response with the citations that came with it."""
        checks = [self._citations.check(one, speaker.allowed) for one in cited]
        claims = tuple(
            self._check(sentence, checks, speaker, discussion)
            for sentence in take_apart(response, cited)
        )
        return ResponseReport(claims=claims, citations=tuple(checks))

    def _check(
        self,
        sentence: Sentence,
        checks: Sequence[CitationCheck],
        speaker: Speaker,
        discussion: Discussion,
    ) -> ClaimCheck:
        named = tuple(dict.fromkeys((*sentence.quoted, *sentence.marked)))
        own = sentence.own
        is_frame = not own or self._is_frame(own, named, checks, speaker, discussion)
        if is_frame and not named and not sentence.unknown:
            return _claim(sentence, (), None, "claims nothing")
        # A sentence without quote or mark may rest on any of the citations.
        used = tuple(checks[one] for one in named) or (() if sentence.unknown else tuple(checks))
        if sentence.unknown or not used:
            missing = f"there is no citation {sentence.unknown[0]}" if sentence.unknown else (
                "nothing is cited"
            )  # fmt: skip
            return _claim(sentence, used, Fault.NO_CITATION, missing)
        holding = tuple(one for one in used if one.holds)
        if len(holding) < len(used) and (named or not holding):
            broken = next(one for one in used if not one.holds)
            return _claim(sentence, used, broken.fault, broken.reason)
        if all(self._citations.is_derived(one.citation) for one in holding):
            return _claim(
                sentence, holding, Fault.ONLY_DERIVED, "only texts that Salon made itself say so"
            )
        # What else a true frame has in marks are its slots, and they were found to be true.
        in_marks = sentence.around_quotes if is_frame else sentence.in_marks
        wrong = find_misquoted(
            in_marks,
            [one.citation.quote for one in holding],
            names=(*speaker.names, *(one.citation.source for one in checks)),
            said=[one.content for one in discussion.utterances],
        )
        if wrong is not None:
            reason = f"what it cites does not say “{_clipped(wrong)}”"
            return _claim(sentence, holding, Fault.QUOTE_DIFFERS, reason)
        if is_frame:
            return _claim(sentence, holding, None, "quoted as it stands", Support(probability=1.0))
        return self._judged(sentence, holding)

    def _judged(self, sentence: Sentence, used: tuple[CitationCheck, ...]) -> ClaimCheck:
        judge = self._judge()
        # A word or two bear nothing out, and could turn what another quote says.
        evidence = [
            f"{one.citation.source}\n{one.citation.quote}"
            for one in used
            if is_quote(one.citation.quote)
        ]
        if not evidence:
            return _claim(sentence, used, Fault.NOT_BORNE_OUT, "too little is quoted")
        pairs = [(sentence.own, "\n".join(evidence)), *((sentence.own, one) for one in evidence)]
        best = max(judge.judge(pairs[: 1 if len(evidence) == 1 else None]), key=_probability)
        if best.probability >= judge.threshold:
            return _claim(sentence, used, None, "the quoted text bears it out", best)
        reason = "; ".join(best.against) or "the quoted text does not say so"
        return _claim(sentence, used, Fault.NOT_BORNE_OUT, reason, best)

    def _is_frame(
        self,
        own: str,
        named: tuple[int, ...],
        checks: Sequence[CitationCheck],
        speaker: Speaker,
        discussion: Discussion,
    ) -> bool:
        if own in speaker.fixed:
            return True
        cited = [checks[one].citation for one in named]
        sources = {one.source for one in cited}
        years = {year for one in cited for year in self._citations.years(one)}
        said = {one.casefold() for one in discussion.participants}

        def is_true(slot: str, value: str) -> bool:
            match slot:
                case "source":
                    return value in sources
                case "year":
                    return value in years or f"year:{value}" in speaker.fixed
                case "name":
                    return value in speaker.names
                case "other":
                    return value.casefold() in said
                case "topic":
                    return True  # a name in quotation marks, of which nothing is said
                case "field":
                    return f"{slot}:{value}" in speaker.fixed
            return False

        return read_frame(own, is_true) is not None


def _clipped(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN].rstrip()} …"


def _probability(support: Support) -> float:
    return support.probability


def _claim(
    sentence: Sentence,
    used: tuple[CitationCheck, ...],
    fault: Fault | None,
    reason: str,
    support: Support | None = None,
) -> ClaimCheck:
    return ClaimCheck(
        text=sentence.text,
        verdict=verdict_of(fault),
        fault=fault,
        reason=reason,
        citations=used,
        support=support,
    )
