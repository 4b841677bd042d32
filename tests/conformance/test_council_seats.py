"""A whole round with the clients of two other programs in it."""

import pytest

from salon.council.phases import Skill
from tests.conformance.council_seats import PYTHON, TYPESCRIPT, Played, play_together
from tests.conformance.programs import NODE
from tests.mcp_server.council_playing import look_often

needs_node = pytest.mark.skipif(
    not NODE.exists(), reason="other clients are not installed: `make conformance` gets them"
)
MALFORMED = "Error: Invalid JSON. Please retry adhering strictly to the schema."


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    with pytest.MonkeyPatch.context() as patching:
        look_often(patching)
        return play_together(tmp_path_factory.mktemp("seats"))


@needs_node
@pytest.mark.requirement("council/overview/any-holder", "council/overview/mcp-tools")
def test_a_python_and_a_typescript_client_play_a_round_with_three_offline_seats(
    played: Played,
) -> None:
    over = played.round
    assert over.is_over
    assert not [one for one in over.absences if one.seat in {PYTHON, TYPESCRIPT}]
    assert played.report.holds
    for used in (played.python, played.typescript["used"]):
        assert used[0] == "skill_submit_candidate"
        assert {"skill_peer_review", "skill_cast_vote"} <= set(used)
    first = [one for one in over.candidates if one.attempt == 0 and not one.is_fusion]
    assert {PYTHON, TYPESCRIPT} <= {seat for one in first for seat in one.authors}
    assert {PYTHON, TYPESCRIPT} <= {vote.seat for vote in over.votes}
    assert set(map(str, Skill)) <= set(played.typescript["tools"])


@needs_node
def test_the_typescript_client_reads_and_verifies_every_skill(played: Played) -> None:
    found = played.typescript
    assert found["supported"] is True
    assert len(found["verified"]) == len(Skill) + 1
    assert all(found["verified"].values())
    wrong = found["wrong"]
    assert wrong["isError"] is True
    assert wrong["content"][0]["text"] == MALFORMED
    assert wrong["structuredContent"]["error"]["details"]["argument"] == "qery"
