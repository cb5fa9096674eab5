"""A home that grows old: whatever is asked of it says the same after its events were archived, restarts included."""

import asyncio
import csv
import io
import json
from pathlib import Path
from typing import Any

from tests.api.conftest import Server, bearer, serving
from tests.api.test_past import live_through, logged

from beforehand.app.retention import DAY_MS, Retention, keep_to
from beforehand.server.serve import recover

ALWAYS = "2999-01-01"


async def archived(server: Server, before: str = ALWAYS) -> Any:
    """Everything that may move has moved; what it came to."""
    total, after = 0, 0
    while after is not None:
        done = await server.call("POST", "/archive", {"before": before, "after": after})
        total, after = total + done["events"], done.get("next")
    return total


async def told(server: Server, last: int) -> dict[str, Any]:
    """What people, consoles and programs ask about the past."""
    runs = (await server.call("GET", "/state"))["runs"]
    streams = [await server.take(last), await server.take(last - 10, last=10)]
    lists = [await server.call("GET", f"/events?before={before}&limit=40") for before in (last, last // 2, 20)]
    steps = [await server.call("GET", f"/runs/{run['runId']}") for run in runs]
    counts = {}
    for index in ("events", "runs", "tasks", "decisions"):
        answer = await server.http.post(f"/search/{index}/_count", json={"query": {"match_all": {}}})
        counts[index] = answer.json()["count"]
    by_run = [await server.take(3, run=run["runId"]) for run in runs]
    return {"streams": streams, "lists": lists, "steps": steps, "counts": counts, "by_run": by_run}


async def test_the_past_is_the_same_after_its_events_have_moved(tmp_path: Path) -> None:
    async with serving(tmp_path, speed=50) as server:
        moments = await live_through(server)
        last = moments[-1]["seq"]
        before = await told(server, last)
        record = (await server.http.get("/audit")).text
        assert await archived(server) > last // 2
        assert await told(server, last) == before
        for moment in moments:
            assert logged(await server.call("GET", f"/state?at={moment['seq']}")) == moment
        assert (await server.http.get("/audit")).text == record
    for name in ("log.db.search", "log.db.search-wal", "log.db.search-shm"):
        (tmp_path / "home" / name).unlink(missing_ok=True)
    async with serving(tmp_path, speed=50) as server:
        await recover(server.runtime, [])
        assert await told(server, last) == before
        await server.call("POST", "/scenes/line/activate")
        for moment in moments:
            assert logged(await server.call("GET", f"/state?at={moment['seq']}")) == moment
        rows = await server.runtime.store.rows("worksite")
        await server.runtime.store.rebuild_rows()
        assert await server.runtime.store.rows("worksite") == rows


async def test_what_goes_on_stays_in_the_log(server: Server) -> None:
    done = await server.start(server.step("a"))
    await server.ended(done["runId"])
    waiting = await server.start(server.step("q", "ask_person", {"question": "Well?"}))
    asked = await server.asked(runId=waiting["runId"])
    tried = await server.call("POST", "/archive", {"before": ALWAYS, "dryRun": True})
    looked = await server.call("GET", "/archive")
    assert looked["archive"]["events"] == 0, "a dry run moves nothing"
    assert await archived(server) == tried["events"] > 3
    assert tried["rawBytes"] > tried["bytes"] > 0
    lying = await server.runtime.store.archive.unmoved()  # type: ignore[union-attr]
    assert {event.about.get("runId") for event in lying} == {None, waiting["runId"]}
    await server.call("POST", f"/inbox/{asked['id']}", {"verb": "answer", "value": "yes"})
    assert (await server.ended(waiting["runId"]))["status"] == "completed"
    looked = await server.call("GET", "/archive")
    assert looked["archive"]["events"] == tried["events"]
    assert looked["oldest"] == 1


async def test_only_admins_archive_and_read_the_record(guarded: Any) -> None:
    body = {"before": "90d"}
    for role in ("viewer", "operator"):
        key = bearer(guarded.tokens[role])
        assert (await guarded.http.post("/archive", json=body, headers=key)).status_code == 403
        assert (await guarded.http.get("/audit", headers=key)).status_code == 403
    key = bearer(guarded.tokens["admin"])
    assert (await guarded.http.post("/archive", json=body, headers=key)).json()["events"] == 0
    assert (await guarded.http.get("/audit", headers=key)).status_code == 200
    problem = guarded.problem(await guarded.http.post("/archive", json={"before": "soon"}, headers=key), 422)
    assert problem["code"] == "archive.date"


async def test_the_record_says_who_saw_what_and_what_followed(server: Server) -> None:
    (server.workspace / "old.txt").write_text("old")
    run = await server.start(server.step("w", "write_file", {"path": "old.txt", "content": "new"}))
    asked = await server.asked(runId=run["runId"])
    await server.call("POST", f"/inbox/{asked['id']}", {"verb": "approve", "note": "=looked at it"})
    await server.ended(run["runId"])
    await server.plan(server.step("a"))
    every = [json.loads(line) for line in (await server.http.get("/audit")).text.splitlines()]
    assert [line["line"] for line in every] == list(range(1, len(every) + 1))
    review, approval, waiting = [line for line in every if line["record"] == "decision"]
    assert (review["kind"], review["verb"], review["by"]) == ("review", "start", "local")
    assert review["seen"]["steps"][0]["args"] == {"path": "old.txt", "content": "new"}
    assert review["covers"]
    assert {"what": "run", "id": run["runId"], "status": "completed"} in review["followed"]
    assert (approval["kind"], approval["verb"], approval["note"]) == ("approval", "approve", "=looked at it")
    assert approval["seen"] == asked["evidence"]
    assert {"what": "step", "id": "w", "status": "completed"} in approval["followed"]
    assert (waiting["status"], waiting["followed"], waiting["closedAt"]) == ("open", [], None)
    sheet = await server.http.get("/audit", params={"format": "csv", "from": "1d"})
    assert sheet.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(sheet.text)))
    asked = [row for row in rows if row["record"] == "decision"]
    assert [row["decisionId"] for row in asked] == [one["decisionId"] for one in (review, approval, waiting)]
    assert asked[1]["note"] == "'=looked at it", "no spreadsheet takes it for a formula"
    (end,) = (await server.http.get("/audit", params={"to": "1d"})).text.splitlines()
    assert json.loads(end)["record"] == "end"
    await server.refused("GET", "/audit?format=xml", status=422)


async def test_retention_archives_and_deletes_what_is_old_enough(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        run = await server.start(server.step("a"))
        await server.ended(run["runId"])
        await server.call("PUT", "/templates/often", {"steps": [server.step("a")]})
        last = (await server.call("GET", "/state"))["seq"]
        present = server.runtime.clock.now_ms
        assert await keep_to(server.runtime, Retention(90, 730)) == {"archived": 0, "deleted": 0}
        server.runtime.clock.now_ms = lambda: present() + 100 * DAY_MS  # type: ignore[method-assign]
        moved = await keep_to(server.runtime, Retention(90, 730))
        assert moved["deleted"] == 0 < moved["archived"]
        assert len(await server.take(last)) == last
        server.runtime.clock.now_ms = lambda: present() + 800 * DAY_MS  # type: ignore[method-assign]
        assert (await keep_to(server.runtime, Retention(90)))["deleted"] == 0, "never unless it is told to"
        gone = await keep_to(server.runtime, Retention(90, 730))
        assert gone["deleted"] == moved["archived"]
        assert (await server.refused("GET", f"/runs/{run['runId']}", status=404))["code"]
        assert [one["name"] for one in await server.call("GET", "/templates")] == ["often"], "it has no end"
        assert (await server.refused("GET", "/state?at=2", status=422))["code"] == "state.deleted"
        looked = await server.call("GET", "/archive")
        assert (looked["deletedEvents"], looked["archive"]["events"]) == (moved["archived"], 0)
        answer = await server.http.post("/search/events/_count", json={"query": {"match_all": {}}})
        assert answer.json()["count"] == last - moved["archived"] + 1, "and that they were deleted"
    async with serving(tmp_path) as server:
        await server.runtime.store.rebuild_rows()
        assert [one["name"] for one in await server.call("GET", "/templates")] == ["often"]
        assert (await server.call("GET", "/state"))["seq"] >= last


async def test_archiving_beside_a_listener_and_a_run(server: Server) -> None:
    """Somebody reads the whole log, again and again, while runs go on and events move."""
    moving = True

    async def move() -> None:
        while moving:
            await archived(server)
            await asyncio.sleep(0.01)

    task = asyncio.create_task(move())
    for _ in range(8):
        run = await server.start(server.step("a"), server.step("b", dependsOn=["a"]))
        await server.ended(run["runId"])
        last = (await server.call("GET", "/state"))["seq"]
        assert [event["seq"] for event in await server.take(last)] == list(range(1, last + 1))
    moving = False
    await task
