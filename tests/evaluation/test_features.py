"""Measuring prediction sets and traits from wording."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from salon.cli.eval_features import features as command
from salon.core.embedding import EmbeddingModel, Vector, Vectors
from salon.core.errors import FileMissing, InvalidInput
from salon.evaluation.coverage import calibration_error, make_sets, mark, measure_splits
from salon.evaluation.features import (
    evaluate_features,
    level_probabilities,
    model_probabilities,
)
from salon.evaluation.progress import silent
from salon.evaluation.trait_data import read_attachment, read_big_five, read_sentences
from salon.evaluation.trait_text import correlation
from salon.steps.conformal import scores_of
from salon.steps.questionnaires import load_questionnaires

SHARED = Path(__file__).parents[3] / "shared" / "data"


def attachment_file(path: Path, people: int = 240) -> Path:
    """Write people whose two leanings show in all their answers."""
    rng = np.random.default_rng(1)
    head = [f"Q{number}" for number in range(1, 37)]
    backwards = {3, 15, 19, 22, 25, 27, 29, 31, 33, 35}
    rows = [",".join([*head, "age"])]
    for _ in range(people):
        leaning = rng.normal(3, 1, size=2)
        answers = []
        for number in range(1, 37):
            answer = round(float(np.clip(leaning[number % 2] + rng.normal(0, 0.7), 1, 5)))
            answers.append(6 - answer if number in backwards else answer)
        rows.append(",".join(map(str, [*answers, 30])))
    rows.append(",".join(["-1"] * 36 + ["30"]))
    path.write_bytes(gzip.compress("\n".join(rows).encode()))
    return path


def big_five_file(path: Path, people: int = 120) -> Path:
    rng = np.random.default_rng(2)
    head = [f"{letter}{number}" for letter in "ENACO" for number in range(1, 11)]
    rows = ["\t".join(head)]
    rows += ["\t".join(map(str, rng.integers(1, 6, size=50))) for _ in range(people)]
    path.write_text("\n".join(rows))
    return path


def sentence_file(path: Path, people: int = 60) -> Path:
    rng = np.random.default_rng(3)
    rows = ["gender,age,S1,S2,S3,S4,S5,S6,EX,NR,OP,AG,CN"]
    for _ in range(people):
        warm = rng.random()
        word = "friends" if warm > 0.5 else "numbers"
        scores = ",".join(f"{1 + 4 * value:.2f}" for value in (warm, *rng.random(4)))
        rows.append(f"1,30,{word},are good,,to me,,always,{scores}")
    path.write_text("\n".join(rows))
    return path


class Counting:
    """An embedder that knows two words."""

    model = EmbeddingModel(address="test:counting", fingerprint="0", dimensions=2)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        found = [[text.count("friends"), text.count("numbers")] for text in texts]
        return np.array(found, dtype=np.float32)

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self.embed_passages([text])[0]
        return vector

    def close(self) -> None:
        """Hold nothing."""


def test_people_who_left_out_an_item_are_left_out(tmp_path: Path) -> None:
    people = read_attachment(attachment_file(tmp_path / "a.csv.gz", 20))
    assert people.answers.shape == (20, 36)
    style = people.classes["attachment_style"]
    anxious = people.scales["attachment_anxiety"] > 0.5
    avoidant = people.scales["attachment_avoidance"] > 0.5
    assert (style == anxious + 2 * avoidant).all()


def test_items_against_their_trait_are_turned_around(tmp_path: Path) -> None:
    head = [f"{letter}{number}" for letter in "ENACO" for number in range(1, 11)]
    path = tmp_path / "b.tsv"
    path.write_text("\t".join(head) + "\n" + "\t".join(["5"] * 50))
    people = read_big_five(path)
    assert people["big_five_extraversion"].scales["big_five_extraversion"][0] == 0.5
    assert people["big_five_neuroticism"].scales["big_five_neuroticism"][0] == 0.8


@pytest.mark.parametrize("name", ["attachment", "big_five", "sentences"])
def test_files_of_another_kind_are_refused(tmp_path: Path, name: str) -> None:
    read = {
        "attachment": read_attachment,
        "big_five": read_big_five,
        "sentences": read_sentences,
    }[name]
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InvalidInput):
        read(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput):
        read(path)
    with pytest.raises(FileMissing):
        read(tmp_path / "none.csv")


def test_a_file_in_which_nobody_answered_everything_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(",".join(f"Q{n}" for n in range(1, 37)) + "\n" + ",".join(["-1"] * 36) + "\n")
    with pytest.raises(InvalidInput, match="nobody"):
        read_attachment(path)


def test_everything_that_was_given_is_measured(tmp_path: Path) -> None:
    report = evaluate_features(
        attachment=attachment_file(tmp_path / "a.csv.gz"),
        big_five=big_five_file(tmp_path / "b.tsv"),
        sentences=sentence_file(tmp_path / "s.csv"),
        embedder=Counting(),
        splits=1,
        progress=silent,
    )
    targets = {one.target: one for one in report.targets}
    assert len(targets) == 3 + 5
    style = targets["attachment_style"]
    assert style.people == 240
    assert [one.method for one in style.methods] == ["salon, lac", "salon, aps", "crepes"]
    for one in style.methods:
        assert 0.75 < one.coverage <= 1
        assert one.lowest <= one.coverage <= one.highest
        assert 1 <= one.mean_size <= 4
    counts = [one.answered for one in report.shipped if one.target == "attachment_style"]
    assert counts == [1, 2, 3, 4, 5, 6]
    wording = {one.trait: one for one in report.wording}
    assert wording["big_five_extraversion"].r > 0.6
    assert wording["big_five_extraversion"].peer_r > 0.6
    assert 0 <= wording["big_five_openness"].sets.coverage <= 1


def test_nothing_given_is_nothing_to_measure(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="nothing to measure"):
        evaluate_features(
            attachment=None, big_five=None, sentences=None, embedder=None, splits=1,
            progress=silent,
        )  # fmt: skip
    with pytest.raises(InvalidInput, match="embedder"):
        evaluate_features(
            attachment=None,
            big_five=None,
            sentences=sentence_file(tmp_path / "s.csv"),
            embedder=None,
            splits=1,
            progress=silent,
        )


def test_many_people_at_once_give_the_same_sets_as_one_by_one() -> None:
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(3), size=40)
    classes = rng.integers(0, 3, size=40)
    for score in ("lac", "aps"):
        sets = make_sets(shares[:20], classes[:20], shares[20:], score)
        own = sorted(
            scores_of(one.tolist(), score)[label]
            for one, label in zip(shares[:20], classes[:20], strict=True)
        )
        threshold = own[18]
        for one, inside in zip(shares[20:], sets, strict=True):
            expected = np.array(scores_of(one.tolist(), score)) <= threshold
            assert inside.tolist() == expected.tolist() or inside.sum() == 1


def test_a_label_that_the_fitting_people_lack_is_never_named() -> None:
    values = np.array([[0.0], [1.0]] * 30)
    classes = np.array([0, 2] * 30)
    found = measure_splits("toy", values, classes, count=3, splits=2)
    assert found.accuracy == 1.0
    assert found.methods[0].coverage == 1.0


def test_calibration_error_is_the_gap_between_sureness_and_truth() -> None:
    shares = np.array([[0.8, 0.2]] * 10)
    assert calibration_error(shares, np.array([0] * 8 + [1] * 2)) == pytest.approx(0, abs=1e-9)
    assert calibration_error(shares, np.array([1] * 10)) == pytest.approx(0.8)
    assert mark(shares > 0.5, np.array([0] * 10)) == (1.0, 1.0)


def test_levels_are_probabilities_and_a_constant_has_no_correlation() -> None:
    levels = level_probabilities(np.array([0.1, 0.5, 0.9]), 0.1)
    assert levels.sum(axis=1) == pytest.approx([1, 1, 1])
    assert levels.argmax(axis=1).tolist() == [0, 1, 2]
    assert correlation(np.ones(3), np.array([1.0, 2.0, 3.0])) == 0.0


def test_the_command_prints_tables_and_json(tmp_path: Path) -> None:
    path = str(attachment_file(tmp_path / "a.csv.gz", 120))
    shown = CliRunner().invoke(command, ["--attachment", path, "--splits", "1"])
    assert shown.exit_code == 0, shown.output
    assert "attachment_style: 120 people, 6 items" in shown.output
    assert "crepes" in shown.output
    assert "as shipped, 6 answered" in shown.output
    raw = CliRunner().invoke(command, ["--attachment", path, "--splits", "1", "--json"])
    assert json.loads(raw.output)["targets"][0]["target"] == "attachment_style"


def test_the_command_reads_sentences_with_the_shipped_embedder(tmp_path: Path) -> None:
    path = str(sentence_file(tmp_path / "s.csv"))
    shown = CliRunner().invoke(command, ["--sentences", path, "--splits", "1"])
    assert shown.exit_code == 0, shown.output
    assert "big_five_openness from wording: r" in shown.output


@pytest.mark.skipif(not SHARED.exists(), reason="../shared/data is not here")
@pytest.mark.requirement("companion/features/coverage-guarantee")
def test_shipped_sets_cover_nine_tenths_of_real_people() -> None:
    people = read_attachment(SHARED / "openpsych_ecr" / "data.csv.gz")
    one = load_questionnaires()["attachment"]
    answers = people.answers[:, [people.columns.index(item) for item in one.items]] - 3
    classes = people.classes["attachment_style"]
    model = one.label_models["attachment_style"][2 ** len(one.items) - 1]
    probabilities = model_probabilities(model, answers)
    coverage, size = mark(1 - probabilities <= model.threshold, classes)
    assert coverage == pytest.approx(0.9, abs=0.01)
    assert size < 1.45
    assert (probabilities.argmax(axis=1) == classes).mean() > 0.756
