"""Measuring scam detection across sources: readers, figures, the peers and the command."""

import csv
import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from salon.cli.eval_scam import scam
from salon.core.errors import FileMissing, InvalidInput, UnknownProvider
from salon.evaluation.progress import silent
from salon.evaluation.scam import SHIPPED, evaluate_scam, measure, recall_at
from salon.evaluation.scam_fitting import fit_words, sklearn_module
from salon.evaluation.scam_original import KEYWORDS, original_score
from salon.evaluation.scam_sets import (
    Case,
    read_calls,
    read_dialogues,
    read_letters,
    read_text_messages,
)
from salon.steps.scam_model import ScamWords

SHARED = Path(__file__).parents[3] / "shared" / "data"
FRAUDS = [
    "Your account is blocked, verify the card number now",
    "Verify your account details with the bank officer now",
    "The bank found a problem, confirm your account number",
    "You won a prize, call now to claim the money",
]
HARMLESS = [
    "The garden looks lovely after the rain",
    "We walked the dog along the river today",
    "The soup was lovely, we ate in the garden",
    "My brother plays the guitar by the river",
]


def write_calls(path: Path) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["conversation", "label"])
        for text in (*FRAUDS, FRAUDS[0]):
            rows.writerow([f"Person A: {text}. Person B: Who is this? Person A: The bank.", 1])
        for text in HARMLESS:
            rows.writerow([f"Person A: {text}. Person B: How nice.", 0])
    return path


def write_messages(path: Path) -> Path:
    lines = [f"spam\t{one}" for one in FRAUDS] + [f"ham\t{one}" for one in HARMLESS]
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))
    return path


def write_letters(path: Path) -> Path:
    letter = "Dear friend, send money by wire transfer to the account of my late husband."
    rows = [
        {"id": at, "category": "phishing", "subcategory": kind, "generated text": letter}
        for at, kind in enumerate(("widow", "widow", "heir"))
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def write_dialogues(path: Path) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["Dialogue_ID", "Speaker", "Utterance"])
        for dialogue in range(3):
            for text in HARMLESS:
                rows.writerow([dialogue, "Ann", text])
            rows.writerow([dialogue, "Ben", "Yes."])
    return path


def test_a_call_is_what_the_caller_said_and_is_kept_once(tmp_path: Path) -> None:
    source = read_calls(write_calls(tmp_path / "calls.csv"))
    assert len(source.cases) == len(FRAUDS) + len(HARMLESS)
    assert source.scams == len(FRAUDS)
    assert source.cases[0].messages == (f"{FRAUDS[0]}.", "The bank.")


def test_dialogues_give_a_case_for_each_speaker_who_says_enough(tmp_path: Path) -> None:
    source = read_dialogues(write_dialogues(tmp_path / "talk.csv"))
    assert [one.messages for one in source.cases] == [tuple(HARMLESS)] * 3
    assert source.scams == 0


def test_letters_know_their_kind_and_messages_may_be_compressed(tmp_path: Path) -> None:
    letters = read_letters(write_letters(tmp_path / "letters.jsonl"))
    assert [one.kind for one in letters.cases] == ["widow", "widow", "heir"]
    messages = read_text_messages(write_messages(tmp_path / "sms.tsv.gz"))
    assert (messages.scams, len(messages.cases)) == (4, 8)


@pytest.mark.parametrize(
    ("reader", "content"),
    [
        (read_calls, "conversation,label\nPerson A: Hi,maybe\n"),
        (read_calls, "text,label\nPerson A: Hi,1\n"),
        (read_calls, "conversation,label\n"),
        (read_text_messages, "eggs\tHello\n"),
        (read_letters, '{"id": 1}\n'),
        (read_dialogues, "Speaker,Utterance\nAnn,Hi\n"),
    ],
    ids=["label", "column", "empty", "neither", "letter", "dialogue"],
)
def test_a_file_that_is_something_else_is_refused(
    tmp_path: Path, reader: object, content: str
) -> None:
    path = tmp_path / "odd"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InvalidInput):
        reader(path)  # type: ignore[operator]


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileMissing):
        read_letters(tmp_path / "none")


def test_recall_counts_only_what_few_harmless_cases_reach() -> None:
    harmless = np.linspace(0, 1, 100)
    assert recall_at(np.array([0.5, 0.96, 2.0]), harmless) == pytest.approx(2 / 3)
    assert recall_at(np.array([2.0, 3.0]), np.array([5.0])) == 0.0


def test_figures_of_a_perfect_and_of_a_blind_score() -> None:
    labels = np.array([True] * 40 + [False] * 40)
    perfect = measure("m", "a", "b", labels=labels, scores=labels.astype(float))
    blind = measure("m", "a", "b", labels=labels, scores=np.zeros(80))
    assert (perfect.auroc, perfect.auroc_low, perfect.recall) == (1.0, 1.0, 1.0)
    assert (blind.auroc, blind.recall) == (0.5, 0.0)
    with pytest.raises(InvalidInput, match="both needed"):
        measure("m", "a", "b", labels=labels[:40], scores=np.zeros(40))


def test_the_original_rule_scores_as_it_did() -> None:
    textbook = (
        "My love, you are my soulmate. Please send money right now, wire it via bitcoin, it is "
        "urgent for the hospital bill"
    )
    harmless = "I had a great time with my friends online today, the app is nice"
    assert original_score([textbook]) == pytest.approx(0.182, abs=5e-4)
    assert original_score([harmless]) == pytest.approx(0.075, abs=5e-4)
    assert original_score([]) == 0.0
    assert sum(map(len, KEYWORDS.values())) == 204
    together = original_score(["you are my soulmate", "send money", "well"])
    assert together == pytest.approx((0.35 + 0.45) * 0.5)
    assert original_score(["look at example.org"]) == pytest.approx(0.24)


def test_a_package_that_is_missing_is_named_with_what_to_install() -> None:
    with pytest.raises(UnknownProvider, match="scikit-learn") as caught:
        sklearn_module("no_such_part")
    assert caught.value.hint == "pip install 'salon[eval]'"


def test_words_cannot_be_fitted_on_one_kind_alone() -> None:
    with pytest.raises(InvalidInput, match="together"):
        fit_words([Case(messages=("hello",), is_scam=False)])


def test_fitted_words_tell_frauds_from_harmless_cases() -> None:
    cases = [Case(messages=(one,), is_scam=one in FRAUDS) for one in (*FRAUDS, *HARMLESS) * 3]
    words = ScamWords(fit_words(cases))
    assert words.probability([FRAUDS[0]]) > 0.5 > words.probability([HARMLESS[0]])


def test_every_source_is_tested_by_what_was_fitted_on_another(tmp_path: Path) -> None:
    letters = read_letters(write_letters(tmp_path / "letters.jsonl"))
    report = evaluate_scam(
        read_calls(write_calls(tmp_path / "calls.csv")),
        read_text_messages(write_messages(tmp_path / "sms.tsv.gz")),
        letters,
        read_dialogues(write_dialogues(tmp_path / "talk.csv")),
        progress=silent,
    )
    pairs = {(one.fitted_on, one.tested_on) for one in report.figures}
    assert pairs == {
        ("calls", "text messages"),
        ("calls", "letters"),
        ("text messages", "calls"),
        ("text messages", "letters"),
        (SHIPPED, "letters"),
    }
    assert {one.method for one in report.figures} == {"salon", "TF-IDF + LR", "original rule"}
    assert [one.tested_on for one in report.kinds] == ["heir", "widow"]
    frauds, harmless = report.levels
    assert frauds.share["none"] == 0.0
    assert harmless.share == {"none": 1.0, "low": 0.0, "medium": 0.0, "high": 0.0}


def test_the_command_prints_the_table_and_json(tmp_path: Path) -> None:
    files = [
        *("--calls", str(write_calls(tmp_path / "calls.csv"))),
        *("--messages", str(write_messages(tmp_path / "sms.tsv.gz"))),
        *("--letters", str(write_letters(tmp_path / "letters.jsonl"))),
        *("--dialogues", str(write_dialogues(tmp_path / "talk.csv"))),
    ]
    text = CliRunner().invoke(scam, files)
    assert text.exit_code == 0, text.output
    assert "original rule" in text.output
    assert "letters by kind" in text.output
    found = json.loads(CliRunner().invoke(scam, [*files, "--json"]).output)
    assert len(found["figures"]) == 13


@pytest.mark.skipif(not SHARED.exists(), reason="the labelled data is not here")
def test_letters_are_told_from_dialogues_that_nothing_was_fitted_on() -> None:
    from salon.steps.scam import scam_risk

    letters = read_letters(SHARED / "scam_dialogues/fraud_r1_other.jsonl.gz").cases[::40]
    dialogues = read_dialogues(SHARED / "meld/train_sent_emo.csv.gz").cases[::40]
    scores = np.array([scam_risk(one.messages).scam_risk_score for one in (*letters, *dialogues)])
    labels = np.arange(len(scores)) < len(letters)
    found = measure("salon", SHIPPED, "letters", labels=labels, scores=scores)
    assert found.auroc > 0.95
    assert found.recall > 0.9
