"""Drafts: written, taken apart again, and refused where something would be shown unchecked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.core.citations import Citation
from salon.core.hashing import CardHash
from salon.council.drafts import (
    BlockKind,
    Section,
    Sentence,
    plain_text,
    read_draft,
    read_sections,
    write_draft,
)
from salon.council.hidden import has_hidden

HASH = CardHash("a" * 64)
NOTE = f'[^1]: "cut into blocks that travel" card:{HASH}#3-31'


def _cite(quote: str, start: int = 0) -> Citation:
    return Citation(
        hash=HASH, start=start, end=start + len(quote.encode()), quote=quote, source="S"
    )


def _codes(markdown: str) -> list[str]:
    return [one.code for one in read_draft(markdown).problems]


def test_a_draft_that_was_written_is_read_back_as_it_was() -> None:
    first, second = _cite("cut into blocks that travel"), _cite("each finds its own way", 40)
    sections = (
        Section(
            heading="Origins",
            paragraphs=(
                (
                    Sentence(text="Messages were cut into blocks.", citations=(first, second)),
                    Sentence(text="Each found its way.", citations=(second,)),
                ),
                (Sentence(text="What do the sources say?"),),
            ),
        ),
        Section(heading="Later", paragraphs=((Sentence(text="It lasted.", citations=(first,)),),)),
    )
    markdown = write_draft("Packet  switching", sections)
    assert read_draft(markdown).title == "Packet switching"
    assert read_draft(markdown).problems == ()
    assert read_sections(markdown, (first, second)) == sections
    assert markdown.count("card:") == 2, "the same citation is one note"


def test_a_draft_reads_as_the_module_says() -> None:
    markdown = write_draft(
        "Packet switching",
        [
            Section(
                heading="Origins",
                paragraphs=((Sentence(text="It was.", citations=(_cite("It was so then"),)),),),
            )
        ],
    )
    assert markdown == (
        "# Packet switching\n\n## Origins\n\nIt was.[^1]\n\n"
        f'[^1]: "It was so then" card:{HASH}#0-14\n'
    )
    assert plain_text(read_draft(markdown)) == "Packet switching\n\nOrigins\n\nIt was.\n"


@given(quote=st.text(min_size=1, max_size=80).filter(lambda one: one.strip()))
def test_any_quote_survives_its_note_and_stays_on_its_line(quote: str) -> None:
    cited = _cite(quote.encode(errors="replace").decode())
    sections = [
        Section(heading="One", paragraphs=((Sentence(text="It is so.", citations=(cited,)),),))
    ]
    draft = read_draft(write_draft("Title", sections))
    assert draft.problems == ()
    assert [one.quote for one in draft.notes] == [cited.quote]


def test_what_a_quote_holds_is_no_markdown_and_no_html_in_its_note() -> None:
    quote = "<script>x</script> [click](javascript:x) `code` &lt;"
    sections = [
        Section(
            heading="One", paragraphs=((Sentence(text="So it is.", citations=(_cite(quote),)),),)
        )
    ]
    note = write_draft("Title", sections).splitlines()[-1]
    assert not set("<>`&") & set(note)
    assert note.count("[") == 1, "only the note's own label"


@pytest.mark.parametrize(
    ("spelled", "quote"),
    [
        ('"plain words here"', "plain words here"),
        ('"with \\"signs\\" in it"', 'with "signs" in it'),
        ('"with "signs" in it"', 'with "signs" in it'),
        ("\u201cin curly signs\u201d", "in curly signs"),
        ('"a back\\slash"', "a back\\slash"),
    ],
)
def test_a_note_may_be_typed_by_hand(spelled: str, quote: str) -> None:
    [note] = read_draft(f"# T\n\n## S\n\nYes.[^a]\n\n[^a]: {spelled} card:{HASH}").notes
    assert (note.label, note.quote, note.start) == ("a", quote, None)


@pytest.mark.parametrize("place", [f"card:{HASH}", f"card:{HASH}#3-9"])
def test_a_note_may_say_whose_words_it_quotes(place: str) -> None:
    markdown = f'# T\n\n## S\n\nYes.[^1]\n\n[^1]: "it is" {place} \u2014 On Nets, A. Byron, 1964\n'
    draft = read_draft(markdown)
    assert draft.problems == ()
    [note] = draft.notes
    assert (note.quote, note.card, note.source) == ("it is", HASH, "On Nets, A. Byron, 1964")


def test_what_a_source_hides_is_spelled_out_in_its_note() -> None:
    quote = "soft\u00adly \U000e0041 said"
    said = Sentence(text=quote, citations=(_cite(quote),))
    section = Section(heading="S", paragraphs=((said,),))
    markdown = write_draft("T", [section])
    assert not has_hidden(markdown)
    assert "softly" in markdown
    assert read_draft(markdown).notes[0].quote == quote


def test_a_heading_over_deeper_ones_is_not_empty() -> None:
    assert _codes("# T\n\n## S\n\n### Deeper\n\nText.") == []


def test_blocks_are_titles_headings_paragraphs_items_and_quotes() -> None:
    draft = read_draft(
        f"# T\n\n## S\nOne line\nand another.[^1]\n- an item\n  goes on\n2. a second\n"
        f"> quoted\n> twice\n### Deeper\nEnd.\n\n{NOTE}\n"
    )
    assert [(one.kind, one.text) for one in draft.blocks] == [
        (BlockKind.TITLE, "T"),
        (BlockKind.HEADING, "S"),
        (BlockKind.PARAGRAPH, "One line\nand another.[^1]"),
        (BlockKind.ITEM, "an item\n  goes on"),
        (BlockKind.ITEM, "a second"),
        (BlockKind.QUOTE, "quoted\ntwice"),
        (BlockKind.HEADING, "Deeper"),
        (BlockKind.PARAGRAPH, "End."),
    ]
    assert draft.problems == ()


@pytest.mark.parametrize(
    ("markdown", "code"),
    [
        ("", "no_title"),
        ("# T", "no_section"),
        ("# T\n\n## S", "empty"),
        ("## S\n\nText.", "no_title"),
        ("# T\n\n# T2\n\nText.", "structure"),
        ("## First\n\n# T\n\nText.", "structure"),
        ("# T\n\n## S [^1]\n\nText.", "structure"),
        ("# T\n\n## S\n\n```\ncode\n```", "structure"),
        ("# T\n\n## S\n\n~~~\ncode\n~~~", "structure"),
        ("# T\n\n## S\n\n| a | b |", "structure"),
        ("# T\n\n## S\n\nA claim\n=======", "structure"),
        ("# T\n\n## S\n\nA claim\n---", "structure"),
        ("# T\n\n## S\n\nA claim\n=", "structure"),
        ("# T\n\n## S\n\nA claim\n-", "structure"),
        ("# T\n\n## S\n\nA claim\n --", "structure"),
        ("# T\n\n##  \n\nText.", "structure"),
        ("# T\n\n## S\n\nText.\n##\nMore.", "structure"),
        ("# T\n\n## ##\n\nText.", "structure"),
        ("# T\n\n## S\n\n## S2\n\nText.", "structure"),
        ("# T\n\n## S\n\nText.\n\n### S2", "structure"),
        ("# T\n\n## [Read this](https://example.com)\n\nText.", "bad_link"),
        ("# See www.example.com\n\n## S\n\nText.", "bad_link"),
        ("# T\n\n## S\n\n[x]: javascript:alert(1)", "structure"),
        ("# T\n\n## S\n\n![pixel](https://example.com/p.png)", "structure"),
        ("# T\n\n## S\n\n<script>alert(1)</script>", "raw_html"),
        ("# T\n\n## S\n\n<!-- hidden -->", "raw_html"),
        ("# T\n\n## S\n\n<https://example.com>", "raw_html"),
        ("# T\n\n## S\n\n[x](javascript:alert(1))", "bad_link"),
        ("# T\n\n## S\n\n[x](http://example.com)", "bad_link"),
        ("# T\n\n## S\n\n[x](java&#115;cript:1)", "bad_link"),
        ("# T\n\n## S\n\n[x]( ../completed/x)", "bad_link"),
        ("# T\n\n## S\n\nRight \u202eto left.", "hidden_characters"),
        ("# T\n\n## S\n\nZero\u200bwidth.", "hidden_characters"),
        ("# T\n\n## S\n\nNull\x00byte.", "hidden_characters"),
        ("# T\n\n## S\n\nTags\U000e0049\U000e0067.", "hidden_characters"),
        ("# T\U000e0049\n\n## S\n\nText.", "hidden_characters"),
        ("# T\n\n## S\ufeff\n\nText.", "hidden_characters"),
        ("# T\n\n## S\n\nSoft\u00adhyphen.", "hidden_characters"),
        ("# T\n\n## S\n\nText.\n\n[^1]: no card", "bad_note"),
        (f"# T\n\n## S\n\nText.\n\n{NOTE}\n{NOTE}", "bad_note"),
        (f"# T\n\n## S\n\nText.\n\n{NOTE}\n\nMore text.", "structure"),
    ],
)
def test_what_would_be_shown_unchecked_is_a_problem(markdown: str, code: str) -> None:
    assert code in _codes(markdown)


@pytest.mark.parametrize("target", ["https://example.com/a", f"card:{HASH}"])
def test_safe_links_are_fine_and_leave_their_words(target: str) -> None:
    draft = read_draft(f"# T\n\n## S\n\nSee [the rules]({target}) there.")
    assert draft.problems == ()
    assert plain_text(draft).endswith("See the rules there.\n")


@given(st.text(max_size=300))
def test_reading_never_fails_whatever_it_is_given(text: str) -> None:
    draft = read_draft(text)
    assert isinstance(draft.problems, tuple)
    assert draft.title or any(one.code == "no_title" for one in draft.problems)
