"""Whose words a note quotes, from provenance that nobody has to be friendly in."""

import pytest

from salon.core.citations import Citation
from salon.core.documents import Document, DocumentId, Provenance
from salon.core.hashing import content_hash
from salon.council.draft_reading import read_draft
from salon.council.drafts import with_notes
from salon.council.source_lines import LONGEST_SOURCE, source_line

CARD = content_hash(b"x")


def _line(provenance: Provenance, page: int | None = None) -> str:
    document = Document(
        id=DocumentId("d"), provenance=provenance, source=CARD, text=CARD, layout=None, added_at=""
    )
    return source_line(document, _cited(page))


def _cited(page: int | None = None) -> Citation:
    return Citation(hash=CARD, start=0, end=5, quote="words", source="", page=page)


@pytest.mark.parametrize(
    ("provenance", "page", "line"),
    [
        (Provenance(title="A Message"), None, "A Message"),
        (
            Provenance(title="A Message", authors=("Abraham Lincoln",), year=1862),
            None,
            "A Message, Abraham Lincoln, 1862",
        ),
        (Provenance(title="On Wells", authors=("A", "B")), 3, "On Wells, A and B, page 3"),
        (Provenance(title="On Wells", authors=("A", "B", "C")), None, "On Wells, A, B and C"),
        (
            Provenance(title="On Wells", authors=("A", "B", "C", "D")),
            None,
            "On Wells, A and others",
        ),
        (Provenance(title="***", authors=(" ",)), None, ""),
    ],
    ids=["title", "all", "two-and-page", "three", "many", "nothing-left"],
)
def test_a_line_says_what_is_known_and_invents_nothing(
    provenance: Provenance, page: int | None, line: str
) -> None:
    assert _line(provenance, page) == line


@pytest.mark.parametrize(
    ("title", "line"),
    [
        ("[Read this](https://evil.example)", "Read this(evil.example)"),
        ("<script>alert(1)</script>Wells", "alert(1)Wells"),
        ("&lt;img src=x onerror=y&gt;Wells", "Wells"),
        ("&amp;#8203;Wells", "#8203;Wells"),
        ("We\u00adlls \u202egnp\U000e0041", "Wells gnp"),
        ("One\ntwo\r\n[^2]: three", "One two 2: three"),
        ('He said "so" card:00#0-1', "He said 'so' 00#0-1"),
        ("hhttp://ttp://evil.example", "evil.example"),
        ("my_notes_on*wells*", "my notes onwells"),
        ("Smith & Sons", "Smith & Sons"),
    ],
    ids=["link", "script", "entity", "twice", "hidden", "lines", "place", "nested", "marks", "and"],
)
def test_hostile_provenance_is_words_and_nothing_else(title: str, line: str) -> None:
    found = _line(Provenance(title=title))
    assert found == line
    markdown = with_notes("# T\n\n## S\n\nWords.[^1]", {"1": _cited()}, {"1": found})
    [note] = read_draft(markdown).notes
    assert (note.quote, note.card, note.start, note.end) == ("words", CARD, 0, 5)
    assert note.source == found


def test_a_line_is_never_long() -> None:
    endless = Provenance(title="word " * 400, authors=("x" * 500, "y" * 500, "z" * 500))
    assert len(_line(endless)) <= LONGEST_SOURCE
