"""`salon council` as a person uses it, and `salon mcp --skills` as a client starts it."""

import io
import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from rich.console import Console

from salon.app import Salon
from salon.cli import council_view
from salon.cli.council_view import Picture, line_of
from salon.cli.errors import NO_QUORUM
from salon.cli.serve import make_config
from salon.council.driving import RoundEvent, Step
from salon.council.rounds import Phase, Round, Verdict
from salon.council.seats import Seat
from salon.settings import Settings, load_settings
from tests.api.serving import running
from tests.cli.conftest import CommandLine
from tests.mcp_server.council_playing import act as act_over_mcp
from tests.mcp_server.council_playing import calling, outside
from tests.parts.council_homes import (
    FAR,
    FOG,
    PAST,
    POOR,
    TOPIC,
    TOPIC_ID,
    copied,
    make_council_home,
    play_by_hand,
    propose_retirement,
    vacate,
)

BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A home with documents, a published round and one without a quorum."""
    settings = make_council_home(
        tmp_path_factory.mktemp("council") / "home", council={"retries": 0}
    )
    with Salon(settings) as salon:
        assert play_by_hand(salon).phase is Phase.PUBLISHED
        assert play_by_hand(salon, POOR, topic=FOG).phase is Phase.NO_QUORUM
    return settings


@pytest.fixture
def command(filled: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    home = tmp_path / "home"
    copied(filled, home)
    (home / "salon.toml").write_text("[council]\nretries = 0\n", "utf-8")
    return CommandLine(home, monkeypatch)


def rounds_of(command: CommandLine) -> dict[str, str]:
    """Return the ids of the rounds by their phase."""
    found = command("council", "list", "--json").json["rounds"]
    return {one["phase"]: one["id"] for one in found}


# Running


def test_a_round_runs_without_a_model_and_says_what_each_seat_did(command: CommandLine) -> None:
    ran = command("council", "run", "Keepers", "and", "the", "lamp", "of", "Skerry", "Head")
    assert ran.code in {0, NO_QUORUM}, ran.errors
    lines = ran.text.splitlines()
    assert lines[0].startswith("Keepers and the lamp of Skerry Head  (round_")
    assert "sprint, attempt 1" in lines
    assert any(line.startswith("  I   Chair     handed in draft") for line in lines)
    assert "effective number of votes:" in ran.text
    assert "points per place further back:" in ran.text
    assert "points for citing what the voter cites:" in ran.text
    assert ("published as completed/keepers-and-the-lamp-of-skerry-head" in ran.text) is (
        ran.code == 0
    )
    assert ("no quorum" in ran.errors) is (ran.code == NO_QUORUM)


@pytest.mark.requirement("council/security/no-quorum")
def test_no_quorum_is_an_outcome_and_a_person_is_told_why(command: CommandLine) -> None:
    ran = command("council", "run", "Quantum chromodynamics", "--json")
    assert ran.code == NO_QUORUM == 8
    found = ran.json
    assert found["round"]["phase"] == "no_quorum"
    assert found["chapter"] is None
    assert "ended without a chapter; a person has to look at it" in ran.errors
    assert "nobody handed in a draft: the archive has nothing on this" in ran.errors
    assert "V was absent in sprint" in ran.errors


def test_outside_seats_that_do_not_come_are_absent(command: CommandLine) -> None:
    seats = [word for seat in Seat for word in ("--seat", f"{seat}=outside")]
    ran = command("council", "run", "Anything", *seats, "--topic-id", "any", "--patience", "0")
    assert ran.code == NO_QUORUM
    assert "is absent: nothing came within 0 seconds" in ran.text
    again = command("council", "resume", rounds_of(command)["no_quorum"])
    assert again.code in {0, NO_QUORUM}


@pytest.mark.parametrize("given", ["II", "VI=outside", "II=", "=outside", "II=ghost:x"])
def test_seats_that_make_no_sense_are_refused(command: CommandLine, given: str) -> None:
    ran = command("council", "run", "Anything", "--seat", given, "--json")
    assert ran.code == 2
    assert ran.error["code"] == "invalid_input"


# Looking


def test_rounds_are_listed_newest_first(command: CommandLine) -> None:
    ran = command("council", "list")
    first, second = ran.text.splitlines()
    assert first.endswith(f"no_quorum  {FOG}")
    assert second.endswith(f"published  {TOPIC} -> completed/{TOPIC_ID}")
    assert command("council", "list", "--limit", "1").text.strip() == first


def test_status_shows_who_is_waited_for(command: CommandLine) -> None:
    assert command("council", "status").text == "no round is open\n"
    with Salon(load_settings(home=command.home, environment={})) as salon:
        opened = salon.open_round("Open matter", holders={Seat.MINER: "outside"})
    ran = command("council", "status")
    assert "II  Miner     outside, due: draft" in ran.text
    found = command("council", "status", opened.id, "--json").json["rounds"]
    assert found[0]["due"] == {str(seat): ["draft"] for seat in Seat}
    assert command("council", "status", "round_0").code == 3


def test_a_round_is_shown_with_ballot_chapter_and_drafts(command: CommandLine) -> None:
    published = rounds_of(command)["published"]
    ran = command("council", "show", published)
    assert "voters    score     mean   lowest weighted" in ran.text
    assert "# Lamps" in ran.text
    found = command("council", "show", published, "--json").json
    assert found["round"]["id"] == published
    assert found["chapter"]["handle"] == f"completed/{TOPIC_ID}"
    assert {vote["seat"] for row in found["ballot"]["rows"] for vote in row["votes"]} == set(Seat)
    draft = found["round"]["candidates"][0]["id"]
    one = command("council", "show", published, "--draft", draft.rpartition(".")[2])
    assert one.text.startswith("# Lamps")
    assert one.text.count(": Say when.") == 4
    shown = command("council", "show", published, "--draft", draft, "--json").json
    assert shown["markdown"].startswith("# Lamps")
    assert shown["citations"][0]["mark"] == 1
    other = command("council", "show", rounds_of(command)["no_quorum"])
    assert "no consensus: attempt 1" in other.text


def test_verify_checks_a_round_again(command: CommandLine) -> None:
    published = rounds_of(command)["published"]
    ran = command("council", "verify", published)
    assert ran.code == 0, ran.text
    assert ran.text.count("ok    ") == 2
    with Salon(load_settings(home=command.home, environment={})) as salon:
        over = salon.round(published)
        card = over.votes[0].rationale
        salon.archive.write(lambda tx: tx.delete(card, reason="spite", force=True))
    spoilt = command("council", "verify", published, "--json")
    assert spoilt.code == 6
    assert spoilt.json["holds"] is False


def test_an_outcome_is_noted_and_weights_are_shown(command: CommandLine) -> None:
    published, other = rounds_of(command)["published"], rounds_of(command)["no_quorum"]
    ran = command("council", "outcome", published, "held", "--json")
    assert set(ran.json["weights"]) == set(Seat)
    assert (
        "failed; the votes now weigh I " in command("council", "outcome", published, "failed").text
    )
    assert command("council", "outcome", other, "held").code == 4


def test_souls_are_shown(command: CommandLine) -> None:
    ran = command("council", "souls")
    assert "II Miner (precision): offline, no token" in ran.text
    found = command("council", "souls", "--json").json["souls"]
    assert [one["seat"] for one in found] == list(Seat)
    assert all(one["soul"] for one in found)


def test_what_is_not_known_of_a_seat_is_said_in_words(salon: CommandLine) -> None:
    head = salon("council", "souls").text.partition("\n")[0]
    assert "mean score not known (no draft of it was graded)" in head
    assert "agreement not known (it has not voted)" in head
    assert "{" not in head


def test_a_seat_that_is_voted_on_is_shown_with_who_is_waited_for(command: CommandLine) -> None:
    assert "vote" not in command("council", "status").text
    with Salon(load_settings(home=command.home, environment={})) as salon:
        propose_retirement(salon, Seat.VIZIER)
        salon.seat_skills(Seat.CHAIR).vote_retirement(Verdict.UP, review="review_1")
    shown = (
        f"seat V is put to the vote (review_1): 1 Up, 0 Down; it is over at {FAR}\n"
        "  what to do: II, III and IV can say up or down with council_vote_retirement\n"
    )
    assert command("council", "status").text == f"no round is open\n{shown}"
    assert command("council", "souls").text.startswith(f"{shown}\nI Chair (structure)")
    found = command("council", "status", "--json").json["evolution"]
    assert (found["stage"], found["seat"], found["due_at"]) == ("voting", "V", FAR)
    assert (found["ups"], found["waiting_for"]) == (["I"], ["II", "III", "IV"])


def test_a_retirement_that_ran_out_of_time_says_why_the_seat_stays(command: CommandLine) -> None:
    with Salon(load_settings(home=command.home, environment={})) as salon:
        propose_retirement(salon, Seat.VIZIER, due_at=PAST)
    assert command("council", "status").text == "no round is open\n"
    lines = command("council", "souls").text.splitlines()
    assert lines[0] == (
        "last review (review_1): seat V stays: 0 of the 4 Up that it takes were there, and "
        f"I, II, III and IV had not voted by {PAST}"
    )
    assert lines[1] == f"  I was absent: nothing came by {PAST}"


def test_a_vacancy_that_ran_out_of_time_says_what_to_do(command: CommandLine) -> None:
    with Salon(load_settings(home=command.home, environment={})) as salon:
        vacate(salon, Seat.VIZIER, due_at=PAST)
        for seat in (Seat.CHAIR, Seat.MINER):
            salon.seat_skills(seat).synthesize_soul("Join distant sources.")
    shown = command("council", "status").text.splitlines()
    to_do = (
        "have III and IV hand in a text with skill_synthesize_soul, or hold a round with them held "
        "here, such as --seat III=offline: the seats held here write when it ends"
    )
    assert shown[1:] == [
        f"seat V is vacant (review_1): 2 of 3 have handed in the same soul; it was due by {PAST}",
        f"  III was absent: nothing came by {PAST}",
        f"  IV was absent: nothing came by {PAST}",
        f"  what to do: {to_do}",
    ]
    souls = command("council", "souls")
    assert souls.text.splitlines()[:4] == shown[1:]
    assert "V Vizier (synthesis): offline, no token, vacant, rounds" in souls.text
    found = command("council", "souls", "--json").json["evolution"]
    assert (found["overdue"], found["consents"], found["consents_needed"]) == (
        True,
        [["I", "II"]],
        3,
    )
    one = rounds_of(command)["published"]
    assert "evolution" not in command("council", "status", one, "--json").json


# Tokens


def test_a_token_is_shown_once_and_can_be_revoked(command: CommandLine) -> None:
    ran = command("council", "token", "--seat", "II")
    token = ran.text.strip()
    assert token.startswith("salon-seat-II-")
    assert "for seat II, the Miner; it is not shown again." in ran.errors
    file = command.home / "keys" / "seats.json"
    assert token not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    again = command("council", "token", "--seat", "II", "--json").json
    assert again["replaced"] is True
    assert again["token"] != token
    assert "The earlier one no longer counts." in command("council", "token", "--seat", "II").errors
    revoked = command("council", "token", "--seat", "II", "--revoke")
    assert revoked.text == "the token of seat II no longer counts\n"
    none = command("council", "token", "--seat", "II", "--revoke", "--json").json
    assert none == {"seat": "II", "revoked": False}


# Skills over standard streams


@pytest.mark.requirement("council/overview/mcp-tools")
def test_a_client_holds_a_seat_over_standard_streams(command: CommandLine) -> None:
    with Salon(load_settings(home=command.home, environment={})) as salon:
        opened = salon.open_round("Paraffin and oil", holders={Seat.MINER: "outside"})

    async def main() -> dict[str, Any]:
        parameters = StdioServerParameters(
            command=str(BIN / "salon"),
            args=["mcp", "--skills", "--seat", "II"],
            env={"SALON_HOME": str(command.home), "PATH": os.environ["PATH"]},
        )
        async with Client(stdio_client(parameters), mode="auto") as client:
            brief = await calling(client)("council_brief", {})
            assert await act_over_mcp(calling(client), brief, "draft") == "skill_submit_candidate"
            return await calling(client)("council_brief", {})

    brief = anyio.run(main)
    assert (brief["seat"], brief["round_id"], brief["due"]) == ("II", opened.id, [])
    with Salon(load_settings(home=command.home, environment={})) as salon:
        (candidate,) = salon.round(opened.id).candidates
        assert candidate.authors == (Seat.MINER,)


@pytest.mark.parametrize(
    "words",
    [
        ("--seat", "II"),
        ("--skills",),
        ("--skills", "--seat", "II", "--avatar", "ida-weir"),
        ("--skills", "--http", "--seat", "II"),
    ],
    ids=["no skills", "no seat", "an avatar too", "http"],
)
def test_options_that_do_not_fit_are_refused(command: CommandLine, words: tuple[str, ...]) -> None:
    ran = command("mcp", *words)
    assert ran.code == 2
    assert "hint:" in ran.errors


# The picture


def made_round() -> Round:
    holders = {str(seat): "offline" for seat in Seat} | {"II": "outside\x1b[31m"}
    return Round(
        id="round_1",
        topic_id="t",
        topic="A \x1b[2Jtopic",
        phase=Phase.SPRINT,
        opened_at="",
        touched_at="",
        holders=holders,
    )


def event(step: Step, phase: Phase = Phase.SPRINT, **more: Any) -> RoundEvent:
    return RoundEvent(step=step, round_id="round_1", phase=phase, **{"attempt": 0, **more})


def drawn(picture: Picture) -> str:
    console = Console(file=io.StringIO(), width=160, force_terminal=False)
    console.print(picture)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_picture_shows_phases_seats_and_what_each_does() -> None:
    picture = Picture(made_round())
    picture.hear(event(Step.PHASE))
    picture.hear(event(Step.ASKED, seat=Seat.CHAIR, work="draft"))
    picture.hear(event(Step.ACTED, seat=Seat.AUDITOR, work="draft"))
    picture.hear(event(Step.SENT_BACK, seat=Seat.MINER, work="draft", detail="no\nmark"))
    text = drawn(picture)
    assert "sprint  critique  refinement  vote  runoff  ratification" in text
    assert "works on draft" in text
    assert "1 done" in text
    assert "got draft back: no mark" in text
    assert "\x1b" not in text
    picture.hear(event(Step.PHASE, Phase.VOTE, attempt=1))
    picture.hear(
        event(Step.WAITING, Phase.VOTE, attempt=1, seat=Seat.MINER, work="r.draft_1, r.draft_2")
    )
    text = drawn(picture)
    assert "attempt 2" in text
    assert "is waited for: draft_1, draft_2" in text
    assert "works on draft" not in text


def test_lines_name_what_happened() -> None:
    cases = {
        "sprint, attempt 1": event(Step.PHASE),
        "  I   Chair     handed in its review of draft_1": event(
            Step.ACTED, Phase.CRITIQUE, seat=Seat.CHAIR, work="round_1.draft_1"
        ),
        "  V   Vizier    handed in its vote on draft_1": event(
            Step.ACTED, Phase.VOTE, seat=Seat.VIZIER, work="round_1.draft_1"
        ),
        "  IV  Professor is absent: silent": event(
            Step.ABSENT, seat=Seat.PROFESSOR, detail="silent"
        ),
        "no quorum: too low": event(Step.NO_QUORUM, Phase.NO_QUORUM, detail="too low"),
    }
    for line, happened in cases.items():
        assert line_of(happened) == line


def test_on_a_terminal_the_picture_changes_and_goes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    with council_view.following(made_round()) as hear:
        hear(event(Step.ACTED, seat=Seat.CHAIR, work="draft"))
    shown = capsys.readouterr().out
    assert shown.splitlines()[0] == "A \N{REPLACEMENT CHARACTER}[2Jtopic  (round_1)"
    assert "handed in draft" in shown


def test_every_command_has_json(command: CommandLine) -> None:
    published = rounds_of(command)["published"]
    for words in (
        ("list",),
        ("status",),
        ("souls",),
        ("show", published),
        ("verify", published),
        ("token", "--seat", "I"),
    ):
        assert isinstance(json.loads(command("council", *words, "--json").output), dict)


# Over HTTP


def test_salon_serve_has_the_council_beside_everything_else(command: CommandLine) -> None:
    with Salon(load_settings(home=command.home, environment={})) as salon:
        token = salon.issue_seat_token(Seat.VIZIER).token
        with running(make_config(salon, host=None, port=0)) as address:
            url = f"{address.http}/mcp/council"
            assert httpx.post(url, json={}).status_code == 401
            found = anyio.run(_seat_at, url, token)
            rounds = httpx.get(f"{address.http}/api/rounds", timeout=60).json()["rounds"]
    assert found == "V"
    assert len(rounds) == 2


async def _seat_at(url: str, token: str) -> str:
    async with outside(url, token) as client:
        found = await calling(client)("council_brief", {})
        return str(found["seat"])


def test_a_server_with_a_token_still_lets_seats_in_by_theirs(command: CommandLine) -> None:
    secret = "a-token-of-the-server"
    settings = load_settings(home=command.home, environment={}, flags={"serve": {"token": secret}})
    with Salon(settings) as salon:
        token = salon.issue_seat_token(Seat.VIZIER).token
        with running(make_config(salon, host=None, port=0)) as address:
            url = f"{address.http}/mcp/council"
            assert anyio.run(_seat_at, url, token) == "V"
            for wrong in (secret, "nonsense"):
                headers = {"authorization": f"Bearer {wrong}"}
                assert httpx.post(url, json={}, headers=headers).status_code == 401
            assert httpx.get(f"{address.http}/api/rounds").status_code == 401


def test_salon_mcp_serves_the_council_alone_over_http(
    command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    served: list[Any] = []
    monkeypatch.setattr("uvicorn.run", lambda app, **_: served.append(app))
    ran = command("mcp", "--http", "--skills", "--port", "8999")
    assert ran.code == 0, ran.errors
    assert "council: http://127.0.0.1:8999/mcp/council (a seat's token)" in ran.errors
    (app,) = served
    assert [route.path for route in app.routes] == ["/mcp/council"]
