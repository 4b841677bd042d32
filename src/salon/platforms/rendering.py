"""A reply as something to show, before any platform's own spelling: words, sources, label.

Invariant: whatever is shown carries the AI label, and what is not an answer does not look like one.
"""

from dataclasses import dataclass
from enum import StrEnum

from salon.core.errors import SalonError
from salon.core.outcomes import Outcome
from salon.experts.replies import Reply

AI_LABEL = "AI"
_HASH_SHOWN = 16
_OUTCOMES = {
    Outcome.CORPUS_MISS: "Not in my sources",
    Outcome.OUT_OF_SCOPE: "Not my field",
    Outcome.NEEDS_CLARIFICATION: "I need to know more",
    Outcome.AFTER_MY_TIME: "After my time",
    Outcome.DECLINED: "I decline",
    Outcome.GATE_CLOSED: "Not done yet",
}
_SENTENCE_ENDS = (". ", "! ", "? ", "\n")


class Kind(StrEnum):
    """What a message is, so that each platform can give it a look of its own."""

    ANSWER = "answer"
    OUTCOME = "outcome"
    REFUSAL = "refusal"
    """Something went wrong, or a limit was reached; only the one who asked needs to know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A citation as people read it, with what it takes to check it."""

    number: int
    title: str
    quote: str
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Everything that is shown of a reply, as plain text."""

    kind: Kind
    speaker: str
    heading: str | None
    text: str
    notes: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    label: str


def show_reply(reply: Reply, speaker: str, *, note: str | None = None) -> Shown:
    """Return what is shown of a reply; `note` is what the platform has to add."""
    is_answer = reply.outcome is Outcome.ANSWERED
    extras = (reply.redirect, reply.suggestion, note)
    return Shown(
        kind=Kind.ANSWER if is_answer else Kind.OUTCOME,
        speaker=speaker,
        heading=None if is_answer else _OUTCOMES.get(reply.outcome, "No answer"),
        text=reply.response,
        notes=tuple(one for one in extras if one),
        sources=tuple(
            Source(
                number=number,
                title=one.source if one.page is None else f"{one.source}, page {one.page}",
                quote=one.quote,
                place=f"{one.hash[:_HASH_SHOWN]}… bytes {one.start} to {one.end}",
            )
            for number, one in enumerate(reply.citations, start=1)
        ),
        label=f"{reply.ai_label} {reply.outcome}, confidence {reply.confidence}",
    )


def show_error(error: SalonError, speaker: str) -> Shown:
    """Return what is shown of an error: what happened, and what to do."""
    return Shown(
        kind=Kind.REFUSAL,
        speaker=speaker,
        heading="That did not work",
        text=error.message,
        notes=(error.hint,) if error.hint else (),
        label=f"{AI_LABEL} · {error.code}",
    )


def show_help(text: str, speaker: str) -> Shown:
    """Return a hint on how to ask."""
    return Shown(kind=Kind.REFUSAL, speaker=speaker, heading=None, text=text, label=AI_LABEL)


def spoken_name(speaker: str) -> str:
    """Return an avatar's name as it stands over its words."""
    return f"{speaker} ({AI_LABEL})"


def plain_text(shown: Shown) -> str:
    """Return all of it as plain text, for notifications and for platforms without layout."""
    lines = [shown.heading, shown.text, *shown.notes]
    for one in shown.sources:
        lines += [f"[{one.number}] {one.title}: “{one.quote}” ({one.place})"]
    return "\n".join([line for line in (*lines, shown.label) if line])


def split_text(text: str, most: int) -> list[str]:
    """Cut a text into pieces of at most `most` characters, between sentences or words if it can."""
    pieces = []
    while len(text) > most:
        cut = max(text.rfind(end, most // 2, most) + len(end) for end in _SENTENCE_ENDS)
        if cut <= most // 2:
            cut = text.rfind(" ", most // 2, most) + 1 or most
        pieces.append(text[:cut].rstrip())
        text = text[cut:].lstrip()
    return [*pieces, text] if text or not pieces else pieces


def shorten(text: str, most: int) -> str:
    """Return at most `most` characters of a text, with a sign where it was cut."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
