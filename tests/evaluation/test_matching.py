"""Measuring how well matches are foreseen."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from salon.cli.eval_matching import matching as command
from salon.core.errors import FileMissing, InvalidInput
from salon.evaluation.dating_data import BEFORE_NAMES, RATINGS, read_dates
from salon.evaluation.dating_fits import (
    auroc_by_wave,
    fit_logistic,
    fit_model,
    leave_one_wave_out,
    model_scores,
    our_fit,
    standard_of,
    standardised,
)
from salon.evaluation.matching import evaluate_matching
from salon.evaluation.progress import silent
from salon.steps.match_model import PAIR_FEATURES, fitted_waves, load_match_model

SHARED = Path(__file__).parents[3] / "shared" / "data"
_ACTIVITIES = (
    "sports", "tvsports", "exercise", "dining", "museums", "art", "hiking", "gaming", "clubbing",
    "reading", "tv", "theater", "movies", "concerts", "music", "shopping", "yoga",
)  # fmt: skip
_SELF = "age goal date go_out exphappy attr3_1 sinc3_1 intel3_1 fun3_1 amb3_1 imprelig imprace"


def dates_file(path: Path, *, waves: tuple[int, ...] = (31, 32, 33), people: int = 16) -> Path:
    """Write evenings on which people match whom they rate highly."""
    rng = np.random.default_rng(4)
    columns = ["iid", "pid", "wave", "match", "int_corr", *_SELF.split(), *_ACTIVITIES, *RATINGS]
    rows = [",".join(columns)]
    for wave in waves:
        half = people // 2
        ids = [wave * 100 + index for index in range(people)]
        asked = {one: rng.integers(1, 11, size=29) for one in ids}
        for one in ids[:half]:
            for other in ids[half:]:
                liking = rng.integers(0, 11)
                is_match = int(liking + rng.normal(0, 2) > 7)
                for me, you in ((one, other), (other, one)):
                    rated = [str(liking)] * 7 + [""]
                    row = [me, f"{you}.0", wave, is_match, round(rng.uniform(-1, 1), 2)]
                    answers = [20 + int(asked[me][0]), *asked[me][1:]]
                    rows.append(",".join([*map(str, row), *map(str, answers), *rated]))
    path.write_text("\n".join(rows) + "\n", encoding="latin-1")
    return path


def test_a_date_is_read_the_same_from_both_sides(tmp_path: Path) -> None:
    dates = read_dates(dates_file(tmp_path / "d.csv"))
    assert dates.before.shape == (len(dates.match), len(BEFORE_NAMES))
    assert dates.profile.shape == (len(dates.match), len(PAIR_FEATURES))
    assert dates.before[0, :-1] == pytest.approx(dates.before[1, :-1])
    assert dates.profile[0] == pytest.approx(dates.profile[1])
    assert dates.similarity[0] == dates.similarity[1]
    assert np.isnan(dates.ratings[:, 7]).all(), "nobody gave the last rating"


def test_files_of_another_kind_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InvalidInput, match="speed dates"):
        read_dates(path)
    path.write_text("")
    with pytest.raises(InvalidInput, match="no speed dates"):
        read_dates(path)
    (tmp_path / "x.csv.gz").write_bytes(b"broken")
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_dates(tmp_path / "x.csv.gz")
    with pytest.raises(FileMissing):
        read_dates(tmp_path / "none.csv")


def test_a_partner_who_is_not_in_the_file_is_unknown(tmp_path: Path) -> None:
    path = dates_file(tmp_path / "d.csv")
    path.write_text(path.read_text().replace(",3108.0,", ",9999,"))
    dates = read_dates(path)
    assert np.isnan(dates.before[:, 0]).any()
    assert np.isnan(dates.profile[:, 0]).any()


def test_every_way_is_measured_on_evenings_it_has_not_seen(tmp_path: Path) -> None:
    report = evaluate_matching(dates_file(tmp_path / "d.csv"), progress=silent)
    assert (report.waves, report.rows) == (3, 3 * 128)
    by_name = {(one.system, one.knows): one for one in report.systems}
    assert by_name["salon", "ratings"].auroc > 0.8
    assert by_name["attractiveness", "ratings"].auroc > 0.8
    assert 0.2 < by_name["salon", "profile"].auroc < 0.8, "nothing was there to learn"
    assert by_name["salon", "ratings"].by_wave.keys() == {31, 32, 33}
    assert ("salon, as shipped", "profile") in by_name, "these evenings are new to it"
    assert report.sets["ratings"].coverage == pytest.approx(0.9, abs=0.08)
    assert 0 <= report.ece["before"] <= 1


def test_the_shipped_model_is_not_praised_on_what_it_was_fitted_on(tmp_path: Path) -> None:
    assert fitted_waves() == tuple(range(1, 15))
    report = evaluate_matching(dates_file(tmp_path / "d.csv", waves=(1, 2, 33)), progress=silent)
    assert "salon, as shipped" not in {one.system for one in report.systems}


def test_a_logistic_model_finds_what_made_the_data() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(4000, 2))
    chance = 1 / (1 + np.exp(-(values @ [1.5, -0.5] + 0.3)))
    outcome = (rng.random(4000) < chance).astype(np.int64)
    weights, intercept = fit_logistic(values, outcome, ridge=0.01)
    assert weights == pytest.approx([1.5, -0.5], abs=0.15)
    assert intercept == pytest.approx(0.3, abs=0.1)
    model = fit_model(("a", "b"), values, outcome, 0.01)
    scores = model_scores(model, values[:5])
    one_by_one = [model.probability(row.tolist()) for row in values[:5]]
    assert scores == pytest.approx(one_by_one, abs=1e-5)


def test_what_is_not_known_counts_as_average() -> None:
    values = np.array([[1.0, np.nan], [3.0, 4.0], [np.nan, 4.0]])
    found = standardised(values, standard_of(values))
    assert found[0].tolist() == [-1.0, 0.0]
    assert found[:, 1].tolist() == [0.0, 0.0, 0.0], "a column that does not vary says nothing"


def test_an_evening_without_a_match_has_no_area(tmp_path: Path) -> None:
    wave, match = np.array([1, 1, 2, 2]), np.array([0, 0, 0, 1])
    scores = np.array([0.1, 0.2, 0.3, 0.4])
    assert auroc_by_wave(scores, match, wave) == {2: 1.0}


def test_the_command_prints_tables_and_json(tmp_path: Path) -> None:
    path = str(dates_file(tmp_path / "d.csv", waves=(31, 32), people=10))
    shown = CliRunner().invoke(command, ["--dates", path])
    assert shown.exit_code == 0, shown.output
    assert "ratings: our sets cover" in shown.output
    assert "cosine" in shown.output
    raw = CliRunner().invoke(command, ["--dates", path, "--json"])
    assert json.loads(raw.output)["waves"] == 2


@pytest.mark.skipif(not SHARED.exists(), reason="../shared/data is not here")
def test_real_evenings_are_foreseen_better_than_by_plainer_ways() -> None:
    dates = read_dates(SHARED / "speed_dating" / "speed_dating_data.csv.gz")
    scores = leave_one_wave_out(dates.ratings, dates.match, dates.wave, our_fit(100.0))
    ours = np.mean(list(auroc_by_wave(scores, dates.match, dates.wave).values()))
    plain = np.mean(list(auroc_by_wave(dates.attractiveness, dates.match, dates.wave).values()))
    assert ours > 0.771 > plain
    refitted = fit_model(PAIR_FEATURES, dates.profile, dates.match, 100.0)
    assert refitted == load_match_model(), "the shipped weights are those of the recipe"
