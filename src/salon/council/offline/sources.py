"""What the seats look up: searches, sentences and vectors, each made once and shared by all five.

Nothing derived is ever returned: a chapter of the council is no source for the next one.

Invariant: a quote's text is exactly the bytes of its span in its card.
"""

import threading
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from salon.core.archive import Archive
from salon.core.citations import Citation
from salon.core.documents import DocumentId, VerificationStatus
from salon.core.embedding import Embedder
from salon.core.errors import SalonError
from salon.core.hashing import CardHash, as_card_hash
from salon.corpus.language import detect_language
from salon.corpus.search import FoundPassage
from salon.council.checks import is_usable
from salon.council.drafts import Sentence
from salon.council.offline.cues import AFTER_INITIAL, DAY_OF_A_MONTH
from salon.council.offline.sentences import Traits, is_quotable, label_length, traits_of
from salon.council.offline.words import stems, words
from salon.retrieval.chunking import sentences
from salon.retrieval.graph.word_lists import FUNCTION_WORDS

if TYPE_CHECKING:
    from salon.core.embedding import Vectors

Search: TypeAlias = Callable[[str, int], Sequence[FoundPassage]]
"""Returns at most so many passages for a query, best first."""

_AROUND = 1_500
"""Bytes read on both sides of a passage, to see where its first sentence really begins."""
_CHAPTERS = 20
"""Passages asked for beyond the limit, because some may be the council's own."""
_WINDOW, _MARGIN = 600, 200
"""Bytes of a text that are its context together, and those on both sides that belong to it too."""
_MOST_SEARCHES = 512
_MOST_LANGUAGES = 5_000
_ENGLISH = "en"
_PLAINLY_ENGLISH = 0.25
"""The share of a text's words that are little English ones, from which on it is English."""
_LEAST_TOLD_BY, _TOLD_BY = 80, 1_200
"""Characters and bytes of a text that tell its language: fewer may mislead, more take longer."""
_MOST_VECTORS = 20_000
_WORD_DIMENSIONS = 2_048


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A sentence with its proof: where in the archive it stands, and what it shows.

    Those that are found here are quotes word for word; one from somebody's draft is as they put it.
    """

    text: str
    citations: tuple[Citation, ...]
    document: DocumentId
    is_verified: bool
    score: float
    """How probably its passage is relevant to what was searched for."""
    traits: Traits
    language: str | None = None
    """What its text is written in where that is not English, whose words alone are known here."""

    @property
    def place(self) -> tuple[CardHash, int, str]:
        """Return what tells this sentence from all others, and orders them."""
        return self.citations[0].hash, self.citations[0].start, self.text


class Sources:
    """The archive as the seats of one council see it; may be used by several threads."""

    def __init__(
        self, search: Search, archive: Archive, embedder: Callable[[], Embedder] | None
    ) -> None:
        self.archive = archive
        self._search = search
        self._embedder = embedder
        self._lock = threading.RLock()
        self._found: dict[tuple[str, int], tuple[FoundPassage, ...]] = {}
        self._vectors: dict[str, Vectors] = {}
        self._languages: dict[CardHash, str | None] = {}
        self._has_meaning = embedder is not None

    @property
    def has_meaning(self) -> bool:
        """Tell whether vectors are of an embedder, and not of words alone."""
        return self._has_meaning

    def find(self, query: str, limit: int) -> tuple[FoundPassage, ...]:
        """Return passages that are nobody's own writing, best first."""
        key = (query, limit)
        with self._lock:
            if key not in self._found:
                if len(self._found) >= _MOST_SEARCHES:
                    self._found.clear()
                passages = self._search(query, limit + _CHAPTERS)
                real = [one for one in passages if not one.derived]
                self._found[key] = tuple(real[:limit])
            return self._found[key]

    def quotes_of(self, passage: FoundPassage) -> list[Quote]:
        """Return the sentences of a passage that can stand by themselves."""
        if not any(is_usable(one) for one in self.archive.documents_of(passage.hash)):
            return []
        content = self.archive.get(passage.hash).content
        language = self.language_of(passage.hash, content)
        quotes = [
            _as_quote(passage, text, start, language)
            for start, text in sentences_within(content, passage.start, passage.end)
        ]
        return [one for one in quotes if _can_be_used(one)]

    def find_quote(self, sentence: Sentence, score: float = 0.0) -> Quote | None:
        """Return a sentence of somebody's draft as a quote, if what it cites may be cited."""
        for citation in sentence.citations:
            documents = [one for one in self.archive.documents_of(citation.hash) if is_usable(one)]
            real = [one for one in documents if not one.provenance.derived]
            if real:
                return Quote(
                    text=sentence.text,
                    citations=sentence.citations,
                    document=real[0].id,
                    is_verified=real[0].verification.status is VerificationStatus.VERIFIED,
                    score=score,
                    traits=traits_of(sentence.text),
                    language=self.language_of(citation.hash),
                )
        return None

    def find_span(self, card: str, start: int, end: int) -> Quote | None:
        """Return bytes of a card as a quote, if they are a sentence that may be quoted."""
        try:
            content = self.archive.get(as_card_hash(card)).content
        except SalonError:
            return None
        within = sentences_within(content, start, end) if start < end else []
        text = content[start:end].decode(errors="ignore")
        language = self.language_of(CardHash(card), content)
        if within != [(start, text)] or not is_quotable(text, language):
            return None
        citation = Citation(hash=CardHash(card), start=start, end=end, quote=text, source="")
        return self.find_quote(Sentence(text=text, citations=(citation,)))

    def language_of(self, card: CardHash, content: bytes | None = None) -> str | None:
        """Return what a text is written in, or `None` where it is English or cannot be told."""
        with self._lock:
            if card not in self._languages:
                if len(self._languages) >= _MOST_LANGUAGES:
                    self._languages.clear()
                text = self.archive.get(card).content if content is None else content
                self._languages[card] = _told_language(text[:_TOLD_BY].decode(errors="ignore"))
            return self._languages[card]

    def context_of(self, sentence: Sentence | Quote) -> str:
        """Return the part of its source in which a sentence stands, or itself where it cites none.

        Sentences near each other have the same part, so that it is looked at once.
        """
        if not sentence.citations:
            return sentence.text
        cited = sentence.citations[0]
        first = cited.start // _WINDOW * _WINDOW
        content = self.archive.get(cited.hash).content
        return content[max(0, first - _MARGIN) : first + _WINDOW + _MARGIN].decode(errors="ignore")

    def vectors(self, texts: Sequence[str]) -> "Vectors":
        """Return one unit vector per text, in order."""
        with self._lock:
            if len(self._vectors) > _MOST_VECTORS:
                self._vectors.clear()
            new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
            for text, vector in zip(new, self._embed(new), strict=True):
                self._vectors[text] = vector
            if not texts:
                return np.zeros((0, 1), dtype=np.float32)
            return np.stack([self._vectors[text] for text in texts])

    def _embed(self, texts: Sequence[str]) -> "Sequence[Vectors]":
        if texts and self._has_meaning and self._embedder is not None:
            try:
                return list(self._embedder().embed_passages(texts))
            except SalonError:
                # Vectors of two kinds never meet: from here on all are of words.
                self._has_meaning = False
                known = list(self._vectors)
                self._vectors = dict(zip(known, map(word_vector, known), strict=True))
        return [word_vector(text) for text in texts]


def _told_language(text: str) -> str | None:
    """Return the language of a text if it is surely another one than English."""
    read = words(text)
    little = sum(word.lower() in FUNCTION_WORDS for word in read)
    # The table of all languages takes a while to load, and most texts show at once what they are.
    if len(text) < _LEAST_TOLD_BY or little >= _PLAINLY_ENGLISH * len(read):
        return None
    told = detect_language(text)
    return None if told == _ENGLISH else told


def sentences_within(content: bytes, start: int, end: int) -> list[tuple[int, str]]:
    """Return the whole sentences between two places of a text, each with where it begins.

    What stands around is read too, so that a piece of a sentence is not taken for one.
    """
    first = max(0, start - _AROUND)
    around = content[first : end + _AROUND]
    while around and around[0] & 0xC0 == 0x80:  # in the middle of a character
        first, around = first + 1, around[1:]
    text = around.decode(errors="ignore")
    found = []
    for opening, closing in sentences(text):
        begin = opening + label_length(text[opening:closing])
        place = first + len(text[:begin].encode())
        whole = text[begin:closing]
        is_within = start <= place and place + len(whole.encode()) <= end
        is_piece = AFTER_INITIAL.search(text, max(0, opening - 4), opening) or (
            DAY_OF_A_MONTH.search(whole) and text[closing:].lstrip()[:1].isdigit()
        )
        if is_within and not is_piece:
            found.append((place, whole))
    return found


def word_vector(text: str) -> "Vectors":
    """Return a unit vector of a text's telling words, where there is no embedder."""
    vector = np.zeros(_WORD_DIMENSIONS, dtype=np.float32)
    for root in stems(text):
        vector[zlib.crc32(root.encode()) % _WORD_DIMENSIONS] += 1
    length = float(np.linalg.norm(vector))
    return vector / length if length else vector


def _as_quote(passage: FoundPassage, text: str, start: int, language: str | None) -> Quote:
    citation = Citation(
        hash=passage.hash,
        start=start,
        end=start + len(text.encode()),
        quote=text,
        source=passage.source,
        page=passage.page,
    )
    return Quote(
        text=text,
        citations=(citation,),
        document=passage.document_id,
        is_verified=passage.verified,
        score=passage.score,
        traits=traits_of(text),
        language=language,
    )


def _can_be_used(quote: Quote) -> bool:
    source = quote.citations[0].source
    is_title = quote.text.strip(" .").casefold() == source.strip(" .").casefold()
    return not is_title and is_quotable(quote.text, quote.language)
