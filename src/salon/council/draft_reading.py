"""Reading a draft: Markdown taken apart into blocks and notes, line by line.

Only what is listed here may appear in a draft, so that nothing is shown that was not checked: one
title, sections, paragraphs, list items and block quotes. Whatever else there is becomes a problem.
A note may end with whose words it quotes; the system writes that, and `checks` derives it again.
"""

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from salon.council.hidden import has_hidden, visible
from salon.council.rounds import Failing


class BlockKind(StrEnum):
    """What a block of a draft is."""

    TITLE = "title"
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "list_item"
    QUOTE = "quote"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One block of a draft as it stands, marks included."""

    kind: BlockKind
    text: str

    @property
    def is_prose(self) -> bool:
        """Tell whether the block holds sentences."""
        return self.kind not in {BlockKind.TITLE, BlockKind.HEADING}


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What a mark leads to; where bytes are not named, the quote is looked for.

    `quote` is read as a JSON string where it is one, `raw` is how it was typed.
    """

    label: str
    quote: str
    raw: str
    card: str
    start: int | None = None
    end: int | None = None
    source: str = ""
    """Title, authors and year as the note itself says them; empty where it says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A draft taken apart: `body` is everything before the notes, `problems` what cannot stand."""

    title: str
    body: str
    blocks: tuple[Block, ...]
    notes: tuple[Note, ...]
    problems: tuple[Failing, ...] = ()


def read_draft(markdown: str) -> Draft:
    """Take a draft apart; what may not be there is a problem, never an error."""
    reading = _Reading()
    for line in markdown.replace("\r\n", "\n").split("\n"):
        reading.take(line)
    return reading.finish()


MARK = re.compile(r"\[\^([^\]\s]{1,40})\]")
_LINK_TARGET = re.compile(r"\]\(\s*<?\s*([^)\s>]*)")
_SAFE_TARGETS = ("https://", "card:")
_HTML = re.compile(r"<(?=[A-Za-z/!?])")
_NOTE = re.compile(r"\[\^([^\]\s]{1,40})\]:[ \t]*(.*)")
_NOTE_BODY = re.compile(
    '(?P<quote>["\u201c].*["\u201d])\\s+card:(?P<card>[0-9A-Za-z]{1,140})'
    "(?:#(?P<start>\\d{1,12})-(?P<end>\\d{1,12}))?"
    '(?:\\s+\u2014\\s+(?P<source>[^"\u201c\u201d]{1,400}))?\\s*'
)
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*)")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+(.*)")
_BLOCK_QUOTE = re.compile(r"[ \t]*>[ \t]?(.*)")
_NO_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]*")
_LINK = re.compile(r"\]\s*[(\[]|://|\bwww\.", re.IGNORECASE)
_FORBIDDEN: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (re.compile(r"[ \t]*(?:`{3,}|~{3,})"), "structure", "there is no room for code blocks"),
    (re.compile(r"[ \t]*\|"), "structure", "there is no room for tables"),
    (re.compile(r"[ \t]*(?:-[ \t]*){3,}$|[ \t]*(?:=+|--?|_{3,}|\*{3,})[ \t]*$"), "structure",
     "headings are written with #, and lines are not drawn"),
    (re.compile(r"[ \t]*\[[^\]^][^\]]*\]:"), "structure", "only notes are defined at the end"),
    (re.compile(r".*!\["), "structure", "there is no room for pictures"),
)  # fmt: skip
"""Lines that a draft may not have, because what they show would not be checked."""


class _Reading:
    """A draft while it is read, line by line."""

    def __init__(self) -> None:
        self.title = ""
        self._body: list[str] = []
        self._blocks: list[Block] = []
        self._levels: list[int] = []
        self._open: tuple[BlockKind, list[str]] | None = None
        self._notes: dict[str, Note] = {}
        self._problems: list[Failing] = []
        self._in_notes = False

    def take(self, line: str) -> None:
        note = _NOTE.fullmatch(line)
        if note:
            self._in_notes = True
            self._take_note(note[1], note[2], line)
            return
        if self._in_notes:
            if line.strip():
                self._problem("structure", "the notes come last, one a line", line)
            return
        self._body.append(line)
        self._check_line(line)
        self._take_line(line)

    def finish(self) -> Draft:
        self._close()
        if not self.title:
            self._problem("no_title", "a draft begins with a title, like '# Packet switching'")
        kinds = [one.kind for one in self._blocks]
        if BlockKind.HEADING not in kinds:
            self._problem("no_section", "a draft has at least one section, like '## Origins'")
        if not any(one.is_prose for one in self._blocks):
            self._problem("empty", "the draft says nothing")
        self._check_sections()
        return Draft(
            title=self.title,
            body="\n".join(self._body).strip("\n"),
            blocks=tuple(self._blocks),
            notes=tuple(self._notes.values()),
            problems=tuple(self._problems),
        )

    def _take_line(self, line: str) -> None:
        if not line.strip():
            self._close()
        elif _NO_HEADING.fullmatch(line):
            self._close()
            self._problem("structure", "a heading has words")
        elif heading := _HEADING.fullmatch(line):
            self._close()
            self._take_heading(len(heading[1]), heading[2].strip().rstrip("#").rstrip())
        elif item := _ITEM.fullmatch(line):
            self._close()
            self._open = (BlockKind.ITEM, [item[1]])
        elif quote := _BLOCK_QUOTE.fullmatch(line):
            if self._open is None or self._open[0] is not BlockKind.QUOTE:
                self._close()
                self._open = (BlockKind.QUOTE, [])
            self._open[1].append(quote[1])
        elif self._open is None:
            self._open = (BlockKind.PARAGRAPH, [line])
        else:
            self._open[1].append(line)

    def _take_heading(self, level: int, text: str) -> None:
        if MARK.search(text):
            self._problem("structure", "a heading carries no marks", text)
        if not text:
            self._problem("structure", "a heading has words")
        if _LINK.search(text):
            self._problem("bad_link", "a title or heading leads nowhere", text)
        if not self._blocks:
            if level == 1:
                self.title = text
                self._add(BlockKind.TITLE, text, level)
                return
            self._problem("structure", "the title comes first", text)
        elif level == 1:
            self._problem("structure", "there is one title; sections begin with ##", text)
        self._add(BlockKind.HEADING, text, level)

    def _take_note(self, label: str, text: str, line: str) -> None:
        found = _NOTE_BODY.fullmatch(text)
        if found is None:
            self._problem(
                "bad_note", 'a note reads [^1]: "the quote" card:HASH#START-END, on one line', line
            )
        elif label in self._notes:
            self._problem("bad_note", f"there are two notes {label}", line)
        else:
            start, end = found["start"], found["end"]
            raw = found["quote"][1:-1]
            self._notes[label] = Note(
                label=label,
                quote=_unspelled(found["quote"]),
                raw=raw,
                card=found["card"],
                start=None if start is None else int(start),
                end=None if end is None else int(end),
                source=(found["source"] or "").strip(),
            )

    def _check_line(self, line: str) -> None:
        for pattern, code, message in _FORBIDDEN:
            if pattern.match(line):
                self._problem(code, message, line)
        if _HTML.search(line):
            self._problem("raw_html", "a draft holds no HTML", line)
        if has_hidden(line):
            self._problem(
                "hidden_characters", "a draft holds no characters that cannot be seen", line
            )
        for target in _LINK_TARGET.findall(line):
            if not target.startswith(_SAFE_TARGETS):
                self._problem("bad_link", "links lead to https:// or card: and nowhere else", line)

    def _close(self) -> None:
        if self._open is not None:
            kind, lines = self._open
            self._add(kind, "\n".join(lines).strip(), 0)
            self._open = None

    def _add(self, kind: BlockKind, text: str, level: int) -> None:
        self._blocks.append(Block(kind=kind, text=text))
        self._levels.append(level)

    def _check_sections(self) -> None:
        """Find headings with nothing under them; one that goes before deeper ones is none."""
        placed = [*zip(self._blocks, self._levels, strict=True), (None, 1)]
        for (block, level), (following, next_level) in pairwise(placed):
            if block is None or block.kind is not BlockKind.HEADING:
                continue
            is_followed = following is not None and (following.is_prose or next_level > level)
            if not is_followed:
                self._problem("structure", "there is nothing under this heading", block.text)

    def _problem(self, code: str, message: str, excerpt: str = "") -> None:
        self._problems.append(
            Failing(code=code, message=message, excerpt=visible(excerpt).strip()[:120])
        )


def _unspelled(quoted: str) -> str:
    if quoted[0] == quoted[-1] == '"':
        try:
            return str(json.loads(quoted, strict=False))
        except ValueError:
            pass
    return quoted[1:-1]
