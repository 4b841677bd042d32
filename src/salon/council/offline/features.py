"""What sentences are chosen by, as numbers from 0 to 1, for all sentences of a pool at once."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from salon.council.offline.sources import Quote
from salon.council.offline.strategies import Feature
from salon.council.offline.words import is_shared, telling_words, words

if TYPE_CHECKING:
    from salon.core.embedding import Vectors

Matrix: TypeAlias = npt.NDArray[np.float64]

_OPENING = 8
"""Words at the beginning of a sentence in which its subject stands."""
_AGREEING = 3
"""Other documents that say something close; more do not make it surer."""
_FEWEST_LINKED, _MOST_LINKED = 2, 8
"""Documents that a name must link, and above which it links nothing in particular."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Closeness:
    """How close two vectors are, for one kind of vector: what is noise, what is the same thing."""

    unrelated: float
    near: float
    same: float


def topic_share(text: str, topic_stems: Sequence[str]) -> float:
    """Return the share of a topic's words that a text has, endings aside."""
    there = telling_words(text)
    return sum(is_shared(root, there) for root in topic_stems) / max(1, len(topic_stems))


def features_of(
    quotes: Sequence[Quote],
    vectors: "Vectors",
    value: Matrix,
    topic_stems: Sequence[str],
    closeness: Closeness,
) -> dict[Feature, Matrix]:
    """Return each feature of all quotes, by row."""
    traits = [one.traits for one in quotes]
    openings = [" ".join(words(one.text)[:_OPENING]) for one in quotes]
    centre = vectors.mean(axis=0) if len(quotes) else np.zeros(vectors.shape[1])
    columns: dict[Feature, Sequence[float] | Matrix] = {
        Feature.RELEVANCE: value,
        Feature.CENTRAL: np.clip((vectors @ centre) / max(float(centre @ centre), 1e-9), 0, 1),
        Feature.SUBJECT: [min(1.0, 2 * topic_share(one, topic_stems)) for one in openings],
        Feature.ROLE: [float(one.role is not None) for one in traits],
        Feature.FIGURES: [one.figures for one in traits],
        Feature.NAMES: [one.names for one in traits],
        Feature.VERIFIED: [float(one.is_verified) for one in quotes],
        Feature.AGREED: agreement(quotes, vectors, closeness),
        Feature.CONTRAST: [one.contrast for one in traits],
        Feature.EASE: [one.ease for one in traits],
        Feature.BRIDGE: bridging(quotes, vectors),
        Feature.OWN_VOICE: [one.own_voice for one in traits],
    }
    return {name: np.asarray(column, dtype=float) for name, column in columns.items()}


def agreement(quotes: Sequence[Quote], vectors: "Vectors", closeness: Closeness) -> list[float]:
    """Return for each quote how many other documents say something close to it."""
    near = vectors @ vectors.T >= closeness.near
    found = []
    for at, quote in enumerate(quotes):
        others = {quotes[other].document for other in near[at].nonzero()[0]} - {quote.document}
        found.append(min(len(others), _AGREEING) / _AGREEING)
    return found


def bridging(quotes: Sequence[Quote], vectors: "Vectors") -> list[float]:
    """Return for each quote how far apart the documents are that its best link joins."""
    links = links_of(quotes)
    distance = {key: _distance(places, quotes, vectors) for key, places in links.items()}
    far = max(distance.values(), default=1.0) or 1.0
    keys: defaultdict[int, list[float]] = defaultdict(list)
    for key, places in links.items():
        for at in places:
            keys[at].append(distance[key] / far)
    return [max(keys[at], default=0.0) for at in range(len(quotes))]


def links_of(quotes: Sequence[Quote]) -> dict[str, list[int]]:
    """Return the names that a few documents share, each with the places of the quotes."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for at, quote in enumerate(quotes):
        for key in quote.traits.entities:
            places[key].append(at)
    return {
        key: found
        for key, found in sorted(places.items())
        if _FEWEST_LINKED <= len({quotes[at].document for at in found}) <= _MOST_LINKED
    }


def _distance(places: Sequence[int], quotes: Sequence[Quote], vectors: "Vectors") -> float:
    """Return how unlike the quotes of different documents are on average."""
    cosines = vectors[list(places)] @ vectors[list(places)].T
    pairs = [
        1 - float(cosines[one, other])
        for one, first in enumerate(places)
        for other, second in enumerate(places)
        if quotes[first].document != quotes[second].document
    ]
    return sum(pairs) / len(pairs)
