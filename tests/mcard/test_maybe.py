"""A value that may be missing."""

from salon.mcard.maybe import Just, Maybe, Nothing


def test_a_chain_goes_on_with_a_value_and_stops_at_nothing() -> None:
    def half(number: int) -> Maybe[int]:
        return Maybe.nothing() if number % 2 else Maybe.just(number // 2)

    assert Maybe.just(12).bind(half).bind(half).map(str) == Just("3")
    assert Maybe.just(6).bind(half).bind(half).map(str) == Nothing()


def test_a_value_can_be_taken_out() -> None:
    missing: Maybe[int] = Maybe.nothing()
    assert Maybe.of(5).or_else(0) == 5
    assert Maybe.of(0).or_none() == 0
    assert missing.or_else(7) == 7
    assert missing.or_none() is None
    assert bool(Maybe.of(0)) is True
    assert bool(missing) is False
