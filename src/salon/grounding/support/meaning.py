"""How alike a claim or question and some sentences are in meaning, token by token.

Every token of the claim looks for the token of a sentence that is most like it, as its neighbours
make it; telling words count more. So a word may be met by another that means the same there, and
one word that nothing meets shows, however alike the rest is.
"""

import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from salon.core.embedding import TokenEmbedder, TokenVectors
from salon.grounding.support.words import Tellingness, Word

Floats = npt.NDArray[np.float64]

_REMEMBERED = 1024
_LITTLE = 0.05
"""What a word that only holds a sentence together weighs."""
_TELLING = 0.3
"""A token is telling that weighs so much of what the most telling one does."""


class Remembering:
    """An encoder that does not compute again what it has just computed. For many threads."""

    def __init__(self, encoder: TokenEmbedder) -> None:
        self.encoder = encoder
        self._known: OrderedDict[str, TokenVectors] = OrderedDict()
        self._one_at_a_time = threading.Lock()

    def read(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Return the token vectors of each text."""
        with self._one_at_a_time:
            found = {text: self._known[text] for text in texts if text in self._known}
        new = [text for text in dict.fromkeys(texts) if text not in found]
        if new:
            found.update(zip(new, self.encoder.embed_tokens(new), strict=True))
        with self._one_at_a_time:
            for text, vectors in found.items():
                self._known[text] = vectors
                self._known.move_to_end(text)
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return [found[text] for text in texts]


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """How alike sentences are to a claim: a row for each sentence, a column for each token."""

    weights: Floats
    tokens: Floats
    reverse: Floats
    """For each sentence, how well its own tokens are met by the claim."""
    cosines: Floats

    @property
    def by_sentence(self) -> Floats:
        """How well each sentence meets the claim."""
        return weighed(self.tokens, self.weights)

    @property
    def is_telling(self) -> npt.NDArray[np.bool_]:
        """Which tokens of the claim are telling."""
        return np.asarray(self.weights > _TELLING * self.weights.max())


def likeness(
    words: Sequence[Word],
    claim: TokenVectors,
    sentences: Sequence[TokenVectors],
    telling: Tellingness,
    *,
    little: frozenset[str] = frozenset(),
) -> Likeness | None:
    """Compare a claim with sentences; `None` for a claim without a single token."""
    if not len(claim.vectors) or not sentences:
        return None
    tokens, reverse = [], []
    for one in sentences:
        if not len(one.vectors):
            tokens.append(np.zeros(len(claim.vectors)))
            reverse.append(0.0)
            continue
        # Not `@`: numpy would start threads for it.
        alike = np.einsum("id,jd->ij", claim.vectors, one.vectors)
        tokens.append(alike.max(axis=1))
        reverse.append(float(alike.max(axis=0).mean()))
    return Likeness(
        weights=_weights(words, claim.spans, telling, little),
        tokens=np.array(tokens, dtype=np.float64),
        reverse=np.array(reverse),
        cosines=np.array([float((claim.whole * one.whole).sum()) for one in sentences]),
    )


def weighed(rows: Floats, weights: Floats) -> Floats:
    """Return the weighed mean of each row."""
    return np.asarray(np.einsum("ij,j->i", rows, weights), dtype=np.float64)


def _weights(
    words: Sequence[Word],
    spans: Sequence[tuple[int, int]],
    telling: Tellingness,
    little: frozenset[str],
) -> Floats:
    """Return how much each token weighs: as much as the word that it is a part of."""
    starts = [word.start for word in words]
    weights = np.zeros(len(spans))
    for place, (start, _) in enumerate(spans):
        at = bisect_right(starts, start) - 1
        if at >= 0 and start < words[at].start + len(words[at].text):
            word = words[at]
            counts = word.is_content and word.text.lower() not in little
            weights[place] = telling.of(word.stem) if counts else _LITTLE
    total = weights.sum()
    return weights / total if total else np.full(len(spans), 1 / len(spans))


def claim_features(likeness: Likeness, places: Sequence[int], window: int) -> dict[str, float]:
    """Return what the judge looks at; `places` says where in the text the sentences stand."""
    order = np.argsort(places)
    stands = np.array(places)[order]
    rows = likeness.tokens[order]
    windows = np.array(
        [rows[(stands >= first) & (stands < first + window)].max(axis=0) for first in stands]
    )
    in_window = weighed(windows, likeness.weights)
    best = windows[int(in_window.argmax())][likeness.is_telling]
    anywhere = np.sort(likeness.tokens.max(axis=0)[likeness.is_telling])
    cosines = np.sort(likeness.cosines)[::-1]
    return {
        "like_sentence": float(likeness.by_sentence.max()),
        "like_window": float(in_window.max()),
        "least_like": float(anywhere[:3].mean()),
        "least_like_third": float(np.sort(best)[: max(1, len(best) // 3)].mean()),
        "uneven": float(best.std()),
        "cosine": float(cosines[0]),
        "cosine_of_two": float(cosines[:2].mean()),
    }


def answer_features(likeness: Likeness) -> dict[str, Floats]:
    """Return what the selector looks at, each for all sentences, which follow each other."""
    rows = likeness.tokens
    before = np.vstack([rows[:1], rows[:-1]])
    after = np.vstack([rows[1:], rows[-1:]])
    alike = likeness.by_sentence
    lowest = np.sort(np.where(likeness.is_telling, rows, 1.0), axis=1)[:, :2].mean(axis=1)
    return {
        "like": alike,
        "like_with_last": weighed(np.maximum(rows, before), likeness.weights),
        "like_with_neighbours": weighed(
            np.maximum(rows, np.maximum(before, after)), likeness.weights
        ),
        "least_like": lowest,
        "like_reversed": likeness.reverse,
        "cosine": likeness.cosines,
        "like_behind": alike - alike.max(),
        "cosine_behind": likeness.cosines - likeness.cosines.max(),
        "like_rank": ranks(alike),
        "cosine_rank": ranks(likeness.cosines),
    }


def ranks(scores: Floats) -> Floats:
    """Return one for the highest, a half for the next, a third, and so on."""
    order = np.argsort(np.argsort(-scores, kind="stable"), kind="stable")
    return np.asarray(1 / (1.0 + order), dtype=np.float64)
