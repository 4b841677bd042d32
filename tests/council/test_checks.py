"""The mechanical checks: what fails goes back with the list, before anybody has an opinion."""

import pytest

from salon.core.documents import VerificationStatus
from salon.council.checks import MOST_FAILINGS, Checked, Checks
from salon.council.drafts import LINKING, Section, Sentence, read_draft, write_draft
from salon.council.rules import TextLimits
from salon.grounding.citing import Citations
from salon.grounding.support import load_judge
from salon.grounding.verifying import Judge, Verification
from tests.council.desks import GARDEN, MADE, SENTENCES, Council


def _no_model() -> Judge:
    raise AssertionError("a quote that is the sentence needs no model")


def _check(council: Council, markdown: str, *, limits: TextLimits | None = None) -> Checked:
    verification = Verification(Citations(council.archive), lambda: load_judge(None))
    return Checks(council.archive, lambda: verification, limits or TextLimits()).check(markdown)


def _codes(checked: Checked) -> list[str]:
    return [one.code for one in checked.failings]


def _with(council: Council, text: str, quote: str = SENTENCES[0], *, where: str = "") -> str:
    spot = where or f"card:{council.garden.text}"
    return f'# A garden\n\n## What it is\n\n{text}\n\n[^1]: "{quote}" {spot}\n'


def test_quotes_pass_without_a_model(council: Council) -> None:
    verification = Verification(Citations(council.archive), _no_model)
    checks = Checks(council.archive, lambda: verification, TextLimits())
    checked = checks.check(council.draft())
    assert checked.holds
    assert [one.quote for one in checked.citations] == list(SENTENCES[:3])
    assert checked.title == "A garden and its well"


def test_spans_that_were_left_out_are_filled_in(council: Council) -> None:
    checked = _check(council, _with(council, f"{SENTENCES[1]}[^1]", SENTENCES[1]))
    assert checked.holds
    [cited] = checked.citations
    start = GARDEN.index(SENTENCES[1])
    assert (cited.start, cited.end) == (start, start + len(SENTENCES[1]))
    assert f"card:{council.garden.text}#{start}-{cited.end}" in checked.markdown
    assert _check(council, checked.markdown).markdown == checked.markdown, "and then it stays"


def test_white_space_that_changed_on_the_way_is_forgiven_and_the_card_s_own_words_are_kept(
    council: Council,
) -> None:
    wrapped = SENTENCES[2].replace(" lose ", "  lose\\n")
    checked = _check(council, _with(council, f"{SENTENCES[2]}[^1]", wrapped))
    assert checked.holds
    assert checked.citations[0].quote == SENTENCES[2]


def test_a_claim_in_other_words_is_judged_by_what_it_cites(council: Council) -> None:
    borne_out = _check(council, _with(council, "The garden has thirty members.[^1]"))
    assert borne_out.holds
    invented = _check(council, _with(council, "The garden has ninety members.[^1]"))
    assert _codes(invented) == ["not_borne_out"]
    assert "ninety" in invented.failings[0].excerpt


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"{SENTENCES[0]}[^1] {SENTENCES[1]}", "no_citation"),
        (f"{SENTENCES[0]}[^1][^2]", "no_note"),
        ("What do the sources say?", "unused_note"),
        (f"{SENTENCES[1]}[^1]", "not_borne_out"),
        (f"{SENTENCES[0]}[^1] It says so.[1]", "bad_mark"),
        (f"> {SENTENCES[0]}[^1]\n\nHidden as a second block: all wells are wet.", "no_citation"),
    ],
    ids=["unmarked", "no-note", "unused", "of-another-place", "plain-mark", "second-block"],
)
def test_every_sentence_that_claims_something_carries_a_mark_that_bears_it_out(
    council: Council, text: str, code: str
) -> None:
    assert code in _codes(_check(council, _with(council, text)))


@pytest.mark.parametrize("words", sorted(LINKING))
def test_words_that_claim_nothing_need_no_mark(council: Council, words: str) -> None:
    assert _check(council, _with(council, f"{words} {SENTENCES[0]}[^1]")).holds


@pytest.mark.requirement("council/search/results-verifiable")
@pytest.mark.parametrize(
    ("quote", "where", "code"),
    [
        (SENTENCES[0], "card:{garden}#1-50", "quote_differs"),
        (SENTENCES[0], "card:{garden}#0-9999", "quote_differs"),
        ("The garden has ninety members", "card:{garden}", "quote_differs"),
        (SENTENCES[0], f"card:{'0' * 64}", "no_such_card"),
        (SENTENCES[0], "card:beef", "no_such_card"),
        (SENTENCES[0], "card:{loose}", "not_a_document"),
    ],
    ids=["other-span", "span-outside", "made-up", "no-card", "no-hash", "no-document"],
)
def test_a_made_up_citation_is_found_from_hash_and_span_alone(
    council: Council, quote: str, where: str, code: str
) -> None:
    loose = council.archive.add(f"{SENTENCES[0]} And more.".encode()).hash
    spot = where.format(garden=council.garden.text, loose=loose)
    checked = _check(council, _with(council, f"{SENTENCES[0]}[^1]", quote, where=spot))
    assert _codes(checked) == [code]


def test_what_the_council_made_is_never_the_only_support(council: Council) -> None:
    alone = _check(council, _with(council, f"{MADE}[^1]", MADE, where=f"card:{council.made.text}"))
    assert _codes(alone) == ["only_derived"]
    both = Sentence(
        text="The garden has thirty members.",
        citations=(council.cite(SENTENCES[0]), council.cite(MADE, council.made)),
    )
    section = Section(heading="Members", paragraphs=((both,),))
    assert _check(council, write_draft("A garden", [section])).holds


def test_disputed_documents_are_not_used(council: Council) -> None:
    disputed = VerificationStatus.DISPUTED
    council.archive.write(lambda tx: tx.set_verification(council.garden.id, disputed))
    assert set(_codes(_check(council, council.draft()))) == {"disputed"}


@pytest.mark.parametrize(
    "limits",
    [
        TextLimits(draft=300),
        TextLimits(title=5),
        TextLimits(heading=5),
        TextLimits(notes=2),
        TextLimits(quote=20),
    ],
    ids=["draft", "title", "heading", "notes", "quote"],
)
def test_sizes_are_limited(council: Council, limits: TextLimits) -> None:
    assert "too_long" in _codes(_check(council, council.draft(), limits=limits))


@pytest.mark.parametrize("heading", ["All wells are wet.", "Buy now!"])
def test_a_heading_does_not_state(council: Council, heading: str) -> None:
    markdown = council.draft().replace("What the rules say, for I and 0", heading)
    assert _codes(_check(council, markdown)) == ["heading_claims"]


@pytest.mark.parametrize(
    "heading",
    [
        "The council finds the mayor guilty of murder",
        "The garden has ninety members",
        "Did the mayor poison the well?",
        "Why the mayor poisoned the water",
    ],
)
def test_a_heading_says_no_more_than_its_section_quotes(council: Council, heading: str) -> None:
    markdown = council.draft().replace("What the rules say, for I and 0", heading)
    assert _codes(_check(council, markdown)) == ["heading_claims"]


@pytest.mark.parametrize(
    "heading",
    [
        "The garden has thirty members",
        "Thirty members who share one well",
        "Who share the garden and its well?",
        "What do the sources say?",
        "How the members water their beds",
    ],
)
def test_a_heading_that_its_section_bears_out_may_say_it(council: Council, heading: str) -> None:
    markdown = council.draft().replace("What the rules say, for I and 0", heading)
    assert _codes(_check(council, markdown)) == []


def test_a_title_claims_what_the_text_quotes_or_nothing(council: Council) -> None:
    def check(title: str, topic: str = "") -> list[str]:
        text = council.draft().replace("A garden and its well", title)
        verification = Verification(Citations(council.archive), lambda: load_judge(None))
        checks = Checks(council.archive, lambda: verification, TextLimits())
        return _codes(checks.check(text, topic=topic))

    assert check("The garden has thirty members") == []
    assert check("The well is poisoned and Ruth Alder killed a man") == ["heading_claims"]
    asked = "Did Ruth Alder poison that well?"
    assert check(asked) == ["heading_claims"]
    assert check(asked, topic="did Ruth Alder poison that well") == [], "a person asked"
    assert check("How the mayor poisoned the well") == ["heading_claims"]
    assert check("How towns share their wells", topic="How towns share their wells") == []
    assert check("The well is poisoned", topic="The well is poisoned") == ["heading_claims"]


def test_the_system_says_whose_words_a_note_quotes_whatever_the_seat_wrote(
    council: Council,
) -> None:
    line = f"card:{council.garden.text}#0-49 \u2014 Rules of the Garden, 1901\n"
    for tail in ("", " \u2014 The Bible", " \u2014 Rules of the Garden, 1901"):
        spot = f"card:{council.garden.text}#0-49{tail}"
        checked = _check(council, _with(council, f"{SENTENCES[0]}[^1]", where=spot))
        assert checked.holds
        assert checked.markdown.endswith(line)


def test_what_the_system_adds_takes_nothing_from_the_room_of_a_seat(council: Council) -> None:
    first = _check(council, council.draft())
    own = len(first.markdown) - first.markdown.count(" \u2014 ") * len(
        " \u2014 Rules of the Garden, 1901"
    )
    assert _check(council, first.markdown, limits=TextLimits(draft=own)).holds
    short = _check(council, first.markdown, limits=TextLimits(draft=own - 1))
    assert _codes(short) == ["too_long"]
    bare = _with(council, f"{SENTENCES[0]}[^1]")
    assert _codes(_check(council, bare, limits=TextLimits(draft=len(bare)))) == ["too_long"], (
        "spans are filled in, and must fit"
    )


def test_a_sentence_is_its_quote_without_what_the_source_hides(council: Council) -> None:
    text = "The war\u00adden\u200b keeps\ufeff the only key of the gate."
    other = council._document("On keys", f"{text} Nobody else has one.")
    said = Sentence(text=text, citations=(council.cite(text, other),))
    section = Section(heading="Keys", paragraphs=((said,),))
    verification = Verification(Citations(council.archive), _no_model)
    checked = Checks(council.archive, lambda: verification, TextLimits()).check(
        write_draft("Keys", [section])
    )
    assert checked.holds
    assert checked.citations[0].quote == text
    assert "The warden keeps the only key" in checked.markdown


def test_what_is_wrong_with_several_notes_is_said_once(council: Council) -> None:
    disputed = VerificationStatus.DISPUTED
    council.archive.write(lambda tx: tx.set_verification(council.garden.id, disputed))
    [one] = _check(council, council.draft()).failings
    assert one.message.endswith("(notes [^1], [^2], [^3])")


def test_a_text_without_form_is_not_read_further(council: Council) -> None:
    checked = _check(council, "just words")
    assert set(_codes(checked)) == {"no_title", "no_section"}
    assert checked.markdown == "just words"


def test_a_list_of_failings_ends_somewhere(council: Council) -> None:
    claims = " ".join(f"Claim number {number} is made up." for number in range(80))
    checked = _check(council, _with(council, f"{SENTENCES[0]}[^1] {claims}"))
    assert len(checked.failings) == MOST_FAILINGS


def test_a_quote_with_references_in_it_is_still_a_quote(council: Council) -> None:
    text = "The well is deep [12] and the water is cold [3, 4]."
    other = council._document("On wells", f"{text} Nobody drinks it.")
    cited = council.cite(text, other)
    section = Section(heading="Wells", paragraphs=((Sentence(text=text, citations=(cited,)),),))
    checked = _check(council, write_draft("Wells", [section]))
    assert checked.holds
    assert read_draft(checked.markdown).notes[0].quote == text


@pytest.mark.parametrize(
    "text",
    [
        "# " + " " * 50_000 + "x",
        "[a](" * 12_000,
        "[^1]: " + '" ' * 25_000,
        "- " * 25_000 + "x",
        "# T\n\n## S\n\n" + "a. " * 18_000,
    ],
    ids=["heading", "links", "note", "rule", "sentences"],
)
def test_hostile_texts_are_read_in_one_go(council: Council, text: str) -> None:
    assert not _check(council, text).holds


def test_a_quote_is_found_between_folds_at_its_own_bytes(council: Council) -> None:
    text = "Ä first  line\nof the\tsecond page, which goes on and on."
    other = council._document("On folds", text)
    quote = "first line of the second page"
    checked = _check(
        council, _with(council, "It is the first line of the second page.[^1]", quote,
                       where=f"card:{other.text}"),
    )  # fmt: skip
    [cited] = checked.citations
    assert text.encode()[cited.start : cited.end].decode() == cited.quote
    assert cited.quote == "first  line\nof the\tsecond page"
