"""The codes with which commands end: one for each family, each told to people."""

import pytest

from salon.cli.errors import EXIT_CODES_IN_WORDS, exit_code
from salon.core import errors
from salon.core.errors import SalonError
from tests.cli.conftest import CommandLine

KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, SalonError) and kind is not SalonError
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.code)
def test_no_error_that_salon_raises_on_purpose_looks_like_a_defect(kind: type[SalonError]) -> None:
    code = exit_code(kind("example"))
    assert code != 1
    assert code in EXIT_CODES_IN_WORDS


def test_the_help_tells_every_code(salon: CommandLine) -> None:
    shown = " ".join(salon("--help").text.split())
    for code, meaning in EXIT_CODES_IN_WORDS.items():
        assert f"{code} {meaning}" in shown
