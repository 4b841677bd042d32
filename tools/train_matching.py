"""Fit the learned score of matching: `python -m tools.train_matching [--data FOLDER]`.

Writes `matching.json` from `speed_dating`: the model that the companion uses (ages and interests),
and for `salon eval matching` the ones with all that was said beforehand and with ratings. The same
data give the same bytes. What each is worth on evenings it has not seen is printed and written.
"""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np

from salon.evaluation.dating_data import BEFORE_NAMES, RATINGS, read_dates
from salon.evaluation.dating_fits import (
    RIDGE_BEFORE,
    RIDGE_PROFILE,
    RIDGE_RATINGS,
    auroc_by_wave,
    fit_model,
    leave_one_wave_out,
    our_fit,
)
from salon.steps.match_model import PAIR_FEATURES
from tools.data_folder import add_data_option

OUT = Path(__file__).parents[1] / "src" / "salon" / "steps" / "weights" / "matching.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_option(parser)
    given = parser.parse_args()
    dates = read_dates(given.data / "speed_dating" / "speed_dating_data.csv.gz")
    rated = (*RATINGS, *(f"{name}_centred" for name in RATINGS))
    kinds = {
        "profile": (PAIR_FEATURES, dates.profile, RIDGE_PROFILE),
        "before": (BEFORE_NAMES, dates.before, RIDGE_BEFORE),
        "ratings": (rated, dates.ratings, RIDGE_RATINGS),
    }
    models, worth = {}, {}
    for name, (columns, values, ridge) in kinds.items():
        scores = leave_one_wave_out(values, dates.match, dates.wave, our_fit(ridge))
        by_wave = auroc_by_wave(scores, dates.match, dates.wave)
        worth[name] = round(float(np.mean(list(by_wave.values()))), 4)
        models[name] = asdict(fit_model(columns, values, dates.match, ridge))
        print(f"{name}: AUROC by wave, left out, {worth[name]:.3f}")
    fitted = {
        "rows": len(dates.match),
        "waves": sorted(set(dates.wave.tolist())),
        "auroc_left_out": worth,
        "models": models,
    }
    OUT.write_text(json.dumps(fitted, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
