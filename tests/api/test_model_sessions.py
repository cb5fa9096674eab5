"""Whole sessions steered by a model over real HTTP: what it is told, what it sees, and what its failures come to."""

import asyncio
import struct
import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.api.conftest import Server, serving

from beforehand.app.model_log import recorded_model
from beforehand.crafts.agent.sessions import Sessions
from beforehand.crafts.agent.steering import ask_of
from beforehand.testing.model_replies import Reply, Seen, declines, dies, garbles, says, stalls, turned_away
from beforehand.testing.model_servers import FakeAnthropic, FakeOpenAI

pytestmark = pytest.mark.needs("pydantic_ai")
ROOM = {
    "kind": "home",
    "name": "loft",
    "bounds": [0, 0, 9, 6],
    "objects": [
        {"name": "stove1", "at": [7, 3], "size": [1, 2], "affords": ["touch", "place"]},
        {"name": "rack1", "at": [3, 5], "size": [1.2, 0.8], "affords": ["touch", "place"]},
        {"name": "pan1", "on": "rack1", "affords": ["take"]},
    ],
}
GOAL = "bring pan1 to stove1"


def steers(seen: Seen) -> Reply:
    """What a model that reads the newest state would say."""
    state = seen.last
    if "Actions: []" in state:
        if "Right Hand Holding: pan1" in state:
            return says('start("placing pan1 on stove1")')
        return says("end()" if "placing" in str(seen.messages) else 'start("taking pan1 from rack1")')
    if "(done," in state:
        return says('stop("placing pan1 on stove1")' if "placing" in state else 'stop("taking pan1 from rack1")')
    return says("skip(5)")


@pytest.fixture(params=[FakeOpenAI, FakeAnthropic])
async def model(request: Any) -> AsyncIterator[Any]:
    async with request.param(steers) as fake:
        fake.provider = "openai" if request.param is FakeOpenAI else "anthropic"
        yield fake


@pytest.fixture
async def loft(model: Any, tmp_path: Path) -> AsyncIterator[Server]:
    flags = {"model": f"{model.provider}:some-model", "model_url": model.url, "model_key": "sk-this-is-a-secret-key"}
    async with serving(tmp_path, **flags) as server:
        await server.call("PUT", "/scenes/loft", ROOM)
        yield server


async def begun(loft: Server, **asked: Any) -> Any:
    name = str(loft.runtime.settings["model"])
    return await loft.call("POST", "/sessions", {"scene": "loft", "goal": GOAL, "model": name, **asked}, status=201)


async def over(loft: Server, session: Any) -> Any:
    async with asyncio.timeout(30):
        await loft.runtime.service(Sessions).until_over(session["sessionId"])
    return await loft.call("GET", f"/sessions/{session['sessionId']}")


async def waiting(loft: Server) -> Any:
    """What a person is asked, once they are."""
    async for event in loft.events(kinds="decisionOpened"):
        return event["data"]
    raise AssertionError("Nobody was asked.")


async def test_a_model_steers_a_whole_session(loft: Server, model: Any) -> None:
    session = await over(loft, await begun(loft, instruction="Carry the pan over."))
    assert (session["status"], session["goalReached"]) == ("ended", True)
    first, last = model.seen[0], model.seen[-1]
    assert "pan1: on rack1" in first.system
    assert GOAL in first.system
    assert "Carry the pan over." in first.system
    assert first.last.splitlines() == [
        "Position: origin (0, 0)",
        "Actions: []",
        "Left Hand Holding: None",
        "Right Hand Holding: None",
    ]
    assert all(len(seen.images) == 1 for seen in model.seen), "the newest picture only"
    assert [_size(seen.images[0]) for seen in model.seen] == [(512, 512)] * len(model.seen)
    assert first.images[0] != last.images[0]
    assert last.messages[-1][0] == "user"
    assert "Position: " in last.last


def _size(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG")
    assert zlib.decompress(png[png.index(b"IDAT") + 4 : png.index(b"IEND") - 8])
    width, height = struct.unpack(">II", png[16:24])
    return width, height


async def test_the_log_has_the_prompts_and_no_key_and_replays_without_a_model(loft: Server, model: Any) -> None:
    session = await over(loft, await begun(loft))
    events = await loft.call("GET", "/events?limit=1000")
    kinds = [event["kind"] for event in events]
    assert kinds.count("modelAsked") == kinds.count("modelAnswered") == kinds.count("commandGiven") == len(model.seen)
    assert "sk-this-is-a-secret-key" not in str(events)
    sessions = loft.runtime.service(Sessions)
    recorded = await recorded_model(loft.runtime.store, f"session:{session['sessionId']}")
    then = await sessions.from_log(session["sessionId"], until_tick=0)
    assert (await recorded.answer(ask_of(_before_commands(then)))).text == 'start("taking pan1 from rack1")'
    again = await sessions.from_log(session["sessionId"])
    assert again.head()["state"] == session["state"]


def _before_commands(state: Any) -> Any:
    from dataclasses import replace

    from beforehand.crafts.agent.core.home_body import home_body

    scene = state.body.world.scene
    return replace(state, session=replace(state.session, body=home_body(scene, goal=GOAL)), history=())


@pytest.mark.parametrize(
    "script", [[garbles(b"{")], [dies()], [turned_away(401)], [declines()], [turned_away(500)]], ids=str
)
async def test_a_model_that_fails_leaves_everything_stopped_and_a_person_asked(
    loft: Server, model: Any, script: Any
) -> None:
    model.script = (says('start("taking pan1")'), *script)
    session = await begun(loft)
    decision = await waiting(loft)
    assert decision["kind"] == "steering"
    assert decision["verbs"] == ["resume", "take-over", "end"]
    shown = await loft.call("GET", f"/sessions/{session['sessionId']}")
    assert shown["status"] == "open"
    assert shown["actions"] == []
    assert shown["waitsFor"] == decision["id"]
    told = await loft.refused("POST", f"/sessions/{session['sessionId']}/commands", {"command": "skip(1)"}, status=409)
    assert told["code"] == "session.waits"
    await loft.call("POST", f"/inbox/{decision['id']}", {"verb": "take-over"})
    shown = await loft.call("POST", f"/sessions/{session['sessionId']}/commands", {"command": "start(dancing)"})
    assert not shown["refused"]
    assert shown["steeredBy"] == "person"


async def test_a_model_that_comes_back_goes_on(loft: Server, model: Any) -> None:
    model.script = (says('start("taking pan1 from rack1")'), dies(), dies(), dies(), dies(), dies(), steers)
    session = await begun(loft)
    decision = await waiting(loft)
    model.script = (steers,)
    await loft.call("POST", f"/inbox/{decision['id']}", {"verb": "resume"})
    ended = await over(loft, session)
    assert (ended["status"], ended["goalReached"]) == ("ended", True)


async def test_a_model_that_talks_nonsense_fails_after_five(loft: Server, model: Any) -> None:
    model.script = (says('start("dancing")'), says("Let me think about the pan."))
    session = await over(loft, await begun(loft))
    assert session["status"] == "failed"
    assert "5 commands in a row" in session["reason"]
    assert session["actions"] == []
    decision = await waiting(loft)
    assert (decision["kind"], decision["verbs"]) == ("sessionFailed", ["again", "leave"])
    model.script = (steers,)
    await loft.call("POST", f"/inbox/{decision['id']}", {"verb": "again"})
    [second] = [row for row in await loft.call("GET", "/sessions") if row["sessionId"] != session["sessionId"]]
    assert (await over(loft, second))["goalReached"] is True


async def test_an_empty_or_cut_off_answer_is_refused_like_any_and_the_newest_state_is_told_again(
    loft: Server, model: Any
) -> None:
    silent = (says(""), says(" \n "), says('start("dancing', cut_off=True))
    model.script = (says('start("singing")'), *silent, says("end()"))
    session = await over(loft, await begun(loft))
    commands = await loft.call("GET", f"/sessions/{session['sessionId']}/commands")
    assert [(one["command"].strip(), one["refused"]) for one in commands] == [
        ('start("singing")', False),
        *[("", True)] * 3,
        ("end()", False),
    ]
    assert len(model.seen) == len(commands)
    assert [seen.last.splitlines()[-3] for seen in model.seen[1:]] == ["Actions: [singing (acting, 0.0s)]"] * 4
    assert "The command is empty." in model.seen[-1].last


async def test_a_budget_is_kept(loft: Server, model: Any) -> None:
    model.script = (says("skip(1)"),)
    await begun(loft, budget={"requests": 3})
    decision = await waiting(loft)
    assert len(model.seen) == 3
    assert "requests" in decision["evidence"]["reason"]


async def test_a_budget_outlives_a_restart_and_a_person_raises_it(model: Any, tmp_path: Path) -> None:
    flags = {"model": f"{model.provider}:some-model", "model_url": model.url, "model_key": "sk-this-is-a-secret-key"}
    model.script = (says("skip(1)"),)
    async with serving(tmp_path, **flags) as loft:
        await loft.call("PUT", "/scenes/loft", ROOM)
        session = await begun(loft, budget={"requests": 3})
        path = f"/sessions/{session['sessionId']}"
        await waiting(loft)
        shown = await loft.call("GET", path)
        assert (shown["used"]["requests"], shown["budgetLeft"]["requests"]) == (3, 0)
    async with serving(tmp_path, **flags) as loft:
        assert (await loft.call("GET", path))["used"] == shown["used"]
        await loft.call("POST", f"{path}/resume")
        await loft.until(lambda: loft.runtime.service(Sessions).live[session["sessionId"]].state.asked == 2)
        assert len(model.seen) == 3, "nothing is left of it, so nobody is asked"
        await loft.refused("POST", f"{path}/resume", {"requests": 0}, status=422)
        await loft.call("POST", f"{path}/resume", {"requests": 5})
        await loft.until(lambda: loft.runtime.service(Sessions).live[session["sessionId"]].state.asked == 3)
        assert len(model.seen) == 5
        again = await loft.call("GET", path)
        assert (again["used"]["requests"], again["budget"]["requests"]) == (5, 5)
        ended = await loft.call("POST", f"{path}/end")
        assert ended["status"] == "ended"
        assert await loft.call("GET", "/inbox") == [], "nothing is asked about what is over"
        assert (await loft.refused("POST", f"{path}/resume", status=409))["code"] == "session.over"


async def test_tokens_are_reckoned_where_the_provider_does_not_tell_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("beforehand.testing.model_servers.USED", None)
    async with FakeOpenAI(lambda seen: says("skip(1)")) as model:
        flags = {"model": "openai:some-model", "model_url": model.url, "model_key": "sk-this-is-a-secret-key"}
        async with serving(tmp_path, **flags) as loft:
            await loft.call("PUT", "/scenes/loft", ROOM)
            session = await begun(loft, budget={"tokens": 6_000}, pictures=False)
            decision = await waiting(loft)
            assert "6000 tokens" in decision["evidence"]["reason"]
            shown = await loft.call("GET", f"/sessions/{session['sessionId']}")
            assert shown["used"]["estimated"] is True
            size = len(model.seen[0].system) + len(model.seen[0].last)
            assert shown["used"]["inputTokens"] >= size // 4 * len(model.seen)
            assert 0 < len(model.seen) < 20


async def test_a_stalled_model_can_be_ended_by_a_person_at_once(loft: Server, model: Any) -> None:
    never = asyncio.Event()
    model.script = (stalls(never, says("end()")),)
    session = await begun(loft)
    await model.asked.wait()
    shown = await loft.call("POST", f"/sessions/{session['sessionId']}/commands", {"command": "end()"})
    assert shown["status"] == "ended"
    await over(loft, session)
    async with asyncio.timeout(10):
        await model.left()
    never.set()


async def test_max_steps_end_a_session_that_gets_nowhere(loft: Server, model: Any) -> None:
    model.script = (says("skip(1)"),)
    session = await over(loft, await begun(loft, maxSteps=4))
    assert (session["status"], session["steps"]) == ("failed", 4)


async def test_no_pictures_where_none_are_wanted(loft: Server, model: Any) -> None:
    await over(loft, await begun(loft, pictures=False))
    assert all(seen.images == () for seen in model.seen)


async def test_no_model_is_a_normal_state(server: Server) -> None:
    await server.call("PUT", "/scenes/loft", ROOM)
    told = await server.refused("POST", "/sessions", {"scene": "loft", "goal": GOAL, "model": "openai:any"}, status=409)
    assert told["code"].startswith("model.")
    assert "OPENAI_API_KEY" in told["hint"]
    assert await server.call("GET", "/sessions") == []
