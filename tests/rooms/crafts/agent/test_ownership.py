"""Who has a body: one steers at a time, a command that falls silent loses it, and whoever takes it over has it."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from beforehand.app.inbox import answer_decision, list_decisions
from beforehand.app.intake import PlanInput
from beforehand.app.plans import create_plan
from beforehand.app.runs import run_document, start_run
from beforehand.app.scenes import activate_scene, save_scene
from beforehand.crafts.agent.core.scene import WORLD_KINDS
from beforehand.crafts.agent.core.session_state import OF_THIS_PROCESS, SessionState
from beforehand.crafts.agent.homes import EDITED
from beforehand.crafts.agent.session_log import Asked
from beforehand.crafts.agent.session_verbs import end_session, renew_session, resume_session, take_session_over
from beforehand.crafts.agent.sessions import Sessions
from beforehand.crafts.agent.worlds import register_world
from beforehand.model.errors import ConflictError, ModelTimeoutError, NotFoundError
from beforehand.model.usage import Usage
from beforehand.ports.agent_worlds import WorldKind

ROOM = {
    "kind": "home",
    "name": "room",
    "bounds": [0, 0, 10, 6],
    "objects": [
        {"name": "bench1", "at": [8, 3], "size": [1, 2], "affords": ["sit", "touch", "place"]},
        {"name": "shelf1", "at": [5, 5.5], "size": [2, 0.6], "affords": ["touch", "place"]},
        {"name": "cup1", "on": "shelf1", "affords": ["take"]},
    ],
    "agent": {"at": [0, 0], "speedMps": 1.0},
}
STEERED = Asked("room", by="ann", lease_s=30.0)


@pytest.fixture
def worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test adds to the worlds there are is gone with it."""
    monkeypatch.setattr(WORLD_KINDS, "_checks", dict(WORLD_KINDS._checks))
    monkeypatch.setattr(WORLD_KINDS, "_addresses", dict(WORLD_KINDS._addresses))


def sessions_of(runtime: Any) -> Sessions:
    return runtime.service(Sessions)


async def refused(work: Any) -> str:
    with pytest.raises(ConflictError) as told:
        await work
    return told.value.code


# -- leases ----------------------------------------------------------------------------------------------------------


async def test_a_command_that_falls_silent_loses_its_session_and_one_that_is_heard_keeps_it(homestead: Any) -> None:
    async with homestead.open(ROOM) as runtime:
        sessions = sessions_of(runtime)
        session_id = (await sessions.start(STEERED)).session_id
        await sessions.say(session_id, 'start("sitting on bench1")', by="ann", turn=0)
        for _ in range(5):
            await homestead.clock.advance(20)
            await renew_session(sessions, session_id, 0)
        shown = await sessions.show(session_id)
        assert shown["status"] == "open"
        assert shown["heldBy"] == "an open command (ann)"
        assert shown["idleS"] == pytest.approx(100, abs=1)
        await homestead.clock.advance(40)
        ended = await sessions.show(session_id)
        assert ended["status"] == "ended"
        assert "not been heard from for 30 s" in ended["reason"]
        assert ended["actions"] == []
        assert "heldBy" not in ended
        await sessions.start(Asked("room"))


async def test_a_command_that_is_heard_only_from_others_is_silent(homestead: Any) -> None:
    async with homestead.open(ROOM) as runtime:
        sessions = sessions_of(runtime)
        session_id = (await sessions.start(STEERED)).session_id
        for _ in range(3):
            await homestead.clock.advance(9)
            assert await refused(sessions.say(session_id, "skip(1)", by="bob", turn=0)) == "session.steered"
        await homestead.clock.advance(9)
        assert (await sessions.show(session_id))["status"] == "ended"


async def test_a_server_that_was_not_let_run_hears_out_its_commands_first(homestead: Any) -> None:
    async with homestead.open(ROOM) as runtime:
        sessions = sessions_of(runtime)
        session_id = (await sessions.start(STEERED)).session_id
        await homestead.clock.advance(2)
        homestead.clock.hold_up(600)
        await homestead.clock.advance(10)
        assert (await renew_session(sessions, session_id, 0))["status"] == "open"


async def test_after_a_restart_a_command_has_its_whole_lease_again_and_then_its_session_ends(homestead: Any) -> None:
    async with homestead.open(ROOM) as runtime:
        session_id = (await sessions_of(runtime).start(STEERED)).session_id
    async with homestead.open() as runtime:
        sessions = sessions_of(runtime)
        await homestead.clock.advance(25)
        assert (await renew_session(sessions, session_id, 0))["status"] == "open"
        await homestead.clock.advance(40)
        assert (await sessions.show(session_id))["status"] == "ended"


@pytest.mark.parametrize("clock", ["virtual", "realtime"])
async def test_what_a_command_that_led_the_home_left_is_ended_or_asked_about(homestead: Any, clock: Any) -> None:
    async with homestead.open(ROOM) as runtime:
        sessions = sessions_of(runtime)
        session_id = (await sessions.start(replace(STEERED, clock=clock, lease_s=OF_THIS_PROCESS))).session_id
        await sessions.say(session_id, 'start("sitting on bench1")', by="ann", turn=0)
        await homestead.clock.advance(100)
        assert (await sessions.show(session_id))["status"] == "open", "it lives as long as its process"
    async with homestead.open() as runtime:
        shown = await sessions_of(runtime).show(session_id)
        if clock == "virtual":
            assert (shown["status"], shown["reason"]) == ("ended", "The command that steered it has died.")
            assert await list_decisions(runtime) == []
        else:
            [decision] = await list_decisions(runtime)
            assert (decision["kind"], shown["status"]) == ("inDoubt", "open")
            assert decision["evidence"]["wasUnderWay"] == ["sitting on bench1"]
            await end_session(sessions_of(runtime), session_id, by="bob")
            assert await list_decisions(runtime) == [], "what is over is not asked about"
        await sessions_of(runtime).start(Asked("room"))


@pytest.mark.usefixtures("worlds")
async def test_a_session_whose_world_is_gone_can_still_be_ended(homestead: Any) -> None:
    """The package that brought the world was taken away: nothing can be worked out any more, and the body is free."""
    from beforehand.crafts.agent.core.home_body import home_body
    from beforehand.crafts.agent.core.scene import read_home

    def open_lab(request: Any) -> Any:
        if gone:
            raise ConflictError("The lab is not installed.")
        return home_body(read_home(ROOM))

    gone = False
    register_world("brought", WorldKind(open_lab))
    async with homestead.open({"kind": "home", "name": "lab", "world": {"kind": "brought"}}) as runtime:
        session_id = (await sessions_of(runtime).start(Asked("lab"))).session_id
    gone = True
    async with homestead.open() as runtime:
        ended = await end_session(sessions_of(runtime), session_id, by="bob")
        assert (ended["status"], ended["reason"]) == ("ended", "Ended by bob. The lab is not installed.")
        assert await sessions_of(runtime).listed(open=True) == []
        assert await runtime.store.rows("lease") == []


async def test_a_model_that_is_not_there_any_more_is_asked_about_again(
    homestead: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Sessions, "_steering", lambda self, state: Slow(homestead.clock))
    async with homestead.open(ROOM) as runtime:
        asked = Asked("room", goal="sit on bench1", model="any", steered_by="model")
        session_id = (await sessions_of(runtime).start(asked)).session_id
        await homestead.until(runtime, "decisionOpened")
    monkeypatch.undo()
    async with homestead.open() as runtime:
        await resume_session(sessions_of(runtime), session_id, {})
        await homestead.clock.settle()
        [decision] = await list_decisions(runtime)
        assert "is not there" in decision["evidence"]["reason"]
        taken = await take_session_over(sessions_of(runtime), session_id, by="bob")
        assert (taken["steeredBy"], await list_decisions(runtime)) == ("person", [])


# -- who steers ------------------------------------------------------------------------------------------------------


async def test_two_people_at_once_and_only_who_steers_is_obeyed(homestead: Any) -> None:
    async with homestead.open(ROOM) as runtime:
        sessions = sessions_of(runtime)
        session_id = (await sessions.start(STEERED)).session_id

        async def ann() -> None:
            for _ in range(10):
                await sessions.say(session_id, "skip(0.1)", by="ann", turn=0)

        async def bob() -> list[str]:
            return [await refused(sessions.say(session_id, "end()", by="bob", turn=turn)) for turn in (None, 0) * 5]

        _, told = await asyncio.gather(ann(), bob())
        assert set(told) == {"session.steered"}
        assert [event.data["saidBy"] for event in homestead.events("commandGiven")] == ["ann"] * 10
        assert await refused(sessions.say(session_id, "skip(1)", by="ann")) == "session.steered", "another of hers"


async def test_of_two_who_take_over_at_once_one_does_and_the_other_is_told(homestead: Any) -> None:
    async with homestead.open(ROOM) as runtime:
        sessions = sessions_of(runtime)
        session_id = (await sessions.start(STEERED)).session_id
        both = [take_session_over(sessions, session_id, by=who, turn=0) for who in ("bob", "cyd")]
        done = await asyncio.gather(*both, return_exceptions=True)
        taken = [one for one in done if isinstance(one, dict)]
        assert [one["steerer"] for one in taken] == ["bob"]
        assert "bob has taken this session over" in str(next(one for one in done if isinstance(one, ConflictError)))
        assert await refused(renew_session(sessions, session_id, 0)) == "session.taken_over"
        assert await refused(sessions.say(session_id, "skip(1)", by="ann", turn=0)) == "session.taken_over"
        assert await refused(end_session(sessions, session_id, by="ann", turn=0)) == "session.taken_over"
        assert await refused(sessions.say(session_id, "skip(1)", by="cyd")) == "session.steered"
        shown = await sessions.say(session_id, "skip(1)", by="bob")
        assert (shown["steeredBy"], shown["turn"]) == ("person", 1)
        await homestead.clock.advance(100)
        assert (await sessions.show(session_id))["status"] == "open", "the lease went with the command"
        assert (await sessions.from_log(session_id)).head() == sessions.live[session_id].state.head()


async def test_taking_over_from_the_policy_stops_what_it_began(homestead: Any) -> None:
    async with homestead.open(ROOM) as runtime:
        sessions = sessions_of(runtime)
        asked = Asked("room", goal="bring cup1 to bench1", steered_by="policy", clock="realtime")
        session_id = (await sessions.start(asked)).session_id
        await homestead.until(runtime, "actionUpdated", stage="moving")
        shown = await take_session_over(sessions, session_id, by="bob")
        assert len(shown["cancelled"]) == 1
        assert shown["actions"] == []
        given = len(homestead.events("commandGiven"))
        await homestead.clock.advance(60)
        assert len(homestead.events("commandGiven")) == given, "the policy says nothing more"
        moved = await sessions.say(session_id, "start(dancing)", by="bob")
        assert not moved["refused"]
        assert (await sessions.from_log(session_id)).body == sessions.live[session_id].state.body


async def test_ending_says_what_was_cancelled_and_takes_questions_back(homestead: Any) -> None:
    async with homestead.open(ROOM) as runtime:
        sessions = sessions_of(runtime)
        session_id = (await sessions.start(replace(STEERED, clock="realtime"))).session_id
        await sessions.say(session_id, 'start("sitting on bench1")', by="ann", turn=0)
        ended = await end_session(sessions, session_id, by="bob", note="it is in the way")
        assert ended["cancelled"] == ["sitting on bench1"]
        assert (ended["status"], ended["reason"]) == ("ended", "Ended by bob: it is in the way.")
        assert await refused(end_session(sessions, session_id, by="bob")) == "session.over"
        with pytest.raises(NotFoundError):
            await end_session(sessions, "nobody")


# -- a step of a plan ------------------------------------------------------------------------------------------------


async def errand(homestead: Any, runtime: Any) -> tuple[str, str]:
    """A run whose step steers a session, in the middle of it."""
    plan, _ = await create_plan(runtime, PlanInput(scene="room", text="sit on bench1"))
    run = await start_run(runtime, plan.id, 1)
    begun = await homestead.until(runtime, "actionUpdated", stage="moving")
    await homestead.clock.advance(1)
    return run["runId"], begun.data["sessionId"]


@pytest.mark.parametrize("reaches", [True, False])
async def test_a_session_of_a_plan_is_its_own_until_somebody_takes_it_over(homestead: Any, reaches: bool) -> None:
    async with homestead.open(ROOM) as runtime:
        sessions = sessions_of(runtime)
        run_id, session_id = await errand(homestead, runtime)
        for turn in (None, 0, 7):
            with pytest.raises(ConflictError, match="A step of a plan steers"):
                await sessions.say(session_id, "end()", by="bob", turn=turn)
        assert (await sessions.show(session_id))["heldBy"] == f"the run {run_id}"
        await take_session_over(sessions, session_id, by="bob")
        await homestead.clock.advance(20)
        assert (await run_document(runtime, run_id))["steps"][0]["status"] == "running", "it waits for the person"
        if reaches:
            await sessions.say(session_id, 'start("sitting on bench1")', by="bob")
            await homestead.until(runtime, "actionUpdated", stage="done")
        await sessions.say(session_id, "end()", by="bob")
        await homestead.until(runtime, "runFinished", runId=run_id)
        [step] = (await run_document(runtime, run_id))["steps"]
        assert step["status"] == ("completed" if reaches else "failed")
        if not reaches:
            assert "bob took the session over" in str(step["result"])


# -- homes -----------------------------------------------------------------------------------------------------------


async def test_an_edited_home_takes_effect_with_the_next_session_and_not_under_one(homestead: Any) -> None:
    async with homestead.open(ROOM) as runtime:
        sessions = sessions_of(runtime)
        first = await sessions.start(Asked("room"))
        for command in ("start(taking cup1)", "skip(60)"):
            await sessions.say(first.session_id, command)
        moved = {**ROOM["objects"][0], "at": [2, 3]}  # type: ignore[index]
        await save_scene(runtime, None, {**ROOM, "objects": [moved, *ROOM["objects"][1:]]})  # type: ignore[index]
        assert "bench1: at (8, 3)" in (await sessions.surroundings(first.session_id))["surroundings"]
        with pytest.raises(ConflictError, match=f"{first.session_id} goes on in room"):
            await activate_scene(runtime, "room")
        await end_session(sessions, first.session_id)
        second = await sessions.start(Asked("room"))
        assert "bench1: at (2, 3)" in second.body.surroundings()
        assert "cup1: on shelf1" in second.body.surroundings()
        assert second.head()["note"] == EDITED
        await end_session(sessions, second.session_id)
        assert "note" not in (await sessions.start(Asked("room"))).head()


@pytest.mark.usefixtures("worlds")
async def test_a_body_is_put_back_only_where_nobody_holds_it_and_it_is_simulated(homestead: Any) -> None:
    async with homestead.open(ROOM) as runtime:
        sessions = sessions_of(runtime)
        first = await sessions.start(Asked("room"))
        for command in ("start(taking cup1)", "skip(60)"):
            await sessions.say(first.session_id, command)
        assert await refused(sessions.homes.reset("room", "bob")) == "machine.held"
        await sessions.say(first.session_id, "end()")
        assert "origin (0, 0)" in (await sessions.homes.reset("room", "bob"))["state"]
        again = await sessions.start(Asked("room"))
        assert "cup1: on shelf1" in again.body.surroundings()
        assert "origin (0, 0)" in again.body.state_text()
        await end_session(sessions, again.session_id)
        register_world("lab", WorldKind(lambda request: again.body))
        await save_scene(runtime, None, {"kind": "home", "name": "lab", "world": {"kind": "lab"}})
        with pytest.raises(ConflictError, match="does not say that it is simulated"):
            await sessions.homes.reset("lab", "bob")


# -- a model ---------------------------------------------------------------------------------------------------------


class Slow:
    """A model that says one thing and then nothing, which it takes seven seconds for."""

    def __init__(self, clock: Any) -> None:
        self.clock = clock
        self.used = Usage(requests=1, money=0)

    async def next_command(self, state: SessionState) -> str:
        if not state.body.actions:
            return 'start("walking to bench1")'
        await self.clock.sleep(7)
        raise ModelTimeoutError("The model gave no answer within 7 s.")

    async def close(self) -> None:
        """There is nothing to let go of."""


@pytest.mark.parametrize(("clock", "seconds"), [("charged", 7.0), ("virtual", 0.0)])
async def test_an_answer_that_never_comes_costs_its_time_where_thinking_does(
    homestead: Any, monkeypatch: pytest.MonkeyPatch, clock: Any, seconds: float
) -> None:
    monkeypatch.setattr(Sessions, "_steering", lambda self, state: Slow(homestead.clock))
    async with homestead.open(ROOM) as runtime:
        sessions = sessions_of(runtime)
        asked = Asked("room", goal="sit on bench1", model="any", steered_by="model", clock=clock)
        session_id = (await sessions.start(asked)).session_id
        await homestead.until(runtime, "decisionOpened")
        shown = await sessions.show(session_id)
        assert shown["atS"] == seconds
        assert shown["used"]["requests"] == 1
        assert (await sessions.from_log(session_id)).body == sessions.live[session_id].state.body
        [decision] = await list_decisions(runtime)
        await answer_decision(runtime, decision["id"], "resume", value={"requests": 900, "maxSteps": 70}, by="bob")
        raised = await sessions.show(session_id)
        assert (raised["budget"], raised["maxSteps"]) == ({"requests": 900}, 70)
        assert raised["budgetLeft"]["requests"] == 899
        kept = await sessions.from_log(session_id)
        assert (kept.options, kept.session.max_steps) == ({"budget": {"requests": 900}}, 70)
