"""Measuring emotion reading: readers, figures, the peers and the command."""

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from salon.cli.eval_emotion import emotion
from salon.core.embedding import Embedder
from salon.core.errors import InvalidInput, UnknownProvider
from salon.evaluation.emotion import (
    evaluate_emotion,
    f1_scores,
    macro_f1,
    open_emotion_embedder,
    pearson,
    read_all,
)
from salon.evaluation.emotion_peers import TfidfEmotions, best_threshold, vader_valence
from salon.evaluation.emotion_sets import Comments, read_comments, read_rated
from salon.evaluation.progress import silent
from salon.providers.embedders import open_embedder
from salon.steps.emotion_tables import EMOTIONS, fine_emotions

FINE = list(fine_emotions())
SAID = {
    "joy": "I am so happy about this wonderful day",
    "anger": "I hate this and I am so angry at you",
    "sadness": "I am so sad and I cried the whole day",
    "neutral": "The shop opens at nine on this street",
}
RATED = [
    ("train", 3.8, 3.4, "What a wonderful and happy day"),
    ("train", 2.1, 3.3, "A terrible and sad day for us"),
    ("train", 3.0, 2.8, "The shop opens on the day"),
    ("dev", 3.9, 3.5, "I love this wonderful happy song!"),
    ("dev", 1.9, 3.4, "I hate this terrible sad song."),
    ("dev", 3.0, 2.7, "The shop opens at nine."),
]


@pytest.fixture(scope="module")
def embedder() -> Iterator[Embedder]:
    opened = open_emotion_embedder()
    yield opened
    opened.close()


def write_comments(path: Path, times: int = 6) -> Path:
    lines = [
        f"{text}\t{FINE.index(name)}\tid{at}" for at in range(times) for name, text in SAID.items()
    ]
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))
    return path


def write_rated(path: Path) -> Path:
    rows = [f'{split},{valence},{arousal},"{text}"' for split, valence, arousal, text in RATED]
    path.write_text("split,V,A,text\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_comments_have_several_labels_and_belong_to_the_eight(tmp_path: Path) -> None:
    path = tmp_path / "comments.tsv"
    both = f"{FINE.index('caring')},{FINE.index('grief')}"
    path.write_text(f"Poor thing\t{both}\tid\n", encoding="utf-8")
    found = read_comments(path)
    assert found.labels.sum() == 2
    assert [name for name, has in zip(EMOTIONS, found.eight[0], strict=True) if has] == [
        "sadness",
        "love",
    ]


@pytest.mark.parametrize(
    "content", ["", "Hello\t28\tid\n", "Hello\tjoy\tid\n", "Hello\n"], ids=["a", "b", "c", "d"]
)
def test_comments_that_cannot_be_read_are_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "odd.tsv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InvalidInput):
        read_comments(path)


def test_rated_sentences_are_split_or_tested_on_a_file_of_their_own(tmp_path: Path) -> None:
    path = write_rated(tmp_path / "rated.csv")
    train, test = read_rated(path)
    assert (len(train.texts), len(test.texts)) == (3, 3)
    assert test.ratings[0].tolist() == [3.9, 3.5]
    _, whole = read_rated(path, path)
    assert len(whole.texts) == 6


@pytest.mark.parametrize(
    "content",
    [
        "split,V,A,text\ntrain,3,3,Hello\n",
        "split,V,A,text\ntrain,x,3,Hello\n",
        "V,A,text\n3,3,Hi\n",
    ],
    ids=["nothing to test", "no number", "no split"],
)
def test_rated_sentences_that_cannot_be_used_are_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "odd.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InvalidInput):
        read_rated(path)


def test_macro_f1_is_the_mean_over_labels() -> None:
    labels = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    said = np.array([[True, False], [True, False], [True, False], [False, False]])
    assert f1_scores(said, labels).tolist() == [0.8, 0.0]
    assert macro_f1(said, labels, np.arange(4)) == pytest.approx(0.4)


def test_correlation_of_what_does_not_vary_is_zero() -> None:
    rising = np.array([1.0, 2.0, 3.0])
    assert pearson(rising, rising * 2, np.arange(3)) == pytest.approx(1.0)
    assert pearson(rising, np.ones(3), np.arange(3)) == 0.0


def test_the_best_threshold_separates_what_can_be_separated() -> None:
    scores, labels = np.array([0.1, 0.9, 0.4, 0.8]), np.array([0.0, 1.0, 0.0, 1.0])
    assert best_threshold(scores, labels) == 0.8


def test_the_peer_says_no_label_that_it_never_met(tmp_path: Path) -> None:
    train = read_comments(write_comments(tmp_path / "train.tsv.gz"))
    said = TfidfEmotions(train, progress=silent).say([*SAID.values()])
    assert not said[:, FINE.index("grief")].any()
    assert said[0, FINE.index("joy")]


def test_a_peer_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vaderSentiment.vaderSentiment", None)
    with pytest.raises(UnknownProvider, match="vaderSentiment"):
        vader_valence(["hello"])


def test_vader_tells_pleasant_from_unpleasant() -> None:
    pleasant, unpleasant = vader_valence(["a wonderful day", "a terrible day"])[:, 0]
    assert pleasant > 0 > unpleasant


def test_the_report_holds_ours_beside_the_peers(tmp_path: Path, embedder: Embedder) -> None:
    comments = read_comments(write_comments(tmp_path / "train.tsv.gz"))
    report = evaluate_emotion(
        comments,
        comments,
        read_rated(write_rated(tmp_path / "rated.csv")),
        embedder=embedder,
        progress=silent,
    )
    found = {(one.measure, one.method): one for one in report.figures}
    assert found["right of 8", "salon"].value == 1.0
    assert found["right of 8", "most frequent"].value == 0.25
    assert found["valence", "salon"].value > 0.8
    assert {one for _, one in found} == {
        "salon", "TF-IDF + LR", "most frequent", "TF-IDF + ridge", "VADER"
    }  # fmt: skip
    assert ("arousal", "VADER") not in found
    assert 0 <= found["ECE of 8", "salon"].value <= 1
    assert report.labels["anger"] > 0.5
    assert all(one.low <= one.high for one in report.figures)


def test_vectors_without_heads_are_refused() -> None:
    with pytest.raises(InvalidInput, match="hashing:64"):
        read_all(["hello"], open_embedder("hashing:64"), silent)


def test_the_command_prints_the_table_and_json(tmp_path: Path) -> None:
    train = str(write_comments(tmp_path / "train.tsv.gz"))
    files = ["--train", train, "--test", train]
    text = CliRunner().invoke(emotion, files)
    assert text.exit_code == 0, text.output
    assert "macro-F1     TF-IDF + LR" in text.output
    assert "F1 by label: admiration" in text.output
    rated = ["--emobank", str(write_rated(tmp_path / "rated.csv"))]
    found = json.loads(CliRunner().invoke(emotion, [*files, *rated, "--json"]).output)
    assert {one["measure"] for one in found["figures"]} >= {"macro-F1", "valence", "arousal"}


def test_labels_of_the_eight_are_drawn_from_the_28() -> None:
    every = Comments(texts=tuple(FINE), labels=np.eye(len(FINE)))
    assert every.eight.sum(axis=1).tolist() == [1] * len(FINE)
