"""Telling the language of a text, or that it cannot be told."""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

SURE = 0.9
"""How probable a language must be to be named."""
_SAMPLE = 4_000
_NO_LANGUAGE = "zxx"


def detect_language(text: str) -> str | None:
    """Return the ISO 639-1 code of a text's language, or `None` where it is doubtful."""
    language, probability = _identifier().classify(text[:_SAMPLE])
    return None if language == _NO_LANGUAGE or probability < SURE else str(language)


@cache
def _identifier() -> "LanguageIdentifier":
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # takes a while to load

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
