"""The long run, made short: conversations in which everything goes wrong that can."""

from tests.gate.simulate import fast_folder, simulate


def test_nothing_is_done_unapproved_twice_or_never() -> None:
    with fast_folder() as folder:
        report = simulate(300, folder=folder)
    assert report.faults == []
    assert report.approvals > 100
    assert report.deaths > 30
    assert report.ends["done"] > report.ends["withdrawn"] > 0
