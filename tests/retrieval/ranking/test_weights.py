import json
from pathlib import Path

import pytest
from pydantic_core import to_json

from salon.core.embedding import EmbeddingModel
from salon.core.errors import FileMissing, InvalidSettings
from salon.providers.embedders import DEFAULT_ADDRESS, open_embedder
from salon.retrieval.ranking.weights import (
    WeightsFile,
    read_weights,
    shipped_weights,
    weights_for,
)
from tests.retrieval.ranking.samples import weights

STRANGE = EmbeddingModel(address="ollama:some", fingerprint="0" * 64, dimensions=8)


def test_salon_ships_weights_for_its_default_embedder() -> None:
    model = open_embedder(DEFAULT_ADDRESS).model

    found = weights_for(model)

    assert found.fingerprint == model.fingerprint
    assert found.closeness == "cosine"


def test_salon_names_the_data_that_its_weights_come_from() -> None:
    attribution = " ".join(shipped_weights().attribution)

    assert all(name in attribution for name in ("SciFact", "SQuAD", "2Wiki"))


@pytest.mark.parametrize("model", [None, STRANGE])
def test_a_model_without_weights_gets_generic_ones(model: EmbeddingModel | None) -> None:
    found = weights_for(model)

    assert found.fingerprint is None
    assert found.closeness == "stretched"


def test_weights_of_ones_own_come_before_those_that_are_shipped() -> None:
    mine = weights(fingerprint=STRANGE.fingerprint)
    own = WeightsFile(attribution=("mine",), weights=(mine,))

    assert weights_for(STRANGE, own) == mine
    assert weights_for(None, own).fingerprint is None


def test_generic_weights_of_ones_own_come_before_those_that_are_shipped() -> None:
    mine = weights(fingerprint=None, closeness="stretched")
    own = WeightsFile(attribution=("mine",), weights=(mine,))

    assert weights_for(STRANGE, own) == mine


def test_weights_survive_being_written_and_read(tmp_path: Path) -> None:
    kept = WeightsFile(attribution=("mine",), weights=(weights(), weights(fingerprint=None)))
    path = tmp_path / "weights.json"
    path.write_bytes(to_json(kept))

    assert read_weights(path) == kept


@pytest.mark.parametrize(
    "change",
    [
        {"words": "much"},
        {"words": float("nan")},
        {"closeness": "near"},
        {"more": 1},
        {"curves": [{"start": 0.0, "slopes": [1.0]}]},
        {"alphas": [0.5, 0.0, 1.0]},
        {"alphas": [0.0, 0.5, 0.9]},
        {"curves": [{"start": 0.0, "slopes": [-1.0]}] * 3},
        {"curves": [{"start": 0.0, "slopes": [1.0, 1.0]}] * 3},
        {"ideal_curves": [{"start": 0.0, "slopes": [1.0]}] * 3},
    ],
)
def test_weights_that_make_no_sense_are_refused(tmp_path: Path, change: dict[str, object]) -> None:
    content = json.loads(to_json(WeightsFile(attribution=(), weights=(weights(),))))
    content["weights"][0] |= change
    path = tmp_path / "weights.json"
    path.write_text(json.dumps(content))

    with pytest.raises(InvalidSettings, match="holds no weights") as caught:
        read_weights(path)

    assert caught.value.hint is not None


def test_a_file_that_is_not_there_is_missed(tmp_path: Path) -> None:
    with pytest.raises(FileMissing):
        read_weights(tmp_path / "none.json")
