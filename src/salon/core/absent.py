"""What is not known, with the reason: what stands where a value would be invented otherwise."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Absent:
    """No value, and why. It is falsy, so `reading or Absent(…)` and `if reading` read naturally."""

    reason: str

    def __bool__(self) -> Literal[False]:
        return False
