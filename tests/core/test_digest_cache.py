"""Results that are remembered by the digest of a text."""

from salon.core.digest_cache import remembered


def test_a_result_is_computed_once_while_it_is_remembered() -> None:
    asked: list[str] = []

    @remembered(size=2)
    def length(text: str) -> int:
        """Return how long a text is."""
        asked.append(text)
        return len(text)

    assert [length("one"), length("one"), length("three")] == [3, 3, 5]
    assert asked == ["one", "three"]
    assert length("one") == 3
    assert length("fourteen") == 8
    assert length("one") == 3, "what was used last is kept"
    assert asked == ["one", "three", "fourteen"]
    assert length("three") == 5
    assert asked[-1] == "three"
    assert length.__doc__ == "Return how long a text is."


def test_no_text_is_kept() -> None:
    @remembered()
    def shout(text: str) -> int:
        return len(text)

    shout("a secret that nobody keeps")
    held = [str(cell.cell_contents) for cell in shout.__closure__ or ()]
    assert not any("secret" in one for one in held)


def test_text_that_cannot_be_written_is_remembered_too() -> None:
    @remembered()
    def length(text: str) -> int:
        return len(text)

    assert length("\ud800") == length("\ud800") == 1
