"""Measuring when to act: the readers, the figures, and all systems on a few made dialogues."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from salon.cli.eval_gate import gate
from salon.core.embedding import Embedder
from salon.core.errors import InvalidInput
from salon.evaluation import gate_fitting
from salon.evaluation.gate import (
    CALL_RECIPE,
    LITERAL,
    MOVE_RECIPE,
    TFIDF,
    evaluate_gate,
    figures_of,
    literal_rules,
)
from salon.evaluation.gate_data import LabelledMoment, read_calflow, read_schema_guided
from salon.evaluation.gate_fitting import find_act_threshold, fit_tfidf, folds_of
from salon.evaluation.progress import silent
from salon.gate.features import Fields, Moment
from salon.gate.verdicts import Said, Side
from salon.providers.embedders import open_embedder

SHARED = Path(__file__).parents[3] / "shared" / "data"
DAYS = ("Monday", "Tuesday", "Friday")


@pytest.fixture(autouse=True)
def _few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fit roughly: these dialogues are separable after a few steps."""
    monkeypatch.setattr(gate_fitting, "_STEPS", 12)


@pytest.fixture(scope="module")
def embedder() -> Iterator[Embedder]:
    opened = open_embedder("embedded:minilm")
    yield opened
    opened.close()


def _calflow(path: Path, dialogues: int = 10) -> Path:
    lines = []
    for number in range(dialogues):
        day = DAYS[number % 3]
        turns = [
            {"user": f"Book lunch on {day}", "agent": "Is this good?", "label": "ASK"},
            {"user": "Yes", "agent": "I put it on your calendar.", "label": "ACT"},
            {"user": f"What is on {day}", "agent": "Two events.", "label": "ANSWER"},
            {"user": "Order a pizza", "agent": "I can only help with events.", "label": "REFUSE"},
        ]
        lines.append(json.dumps({"dialogue_id": f"d{number}", "turns": turns}))
    path.write_text("\n".join(lines), "utf-8")
    return path


def _guided(folder: Path, name: str, *, services: int = 5) -> Path:
    schema = [
        {
            "service_name": f"Shop_{number}",
            "intents": [
                {"name": "Buy", "is_transactional": True, "required_slots": ["what", "when"]}
            ],
        }
        for number in range(services)
    ]
    (folder / f"schema_{name}.json").write_text(json.dumps(schema), "utf-8")
    lines = [json.dumps(_dialogue(number, f"Shop_{number % services}")) for number in range(12)]
    path = folder / f"{name}.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    return path


def _dialogue(number: int, service: str) -> dict[str, Any]:
    def user(text: str, slots: dict[str, str]) -> dict[str, Any]:
        return {"speaker": "USER", "utterance": text, "acts": ["INFORM"],
                "active_intent": {service: "Buy"}, "slots": {service: slots}}  # fmt: skip

    what = {"what": "a lamp"}
    both = {**what, "when": "noon"}
    return {
        "dialogue_id": f"g{number}",
        "services": [service],
        "turns": [
            user("I want a lamp", what),
            {"speaker": "SYSTEM", "utterance": "For when?", "acts": ["REQUEST:when"]},
            user("For noon", both),
            {
                "speaker": "SYSTEM",
                "utterance": "Please confirm: a lamp, noon?",
                "acts": ["CONFIRM"],
            },
            user("Yes", both),
            {"speaker": "SYSTEM", "utterance": "Done.", "acts": ["NOTIFY"], "service_call": [{}]},
            user("Thanks", both),
            {"speaker": "SYSTEM", "utterance": "Bye.", "acts": ["GOODBYE"]},
        ],
    }


def test_calflow_turns_become_moments_before_the_agent_speaks(tmp_path: Path) -> None:
    moments = read_calflow(_calflow(tmp_path / "turns.jsonl"))
    assert len(moments) == 40
    second = moments[1]
    assert (second.label, second.group, second.moment.message) == ("ACT", "d0", "Yes")
    assert second.moment.before == "Is this good?"
    assert len(second.moment.history) == 3


def test_guided_dialogues_become_calls_and_questions_with_their_fields(tmp_path: Path) -> None:
    moments = read_schema_guided(_guided(tmp_path, "some"))
    assert [one.label for one in moments[:3]] == ["ASK", "ASK", "CALL"]
    assert len(moments) == 36
    assert moments[0].moment.fields == Fields(required=2, given=1, commits=True)
    assert moments[2].moment.fields == Fields(required=2, given=2, commits=True)
    assert moments[0].service == "Shop_0"


@pytest.mark.parametrize(
    "content",
    [
        "[1]",
        "{",
        '{"turns": []}\n{"turns": [{}]}',
        '{"dialogue_id": 1, "turns": [{"user": "a", "agent": "b", "label": "SING"}]}',
    ],
    ids=["list", "broken", "no user", "unknown label"],
)
def test_dialogues_that_cannot_be_read_are_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "turns.jsonl"
    path.write_text(content, "utf-8")
    with pytest.raises(InvalidInput, match="does not hold labelled dialogues"):
        read_calflow(path)


def test_a_missing_file_or_schema_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="labelled dialogues"):
        read_calflow(tmp_path / "nowhere.jsonl")
    path = tmp_path / "lone.jsonl"
    path.write_text("{}", "utf-8")
    with pytest.raises(InvalidInput, match="schema of lone"):
        read_schema_guided(path)
    (tmp_path / "schema_lone.json").write_text("[{}]", "utf-8")
    with pytest.raises(InvalidInput, match="schema_lone"):
        read_schema_guided(path)
    (tmp_path / "schema_lone.json").write_text("[]", "utf-8")
    with pytest.raises(InvalidInput, match="labelled dialogues"):
        read_schema_guided(path)


def test_figures_are_those_that_can_be_counted_by_hand() -> None:
    labels = ["ACT", "ACT", "ASK", "ASK", "ANSWER", "REFUSE"]
    chosen = ["ACT", "ASK", "ACT", "ASK", "ANSWER", "ANSWER"]
    free = ["ACT", "ACT", "ACT", "ASK", "ANSWER", "ANSWER"]
    figures = figures_of(labels, chosen, MOVE_RECIPE, unthresholded=free)
    assert figures.premature == 0.25
    assert figures.premature_while_asking == 0.5
    assert figures.missed == 0.5
    assert figures.false_blocks == 0.5
    assert figures.accuracy == 0.5
    assert figures.precision == 0.5
    assert figures.f1 == {"ACT": 0.5, "ANSWER": 0.666667, "ASK": 0.5, "REFUSE": 0.0}
    assert figures.macro_f1 == 0.416667


def test_a_system_that_only_acts_or_asks_has_no_four_way_figure() -> None:
    assert figures_of(["ACT", "ANSWER"], ["ACT", "ASK"], MOVE_RECIPE).macro_f1 is None
    assert figures_of(["CALL", "ASK"], ["CALL", "ASK"], CALL_RECIPE).macro_f1 == 1.0


@pytest.mark.parametrize(
    ("texts", "acts"),
    [
        (("My desk is wet",), False),
        (("My desk is wet", "I see.", "Well"), True),
        (("My desk is wet", "Since when?", "Today"), True),
        (("My desk is wet", "Since when?"), False),
    ],
)
def test_the_literal_rules_are_those_of_the_source(texts: tuple[str, ...], acts: bool) -> None:
    history = tuple(
        Said(Side.PERSON if at % 2 == 0 else Side.ASSISTANT, text) for at, text in enumerate(texts)
    )
    moment = LabelledMoment(moment=Moment(history=history), label="ASK", reply="", group="a")
    assert literal_rules(moment) is acts


def test_a_threshold_is_the_lowest_that_keeps_the_limit() -> None:
    np = pytest.importorskip("numpy")
    right = [[0.1, 0.9]] * 5
    wrong = [[0.3, 0.7]] + [[0.6, 0.4]] * 19
    chances = np.array(right + wrong, np.float32)
    labels = ["CALL"] * 5 + ["ASK"] * 20
    threshold = find_act_threshold(chances, labels, CALL_RECIPE)
    assert threshold == 0.0  # one in twenty is below one in ten
    strict = find_act_threshold(chances, labels, MOVE_RECIPE_LIKE)
    assert 0.7 < strict < 0.9


MOVE_RECIPE_LIKE = type(CALL_RECIPE)(
    labels=("ASK", "CALL"), acting="CALL", weights={}, strength=1.0, most_premature=0.02
)


def test_folds_keep_groups_whole_and_are_even() -> None:
    groups = [f"g{number // 3}" for number in range(60)]
    folds = folds_of(groups)
    assert {folds.count(one) for one in range(5)} == {12}
    assert len({(group, fold) for group, fold in zip(groups, folds, strict=True)}) == 20


def test_every_system_is_judged_on_the_same_moments(tmp_path: Path, embedder: Embedder) -> None:
    clariq = tmp_path / "asked.tsv"
    clariq.write_text("topic\tquestion\n1\tare you looking for a map\n1\tthe moon\n", "utf-8")
    report = evaluate_gate(
        smcalflow=[_calflow(tmp_path / "turns.jsonl")],
        sgd=[_guided(tmp_path, "dev")],
        sgd_train=_guided(tmp_path, "train"),
        clariq=[clariq],
        embedder=embedder,
        progress=silent,
    )
    calflow, guided = report.sets
    assert (calflow.moments, calflow.acts) == (40, 10)
    assert [one.system for one in calflow.rows] == [
        "learned gate",
        "learned gate",
        "learned gate, reading",
        TFIDF,
        LITERAL,
    ]
    assert calflow.rows[0].figures.macro_f1 == 1.0
    assert calflow.rows[1].protocol == "shipped weights"
    assert calflow.rows[-1].figures.premature == pytest.approx(2 / 3)
    assert (calflow.asking_precision, calflow.asking_recall) == (1.0, 1.0)
    assert guided.rows[0].figures.act_f1 == 1.0
    assert guided.rows[0].protocol == "trained on the train file"
    assert guided.rows[-1].figures.missed == 0.0
    assert report.clarifying[0].questions == 2
    assert report.clarifying[0].recognised == 0.5


def test_without_a_train_file_services_are_folded_and_the_command_prints_a_table(
    tmp_path: Path,
) -> None:
    ran = CliRunner().invoke(gate, ["--sgd", str(_guided(tmp_path, "dev"))])
    assert ran.exit_code == 0, ran.output
    assert "5 folds by service" in ran.output
    assert LITERAL in ran.output
    nothing = CliRunner().invoke(gate, [])
    assert isinstance(nothing.exception, InvalidInput)


def test_too_few_dialogues_are_no_judge(tmp_path: Path, embedder: Embedder) -> None:
    with pytest.raises(InvalidInput, match="too few dialogues"):
        evaluate_gate(
            smcalflow=[_calflow(tmp_path / "turns.jsonl", 2)],
            sgd=[],
            sgd_train=None,
            clariq=[],
            embedder=embedder,
            progress=silent,
        )
    table = tmp_path / "asked.tsv"
    table.write_text("a\tb\n", "utf-8")
    with pytest.raises(InvalidInput, match="clarifying questions"):
        evaluate_gate(
            smcalflow=[], sgd=[], sgd_train=None, clariq=[table], embedder=embedder, progress=silent
        )


def test_the_peer_learns_words() -> None:
    predict = fit_tfidf(["yes please", "what now", "yes", "what then"], ["ACT", "ASK"] * 2)
    assert predict(["yes", "what"]) == ["ACT", "ASK"]


@pytest.mark.skipif(not SHARED.exists(), reason="../shared/data is not here")
def test_the_labelled_sets_are_read_whole() -> None:
    calflow = read_calflow(SHARED / "smcalflow" / "turns.jsonl.gz")
    guided = read_schema_guided(SHARED / "sgd_action_trigger" / "dev.jsonl.gz")
    assert (len(calflow), sum(one.label == "ACT" for one in calflow)) == (11_235, 2_033)
    assert (len(guided), sum(one.label == "CALL" for one in guided)) == (2_936, 1_417)
