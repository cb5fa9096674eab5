"""`beforehand rounds replay`: a session run again from its file."""

import json
from pathlib import Path

from tests.cli.conftest import Cli

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "rounds" / "late_orders.yaml"
FIELDS = "status round sub_goals completed_outputs synthesis_inputs answer warnings planner_reasoning"


def test_the_example_is_done_the_same_every_time_and_writes_nothing(cli: Cli) -> None:
    first = cli("rounds", "replay", str(EXAMPLE), "-o", "json", code=0)
    assert first.document["answer"].startswith('late: ["A-18", "A-21"]')
    assert " ".join(first.document) == FIELDS
    assert cli("rounds", "replay", "-", "-o", "json", given=EXAMPLE.read_bytes()).out == first.out
    assert list(cli.folder.iterdir()) == []


def test_the_table_shows_rounds_workers_and_the_answer(cli: Cli) -> None:
    shown = cli("rounds", "replay", str(EXAMPLE), code=0).out
    assert "check_times" in shown
    assert "The clock of gate 2 does not answer." in shown
    assert "RB-2, which was charging" in shown


def test_a_failed_session_is_exit_1_with_its_json_and_a_sentence(cli: Cli) -> None:
    cli.write("s.yaml", {"question": "", "workers": [], "decisions": []})
    outcome = cli("rounds", "replay", "s.yaml", "-o", "json", code=1)
    assert outcome.document["status"] == "failed"
    assert "The question is empty." in outcome.err


def test_a_file_that_is_none_is_exit_2_with_every_problem(cli: Cli) -> None:
    cli.write("s.json", json.dumps({"question": "x", "wokers": [], "decisions": [{"action": "maybe"}]}))
    outcome = cli("rounds", "replay", "s.json", "-o", "json", code=2)
    assert outcome.out == ""
    assert "wokers" in outcome.err
    assert "decisions[0].action" in outcome.err
    cli("rounds", "replay", "missing.yaml", code=2)
