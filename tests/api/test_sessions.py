"""Sessions over HTTP: a person steers a body, others look, and whatever is asked wrongly is answered by a sentence."""

import asyncio
import json
from typing import Any

import pytest

from beforehand.crafts.agent.sessions import Sessions

ROOM = {
    "kind": "home",
    "name": "den",
    "bounds": [0, 0, 8, 6],
    "rooms": [{"name": "den", "bounds": [0, 0, 8, 6]}],
    "objects": [
        {"name": "sofa1", "at": [6, 3], "size": [1, 2], "affords": ["sit", "lie", "touch", "place"]},
        {"name": "table1", "at": [3, 5], "size": [1.2, 0.8], "affords": ["touch", "place"]},
        {"name": "mug1", "on": "table1", "affords": ["take"]},
    ],
    "agent": {"at": [0, 0], "speedMps": 1.2},
}


@pytest.fixture
async def den(server: Any) -> Any:
    await server.call("PUT", "/scenes/den", {**ROOM, "rooms": []})
    await server.call("POST", "/scenes/den/activate")
    return server


async def begun(den: Any, **asked: Any) -> Any:
    return await den.call("POST", "/sessions", {"scene": "den", **asked}, status=201)


async def say(den: Any, session: Any, command: str) -> Any:
    return await den.call("POST", f"/sessions/{session['sessionId']}/commands", {"command": command})


async def test_a_whole_session(den: Any) -> None:
    session = await begun(den, goal="bring mug1 to sofa1")
    assert session["goalReached"] is False
    for command in (
        'start("taking mug1 from table1")',
        "skip(30, wake_on=done)",
        'stop("taking mug1 from table1")',
        'start("placing mug1 on sofa1")',
        "skip(30, wake_on=done)",
    ):
        shown = await say(den, session, command)
        assert not shown["refused"], shown["reply"]
    assert shown["goalReached"] is True
    assert shown["actions"] == [
        {
            "action": "placing mug1 on sofa1",
            "stage": "done",
            "durationS": pytest.approx(shown["actions"][0]["durationS"]),
        }
    ]
    state = await den.call("GET", "/state?scene=den")
    assert [item["sessionId"] for item in state["sessions"]] == [session["sessionId"]]
    ended = await say(den, session, "end()")
    assert (ended["status"], ended["goalReached"]) == ("ended", True)
    assert (await den.call("GET", "/state"))["sessions"] == []
    [listed] = await den.call("GET", "/sessions")
    assert listed["status"] == "ended"
    assert await den.call("GET", "/sessions?open=true") == []
    log = await den.call("GET", f"/sessions/{session['sessionId']}/commands")
    assert len(log) == 6
    assert [lane["action"] for lane in await den.call("GET", f"/sessions/{session['sessionId']}/lanes")] == [
        "taking mug1 from table1",
        "placing mug1 on sofa1",
    ]


async def test_a_refused_command_is_a_plain_answer_with_its_reasons(den: Any) -> None:
    session = await begun(den)
    shown = await say(den, session, 'start("sitting on sofa9")')
    assert shown["refused"]
    assert [reason["code"] for reason in shown["reasons"]] == ["action.unknown_object"]
    assert "sofa1" in shown["reply"]
    assert shown["atS"] == 0


async def test_what_cannot_be_is_refused_with_a_sentence(den: Any) -> None:
    assert (await den.refused("POST", "/sessions", {"scene": "nowhere"}, status=404))["code"] == "scene.unknown"
    await den.refused("POST", "/sessions", {"scene": "den", "clock": "sundial"}, status=422)
    await den.refused("POST", "/sessions", {"scene": "den", "maxSteps": 0}, status=422)
    told = await den.refused("POST", "/sessions", {"scene": "den", "policy": True}, status=422)
    assert "goal" in told["detail"]
    await den.refused("POST", "/sessions", {"scene": "den", "model": "m", "policy": True, "goal": "x"}, status=422)
    await den.refused("GET", "/sessions/none", status=404)
    await den.refused("GET", "/sessions/none/picture", status=404)
    await den.refused("GET", "/sessions/none/lanes", status=404)
    session = await begun(den)
    held = await den.refused("POST", "/sessions", {"scene": "den"}, status=409)
    assert held["code"] == "machine.held"
    assert "runs cancel" not in held["hint"], "a session is no run"
    path = f"/sessions/{session['sessionId']}"
    await den.refused("POST", f"{path}/commands", {}, status=422)
    await den.refused("POST", f"{path}/commands", {"command": "x" * 2001}, status=422)
    await den.refused("POST", f"{path}/faults", {"fault": "melt", "about": "mug1"}, status=422)
    await den.refused("POST", f"{path}/faults", {"fault": "slip", "about": "sofa1"}, status=422)
    await den.refused("GET", f"{path}?tick=-1", status=422)
    await say(den, session, "end()")
    assert (await den.refused("POST", f"{path}/commands", {"command": "end()"}, status=409))["code"] == "session.over"


async def test_a_scene_does_not_change_under_a_session(den: Any) -> None:
    session = await begun(den)
    await den.call("PUT", "/scenes/den", {**ROOM, "rooms": [], "bounds": [0, 0, 9, 6]})
    told = await den.refused("POST", "/scenes/den/activate", status=409)
    assert session["sessionId"] in told["detail"]
    await say(den, session, "end()")
    await den.call("POST", "/scenes/den/activate")


async def test_any_tick_can_be_looked_at_again_with_its_picture(den: Any) -> None:
    session = await begun(den)
    path = f"/sessions/{session['sessionId']}"
    await say(den, session, 'start("sitting on sofa1")')
    await say(den, session, "skip(20)")
    then = await den.call("GET", f"{path}?tick=40")
    assert then["atS"] == 2.0
    assert "(moving, 2.0s)" in then["state"]
    assert then["startedAt"] == session["startedAt"]
    beyond = await den.call("GET", f"{path}?tick=100000")
    assert beyond["atS"] == 20.0, "there is no state beyond the present"
    assert "(done, 20.0s)" in beyond["state"]
    pictures = [(await den.http.get(f"{path}/picture{query}")) for query in ("", "?tick=40", "?tick=40")]
    assert all(answer.headers["content-type"] == "image/png" for answer in pictures)
    assert all(answer.content.startswith(b"\x89PNG") for answer in pictures)
    assert pictures[1].content == pictures[2].content != pictures[0].content
    words = await den.call("GET", f"{path}/surroundings")
    assert "mug1: on table1" in words["surroundings"]


async def test_live_frames_show_the_body_on_its_way(den: Any) -> None:
    frames: list[Any] = []

    async def look() -> None:
        async with den.http.stream("GET", "/telemetry?scene=den") as answer:
            async for line in answer.aiter_lines():
                if line.startswith("data: ") and (frame := json.loads(line[6:])).get("kind") == "agent":
                    frames.append(frame)

    looking = asyncio.create_task(look())
    await den.until(lambda: den.runtime.telemetry.listeners > 0)
    session = await begun(den, clock="realtime")
    await say(den, session, 'start("walking to sofa1")')
    await den.until(lambda: len({frame["x"] for frame in frames}) > 5)
    await say(den, session, "end()")
    looking.cancel()
    xs = [frame["x"] for frame in frames]
    assert xs == sorted(xs)
    assert frames[-2]["actions"][0]["stage"] == "moving"


async def test_events_of_a_session_are_told_in_words(den: Any) -> None:
    session = await begun(den, goal="dance")
    await say(den, session, "start(dancing)")
    await say(den, session, "end()")
    events = await den.call("GET", "/events?before=100000&limit=100")
    says = [event["says"] for event in events if event["about"].get("sessionId") == session["sessionId"]]
    assert says[0] == "A session begins in den, steered by a person: dance."
    assert "start(dancing) was given: Started dancing." in says
    assert says[-1] == "The session in den has ended after 2 commands. The goal was reached."


async def test_a_viewer_looks_and_does_not_steer(serve_with: Any) -> None:
    async with serve_with(token="admin-token-of-this-test") as guarded:
        admin = {"authorization": "Bearer admin-token-of-this-test"}
        await guarded.call("PUT", "/scenes/den", {**ROOM, "rooms": []}, **admin)
        answer = await guarded.http.post("/sessions", json={"scene": "den"})
        assert answer.status_code == 401
        session = await guarded.call("POST", "/sessions", {"scene": "den"}, status=201, **admin)
        assert session["by"] != ""


async def test_holding_everything_holds_the_body_too(den: Any) -> None:
    session = await begun(den, clock="realtime", policy=True, goal="bring mug1 to sofa1")
    path = f"/sessions/{session['sessionId']}"
    await den.until(lambda: any(d.state.body.actions for d in den.runtime.service(Sessions).live.values()))
    told = await den.call("POST", "/hold")
    assert [(entry["scene"], entry["kind"]) for entry in told["what"]] == [("den", "home")]
    held = await den.call("GET", path)
    assert held["held"] is True
    assert held["actions"] == []
    refused = await den.refused("POST", f"{path}/commands", {"command": "start(dancing)"}, status=409)
    assert refused["code"] == "hold.everything"
    await den.call("POST", "/clear")
    await den.until(lambda: any(d.state.body.actions for d in den.runtime.service(Sessions).live.values()))
    await den.call("POST", f"{path}/commands", {"command": "end()"})
    await den.call("POST", "/hold")
    assert (await den.refused("POST", "/sessions", {"scene": "den"}, status=409))["code"] == "hold.everything"


async def test_the_past_has_its_sessions(den: Any) -> None:
    session = await begun(den)
    seq = (await den.call("GET", "/state"))["seq"]
    await say(den, session, "start(dancing)")
    await say(den, session, "end()")
    then = await den.call("GET", f"/state?at={seq}")
    assert [(row["sessionId"], row["steps"]) for row in then["sessions"]] == [(session["sessionId"], 0)]
    after = await den.call("GET", f"/state?at={seq + 2}")
    assert after["sessions"][0]["actions"][0]["action"] == "dancing"


async def test_a_home_rests_only_when_nobody_is_in_it(den: Any) -> None:
    session = await begun(den)
    told = await den.refused("POST", "/scenes/den/deactivate", status=409)
    assert session["sessionId"] in told["detail"]
    await say(den, session, "end()")
    await den.call("POST", "/scenes/den/deactivate")


async def test_a_session_is_taken_over_and_ended_by_another_one(den: Any) -> None:
    session = await begun(den, leaseS=60)
    path = f"/sessions/{session['sessionId']}"
    assert (session["steerer"], session["turn"], session["leaseS"]) == ("local", 0, 60)
    told = await den.refused("POST", f"{path}/commands", {"command": "skip(1)"}, status=409)
    assert told["code"] == "session.steered"
    assert f"beforehand agent take-over {session['sessionId']}" in told["hint"]
    await den.call("POST", f"{path}/commands", {"command": "start(dancing)", "turn": 0})
    assert (await den.call("POST", f"{path}/renew", {"turn": 0}))["turn"] == 0
    taken = await den.call("POST", f"{path}/take-over", {"turn": 0})
    assert (taken["turn"], taken["cancelled"]) == (1, []), "a person hands over what goes on as it is"
    assert [action["action"] for action in taken["actions"]] == ["dancing"]
    for call, body in (("renew", {"turn": 0}), ("take-over", {"turn": 0}), ("end", {"turn": 0})):
        assert (await den.refused("POST", f"{path}/{call}", body, status=409))["code"] == "session.taken_over"
    await say(den, session, "skip(1)")
    [listed] = await den.call("GET", "/sessions?open=true")
    assert (listed["heldBy"], listed["driven"]) == ("local", True)
    assert (await den.refused("POST", "/homes/den/reset", status=409))["code"] == "machine.held"
    ended = await den.call("POST", f"{path}/end", {"note": "enough"})
    assert (ended["cancelled"], ended["reason"]) == (["dancing"], "Ended by local: enough.")
    assert "origin (0, 0)" in (await den.call("POST", "/homes/den/reset"))["state"]
    assert (await den.refused("POST", "/homes/nowhere/reset", status=404))["code"] == "scene.unknown"
    await den.refused("POST", "/sessions", {"scene": "den", "leaseS": 0}, status=422)
    events = await den.call("GET", "/events?before=100000&limit=100")
    says = [event["says"] for event in events]
    assert "local takes the session in den over, and steers it from here on." in says
    assert "The body of den is put back to where its scene begins, by local." in says


async def test_a_viewer_ends_nothing_and_people_are_told_apart_by_their_tokens(serve_with: Any) -> None:
    async with serve_with(token="admin-token-of-this-test") as guarded:
        admin = {"authorization": "Bearer admin-token-of-this-test"}
        await guarded.call("PUT", "/scenes/den", {**ROOM, "rooms": []}, **admin)
        keys = {}
        for name, role in (("ann", "operator"), ("bob", "operator"), ("vic", "viewer")):
            made = await guarded.call("POST", "/tokens", {"name": name, "role": role}, status=201, **admin)
            keys[name] = {"authorization": f"Bearer {made['token']}"}
        session = await guarded.call("POST", "/sessions", {"scene": "den"}, status=201, **admin)
        path = f"/sessions/{session['sessionId']}"
        for call in ("end", "take-over", "resume"):
            await guarded.refused("POST", f"{path}/{call}", status=403, **keys["vic"])
        await guarded.call("POST", f"{path}/take-over", **keys["ann"])
        told = await guarded.refused("POST", f"{path}/commands", {"command": "skip(1)"}, status=409, **keys["bob"])
        assert "ann steers" in told["detail"]
        await guarded.call("POST", f"{path}/commands", {"command": "skip(1)"}, **keys["ann"])
        await guarded.call("POST", f"{path}/end", **keys["bob"])
