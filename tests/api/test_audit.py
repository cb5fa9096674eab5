"""The record and the check of the log over HTTP: who asked for what, and whether anybody edited it."""

import json
import sqlite3
from contextlib import closing
from typing import Any

from tests.api.conftest import bearer


async def record(guarded: Any) -> list[Any]:
    answer = await guarded.http.get("/audit", headers=bearer(guarded.tokens["admin"]))
    return [json.loads(line) for line in answer.text.splitlines()]


async def test_who_asked_for_it_is_in_the_record(guarded: Any) -> None:
    admin, operator = bearer(guarded.tokens["admin"]), bearer(guarded.tokens["operator"])
    await guarded.http.put("/templates/often", json={"steps": [guarded.step("a")]}, headers=admin)
    await guarded.http.post("/hold", headers=operator)
    await guarded.http.post("/clear", headers=admin)
    await guarded.http.post("/tokens", json={"name": "eve", "role": "viewer"}, headers=admin)
    await guarded.http.delete("/tokens/eve", headers=admin)
    plan = (await guarded.http.post("/plans", json={"plan": {"steps": [guarded.step("a")]}}, headers=operator)).json()
    run = await guarded.http.post(f"/plans/{plan['id']}/runs", json={"version": 1}, headers=operator)
    assert run.status_code in (200, 201)
    refused = await guarded.http.put("/templates/bad", json={"steps": 5}, headers=admin)
    assert refused.status_code >= 400
    *lines, end = await record(guarded)
    told = [(line["kind"], line["by"]) for line in lines if line["kind"] != "tokenAdded" or "eve" in line["title"]]
    assert told == [
        ("templateSaved", None),
        ("requestMade", "admin"),
        ("everythingHeld", "operator"),
        ("everythingCleared", "admin"),
        ("tokenAdded", "admin"),
        ("tokenRevoked", "admin"),
        ("review", "operator"),
    ]
    asked = next(line for line in lines if line["kind"] == "requestMade")
    assert asked["title"] == "admin asked for it: PUT /templates/often."
    assert asked["value"]["role"] == "admin"
    assert asked["value"]["asked"].keys() == {"bytes", "sha256"}, "a document is told by its hash"
    saved = next(line for line in lines if line["kind"] == "templateSaved")
    assert asked["correlationId"] == saved["correlationId"], "what it came to"
    assert end["value"]["lines"] == len(lines)


async def test_a_long_body_is_told_by_its_hash(guarded: Any) -> None:
    admin = bearer(guarded.tokens["admin"])
    steps = [{**guarded.step(f"s{n}"), "description": "x" * 50} for n in range(60)]
    await guarded.http.put("/templates/long", json={"steps": steps}, headers=admin)
    asked = next(line for line in await record(guarded) if line["kind"] == "requestMade")
    assert asked["value"]["asked"]["bytes"] > 3_000
    assert len(asked["value"]["asked"]["sha256"]) == 64


async def test_the_log_is_checked_beside_its_leader(guarded: Any) -> None:
    admin = bearer(guarded.tokens["admin"])
    for name in ("a", "b", "c"):
        await guarded.http.put(f"/templates/{name}", json={"steps": [guarded.step("a")]}, headers=admin)
    whole = (await guarded.http.get("/audit/verify", headers=admin)).json()
    assert (whole["ok"], whole["begins"], whole["problems"]) == (True, 1, [])
    assert whole["events"] == whole["last"] >= 6
    *_, end = await record(guarded)
    assert end["value"]["anchor"] == whole["anchor"]
    with closing(sqlite3.connect(guarded.runtime.settings.home / "log.db", isolation_level=None)) as line:
        line.execute("UPDATE events SET ts = ts + 1 WHERE seq = 3")
    broken = (await guarded.http.get("/audit/verify", headers=admin)).json()
    assert [problem["about"] for problem in broken["problems"]] == ["event 3"]
    other = whole["anchor"].partition(":")[0] + ":" + "0" * 64
    found = (await guarded.http.get("/audit/verify", params={"against": other}, headers=admin)).json()
    assert [problem["code"] for problem in found["problems"]] == ["audit.changed", "audit.anchor"]
    guarded.problem(await guarded.http.get("/audit/verify?against=yesterday", headers=admin), 422)
    guarded.problem(await guarded.http.get("/audit/verify", headers=bearer(guarded.tokens["operator"])), 403)
