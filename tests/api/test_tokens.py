"""Tokens over HTTP: made, shown once, never kept, revoked; and only by admins."""

import asyncio
import sqlite3
from contextlib import closing, suppress
from typing import Any

import httpx2
from tests.api.conftest import bearer


async def test_a_token_is_shown_once_and_works(guarded: Any) -> None:
    admin = bearer(guarded.tokens["admin"])
    made = await guarded.http.post("/tokens", json={"name": "line 3", "role": "viewer"}, headers=admin)
    assert made.status_code == 201
    token = made.json()["token"]
    assert (await guarded.http.get("/me", headers=bearer(token))).json() == {"name": "line 3", "role": "viewer"}
    listed = (await guarded.http.get("/tokens", headers=admin)).json()
    assert {"name": "line 3", "role": "viewer", "createdAt": made.json()["createdAt"]} in listed
    assert token not in (await guarded.http.get("/tokens", headers=admin)).text
    gone = await guarded.http.delete("/tokens/line 3", headers=admin)
    assert gone.json() == {"name": "line 3", "revoked": True}
    assert (await guarded.http.get("/me", headers=bearer(token))).status_code == 401


async def test_a_repeated_call_gives_no_secret_and_nothing_keeps_one(guarded: Any) -> None:
    keyed = {**bearer(guarded.tokens["admin"]), "Idempotency-Key": "once"}
    body = {"name": "ann", "role": "operator"}
    first = await guarded.http.post("/tokens", json=body, headers=keyed)
    again = await guarded.http.post("/tokens", json=body, headers=keyed)
    token = first.json()["token"]
    assert (again.status_code, again.headers["idempotency-replayed"]) == (201, "true")
    assert "token" not in again.json()
    assert "is not kept" in again.json()["says"]
    assert {name: again.json()[name] for name in ("name", "role")} == body
    home = guarded.runtime.settings.home
    assert any(file.name.startswith("log.db") for file in home.iterdir())
    for file in home.rglob("*"):
        assert not file.is_file() or token.encode() not in file.read_bytes(), file
    events = await guarded.http.get("/events?limit=1000", headers=bearer(guarded.tokens["viewer"]))
    assert token not in events.text
    [event] = [event for event in events.json() if event["kind"] == "tokenAdded" and event["data"]["name"] == "ann"]
    assert {name: event["data"][name] for name in ("name", "role", "by")} == {**body, "by": "admin"}
    assert event["says"] == "A token was made for ann (operator)."


async def test_only_admins_see_or_change_tokens_and_settings(guarded: Any) -> None:
    for role in ("viewer", "operator"):
        who = bearer(guarded.tokens[role])
        guarded.problem(await guarded.http.get("/tokens", headers=who), 403)
        guarded.problem(await guarded.http.get("/settings", headers=who), 403)
        guarded.problem(await guarded.http.post("/tokens", json={"name": "x", "role": "admin"}, headers=who), 403)
        guarded.problem(await guarded.http.delete("/tokens/viewer", headers=who), 403)
        guarded.problem(await guarded.http.delete("/tokens?name=viewer", headers=who), 403)
        assert (await guarded.http.get("/plugins", headers=who)).status_code == 200
        assert (await guarded.http.get("/doctor", headers=who)).status_code == 200


async def test_wrong_words_are_told(guarded: Any) -> None:
    admin = bearer(guarded.tokens["admin"])
    for body in ({"name": "x", "role": "king"}, {"name": " "}, {"name": "x" * 101}, {}, {"name": 5}):
        guarded.problem(await guarded.http.post("/tokens", json=body, headers=admin), 422)
    half = {**admin, "Content-Type": "application/json"}
    guarded.problem(await guarded.http.post("/tokens", content=b'{"name": "\\ud800"}', headers=half), 422)
    guarded.problem(await guarded.http.post("/tokens", json={"name": "viewer"}, headers=admin), 409)
    told = guarded.problem(await guarded.http.delete("/tokens/nobody", headers=admin), 404)
    assert "viewer" in told["nearest"]
    guarded.problem(await guarded.http.delete("/tokens", headers=admin), 422)
    made = await guarded.http.post("/tokens", json={"name": "a/b"}, headers=admin)
    assert made.json()["role"] == "operator"
    assert (await guarded.http.delete("/tokens", params={"name": "a/b"}, headers=admin)).status_code == 200


async def test_of_many_at_once_one_is_made(guarded: Any) -> None:
    admin = bearer(guarded.tokens["admin"])
    answers = await asyncio.gather(
        *(guarded.http.post("/tokens", json={"name": "same"}, headers=admin) for _ in range(5))
    )
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409, 409]


async def test_too_late_makes_no_token(guarded: Any) -> None:
    late = {**bearer(guarded.tokens["admin"]), "Beforehand-Deadline": "1"}
    guarded.problem(await guarded.http.post("/tokens", json={"name": "late"}, headers=late), 409)
    listed = (await guarded.http.get("/tokens", headers=bearer(guarded.tokens["admin"]))).json()
    assert "late" not in [one["name"] for one in listed]


async def test_a_revoked_token_s_stream_ends(guarded: Any) -> None:
    admin = bearer(guarded.tokens["admin"])
    ended = asyncio.Event()
    began = asyncio.Event()

    async def listen() -> None:
        with suppress(httpx2.HTTPError):
            async with guarded.http.stream("GET", "/events", headers=bearer(guarded.tokens["viewer"])) as answer:
                async for _ in answer.aiter_bytes():
                    began.set()
        ended.set()

    listening = asyncio.create_task(listen())
    await began.wait()
    await guarded.http.delete("/tokens/viewer", headers=admin)
    async with asyncio.timeout(20):
        await ended.wait()
    await listening


async def test_while_the_log_cannot_be_written_no_token_is_made_but_one_is_revoked(guarded: Any) -> None:
    admin, log = bearer(guarded.tokens["admin"]), guarded.runtime.settings.home / "log.db"
    with closing(sqlite3.connect(log)) as line:
        line.execute("CREATE TRIGGER full BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'no room'); END")
        refused = await guarded.http.post("/tokens", json={"name": "ann"}, headers=admin)
        assert refused.status_code >= 400
        gone = await guarded.http.delete("/tokens/viewer", headers=admin)
        assert gone.status_code == 200
        assert "the log could not be written" in gone.json()["says"]
        line.execute("DROP TRIGGER full")
    guarded.problem(await guarded.http.get("/me", headers=bearer(guarded.tokens["viewer"])), 401)
    made = await guarded.http.post("/tokens", json={"name": "bob"}, headers=admin)
    assert made.status_code == 201
    events = (await guarded.http.get("/events?limit=1000", headers=admin)).json()
    told = [(one["kind"], one["data"]["name"]) for one in events if one["kind"].startswith("token")]
    assert told[-2:] == [("tokenRevoked", "viewer"), ("tokenAdded", "bob")]
    assert "ann" not in [name for _, name in told]
