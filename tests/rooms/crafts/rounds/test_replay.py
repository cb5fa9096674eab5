"""Replay files: read with every problem, run to the byte, written from sessions that were."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.rooms.crafts.rounds.sessions import Live, done, go, goal, session, worker

from beforehand.crafts.rounds.core.folding import from_events
from beforehand.crafts.rounds.core.inputs import Answered, CalledOff, PlannerFailed, Synthesised, SynthesisFailed
from beforehand.crafts.rounds.core.replay import play, recorded, result_of
from beforehand.crafts.rounds.core.replay_file import read_replay
from beforehand.model.errors import BadInputError

MILL = worker("mill", {"flour": 1})
BAKE = worker("bake", {"bread": 1})


def again(live: Live) -> dict[str, Any]:
    """The session as a file, read and run; what comes out is what came out."""
    document = json.loads(json.dumps(recorded(live.state)))
    assert json.dumps(result_of(play(read_replay(document)))) == json.dumps(result_of(live.state))
    assert from_events(live.events) == live.state
    return dict(document)


def test_the_result_has_exactly_the_contracts_fields() -> None:
    result = session([MILL], go(goal("mill", "deliverable"), goal("nobody")), done("enough", x="1.flour"))
    assert list(result) == [
        "status",
        "round",
        "sub_goals",
        "completed_outputs",
        "synthesis_inputs",
        "answer",
        "warnings",
        "planner_reasoning",
    ]
    assert [set(each) for each in result["sub_goals"]] == [
        {"id", "worker", "status", "outputs", "round"},
        {"id", "worker", "status", "error", "round"},
    ]
    assert result["planner_reasoning"] == "enough"


def test_a_workers_nth_call_takes_its_nth_result_the_last_repeating() -> None:
    mill = worker("mill", {"flour": 1}, "jammed", {"flour": 3})
    calls = [goal("mill", params={"n": n}) for n in range(4)]
    result = session([mill], go(*calls))
    assert [each.get("outputs", {}).get("flour") for each in result["sub_goals"]] == [1, None, 3, 3]


def test_a_worker_without_results_fails() -> None:
    result = session([worker("mill", gives=[])], go(goal("mill")))
    assert result["sub_goals"][0]["error"] == "The replay file has no result for mill."


def test_every_problem_of_a_file_is_told_with_its_place() -> None:
    with pytest.raises(BadInputError) as caught:
        read_replay(
            {
                "wokers": [],
                "workers": [{"name": "a", "results": [{}]}, {"name": "b", "exlusive": True}],
                "decisions": [{"action": "maybe"}],
            }
        )
    paths = [problem.path for problem in caught.value.problems]
    assert sorted(paths) == ["decisions[0].action", "wokers", "workers[0].results[0]", "workers[1].exlusive"]


def test_unknown_keys_come_first_with_the_known_ones_however_deep_they_lie() -> None:
    with pytest.raises(BadInputError) as caught:
        read_replay(
            {
                "workers": [{"name": "a", "preconditions": [{"slot": "x", "equal": 1}]}, {"name": "a"}, {"outputs": 3}],
                "decisions": [
                    {"action": "continue", "subGoals": [{"inputs": {"q": {"from_sub_goal": 1, "slot": "x", "id": 1}}}]},
                    "done",
                ],
            }
        )
    assert [(problem.path, problem.says) for problem in caught.value.problems] == [
        ("workers[0].preconditions[0].equal", "Unknown key 'equal'. Known keys: equals, slot."),
        ("decisions[0].subGoals[0].inputs.q.id", "Unknown key 'id'. Known keys: from_sub_goal, slot."),
        ("workers[2].name", "The key name is missing."),
        ("workers[2].outputs", "This must be a list."),
        ("decisions[0].subGoals[0].worker", "The key worker is missing."),
        ("decisions[1]", "This must be a mapping."),
        ("workers[1].name", "The worker a is given twice."),
    ]


@pytest.mark.parametrize("document", [None, [], "text", 3])
def test_what_is_no_mapping_is_refused(document: Any) -> None:
    with pytest.raises(BadInputError):
        read_replay(document)


def test_a_worker_given_twice_is_refused() -> None:
    with pytest.raises(BadInputError, match="not a replay file") as caught:
        read_replay({"question": "x", "workers": [{"name": "a"}, {"name": "a"}]})
    assert caught.value.problems[0].path == "workers[1].name"


def test_both_spellings_are_read() -> None:
    result = session(
        [MILL, BAKE],
        {
            "action": "continue",
            "subGoals": [
                {"worker": "mill"},
                {"worker": "bake", "goalType": "deliverable", "inputs": {"f": {"fromSubGoal": 1, "slot": "flour"}}},
            ],
        },
        done(),
        maxRounds=2,
    )
    assert result["answer"] == "1"
    again = {"action": "continue", "subGoals": [{"worker": "mill", "params": {"retryOf": 1}}]}
    mill = worker("mill", "jammed", {"flour": 1})
    result = session([mill, BAKE], go(goal("mill"), goal("bake", "deliverable", f="1.flour")), again, done())
    assert result["answer"] == "1"


def test_no_question_is_an_empty_question() -> None:
    assert session([], question=None)["warnings"] == ["The question is empty."]


# -- writing ---------------------------------------------------------------------------------------------------------


def test_a_session_that_went_in_order_needs_nothing_more_than_the_contracts_fields() -> None:
    live = Live([MILL, BAKE])
    live.plans(go(goal("mill"), goal("bake", "deliverable", flour="1.flour")))
    live.gives(1, flour=1)
    live.gives(2, bread="rye")
    live.plans(done(bread="2.bread"))
    live.says(Synthesised("rye"))
    assert set(again(live)) == {"question", "max_rounds", "context", "workers", "decisions"}


def test_results_that_came_in_another_order_go_to_the_same_sub_goals() -> None:
    live = Live([MILL, BAKE])
    live.plans(
        go(
            goal("mill"),
            goal("mill", params={"n": 2}),
            goal("bake", "deliverable", flour="1.flour"),
            goal("bake", "deliverable", flour="2.flour"),
        )
    )
    live.gives(2, flour="two")
    live.gives(4, bread="of two")
    live.gives(1, flour="one")
    live.gives(3, bread="of one")
    live.plans(done())
    live.says(Synthesised("Two breads."))
    assert again(live)["answer"] == "Two breads."


def test_the_order_is_kept_where_the_newest_output_decides() -> None:
    flag = worker("look", {"ok": True})
    needs = worker("bake", {"bread": 1}, needs=[{"slot": "ok", "equals": True}])
    live = Live([flag, needs])
    live.plans(go(goal("look"), goal("look", params={"n": 2})))
    live.gives(2, ok=False)
    live.gives(1, ok=True)
    live.plans(go(goal("bake", "deliverable")))
    live.gives(3, bread="rye")
    live.plans(done())
    live.says(Synthesised("rye"))
    assert again(live)["order"] == [2, 1, 3]


def test_sessions_that_were_stopped_or_failed_run_again_to_the_same_end() -> None:
    live = Live([MILL, BAKE])
    live.plans(go(goal("mill"), goal("bake")))
    live.gives(2, bread="rye")
    live.says(CalledOff("Cancelled by anna."))
    assert again(live)["stopped"] == "Cancelled by anna."
    at_once = Live([MILL])
    at_once.plans(go(goal("mill")))
    at_once.says(CalledOff("Its time is up."))
    again(at_once)
    no_planner = Live([MILL])
    no_planner.says(PlannerFailed(1, "No model answers."))
    assert again(no_planner)["stopped"] == "The planner failed: No model answers."


def test_answers_of_people_and_failing_synthesisers_are_in_the_file() -> None:
    live = Live([worker("clarify", {"clarification": 1}, asks=True), worker("wipe", {"w": 1}, destructive=True)])
    live.plans(go(goal("clarify", "deliverable"), goal("wipe")))
    live.says(Answered("q1-2", "deny"))
    live.says(Answered("q1-1", "answer", "the left one"))
    live.plans(done())
    live.says(SynthesisFailed("no model"))
    document = again(live)
    assert document["answer"] == {"error": "no model"}
    assert document["workers"][0]["results"] == [{"outputs": {"clarification": "the left one"}}]


def test_the_example_ends_as_the_documentation_says() -> None:
    example = Path(__file__).resolve().parents[4] / "examples" / "rounds" / "late_orders.yaml"
    result = result_of(play(read_replay(yaml.safe_load(example.read_text(encoding="utf-8")))))
    assert (result["status"], result["round"], result["warnings"]) == ("done", 4, [])
    assert [each["status"] for each in result["sub_goals"]] == ["success", "failed", "success", "success"]
