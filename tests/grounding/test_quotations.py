"""Words in quotation marks stand in what is cited, to the letter, or the claim falls."""
# ruff: noqa: RUF001 - signs that look alike are what is tested

import random
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from salon.archive.sqlite_archive import SqliteArchive
from salon.conversation.discussion import NOTHING_SAID, Discussion, Utterance
from salon.core.citations import Citation
from salon.core.documents import Document, Provenance
from salon.grounding.citing import Citations
from salon.grounding.quotations import find_quotations
from salon.grounding.reports import Fault, ResponseReport, Support, Verdict
from salon.grounding.verifying import Speaker, Verification

SENTENCES = (
    "The question of regulation of the trusts stands apart from the question of tariff revision.",
    "No member may hold more than two beds, and nobody waters for 12 others.",
    "He told us that “the dams will hold for 30 years” and went home. Nobody believed him.",
    "The members' beds were the widows' only income; they didn't sell them.",
    'A sign said "keep off the grass" in 1901, though the children\'s path crossed it.',
    "It was paid for with 12,000 crowns that the villages had saved together. It still stands.",
    "What the people’s council decides, the people’s council may undo; that is its whole law.",
    "The river rose three feet in one night,\nand on the second day the bridge was gone.",
    "I am not certain … but I believe that most farmers would rather share a pump than own one.",
    "Our charter (of 1874) says: the water belongs to those who dig the ditch, and to them alone.",
)
MARKS = ("“{}”", '"{}"', "«{}»", "„{}“", "»{}«", "”{}”", "‘{}’", "'{}'", "‹{}›")


class Credulous:
    """A judge that believes everything, so that nothing else stops a claim."""

    threshold = 0.5

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Support]:
        return [Support(probability=1.0) for _ in pairs]


class Desk:
    """Verifies claims about one text."""

    def __init__(self, archive: SqliteArchive) -> None:
        text = archive.add("\n\n".join(SENTENCES).encode())
        self._archive = archive
        self.document: Document = archive.write(
            lambda tx: tx.add_document(
                Provenance(title="Papers. Volume 2", year=1901), source=text.hash
            )
        )
        self._citations = Citations(archive)
        self._verification = Verification(self._citations, Credulous)

    def cite(self, quote: str) -> Citation:
        content = self._archive.get(self.document.text).content
        start = content.index(quote.encode())
        return self._citations.make(self.document, start, start + len(quote.encode()))

    def check(
        self, response: str, *quotes: str, discussion: Discussion = NOTHING_SAID
    ) -> ResponseReport:
        cited = [self.cite(one) for one in quotes]
        speaker = Speaker(names=frozenset({"Ada Berg"}))
        return self._verification.verify(response, cited, speaker=speaker, discussion=discussion)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder: Path = tmp_path_factory.mktemp("quotations")
    archive = SqliteArchive(folder / "salon.db")
    yield Desk(archive)
    archive.close()


# Changing what is quoted


def _letter(text: str, draw: random.Random) -> str:
    place = draw.choice([at for at, sign in enumerate(text) if sign.isalpha()])
    other = draw.choice([one for one in "abcdefghijklmnopqrstuvwxyz" if one != text[place].lower()])
    return text[:place] + other + text[place + 1 :]


def _lost_letter(text: str, draw: random.Random) -> str:
    place = draw.choice([one.start() for one in re.finditer(r"\w{3,}", text)])
    place += draw.randrange(3)
    return text[:place] + text[place + 1 :]


def _case(text: str, draw: random.Random) -> str:
    place = draw.choice([at for at, sign in enumerate(text) if sign.isalpha()])
    return text[:place] + text[place].swapcase() + text[place + 1 :]


def _words(text: str) -> list[str]:
    return re.split(r"(\s+)", text)


def _replaced(text: str, draw: random.Random) -> str:
    words = _words(text)
    words[draw.randrange(0, len(words), 2)] = draw.choice(["close", "tax", "every", "perhaps"])
    return "".join(words)


def _dropped(text: str, draw: random.Random) -> str:
    # Without its first or last words it would still be a true quotation, only shorter.
    words = _words(text)
    # An ellipsis says that something was dropped beside it.
    inner = range(2, len(words) - 2, 2)
    place = draw.choice(
        [at for at in inner if "…" not in (words[at - 2], words[at], words[at + 2])]
    )
    return "".join(words[:place] + words[place + 2 :])


def _added(text: str, draw: random.Random) -> str:
    words = _words(text)
    place = draw.randrange(0, len(words) + 1, 2)
    return "".join([*words[:place], draw.choice(["not", "never", "always", "hardly"]), " "]) + (
        "".join(words[place:])
    )


def _swapped(text: str, draw: random.Random) -> str:
    words = _words(text)
    while True:
        one, two = sorted(draw.sample(range(0, len(words), 2), 2))
        if words[one] != words[two]:
            words[one], words[two] = words[two], words[one]
            return "".join(words)


def _number(text: str, draw: random.Random) -> str:
    digits = [at for at, sign in enumerate(text) if sign.isdigit()]
    if not digits:
        return _added(text, draw)
    place = draw.choice(digits)
    other = str((int(text[place]) + draw.randrange(1, 10)) % 10)
    return text[:place] + other + text[place + 1 :]


def _sign(text: str, draw: random.Random) -> str:
    places = [at for at, sign in enumerate(text) if sign in ".,;:"]
    place = draw.choice(places)
    return text[:place] + draw.choice("!?") + text[place + 1 :]


CHANGES: tuple[Callable[[str, random.Random], str], ...] = (
    *(_letter, _lost_letter, _case, _replaced, _dropped, _added, _swapped, _number, _sign),
)
FRAMES = (
    "In “Papers. Volume 2” (1901) I wrote: {} [1]",
    "I said: {} [1]",
    "{} [1]",
    "That is why I wrote {} in those days [1].",
    "I once said, {} [1] And I meant it.",
)


def test_none_of_two_thousand_changed_quotations_stands(desk: Desk) -> None:
    draw = random.Random(1874)
    passed = []
    for number in range(2_000):
        quote = SENTENCES[number % len(SENTENCES)]
        change = CHANGES[number // len(SENTENCES) % len(CHANGES)]
        changed = change(quote, draw)
        if " ".join(changed.split()) == " ".join(quote.split()):
            continue
        text = draw.choice(FRAMES).format(draw.choice(MARKS).format(changed))
        if desk.check(text, quote).holds:
            passed.append((change.__name__, text))
    assert passed == []


@pytest.mark.parametrize("marks", MARKS)
@pytest.mark.parametrize("frame", FRAMES)
def test_what_is_quoted_to_the_letter_stands(desk: Desk, frame: str, marks: str) -> None:
    for quote in SENTENCES:
        report = desk.check(frame.format(marks.format(quote)), quote)
        assert report.holds, [(one.text, one.reason) for one in report.claims]


def test_a_changed_quotation_is_a_fabricated_one_and_says_which(desk: Desk) -> None:
    report = desk.check(
        "I said: “The question of regulation of the trusts stands close to the question of tariff "
        "revision.” [1]",
        SENTENCES[0],
    )
    (claim,) = report.claims
    assert (claim.verdict, claim.fault) == (Verdict.FABRICATED, Fault.QUOTE_DIFFERS)
    assert "stands close to" in claim.reason


@pytest.mark.parametrize(
    ("quoted", "quote", "stands"),
    [
        ("“stands apart from the question”", 0, True),
        ("“stands apart from the question,”", 0, True),
        ("“the question of tariff revision,”", 0, False),
        ("“tands apart from the question”", 0, False),
        ("“The question of regulation … stands apart”", 0, True),
        ("“The question of regulation [...] stands apart . . . from”", 0, True),
        ("“stands apart … The question of regulation”", 0, False),
        ("“The question of regulation … stands close”", 0, False),
        ("“I am not certain … but I believe”", 8, True),
        ("“member may hold more than two beds”", 1, False),
        ("“waters for 12 others”", 1, False),
        ("“It still stands.”", 5, True),
        ("“the river rose three feet in one night, and on”", 7, False),
        ("“The river rose three feet in one night, and on”", 7, True),
        ("“the dams will hold for 30 years”", 2, True),
        ("“the dams will hold for 40 years”", 2, False),
    ],
)
def test_parts_stand_if_they_follow_each_other_and_nothing_turns_them(
    desk: Desk, quoted: str, quote: int, stands: bool
) -> None:
    report = desk.check(f"So I wrote {quoted} at that time [1].", SENTENCES[quote])
    assert report.holds is stands, report.claims


def test_a_quotation_stands_in_one_citation_and_not_in_two(desk: Desk) -> None:
    first, second = SENTENCES[0], SENTENCES[5]
    apart = f"“{first}” [1] And in the same text: “{second}” [2]"
    assert desk.check(apart, first, second).holds
    assert not desk.check(f"“{second} {first}” [1][2]", first, second).holds
    assert not desk.check(f"“{first} {first}” [1]", first).holds
    assert not desk.check(f"“{first} … {first}” [1]", first).holds


def test_a_quotation_is_held_against_the_citations_of_its_own_sentence(desk: Desk) -> None:
    first, second = SENTENCES[0], SENTENCES[4]
    report = desk.check("I saw “keep off the grass” once [1].", first, second)
    assert [one.fault for one in report.claims] == [Fault.QUOTE_DIFFERS]
    assert desk.check("I saw “keep off the grass” once [2].", first, second).holds


@pytest.mark.parametrize(
    "text",
    [
        "I said: “The trusts stand close to the tariff. [1]",
        'I said: "The trusts stand close to the tariff. [1]',
        "The trusts stand close to the tariff.” [1]",
        "I said: “The trusts stand apart. And they are close to the tariff.” [1]",
        "I said: “The trusts\n\nstand close to the tariff.” [1]",
        "I said: “Once ‘the trusts stand close’ to the tariff.” [1]",
        "I said: “The trusts stand close to the tariff\" [1]",
    ],
)  # fmt: skip
def test_marks_that_do_not_match_hide_nothing(desk: Desk, text: str) -> None:
    report = desk.check(text, SENTENCES[0])
    assert Fault.QUOTE_DIFFERS in {one.fault for one in report.claims}


@pytest.mark.parametrize(
    "text",
    [
        "In “Papers. Volume 2” the trusts stand apart [1].",
        'In "Papers. Volume 2," the trusts stand apart [1].',
        "The “trusts” stand apart [1].",
        "The “tariff revision,” too, stands apart [1].",
        "What you call “big business” stands apart [1].",
        "'Tis the trusts' question, and the members' own, that stands apart [1].",
        "A 6\" pipe and a 4' board stand apart, said the '90s trusts [1].",
        "Rock 'n' roll stands apart [1].",
    ],
)  # fmt: skip
def test_titles_terms_and_apostrophes_are_no_misquotations(desk: Desk, text: str) -> None:
    said = Discussion(utterances=(Utterance(role="Bob", content="And what of big business?"),))
    report = desk.check(text, SENTENCES[0], discussion=said)
    assert report.holds, report.claims


def test_a_term_that_nobody_used_is_no_quotation(desk: Desk) -> None:
    assert not desk.check("The “wicked combinations” stand apart [1].", SENTENCES[0]).holds


def test_a_sentence_of_somebody_else_is_no_quotation_of_what_is_cited(desk: Desk) -> None:
    lie = "The trusts stand close to the question of tariffs."
    said = Discussion(utterances=(Utterance(role="Bob", content=lie),))
    assert not desk.check(f"I said: “{lie}” [1]", SENTENCES[0], discussion=said).holds


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("no marks at all", []),
        ("a “b “c” d” e", ["b “c” d"]),
        ("„Sagte er ‚nie‘ und ging“, so hieß es", ["Sagte er ‚nie‘ und ging"]),
        ("« deux mots » et »drei Worte hier«", [" deux mots ", "drei Worte hier"]),
        ("'a b' and 'c d'", ["a b", "c d"]),
        ("‘the members’ beds’ here", ["the members’ beds"]),
        ("it's the dogs' bowl", []),
        ("“open\n\nnext", ["open"]),
        ("end of it\" and 5\" more", ["end of it"]),
        ('""', []),
    ],
)  # fmt: skip
def test_quotations_are_found_in_all_their_marks(text: str, found: list[str]) -> None:
    assert [one.words for one in find_quotations(text)] == found


@pytest.mark.parametrize("sign", [*"“”\"'‘’„«»", "“a", " 'a", '\n\n"', "… ", "a … "])
def test_a_text_full_of_signs_takes_no_time(desk: Desk, sign: str) -> None:
    text = sign * 20_000
    assert len(find_quotations(text)) <= len(text)
    desk.check(f"“{sign * 2_000}” [1]", SENTENCES[0])
