"""The 42 features: names, kinds, labels and which of them are sensitive, as data.

24 describe who a person is, 18 what is inferred about them. The letters of the four MBTI axes are
E, N, T and J above 0.5. A number has labels where `cuts` divide it: the label of a value is the one
whose upper cut it lies below.
"""

from bisect import bisect_right
from dataclasses import dataclass
from itertools import product
from typing import Literal

Kind = Literal["trait", "options", "stated", "derived"]
"""`trait`: a number believed with a Gaussian; `options`: one of several, by weight of evidence;
`stated`: a number the person says, the newest holds; `derived`: computed from the others."""

LEVELS = ("low", "medium", "high")
STRENGTHS = ("none", "moderate", "strong")
THIRDS = (0.33, 0.67)
HALF = (0.5,)
MBTI_TYPES = tuple("".join(letters) for letters in product("EI", "NS", "TF", "JP"))
ATTACHMENT_STYLES = ("secure", "anxious", "avoidant", "disorganized")
LOVE_LANGUAGES = (
    "words_of_affirmation",
    "quality_time",
    "receiving_gifts",
    "acts_of_service",
    "physical_touch",
)
STATUSES = ("stranger", "acquaintance", "crush", "dating", "committed")
REL_TYPES = ("love", "friendship", "family", "other")
SENTIMENTS = ("positive", "neutral", "negative")
ADVANCE = ("yes", "no", "uncertain")


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """One of the 42: `sensitive` ones are taken from plain statements only and never asked for."""

    name: str
    kind: Kind
    labels: tuple[str, ...] = ()
    cuts: tuple[float, ...] = ()
    sensitive: bool = False


def _traits(names: str, labels: tuple[str, ...], cuts: tuple[float, ...]) -> tuple[Feature, ...]:
    return tuple(Feature(name=name, kind="trait", labels=labels, cuts=cuts)
                 for name in names.split())  # fmt: skip


def _options(name: str, labels: str, *, sensitive: bool = False) -> Feature:
    return Feature(name=name, kind="options", labels=tuple(labels.split()), sensitive=sensitive)


def _derived(
    name: str, labels: tuple[str, ...] = (), cuts: tuple[float, ...] = ()
) -> Feature:  # fmt: skip
    return Feature(name=name, kind="derived", labels=labels, cuts=cuts)


BIG_FIVE = tuple(
    f"big_five_{trait}"
    for trait in ("openness", "conscientiousness", "extraversion", "agreeableness", "neuroticism")
)
INTERESTS = tuple(
    f"interest_{name}"
    for name in ("music", "sports", "travel", "food", "arts", "tech", "outdoors", "books")
)

FEATURE_LIST: tuple[Feature, ...] = (
    Feature(
        name="age",
        kind="stated",
        labels=("18-24", "25-30", "30-35", "35-40", "40-50", "50+"),
        cuts=(25, 31, 36, 41, 51),
    ),
    _options("sex", "m f", sensitive=True),
    _options("orientation", "straight gay bisexual", sensitive=True),
    _options("communication_style", "direct indirect humorous serious casual formal"),
    _options("relationship_goals", "casual serious friendship unsure"),
    _options("lifestyle_diet", "omnivore vegetarian vegan other"),
    _options("lifestyle_drinks", "not_at_all rarely socially often very_often"),
    _options("lifestyle_smokes", "no sometimes yes"),
    _options("lifestyle_drugs", "never sometimes", sensitive=True),
    _options("background_education", "high_school some_college bachelors masters phd"),
    _options(
        "background_religion",
        "atheist agnostic christian jewish muslim hindu buddhist other",
        sensitive=True,
    ),
    *_traits(" ".join(BIG_FIVE), LEVELS, THIRDS),
    *_traits(" ".join(INTERESTS), STRENGTHS, THIRDS),
    _derived("mbti_type", MBTI_TYPES),
    _derived("mbti_confidence"),
    _derived("mbti_ei", ("introvert", "extravert"), HALF),
    _derived("mbti_sn", ("sensing", "intuition"), HALF),
    _derived("mbti_tf", ("feeling", "thinking"), HALF),
    _derived("mbti_jp", ("perceiving", "judging"), HALF),
    _derived("attachment_style", ATTACHMENT_STYLES),
    _derived("attachment_anxiety", LEVELS, THIRDS),
    _derived("attachment_avoidance", LEVELS, THIRDS),
    _options("primary_love_language", " ".join(LOVE_LANGUAGES)),
    _derived("secondary_love_language", LOVE_LANGUAGES),
    _derived("trust_score", LEVELS, THIRDS),
    _derived("trust_velocity"),
    _derived("trust_history"),
    _derived("relationship_status", STATUSES),
    _derived("relationship_type", REL_TYPES),
    _derived("sentiment_label", SENTIMENTS),
    _derived("can_advance", ADVANCE),
)
FEATURES_BY_NAME: dict[str, Feature] = {one.name: one for one in FEATURE_LIST}
NAMES: tuple[str, ...] = tuple(FEATURES_BY_NAME)
MIXED: frozenset[str] = frozenset({"primary_love_language", "communication_style"})
"""Options of which a person may have several, more or less."""
SENSITIVE: frozenset[str] = frozenset(one.name for one in FEATURE_LIST if one.sensitive)


def label_of(feature: Feature, value: float | str) -> str:
    """Return the label of a value of this feature; a word is its own label."""
    if isinstance(value, str):
        return value
    return feature.labels[bisect_right(feature.cuts, value)]
