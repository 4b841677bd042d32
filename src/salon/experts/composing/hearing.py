"""Sentences of a text that is still being written, given out as soon as each is verified.

It is a first look and not the reply: the reply is made from the whole text, as if nobody had
listened. Invariant: nothing is given out that was not verified in the very form in which it is
given out. Where the text takes a turn that moves earlier sentences, no more is given out.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from salon.core.citations import Citation
from salon.experts.composing.kept import draft_of, kept_of
from salon.grounding.claims import take_apart
from salon.grounding.reports import ClaimCheck, ResponseReport

Check: TypeAlias = Callable[[str, Sequence[Citation]], ResponseReport]
Heard: TypeAlias = Callable[[str], None]
"""Takes the next piece of a reply; all pieces together are the beginning of its text."""


class Hearing:
    """Listens to one text while it is written."""

    def __init__(self, citations: Sequence[Citation], check: Check, heard: Heard) -> None:
        self._citations = citations
        self._check = check
        self._heard = heard
        self._written = ""
        self._seen: list[str] = []
        self._kept: list[ClaimCheck] = []
        self._given = ""
        self._is_over = False

    def add(self, piece: str) -> None:
        """Take the next piece of the text, and give out what stands by now."""
        self._written += piece
        if self._is_over:
            return
        whole = self._whole_sentences()
        if whole[: len(self._seen)] != self._seen:
            self._is_over = True
            return
        for sentence in whole[len(self._seen) :]:
            self._seen.append(sentence)
            self._kept += kept_of(self._check(sentence, self._citations).claims)
            self._give()

    def _whole_sentences(self) -> list[str]:
        """Return the sentences that are over: another one has begun, and no quote is open."""
        found = [one.text for one in take_apart(self._written, self._citations)]
        if not found or found[-1].lstrip().startswith("["):
            return self._seen  # the marks of the last sentence are still on their way
        whole: list[str] = []
        for sentence in found[:-1]:
            if _has_open_quote(sentence):
                break
            whole.append(sentence)
        return whole

    def _give(self) -> None:
        draft = draft_of(self._kept, "")
        if draft is None or not draft.response.startswith(self._given):
            return
        new = draft.response[len(self._given) :]
        if new and self._check(new, draft.citations).holds:
            self._given = draft.response
            self._heard(new)


def _has_open_quote(sentence: str) -> bool:
    return sentence.count("“") > sentence.count("”") or sentence.count('"') % 2 == 1
