"""Train the words of scam detection that Salon ships, and count false alarms by level.

This is the recipe, not part of the package. It needs Salon's environment with the `eval` extra.

    python -m tools.train_scam --data FOLDER

Frauds come from generated calls and text messages, the two sets whose licences allow it; harmless
cases also from comments, sentences, calendar and service dialogues and encyclopaedia paragraphs.
Letters and television dialogues are only evaluated on.
"""

import argparse
import csv
import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from salon.evaluation.scam_fitting import fit_words
from salon.evaluation.scam_sets import (
    Case,
    read_calls,
    read_dialogues,
    read_letters,
    read_text_messages,
)
from salon.steps.scam import LEVELS, scam_risk
from salon.steps.scam_model import WEIGHTS, ScamWords
from tools.data_folder import add_data_option

MOST = 2000
"""How many cases each harmless set gives at most."""


def harmless(data: Path) -> Iterator[Case]:
    def lines(name: str) -> list[str]:
        with gzip.open(data / name, "rt", encoding="utf-8") as opened:
            return opened.read().splitlines()

    comments = [[line.split("\t")[0]] for line in lines("goemotions/train.tsv.gz")]
    rated = [[row["text"]] for row in csv.DictReader(lines("emobank/emobank.csv.gz"))]
    calendar = [
        [turn["user"] for turn in json.loads(line)["turns"]]
        for line in lines("smcalflow/turns.jsonl.gz")
    ]
    services = [
        [turn["utterance"] for turn in json.loads(line)["turns"] if turn["speaker"] == "USER"]
        for line in lines("sgd_action_trigger/train.jsonl.gz")
    ]
    articles: list[dict[str, Any]] = json.loads(
        "\n".join(lines("squad2_half_dev/dev-v2.0.json.gz"))
    )["data"]
    paragraphs = [[one["context"]] for article in articles for one in article["paragraphs"]]
    for group in (comments, rated, calendar, services, paragraphs):
        random.Random(0).shuffle(group)
        for said in group[:MOST]:
            yield Case(messages=tuple(said), is_scam=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_option(parser)
    data: Path = parser.parse_args().data
    calls = read_calls(data / "scam_dialogues/gen_conver_1000.csv.gz")
    messages = read_text_messages(data / "sms_spam/SMSSpamCollection.tsv.gz")
    arrays = fit_words([*calls.cases, *messages.cases, *harmless(data)])
    WEIGHTS.parent.mkdir(exist_ok=True)
    np.savez_compressed(WEIGHTS, **arrays)  # type: ignore[arg-type]
    words = ScamWords(arrays)
    report: dict[str, Any] = {"words": len(arrays["numbers"]), "bytes": WEIGHTS.stat().st_size}
    for source in (
        read_letters(data / "scam_dialogues/fraud_r1_other.jsonl.gz"),
        read_dialogues(data / "meld/train_sent_emo.csv.gz"),
    ):
        found = [scam_risk(one.messages, words=words).scam_warning_level for one in source.cases]
        report[source.name] = {level: found.count(level) / len(found) for level in LEVELS}
    text = json.dumps(report, indent=2)
    WEIGHTS.with_name("scam_report.json").write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
