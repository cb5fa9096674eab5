"""Sessions in a runtime: one body at a time, real time, what a crash leaves, and what people are asked."""

import asyncio
from typing import Any

import pytest

from beforehand.app.inbox import answer_decision, list_decisions
from beforehand.crafts.agent.lanes import command_log, lanes
from beforehand.crafts.agent.session_log import Asked
from beforehand.crafts.agent.sessions import Sessions
from beforehand.loop.asked import Asked as AskedFor
from beforehand.loop.asked import asking
from beforehand.model.errors import BadInputError, ConflictError, ExpiredError, NotFoundError

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


def sessions_of(runtime: Any) -> Sessions:
    return runtime.service(Sessions)


async def test_a_session_holds_its_body_until_it_ends(homestead: Any) -> None:
    async with homestead.open(ROOM) as runtime:
        sessions = sessions_of(runtime)
        first = await sessions.start(Asked("room"))
        with pytest.raises(ConflictError, match=first.session_id):
            await sessions.start(Asked("room"))
        await sessions.say(first.session_id, "end()")
        second = await sessions.start(Asked("room"))
        assert second.session_id != first.session_id
        with pytest.raises(ConflictError, match="is over"):
            await sessions.say(first.session_id, "skip(1)")
        with pytest.raises(NotFoundError):
            await sessions.say("nobody", "skip(1)")


async def test_the_world_stays_as_the_last_session_left_it(homestead: Any) -> None:
    async with homestead.open(ROOM) as runtime:
        sessions = sessions_of(runtime)
        first = await sessions.start(Asked("room"))
        for command in ("start(taking cup1)", "skip(60)", "end()"):
            shown = await sessions.say(first.session_id, command)
        assert "Right Hand Holding: cup1" in shown["state"]
        second = await sessions.start(Asked("room"))
        assert "Right Hand Holding: cup1" in second.body.state_text()
        assert "Actions: []" in second.body.state_text()


async def test_stages_are_pushed_as_events_in_their_order(homestead: Any) -> None:
    async with homestead.open(ROOM) as runtime:
        sessions = sessions_of(runtime)
        session = await sessions.start(Asked("room"))
        await sessions.say(session.session_id, 'start("sitting on bench1")')
        await sessions.say(session.session_id, "skip(60)")
        await sessions.say(session.session_id, "end()")
        told = [(event.data["action"], event.data["stage"]) for event in homestead.events("actionUpdated")]
        assert told == [("sitting on bench1", stage) for stage in ("moving", "acting", "done", "stopped")]
        spans = (await lanes(sessions, session.session_id))[0]["spans"]
        assert [span["stage"] for span in spans] == ["moving", "acting", "done"]
        assert spans[1]["toS"] - spans[1]["fromS"] == pytest.approx(2.0)


async def test_a_virtual_session_goes_on_exactly_where_it_was(homestead: Any) -> None:
    async with homestead.open(ROOM) as runtime:
        sessions = sessions_of(runtime)
        session_id = (await sessions.start(Asked("room"))).session_id
        await sessions.say(session_id, 'start("sitting on bench1")')
        before = await sessions.say(session_id, "skip(2)")
    async with homestead.open() as runtime:
        sessions = sessions_of(runtime)
        assert (await sessions.show(session_id))["state"] == before["state"]
        after = await sessions.say(session_id, "skip(1)")
        assert "(moving, 3.0s)" in after["state"]
        assert await list_decisions(runtime) == []


async def test_real_time_moves_by_itself_and_a_skip_waits_for_it(homestead: Any) -> None:
    async with homestead.open(ROOM) as runtime:
        sessions = sessions_of(runtime)
        session_id = (await sessions.start(Asked("room", clock="realtime"))).session_id
        await sessions.say(session_id, 'start("sitting on bench1")')
        await homestead.until(runtime, "actionUpdated", stage="done")
        assert (homestead.clock.now_ms() - homestead.events("sessionStarted")[0].ts) / 1000 > 9
        await sessions.say(session_id, 'stop("sitting on bench1")')
        before = homestead.clock.now_ms()
        shown = await homestead.clock.run(sessions.say(session_id, "skip(2)"))
        assert shown["reply"] == "Waited for 2.0s. Current state:"
        assert homestead.clock.now_ms() - before >= 2000


async def test_whoever_looks_at_a_session_in_real_time_sees_it_as_it_is_now(homestead: Any) -> None:
    async with homestead.open(ROOM) as runtime:
        sessions = sessions_of(runtime)
        session_id = (await sessions.start(Asked("room", clock="realtime"))).session_id
        await sessions.say(session_id, 'start("sitting on bench1")')
        await homestead.clock.advance(2)
        [listed] = await sessions.listed("room", open=True)
        for shown in (listed, await sessions.show(session_id)):
            assert shown["tick"] == 40
            assert "sitting on bench1 (moving, 2.0s)" in shown["state"]


async def test_a_skip_in_real_time_wakes_on_what_it_waits_for(homestead: Any) -> None:
    async with homestead.open(ROOM) as runtime:
        sessions = sessions_of(runtime)
        session_id = (await sessions.start(Asked("room", clock="realtime"))).session_id
        await sessions.say(session_id, 'start("sitting on bench1")')
        shown = await homestead.clock.run(sessions.say(session_id, "skip(60, wake_on=acting)"))
        assert "(acting, " in shown["state"]
        assert float(shown["reply"].split()[2].removesuffix("s.")) < 20


async def test_a_skip_in_real_time_wakes_on_what_another_one_started_meanwhile(homestead: Any) -> None:
    async with homestead.open(ROOM) as runtime:
        sessions = sessions_of(runtime)
        session_id = (await sessions.start(Asked("room", clock="realtime"))).session_id
        skips = [asyncio.ensure_future(sessions.say(session_id, "skip(60, wake_on=acting)")) for _ in range(2)]
        await homestead.clock.advance(1)
        await sessions.say(session_id, 'start("sitting on bench1")')
        for skip in skips:
            shown = await homestead.clock.run(skip)
            assert "(acting, " in shown["state"]
            assert shown["waited"] < 20 * 20


@pytest.mark.parametrize("said", ["end()", "hold"])
async def test_a_skip_in_real_time_is_answered_when_another_one_ends_it(homestead: Any, said: str) -> None:
    async with homestead.open(ROOM) as runtime:
        sessions = sessions_of(runtime)
        session_id = (await sessions.start(Asked("room", clock="realtime"))).session_id
        skip = asyncio.ensure_future(sessions.say(session_id, "skip(60)"))
        await homestead.clock.advance(1)
        await (sessions.hold("room") if said == "hold" else sessions.say(session_id, said))
        await homestead.clock.settle()
        assert skip.done()
        with pytest.raises(ConflictError, match="is over" if said != "hold" else "held"):
            await skip


async def test_a_skip_in_real_time_has_to_begin_before_its_deadline_and_not_to_end(homestead: Any) -> None:
    async with homestead.open(ROOM) as runtime:
        sessions = sessions_of(runtime)
        session_id = (await sessions.start(Asked("room", clock="realtime"))).session_id
        late = homestead.clock.now_ms() + 500

        async def skipped() -> Any:
            with asking(AskedFor(deadline_ms=late)):
                return await sessions.say(session_id, "skip(5)")

        assert (await homestead.clock.run(skipped()))["reply"].startswith("Waited for 5.0s.")
        with pytest.raises(ExpiredError):
            await homestead.clock.run(skipped())


async def test_after_a_crash_real_time_is_in_doubt_and_nothing_moves_unasked(homestead: Any) -> None:
    async with homestead.open(ROOM) as runtime:
        sessions = sessions_of(runtime)
        session_id = (await sessions.start(Asked("room", clock="realtime"))).session_id
        await sessions.say(session_id, 'start("sitting on bench1")')
        await homestead.clock.advance(2)
    async with homestead.open() as runtime:
        sessions = sessions_of(runtime)
        await homestead.clock.advance(30)
        [decision] = await list_decisions(runtime)
        assert decision["kind"] == "inDoubt"
        assert decision["evidence"]["wasUnderWay"] == ["sitting on bench1"]
        with pytest.raises(ConflictError, match="Nothing moves"):
            await sessions.say(session_id, "skip(1)")
        before = (await sessions.show(session_id))["state"]
        assert "Actions: []" in before
        await answer_decision(runtime, decision["id"], "resume")
        await homestead.clock.advance(5)
        assert (await sessions.show(session_id))["state"] == before
        shown = await sessions.say(session_id, "end()")
        assert shown["status"] == "ended"


@pytest.mark.parametrize("clock", ["virtual", "charged", "realtime"])
async def test_the_log_alone_rebuilds_a_session(homestead: Any, clock: Any) -> None:
    async with homestead.open(ROOM) as runtime:
        sessions = sessions_of(runtime)
        session_id = (await sessions.start(Asked("room", clock=clock, goal="take cup1"))).session_id
        for command in ('start("taking cup1")', "skip(3)", "nonsense", 'start("looking at bench1")', "skip(9)"):
            await homestead.clock.run(sessions.say(session_id, command))
        live = sessions.live[session_id].state
        from_log = await sessions.from_log(session_id)
        assert from_log.body == live.body
        assert from_log.head() == live.head()
        for tick in (0, 20, 61, 150):
            then = await sessions.from_log(session_id, until_tick=tick)
            assert then.body.tick == min(tick, live.body.tick)


async def test_what_goes_wrong_in_the_world_is_in_the_log_too(homestead: Any) -> None:
    async with homestead.open(ROOM) as runtime:
        sessions = sessions_of(runtime)
        session_id = (await sessions.start(Asked("room"))).session_id
        await sessions.disturb(session_id, {"fault": "slip", "about": "cup1"})
        await sessions.say(session_id, 'start("taking cup1")')
        shown = await sessions.say(session_id, "skip(60)")
        assert "failed" in shown["state"]
        assert "cup1 slipped" in shown["state"]
        with pytest.raises(BadInputError, match="Unknown fault"):
            await sessions.disturb(session_id, {"fault": "melt", "about": "cup1"})
        assert (await sessions.from_log(session_id)).body == sessions.live[session_id].state.body


async def test_a_person_who_left_ends_the_session(homestead: Any) -> None:
    async with homestead.open(ROOM) as runtime:
        sessions = sessions_of(runtime)
        session_id = (await sessions.start(Asked("room"))).session_id
        await homestead.clock.advance(29 * 60)
        await sessions.say(session_id, 'start("dancing")')
        await homestead.clock.advance(29 * 60)
        assert (await sessions.show(session_id))["status"] == "open"
        await homestead.until(runtime, "sessionEnded")
        shown = await sessions.show(session_id)
        assert shown["status"] == "ended"
        assert "30 minutes" in shown["reason"]
        assert shown["actions"] == []


async def test_a_person_may_be_wrong_as_often_as_they_like(homestead: Any) -> None:
    async with homestead.open(ROOM) as runtime:
        sessions = sessions_of(runtime)
        session_id = (await sessions.start(Asked("room"))).session_id
        for _ in range(7):
            shown = await sessions.say(session_id, "what now?")
        assert shown["status"] == "open"
        assert shown["refused"]
        assert len(await command_log(sessions, session_id)) == 7
