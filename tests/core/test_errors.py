"""The error tree: drawn as it is, one code per class, one JSON shape, whole after a journey."""

import json
import pickle
import re
from collections.abc import Iterator

import pytest

from salon.core import errors
from salon.core.errors import HandleMoved, SalonError


def tree(root: type[SalonError] = SalonError) -> Iterator[type[SalonError]]:
    """Walk all classes of the tree that the module defines, the root first."""
    yield root
    for child in root.__subclasses__():
        if child.__module__ == errors.__name__:
            yield from tree(child)


EVERY_CLASS = pytest.mark.parametrize("kind", list(tree()), ids=lambda k: k.__name__)


def drawn() -> list[tuple[int, str]]:
    """Return depth and name of every class that the module's docstring draws."""
    found = []
    for line in (errors.__doc__ or "").splitlines():
        drawing = re.match(r"    ([│ ]*)(?:[├└]── )?([A-Z][A-Za-z]+)(?:  .*)?$", line)
        if drawing:
            branch = 4 if "── " in line else 0
            found.append(((len(drawing[1]) + branch) // 4, drawing[2]))
    return found


def test_the_drawing_is_the_tree() -> None:
    parents: list[str] = []
    pairs = []
    for depth, name in drawn():
        del parents[depth:]
        pairs.append((name, parents[-1] if parents else "Exception"))
        parents.append(name)
    real = [(kind.__name__, kind.__base__.__name__) for kind in tree() if kind.__base__]
    assert sorted(pairs) == sorted(real)


def test_every_class_has_a_code_of_its_own() -> None:
    codes = [kind.code for kind in tree()]
    assert len(codes) == len(set(codes))


@EVERY_CLASS
def test_the_code_is_the_name_in_snake_case(kind: type[SalonError]) -> None:
    assert kind.code == re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()
    assert "code" in vars(kind)


@EVERY_CLASS
def test_every_class_says_in_one_sentence_what_it_means(kind: type[SalonError]) -> None:
    assert kind.__doc__
    assert kind.__doc__.strip().endswith(".")


@EVERY_CLASS
def test_an_error_survives_the_way_to_another_process(kind: type[SalonError]) -> None:
    error = kind("what happened", hint="what to do", hash="abc", size=3, among=["x", "y"])
    travelled = pickle.loads(pickle.dumps(error))
    assert type(travelled) is kind
    assert travelled.as_json() == error.as_json()
    assert str(travelled) == "what happened"


@EVERY_CLASS
def test_every_error_has_the_one_json_shape(kind: type[SalonError]) -> None:
    shape = kind("what happened", handle="h").as_json()
    assert shape == {
        "error": {
            "code": kind.code,
            "message": "what happened",
            "hint": None,
            "details": {"handle": "h"},
        }
    }
    assert json.loads(json.dumps(shape)) == shape


def test_catching_a_branch_catches_its_leaves() -> None:
    with pytest.raises(errors.Conflict):
        raise HandleMoved("moved")


def test_changing_the_json_does_not_change_the_error() -> None:
    error = SalonError("x", a=1)
    shape = error.as_json()["error"]
    assert isinstance(shape, dict)
    shape["details"].clear()
    assert error.details == {"a": 1}
