"""The judge: how probably a text bears a claim out, and what speaks against it.

A claim that stands in the text word for word is borne out. A claim that the text plainly
contradicts, or that names a number, a date or a name the text does not have, is not, however alike
the words are. Everything between is weighed by shipped weights: by words, and by meaning where
there is an encoder that weights were made for.

Invariant: where there is a reason against a claim, its probability is below the threshold.
"""

from collections.abc import Sequence

from salon.core.embedding import TokenEmbedder
from salon.grounding.reports import Support
from salon.grounding.support.features import look, look_closer
from salon.grounding.support.meaning import Remembering
from salon.grounding.support.readings import Claim, Evidence, read_claim, read_evidence
from salon.grounding.support.weighing import JUDGE, WeighingFile, shipped
from salon.grounding.support.words import Tellingness, shipped_tellingness

KIND = "claim"
VERBATIM = 0.995
"""The probability of a claim that stands in the text as it is."""
_REFUSED = 0.5
"""What share of the threshold a claim can keep that something plainly speaks against."""
_NOTHING = 0.01
_UNSURE = (0.3, 0.8)
"""Where words leave it open. Outside, comparing by meaning takes time and changes no verdict."""


class Judge:
    """Judges claims by the texts they rest on. May be used by many threads at once."""

    def __init__(
        self, weights: WeighingFile, telling: Tellingness, encoder: TokenEmbedder | None
    ) -> None:
        self._by_words = weights.by_words(KIND)
        self._by_meaning = weights.by_meaning(KIND, encoder)
        self._telling = telling
        self._encoder = Remembering(encoder) if encoder and self._by_meaning else None

    @property
    def threshold(self) -> float:
        """The probability from which on a claim counts as borne out."""
        return (self._by_meaning or self._by_words).threshold

    @property
    def encoder(self) -> str | None:
        """The model that meaning is compared by; `None` where only words are compared."""
        return str(self._encoder.encoder.model) if self._encoder else None

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Support]:
        """Return, for each claim and the text it rests on, how probably the text bears it out."""
        return [self._judge(read_claim(claim), read_evidence(text)) for claim, text in pairs]

    def _judge(self, claim: Claim, evidence: Evidence) -> Support:
        if not evidence.sentences or not claim.sentence.words:
            return Support(probability=_NOTHING, against=("there is nothing to compare",))
        # Whole sentences only: a piece of one may say what the sentence denies.
        if f"\n{claim.plain}\n" in f"\n{evidence.plain}\n":
            return Support(probability=VERBATIM)
        looked = look(claim, evidence, self._telling)
        if looked.found:
            reasons = tuple(dict.fromkeys(one.reason for one in looked.found))
            probability = self._by_words.probability(looked.values)
            return Support(probability=probability * self.threshold * _REFUSED, against=reasons)
        by_words = self._by_words.probability(looked.values)
        closer = None
        if self._encoder is not None and _UNSURE[0] <= by_words <= _UNSURE[1]:
            closer = look_closer(claim, evidence, looked.alignment, self._telling, self._encoder)
        if closer is None or self._by_meaning is None:
            return Support(probability=by_words)
        return Support(probability=self._by_meaning.probability({**looked.values, **closer}))


def load_judge(encoder: TokenEmbedder | None) -> Judge:
    """Return the judge that Salon ships; without an encoder it goes by words alone."""
    return Judge(shipped(JUDGE), shipped_tellingness(), encoder)
