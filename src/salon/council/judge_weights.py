"""The weights that Salon ships for recorded judges, and the file they are in.

`tools/train_council.py` makes it. Judges that are not in it weigh nothing until their votes on the
items at hand show how they do.
"""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from salon.core.errors import InvalidDocument
from salon.council.judges import JudgeWeights

WEIGHTS = Path(__file__).parent / "weights" / "judges.json"


class JudgesFile(BaseModel):
    """What the file holds: by judge, our weight and its own plain log-odds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kinds: list[str]
    """The kinds of items that the weights were learned from."""
    items: int
    weights: dict[str, float]
    log_odds: dict[str, float]

    @property
    def learned(self) -> JudgeWeights:
        """Return our weights."""
        return JudgeWeights(weights=self.weights)

    @property
    def plain(self) -> JudgeWeights:
        """Return the plain log-odds, as if no two judges were alike."""
        return JudgeWeights(weights=self.log_odds)


def read_judges_file(path: Path = WEIGHTS) -> JudgesFile:
    """Read shipped weights, or raise `InvalidDocument`."""
    try:
        return JudgesFile.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise InvalidDocument(f"{path.name} holds no weights of judges: {error}") from error
