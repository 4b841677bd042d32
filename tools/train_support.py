"""Make the weights of claim support and of answer sentences from labelled data, and say how good.

    python -m tools.train_support [--data FOLDER] [--dry-run]

Only SciFact and SQuAD 2.0 teach; 2WikiMultihopQA lends its texts for counting words. Needs the
embedded model, no GPU and nothing beyond Salon itself. Everything said about quality is by
cross-validation: folds keep a claim's abstract and a question's article together. Files are
written to src/salon/grounding/support/weights.
"""

import argparse
import gzip
import json
import re
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from salon.evaluation.attribution import auroc, best_threshold, macro_f1, word_share
from salon.grounding.support import features, meaning, readings, weighing, words
from salon.grounding.support.answering import ASKING, Asked, word_features
from salon.providers.embedders.minilm import open_minilm
from salon.providers.embedders.options import EmbedderOptions
from tools import train_support_data as data
from tools.data_folder import add_data_option

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

FOLDS = 5
STRENGTH = {"claim": 0.01, "question": 0.0003, "statement": 0.0003}
"""How strongly weights are drawn to zero: more where they will meet other kinds of text."""
AT_ONCE = 64
"""How many examples are encoded together."""
SMALLEST = 0.005
"""A feature worth less than this is left out."""
SQUAD_SHARE = 3
"""How many tenths of SQuAD's statements are used: more adds time and nothing else."""
RARELY = 4
HARD = {"squad plausible": 0.2, "scifact contradicts": 0.2, "scifact sentence contradicts": 0.2}
"""Pairs that no comparison of words and meanings can tell apart weigh less."""
PLACE_FREE = frozenset({"place"})
"""Where in a text an answer stands is learned for statements only: conclusions come last."""
NAME_PIECE = re.compile(r"[^\W\d_](?:[\w\u2019'&-]*\w)?|[^\w\s]|\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of features with what is true of each."""

    names: tuple[str, ...]
    rows: Floats
    labels: Bools
    weights: Floats
    folds: npt.NDArray[np.int64]

    def only(self, names: Iterable[str]) -> "Table":
        """Keep only these features."""
        kept = tuple(name for name in self.names if name in set(names))
        columns = [self.names.index(name) for name in kept]
        return Table(
            names=kept,
            rows=self.rows[:, columns],
            labels=self.labels,
            weights=self.weights,
            folds=self.folds,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A logistic curve over standardised features."""

    centre: Floats
    scale: Floats
    slopes: Floats
    start: float

    def probabilities(self, rows: Floats) -> Floats:
        """Return how probable each row makes it."""
        odds = ((rows - self.centre) / self.scale) @ self.slopes + self.start
        return np.asarray(1 / (1 + np.exp(-np.clip(odds, -30, 30))), dtype=np.float64)


# Fitting


def fit(table: Table, chosen: Bools, signs: Callable[[str], int], strength: float) -> Curve:
    """Fit a curve whose slopes have the signs they must have, by accelerated gradient steps."""
    rows, labels = table.rows[chosen], table.labels[chosen].astype(float)
    weights = table.weights[chosen] / table.weights[chosen].sum()
    centre, scale = rows.mean(axis=0), rows.std(axis=0)
    scale = np.where(scale < 1e-9, 1.0, scale)
    inputs = np.column_stack([(rows - centre) / scale, np.ones(len(rows))])
    sign = np.array([*(signs(name) for name in table.names), 0])
    penalty = np.array([*([2 * strength] * len(table.names)), 0.0])
    curvature = np.linalg.norm((inputs * weights[:, None]).T @ inputs, 2) / 4 + 2 * strength
    here = ahead = np.zeros(inputs.shape[1])
    for step in range(1, 8001):
        odds = np.clip(inputs @ ahead, -30, 30)
        slope = inputs.T @ (weights * (1 / (1 + np.exp(-odds)) - labels)) + penalty * ahead
        there = ahead - slope / curvature
        there = np.where(there * sign < 0, 0.0, there)
        ahead = there + (step - 1) / (step + 2) * (there - here)
        if np.abs(there - here).max() < 1e-7:
            break
        here = there
    return Curve(centre=centre, scale=scale, slopes=there[:-1], start=float(there[-1]))


def out_of_fold(table: Table, signs: Callable[[str], int], strength: float) -> Floats:
    found = np.zeros(len(table.labels))
    for fold in range(FOLDS):
        held = table.folds == fold
        found[held] = fit(table, ~held, signs, strength).probabilities(table.rows[held])
    return found


def fold_of(group: str) -> int:
    return zlib.crc32(group.encode()) % FOLDS


def weighing_of(
    table: Table, signs: Callable[[str], int], *, kind: str, fingerprint: str | None, cut: float
) -> dict[str, Any]:
    """Fit on everything, leave out what is worth nothing, fit again."""
    everything = np.ones(len(table.labels), dtype=bool)
    first = fit(table, everything, signs, STRENGTH[kind])
    kept = [
        name
        for name, slope in zip(table.names, first.slopes, strict=True)
        if abs(slope) >= SMALLEST
    ]
    table = table.only(kept)
    curve = fit(table, everything, signs, STRENGTH[kind])
    columns = zip(table.names, curve.centre, curve.scale, curve.slopes, strict=True)
    return {
        "kind": kind,
        "fingerprint": fingerprint,
        "features": {
            name: {
                "centre": round(float(centre), 6),
                "scale": round(float(scale), 6),
                "slope": round(float(slope), 6),
            }
            for name, centre, scale, slope in columns
        },
        "start": round(curve.start, 6),
        "threshold": round(cut, 4),
    }


def calibration_error(labels: Bools, found: Floats, weights: Floats, bins: int = 10) -> float:
    place = np.minimum((found * bins).astype(int), bins - 1)
    error = 0.0
    for one in range(bins):
        inside = place == one
        if inside.any():
            share = weights[inside].sum() / weights.sum()
            mean = np.average(found[inside], weights=weights[inside])
            truth = np.average(labels[inside], weights=weights[inside])
            error += share * abs(mean - truth)
    return float(error)


# Words


def count_words(folder: Path) -> dict[str, Any]:
    """Count in how many texts each stem is, and which words are mostly names."""
    science = data.read_scifact(folder / "scifact")
    texts = [f"{one.title} {' '.join(one.sentences)}" for one in science.abstracts.values()]
    texts += data.squad_texts(data.read_squad(folder / "squad2_half_dev" / "dev-v2.0.json.gz"))
    with gzip.open(folder / "twowiki" / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts += [json.loads(line)["text"] for line in lines]
    seen: Counter[str] = Counter()
    large: Counter[str] = Counter()
    small: Counter[str] = Counter()
    for text in texts:
        seen.update({word.stem for word in words.read_words(text)})
        _count_capitals(text, large, small)
    return {
        "texts": len(texts),
        "rarest": RARELY,
        "names": sorted(
            word
            for word, count in large.items()
            if count >= RARELY and count >= 4 * small[word] and len(word) > 2 and word.isalpha()
        ),
        "stems": {stem: count for stem, count in sorted(seen.items()) if count > RARELY},
    }


def _count_capitals(text: str, large: Counter[str], small: Counter[str]) -> None:
    is_first = True
    for found in NAME_PIECE.finditer(text):
        word = found[0]
        if word[0].isalpha():
            if not is_first:
                (large if word[0].isupper() else small)[word.lower().removesuffix("'s")] += 1
            is_first = False
        else:
            is_first = not word[0].isalnum() and word not in ",-&%$"


# Claims


def claim_table(
    examples: Sequence[data.ClaimExample], encoder: meaning.Remembering
) -> tuple[Table, list[data.ClaimExample]]:
    telling = words.shipped_tellingness()
    rows, kept = [], []
    show = _progress("claims", len(examples))
    for start in range(0, len(examples), AT_ONCE):
        batch = []
        for example in examples[start : start + AT_ONCE]:
            claim, evidence = _read(example)
            if evidence.sentences and claim.stems:
                batch.append((example, claim, evidence, features.look(claim, evidence, telling)))
        wanted = (_compared_texts(claim, text, looked) for _, claim, text, looked in batch)
        encoder.read([text for texts in wanted for text in texts])
        for example, claim, evidence, looked in batch:
            closer = features.look_closer(claim, evidence, looked.alignment, telling, encoder)
            if closer is not None:
                rows.append({**looked.values, **closer})
                kept.append(example)
        show(min(start + AT_ONCE, len(examples)))
    names = tuple(rows[0])
    return Table(
        names=names,
        rows=np.array([[row[name] for name in names] for row in rows]),
        labels=np.array([one.is_borne_out for one in kept]),
        weights=_claim_weights(kept),
        folds=np.array([fold_of(one.group) for one in kept]),
    ), kept


def _read(example: data.ClaimExample) -> tuple[readings.Claim, readings.Evidence]:
    return readings.read_claim(example.claim), readings.read_evidence(example.text)


def _compared_texts(
    claim: readings.Claim, evidence: readings.Evidence, looked: features.Looked
) -> list[str]:
    chosen = features.compared(looked.alignment)
    return [claim.sentence.text, *(evidence.sentences[place].text for place in chosen)]


def _claim_weights(examples: Sequence[data.ClaimExample]) -> Floats:
    """Both sets count alike, and in each as much for claims as against them."""
    weights = np.array([HARD.get(one.kind, 1.0) for one in examples])
    is_science = np.array([one.kind.startswith("scifact") for one in examples])
    labels = np.array([one.is_borne_out for one in examples])
    for source in (is_science, ~is_science):
        for label in (labels, ~labels):
            weights[source & label] /= weights[source & label].sum()
    return np.asarray(weights / weights.mean())


def claim_sign(name: str) -> int:
    if name == "uneven":
        return 0
    return -1 if name in features.FALLING else 1


def train_judge(
    examples: Sequence[data.ClaimExample], encoder: meaning.Remembering
) -> dict[str, Any]:
    table, kept = claim_table(examples, encoder)
    by_words = table.only(set(table.names) - MEANING)
    made = []
    for name, part, fingerprint in (
        ("words", by_words, None),
        ("words and meaning", table, encoder.encoder.model.fingerprint),
    ):
        found = out_of_fold(part, claim_sign, STRENGTH["claim"])
        _report_claims(name, part, found, kept)
        made.append(weighing_of(part, claim_sign, kind="claim", fingerprint=fingerprint, cut=0.5))
    shares = np.array([word_share(one.claim, one.text) for one in kept])
    drawn = np.random.default_rng(4).choice(
        len(kept), size=20_000, p=table.weights / table.weights.sum()
    )
    cut = best_threshold(table.labels[drawn], shares[drawn])
    print(f"word overlap: AUROC {_auroc(table, shares):.3f}, best threshold {cut:.3f}\n")
    return {"attribution": list(ATTRIBUTION), "weighings": made}


MEANING = frozenset(
    {
        "like_sentence", "like_window", "least_like", "least_like_third", "uneven", "cosine",
        "cosine_of_two",
    }
)  # fmt: skip
ATTRIBUTION = (
    "SciFact (Wadden et al., 2020), train part: claims CC BY, abstracts ODC-By",
    "SQuAD 2.0 (Rajpurkar et al., 2018), half of the dev part: CC BY-SA 4.0",
)


def _auroc(table: Table, scores: Floats) -> float:
    """Return the AUROC with weights, by drawing examples by their weight."""
    drawn = np.random.default_rng(4).choice(
        len(scores), size=50_000, p=table.weights / table.weights.sum()
    )
    return auroc(table.labels[drawn], scores[drawn]) or 0.0


def _report_claims(
    name: str, table: Table, found: Floats, examples: Sequence[data.ClaimExample]
) -> None:
    error = calibration_error(table.labels, found, table.weights)
    print(f"judge by {name}: AUROC {_auroc(table, found):.3f}, calibration error {error:.3f}")
    kinds = np.array([one.kind for one in examples])
    for kind in sorted(set(kinds)):
        inside = kinds == kind
        truth = "borne out" if table.labels[inside][0] else "not"
        print(
            f"  {kind:30} {int(inside.sum()):5} {truth:9} mean {found[inside].mean():.3f}, "
            f"accepted {(found[inside] >= 0.5).mean():.3f}"
        )


# Answers


def answer_table(
    examples: Sequence[data.AnswerExample], encoder: meaning.Remembering, label: str
) -> tuple[Table, list[data.AnswerExample]]:
    telling = words.shipped_tellingness()
    parts: list[Floats] = []
    kept: list[data.AnswerExample] = []
    names: tuple[str, ...] = ()
    show = _progress(label, len(examples))
    for done, example in enumerate(examples, start=1):
        if done % AT_ONCE == 1:
            ahead = examples[done - 1 : done - 1 + AT_ONCE]
            encoder.read([text for one in ahead for text in (one.question, *one.sentences)])
        show(done)
        if not example.sentences:
            continue
        asked = Asked.read(example.question)
        vectors = encoder.read([example.question, *example.sentences])
        found = meaning.likeness(asked.words, vectors[0], vectors[1:], telling, little=ASKING)
        if found is None:
            continue
        columns: dict[str, Sequence[float] | Floats] = {
            **word_features(asked, example.sentences, telling),
            **meaning.answer_features(found),
        }
        names = tuple(columns)
        parts.append(np.array([list(columns[name]) for name in names]).T)
        kept.append(example)
    rows = np.vstack(parts)
    return Table(
        names=names,
        rows=rows,
        labels=np.array(
            [place in one.answers for one in kept for place in range(len(one.sentences))]
        ),
        weights=np.ones(len(rows)),
        folds=np.array([fold_of(one.group) for one in kept for _ in one.sentences]),
    ), kept


def train_answers(
    examples: Sequence[data.AnswerExample], encoder: meaning.Remembering, kind: str
) -> list[dict[str, Any]]:
    table, kept = answer_table(examples, encoder, f"{kind}s")
    if kind == "question":
        table = table.only(set(table.names) - PLACE_FREE)
    borders = np.cumsum([len(one.sentences) for one in kept])[:-1]
    made = []
    for name, part, fingerprint in (
        ("words", table.only(set(table.names) - ANSWER_MEANING), None),
        ("words and meaning", table, encoder.encoder.model.fingerprint),
    ):
        found = out_of_fold(part, lambda _: 0, STRENGTH[kind])
        split = np.split(found, borders)
        has = np.array([bool(one.answers) for one in kept])
        best = np.array([each.max() for each in split])
        hits = [
            int(each.argmax()) in one.answers
            for each, one in zip(split, kept, strict=True)
            if one.answers
        ]
        cut = best_threshold(has, best)
        error = calibration_error(part.labels, found, part.weights)
        print(
            f"selector, {kind}s by {name}: hit@1 {np.mean(hits):.3f} over {len(hits)}, answerable "
            f"AUROC {auroc(has, best):.3f}, macro-F1 {macro_f1(has, best >= cut):.3f} at "
            f"{cut:.3f}, calibration error {error:.3f}"
        )
        made.append(weighing_of(part, lambda _: 0, kind=kind, fingerprint=fingerprint, cut=cut))
    return made


ANSWER_MEANING = frozenset(
    {
        "like", "like_with_last", "like_with_neighbours", "least_like", "like_reversed", "cosine",
        "like_behind", "cosine_behind", "like_rank", "cosine_rank",
    }
)  # fmt: skip


def _progress(label: str, total: int) -> Callable[[int], None]:
    begun = time.monotonic()

    def show(done: int) -> None:
        if done % 512 == 0 or done == total:
            print(f"  {label}: {done:,} of {total:,}, {time.monotonic() - begun:.0f} s", flush=True)

    return show


def _write(path: Path, content: object) -> None:
    path.write_text(
        json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8"
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    add_data_option(options)
    options.add_argument("--dry-run", action="store_true", help="report, but write no weights")
    chosen = options.parse_args()
    if not chosen.dry_run:
        _write(words.FREQUENCIES, count_words(chosen.data))
    science = data.read_scifact(chosen.data / "scifact")
    articles = data.read_squad(chosen.data / "squad2_half_dev" / "dev-v2.0.json.gz")
    with open_minilm("minilm", EmbedderOptions()) as embedder:
        encoder = meaning.Remembering(embedder)
        claims = [
            *data.scifact_claims(science),
            *(
                one
                for one in data.squad_claims(articles)
                if zlib.crc32(one.claim.encode()) % 10 < SQUAD_SHARE
            ),
        ]
        judge = train_judge(claims, encoder)
        statements = train_answers(list(data.scifact_answers(science)), encoder, "statement")
        questions = train_answers(list(data.squad_answers(articles)), encoder, "question")
    if not chosen.dry_run:
        _write(weighing.JUDGE, judge)
        selector = {"attribution": list(ATTRIBUTION), "weighings": [*questions, *statements]}
        _write(weighing.SELECTOR, selector)


if __name__ == "__main__":
    main()
