"""Errands: a goal as one step of a plan, tried beforehand, carried out by a session, stopped and asked about."""

from typing import Any

import pytest

from beforehand.app.inbox import answer_decision, list_decisions
from beforehand.app.intake import PlanInput
from beforehand.app.plans import create_plan, preview
from beforehand.app.runs import cancel_run, run_document, start_run
from beforehand.crafts.agent.core.scene import read_home
from beforehand.crafts.agent.session_log import Asked
from beforehand.crafts.agent.sessions import Sessions
from beforehand.model.errors import BadInputError, BeforehandError, ConflictError, NotUnderstoodError

HOME = {
    "kind": "home",
    "name": "flat",
    "bounds": [0, 0, 10, 6],
    "walls": [[[5, 0], [5, 2.5]], [[5, 3.5], [5, 6]]],
    "objects": [
        {"name": "door1", "at": [5, 3], "size": [0.06, 1.0], "door": True, "open": False, "affords": ["open", "close"]},
        {"name": "table1", "at": [2, 4.5], "size": [1, 0.8], "affords": ["touch", "place"]},
        {"name": "bench1", "at": [8, 3], "size": [1, 2], "affords": ["sit", "touch", "place"]},
        {"name": "cup1", "on": "table1", "affords": ["take"]},
    ],
    "agent": {"at": [1, 1]},
}


async def planned(runtime: Any, text: str) -> Any:
    plan, _ = await create_plan(runtime, PlanInput(scene="flat", text=text))
    return plan


async def test_words_become_errands_and_a_preview_before_anything_moves(homestead: Any) -> None:
    async with homestead.open(HOME) as runtime:
        plan = await planned(runtime, "bring cup1 to bench1, then sit on bench1")
        assert [(step.tool, step.args["goal"]) for step in plan.steps] == [
            ("agent.errand", "bring cup1 to bench1"),
            ("agent.errand", "sit on bench1"),
        ]
        seen = await preview(runtime, plan)
        assert seen["problems"] == []
        assert seen["timeline"][1]["startS"] == seen["timeline"][0]["endS"] > 10
        assert seen["endSays"].endswith("with empty hands.")
        assert homestead.events("sessionStarted") == []


@pytest.mark.parametrize("text", ["bring cup9 to bench1", "fly to the moon", "", "bring cup1 to bench1 and juggle it"])
async def test_what_cannot_be_read_is_not_guessed(homestead: Any, text: str) -> None:
    async with homestead.open(HOME) as runtime:
        with pytest.raises((NotUnderstoodError, BeforehandError)):
            await planned(runtime, text)


UNKNOWN = [
    ("bring cup9 to bench1", ["cup9"]),
    ("please fetch the red mug, then sit on sofa1", ["red mug", "sofa1"]),
    ("bring cup9 to shelf9 and dance", ["cup9", "shelf9"]),
    ("walk to the kitchn", ["kitchn"]),
]


@pytest.mark.parametrize(("text", "names"), UNKNOWN)
async def test_names_that_nobody_knows_are_all_told_with_those_there_are(
    homestead: Any, text: str, names: list[str]
) -> None:
    async with homestead.open(HOME) as runtime:
        with pytest.raises(BadInputError) as told:
            await planned(runtime, text)
    assert [problem.about for problem in told.value.problems] == names
    assert all("Known objects" in problem.says and problem.nearest for problem in told.value.problems)


@pytest.mark.parametrize("text", ["sit on bench1 or table1", "take cup1 if you can", "bring it to bench1", "fly", ""])
async def test_sentences_that_mean_more_or_nothing_are_not_taken_for_names(homestead: Any, text: str) -> None:
    async with homestead.open(HOME) as runtime:
        with pytest.raises(NotUnderstoodError):
            await planned(runtime, text)


async def test_an_intent_without_words_is_told_with_its_place(homestead: Any) -> None:
    async with homestead.open(HOME) as runtime:
        intent = {"steps": [{"goal": "take cup1"}, {"gaol": "dance"}, 5]}
        with pytest.raises(BadInputError) as told:
            await create_plan(runtime, PlanInput(scene="flat", intent=intent))
    assert [problem.path for problem in told.value.problems] == ["steps[1].goal", "steps[2].goal"]


async def test_a_run_carries_its_errands_out_in_the_time_the_preview_said(homestead: Any) -> None:
    async with homestead.open(HOME) as runtime:
        plan = await planned(runtime, "bring cup1 to bench1")
        seen = await preview(runtime, plan)
        began = homestead.clock.now_ms()
        run = await homestead.carried_out(runtime, plan)
        assert run["status"] == "completed"
        assert (homestead.clock.now_ms() - began) / 1000 == pytest.approx(seen["durationS"], abs=2)
        [step] = run["steps"]
        assert step["result"]["value"]["state"] == seen["end"]["state"], "live is what was simulated"
        session = await runtime.service(Sessions).show(step["result"]["value"]["sessionId"])
        assert (session["status"], session["goalReached"]) == ("ended", True)


async def test_a_session_and_a_run_never_have_the_body_both(homestead: Any) -> None:
    async with homestead.open(HOME) as runtime:
        sessions = runtime.service(Sessions)
        plan = await planned(runtime, "bring cup1 to bench1")
        session = await sessions.start(Asked("flat"))
        with pytest.raises(ConflictError, match=session.session_id):
            await start_run(runtime, plan.id, 1)
        await sessions.say(session.session_id, "end()")
        await start_run(runtime, plan.id, 1)
        await homestead.until(runtime, "sessionStarted")
        with pytest.raises(ConflictError, match="held by the run"):
            await sessions.start(Asked("flat"))


async def test_cancelling_stops_the_body_where_it_is(homestead: Any) -> None:
    async with homestead.open(HOME) as runtime:
        plan = await planned(runtime, "bring cup1 to bench1")
        run = await start_run(runtime, plan.id, 1)
        await homestead.until(runtime, "actionUpdated", stage="moving")
        await homestead.clock.advance(1)
        await cancel_run(runtime, run["runId"])
        ended = homestead.events("sessionEnded")[0].data
        assert ended["status"] == "failed"
        assert ended["actions"] == []
        await homestead.clock.advance(60)
        assert len(homestead.events("sessionStarted")) == 1
        [decision] = await list_decisions(runtime)
        assert decision["kind"] == "inDoubt", "half an errand is neither done nor undone"
        assert decision["about"]["runId"] == run["runId"]


async def test_what_cannot_be_finished_any_more_is_never_begun(homestead: Any) -> None:
    """The home is not what it was when the plan was looked at: the step waits for a person, and nothing moves."""
    async with homestead.open(HOME) as runtime:
        sessions = runtime.service(Sessions)
        errand = {
            "tool": "agent.errand",
            "args": {"scene": "flat", "goal": "bring cup1 to bench1"},
            "dependsOn": ["look"],
        }
        look = {"id": "look", "tool": "ask_person", "args": {"question": "May it start?"}}
        document = {"scene": "flat", "steps": [look, {"id": "bring", **errand}]}
        plan, _ = await create_plan(runtime, PlanInput(document, "flat"))
        run = await start_run(runtime, plan.id, 1)
        await homestead.until(runtime, "decisionOpened", kind="question")
        sessions.homes.live["flat"] = read_home({**HOME, "walls": [[[5, 0], [5, 6]]]})
        [question] = await list_decisions(runtime)
        await answer_decision(runtime, question["id"], "answer", value="yes")
        await homestead.until(runtime, "decisionOpened", kind="drift")
        [decision] = await list_decisions(runtime)
        assert "cannot be carried out" in decision["evidence"]["says"]
        assert decision["about"]["runId"] == run["runId"]
        assert homestead.events("sessionStarted") == []


async def test_after_a_crash_an_errand_under_way_is_in_doubt_and_not_done_again(homestead: Any) -> None:
    async with homestead.open(HOME) as runtime:
        plan = await planned(runtime, "bring cup1 to bench1")
        run = await start_run(runtime, plan.id, 1)
        await homestead.until(runtime, "actionUpdated", stage="moving")
        await homestead.clock.advance(1)
    async with homestead.open() as runtime:
        await homestead.clock.advance(30)
        [decision] = await list_decisions(runtime)
        assert decision["kind"] == "inDoubt"
        assert decision["about"]["runId"] == run["runId"]
        assert len(homestead.events("sessionStarted")) == 1


async def test_after_a_crash_an_errand_that_was_done_is_done(homestead: Any) -> None:
    async with homestead.open(HOME) as runtime:
        plan = await planned(runtime, "bring cup1 to bench1")
        run = await start_run(runtime, plan.id, 1)
        ended = await homestead.until(runtime, "sessionEnded")
    await homestead.lose_after(ended.seq)
    async with homestead.open() as runtime:
        await homestead.clock.advance(5)
        assert (await run_document(runtime, run["runId"]))["status"] == "completed"
        assert len(homestead.events("sessionStarted")) == 1
