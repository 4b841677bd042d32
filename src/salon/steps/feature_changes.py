"""What the transitions step writes; apart from it, because the relationship reads it as well."""

from dataclasses import dataclass

from salon.blackboard.slots import Slot


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureChanges:
    """Which features are likely to change soon, in which direction, and which are stable."""

    likely_to_change: tuple[str, ...]
    predicted_direction: dict[str, str]
    """`+`, `-` or `0` for each feature of `likely_to_change`."""
    change_probability: dict[str, float]
    stable_features: tuple[str, ...]


TRANSITIONS = Slot("predicted_feature_changes", FeatureChanges)
