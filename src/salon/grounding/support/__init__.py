"""Whether a text bears a claim out, and which sentences answer a question."""

from salon.grounding.support.judge import Judge, load_judge
from salon.grounding.support.readings import sentences
from salon.grounding.support.selector import Selector, load_selector

__all__ = ["Judge", "Selector", "load_judge", "load_selector", "sentences"]
