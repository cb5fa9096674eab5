"""Keys and deadlines of writes: done once, answered alike, and never after their time."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from beforehand.app import requests as kept
from beforehand.app.tokens import Tokens
from beforehand.model.errors import ConflictError, UnavailableError
from beforehand.server import writes
from beforehand.server.app import with_answers
from beforehand.server.kit import APIRouter, Json, RuntimeDep

FAR = str(10**14)


def body(server: Any, *names: str) -> dict[str, Any]:
    return {"plan": {"steps": [server.step(name) for name in names or ("a",)]}}


def keyed(key: str, **more: str) -> dict[str, str]:
    return {"Idempotency-Key": key} | {name.replace("_", "-"): value for name, value in more.items()}


async def test_the_same_key_is_done_once_and_answered_alike(server: Any) -> None:
    first = await server.http.post("/plans", json=body(server), headers=keyed("k1"))
    again = await server.http.post("/plans", json=body(server), headers=keyed("k1"))
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.content == first.content
    assert again.headers["etag"] == first.headers["etag"]
    assert again.headers["content-type"] == first.headers["content-type"]
    assert (first.headers.get("idempotency-replayed"), again.headers["idempotency-replayed"]) == (None, "true")
    assert len(await server.call("GET", "/plans")) == 1
    other = await server.http.post("/plans", json=body(server), headers=keyed("k2"))
    assert other.json()["id"] != first.json()["id"]
    events = await server.call("GET", "/events?limit=1000")
    assert [event["about"].get("requestId") is not None for event in events] == [True, False, True, False]


async def test_another_request_under_the_same_key_is_refused(server: Any) -> None:
    plan = (await server.http.post("/plans", json=body(server), headers=keyed("k"))).json()
    for told in (body(server, "b"), {"plan": 1}):
        refused = await server.http.post("/plans", json=told, headers=keyed("k"))
        assert server.problem(refused, 422)["code"] == "request.key_used"
    path = f"/plans/{plan['id']}/runs"
    assert server.problem(await server.http.post(path, json={"version": 1}, headers=keyed("k")), 422)
    assert await server.call("GET", "/runs") == []


async def test_an_answer_outlives_its_deadline_and_the_server(serve_with: Callable[..., Any]) -> None:
    async with serve_with() as server:
        now = (await server.call("GET", "/health"))["now"]
        headers = keyed("k", Beforehand_Deadline=str(now + 60_000))
        first = await server.http.post("/plans", json=body(server), headers=headers)
        assert first.status_code == 201
    async with serve_with() as server:
        late = keyed("k", Beforehand_Deadline="1")
        again = await server.http.post("/plans", json=body(server), headers=late)
        assert (again.status_code, again.content) == (201, first.content)
        assert len(await server.call("GET", "/plans")) == 1
        await server.runtime.store.rebuild_rows()
        assert (await server.http.post("/plans", json=body(server), headers=late)).content == first.content


async def test_a_server_that_starts_again_with_a_clock_a_month_ahead_still_knows_its_keys(
    serve_with: Callable[..., Any],
) -> None:
    async with serve_with() as server:
        first = await server.http.post("/plans", json=body(server), headers=keyed("k"))
        assert first.status_code == 201
    async with serve_with() as server:
        clock, start = server.runtime.clock, server.runtime.now()
        clock.now_ms = lambda: start + 30 * kept.KEPT_MS
        await server.http.post("/plans", json=body(server), headers=keyed("other"))
        again = await server.http.post("/plans", json=body(server), headers=keyed("k"))
        assert (again.status_code, again.content) == (201, first.content)
        assert len(await server.call("GET", "/plans")) == 2


async def test_after_a_day_a_key_is_new_again(server: Any) -> None:
    await server.http.post("/plans", json=body(server), headers=keyed("k"))
    clock, start = server.runtime.clock, server.runtime.now()
    clock.now_ms = lambda: start + kept.KEPT_MS + 60_000
    again = await server.http.post("/plans", json=body(server), headers=keyed("k"))
    assert again.status_code == 201
    assert len(await server.call("GET", "/plans")) == 2
    [old] = await server.runtime.store.rows("request")
    clock.now_ms = lambda: start + 3 * kept.KEPT_MS
    await server.http.post("/plans", json=body(server), headers=keyed("other"))
    [row] = await server.runtime.store.rows("request")
    _, answer = await server.runtime.store.snapshot(f"request:{old['id']}")
    assert (answer, row["id"] != old["id"]) == ({}, True), "what was answered is forgotten with it"


async def test_a_request_under_way_is_not_done_beside_itself(server: Any) -> None:
    plan = await server.plan(server.step("a", args={"seconds": 60}))
    async with server.runtime.turns[plan["id"]]:
        path, told = f"/plans/{plan['id']}/runs", {"version": 1}
        first = asyncio.create_task(server.http.post(path, json=told, headers=keyed("k")))
        await server.until(lambda: bool(server.runtime.turns[plan["id"]]._waiters))
        other = await server.http.post(path, json={"version": 7}, headers=keyed("k"))
        assert server.problem(other, 422)["code"] == "request.key_used"
        again = await server.http.post(path, json=told, headers=keyed("k"))
        assert server.problem(again, 409)["code"] == "request.under_way"
    run = (await first).json()
    assert (await server.http.post(path, json=told, headers=keyed("k"))).json() == run
    assert len(await server.call("GET", "/runs")) == 1
    await server.call("POST", f"/runs/{run['runId']}/cancel")


async def test_the_same_request_many_times_at_once_is_done_once(server: Any) -> None:
    def ask() -> Any:
        return server.http.post("/plans", json=body(server), headers=keyed("k"))

    at_once = await asyncio.gather(*(ask() for _ in range(8)))
    done = [answer.json()["id"] for answer in at_once if answer.status_code == 201]
    (plan,) = await server.call("GET", "/plans")
    assert set(done) == {plan["id"]}
    for answer in at_once:
        assert answer.status_code == 201 or server.problem(answer, 409)["code"] == "request.under_way"
    again = await asyncio.gather(*(ask() for _ in range(8)))
    assert {answer.json()["id"] for answer in again} == {plan["id"]}


async def test_refusals_are_not_remembered(server: Any) -> None:
    plan = await server.plan(server.step("a"))
    path = f"/plans/{plan['id']}/runs"
    server.problem(await server.http.post(path, json={"version": 2}, headers=keyed("k")), 409)
    started = await server.http.post(path, json={"version": 1}, headers=keyed("k"))
    assert started.status_code == 201
    assert (await server.http.post(path, json={"version": 1}, headers=keyed("k"))).json() == started.json()
    server.problem(await server.http.post(path, json={"version": 1}, headers=keyed("k2")), 409)


async def test_each_caller_has_keys_of_their_own(serve_with: Callable[..., Any]) -> None:
    async with serve_with(token="the-admins") as server:
        token = Tokens(server.runtime.settings).add("other", "admin", 0)
        plans = set()
        for shown in ("the-admins", token):
            headers = keyed("k", Authorization=f"Bearer {shown}")
            plans.add((await server.http.post("/plans", json=body(server), headers=headers)).json()["id"])
        assert len(plans) == 2


async def test_a_write_that_leaves_no_event_is_remembered_too(server: Any) -> None:
    plan = await server.plan(server.step("a"))
    before = await server.runtime.store.last_seq()
    path = f"/plans/{plan['id']}/preview"
    first = await server.http.post(path, json={}, headers=keyed("k"))
    assert (await server.http.post(path, json={}, headers=keyed("k"))).content == first.content
    events = await server.call("GET", "/events?limit=1000")
    assert [event["kind"] for event in events if event["seq"] > before] == ["requestDone"]
    await forgotten(server)
    again = await server.http.post(path, json={}, headers=keyed("k"))
    assert (again.status_code, again.json()) == (200, first.json()), "what changes nothing is made again"
    assert (await server.http.post(path, json={}, headers=keyed("k"))).content == again.content


async def forgotten(server: Any) -> None:
    """Forget every answer that was kept, as a crash before it was kept would have it."""
    for row in await server.runtime.store.rows("request"):
        await keep(server, row, {})


async def keep(server: Any, row: Any, answer: Any) -> None:
    store = server.runtime.store
    await store.save_snapshot(f"request:{row['id']}", await store.last_seq(), answer)


async def test_what_was_done_and_never_answered_is_answered_from_the_log(server: Any) -> None:
    first = await server.http.post("/plans", json=body(server), headers=keyed("k"))
    await forgotten(server)
    other = await server.http.post("/plans", json=body(server, "b"), headers=keyed("k"))
    assert server.problem(other, 422)["code"] == "request.key_used"
    late = keyed("k", Beforehand_Deadline="1")
    for _ in range(2):
        again = await server.http.post("/plans", json=body(server), headers=late)
        assert (again.status_code, again.json()) == (201, first.json())
        assert (again.headers["etag"], again.headers["idempotency-replayed"]) == (first.headers["etag"], "true")
    assert len(await server.call("GET", "/plans")) == 1


async def test_an_answer_of_a_key_s_earlier_life_is_not_given(server: Any) -> None:
    """A key is used again after its day, and a crash comes before the new answer is kept beside the old one."""
    old = (await server.http.post("/plans", json=body(server), headers=keyed("k"))).json()
    clock, start = server.runtime.clock, server.runtime.now()
    clock.now_ms = lambda: start + kept.KEPT_MS + 60_000
    [row] = await server.runtime.store.rows("request")
    _, answer = await server.runtime.store.snapshot(f"request:{row['id']}")
    new = (await server.http.post("/plans", json=body(server), headers=keyed("k"))).json()
    assert new["id"] != old["id"]
    await keep(server, row, answer)
    again = await server.http.post("/plans", json=body(server), headers=keyed("k"))
    assert (again.status_code, again.json()["id"]) == (201, new["id"])


async def test_what_was_refused_first_and_done_then_is_done_once(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal that left something in the log, the same again, and a crash before the answer to that."""
    log = server.runtime.log

    async def refuses(*args: Any, **named: Any) -> None:
        await log(*args, **named)
        raise ConflictError("Not now.")

    template = {"plan": {"steps": [server.step("a")]}}
    with monkeypatch.context() as refusing:
        refusing.setattr(type(server.runtime), "log", lambda _, *args, **named: refuses(*args, **named))
        server.problem(await server.http.put("/templates/t", json=template, headers=keyed("k")), 409)
    [row] = await server.runtime.store.rows("request")
    _, refused = await server.runtime.store.snapshot(f"request:{row['id']}")
    assert refused["refused"]
    moment = server.runtime.now()
    await server.until(lambda: server.runtime.now() > moment)
    assert (await server.http.put("/templates/t", json=template, headers=keyed("k"))).status_code == 200
    await keep(server, row, refused)
    again = await server.http.put("/templates/t", json=template, headers=keyed("k"))
    assert (again.status_code, again.json()["name"]) == (200, "t")
    events = await server.call("GET", "/events?limit=1000")
    assert sum(event["kind"] == "templateSaved" for event in events) == 2


async def test_what_is_in_the_log_stays_done_when_its_answer_fails(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = await server.plan(server.step("a"))
    path, told = f"/plans/{plan['id']}/runs", {"version": 1}

    async def fails(*args: Any) -> None:
        raise UnavailableError("The database is away.", code="store.away")

    with monkeypatch.context() as failing:
        failing.setattr("beforehand.app.runs.run_document", fails)
        server.problem(await server.http.post(path, json=told, headers=keyed("k")), 503)
    again = await server.http.post(path, json=told, headers=keyed("k"))
    [run] = await server.call("GET", "/runs")
    assert (again.status_code, again.json()["runId"]) == (201, run["runId"])


async def test_events_that_were_deleted_since_are_told_as_such(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    await server.http.post("/plans", json=body(server), headers=keyed("k"))
    await forgotten(server)

    async def none(*args: Any) -> list[Any]:
        return []

    monkeypatch.setattr(server.runtime.store._store, "last_records", none)
    again = await server.http.post("/plans", json=body(server), headers=keyed("k"))
    assert server.problem(again, 409)["code"] == "request.deleted"
    assert len(await server.call("GET", "/plans")) == 1


async def test_a_write_of_a_craft_that_says_nothing_is_answered_with_its_event(server: Any) -> None:
    router = APIRouter(prefix="/tanks")

    @router.post("", status_code=201)
    async def fill(runtime: RuntimeDep) -> Json:
        event = await runtime.log("tankFilled", {"litres": 7}, owner="tank:north", tankId="north")
        return Json({"tankId": "north", **event.data}, 201)

    server.app.router.routes[0:0] = with_answers([router]).routes
    first = await server.http.post("/tanks", headers=keyed("k"))
    await forgotten(server)
    again = await server.http.post("/tanks", headers=keyed("k"))
    assert (first.status_code, first.json()) == (201, {"tankId": "north", "litres": 7})
    assert (again.status_code, again.json()) == (201, {"tankId": "north", "litres": 7})
    events = await server.call("GET", "/events?limit=1000")
    assert [event["kind"] for event in events] == ["tankFilled", "requestMade"]


async def test_a_server_that_stands_by_answers_its_own_keyed_calls(server: Any) -> None:
    """It has no log to write into that it was asked."""
    server.runtime.stands_by = True
    before = await server.runtime.store.last_seq()
    assert (await server.http.post("/search/tasks/_count", json={}, headers=keyed("k"))).status_code == 200
    assert await server.runtime.store.last_seq() == before


async def test_too_late_is_never_done(server: Any) -> None:
    now = (await server.call("GET", "/health"))["now"]
    for headers in ({}, keyed("k")):
        told = {**headers, "Beforehand-Deadline": str(now - 1)}
        refused = await server.http.post("/plans", json=body(server), headers=told)
        assert server.problem(refused, 409)["code"] == "command.expired"
        assert await server.call("GET", "/plans") == []
    in_time = keyed("k", Beforehand_Deadline=FAR)
    assert (await server.http.post("/plans", json=body(server), headers=in_time)).status_code == 201


async def test_a_deadline_is_looked_at_when_it_is_decided(server: Any) -> None:
    """It came in time, waited for its turn, and was too late then: nothing starts."""
    plan = await server.plan(server.step("a"))
    clock, start = server.runtime.clock, server.runtime.now()
    late = {"Beforehand-Deadline": str(start + 60_000)}
    path = f"/plans/{plan['id']}/runs"
    async with server.runtime.turns[plan["id"]]:
        waiting = asyncio.create_task(server.http.post(path, json={"version": 1}, headers=late))
        await server.until(lambda: bool(server.runtime.turns[plan["id"]]._waiters))
        clock.now_ms = lambda: start + 60_001
    assert server.problem(await waiting, 409)["code"] == "command.expired"
    assert await server.call("GET", "/runs") == []


@pytest.mark.parametrize("headers", [{}, keyed("k")], ids=["without a key", "with one"])
async def test_a_body_that_comes_in_too_late_is_never_done(
    server: Any, monkeypatch: pytest.MonkeyPatch, headers: dict[str, str]
) -> None:
    """A question is decided on by its own driver; its deadline passes between the headers and the body."""
    clock, start = server.runtime.clock, server.runtime.now()
    arrived = asyncio.Event()

    def deadline_in(headers: Any) -> int:
        arrived.set()
        return int(start + 60_000)

    async def slowly() -> AsyncIterator[bytes]:
        yield b'{"text": '
        await arrived.wait()
        clock.now_ms = lambda: start + 60_001
        yield b'"how many plans?"}'

    monkeypatch.setattr(writes, "deadline_in", deadline_in)
    late = {**headers, "Beforehand-Deadline": str(start + 60_000), "Content-Type": "application/json"}
    refused = await server.http.post("/questions", content=slowly(), headers=late)
    assert server.problem(refused, 409)["code"] == "command.expired"
    assert await server.call("GET", "/questions") == []


async def test_a_driver_looks_at_the_deadline_of_what_it_is_told(server: Any) -> None:
    run = await server.start(server.step("a", args={"seconds": 600}))
    driver = server.runtime.runs._host.live[run["runId"]]
    clock, start = server.runtime.clock, server.runtime.now()
    turn = driver._loop._turn

    async def slow_turn() -> None:
        clock.now_ms = lambda: start + 60_001
        await turn()

    driver._loop._turn = slow_turn
    late = {"Beforehand-Deadline": str(start + 60_000)}
    refused = await server.http.post(f"/runs/{run['runId']}/pause", headers=late)
    assert server.problem(refused, 409)["code"] == "command.expired"
    assert (await server.call("GET", f"/runs/{run['runId']}"))["status"] == "running"
    assert (await server.call("POST", f"/runs/{run['runId']}/pause"))["status"] == "paused"
    await server.call("POST", f"/runs/{run['runId']}/cancel")


async def test_steering_is_done_once(server: Any) -> None:
    run = await server.start(server.step("a", args={"seconds": 600}))
    path = f"/runs/{run['runId']}"
    first = await server.http.post(f"{path}/pause", headers=keyed("p"))
    assert first.status_code == 200
    assert (await server.call("POST", f"{path}/resume"))["status"] == "running"
    assert (await server.http.post(f"{path}/pause", headers=keyed("p"))).content == first.content
    assert (await server.call("GET", path))["status"] == "running"
    events = await server.call("GET", f"/events?limit=1000&run={run['runId']}")
    assert sum("requestId" in event["about"] for event in events) == 1
    await server.call("POST", f"{path}/cancel")


async def test_odd_keys_and_deadlines_are_refused(server: Any) -> None:
    for key in ("two words", "x" * 201, ""):
        refused = await server.http.post("/plans", json=body(server), headers=keyed(key))
        assert server.problem(refused, 422)["code"] == "request.key"
    for deadline in ("soon", "-1", "1e3", "9" * 30):
        refused = await server.http.post("/plans", json=body(server), headers={"Beforehand-Deadline": deadline})
        assert server.problem(refused, 422)["code"] == "request.deadline"
    assert await server.call("GET", "/plans") == []
    assert (await server.http.get("/plans", headers=keyed("two words"))).status_code == 200


async def test_the_streams_tell_the_servers_time(server: Any) -> None:
    for path in ("/events", "/telemetry"):
        async with server.http.stream("GET", path) as answer:
            line = await anext(answer.aiter_lines())
            assert abs(int(line.removeprefix(": now ")) - server.runtime.now()) < 60_000
