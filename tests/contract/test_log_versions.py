"""A recorded log of every version there was: each still replays, and comes out as the present version writes it.

`scripts/record_log.py` records one with the present code; it is done once for every `DATA_VERSION`.
"""

import gzip
import json
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from beforehand.adapters.sqlite.store import SqliteStore
from beforehand.app.crafts import load_crafts
from beforehand.app.runtime import open_runtime
from beforehand.app.settings import load_settings
from beforehand.crafts.agent.sessions import Sessions
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.core.state import evolve, restore
from beforehand.crafts.rounds.core.folding import from_events
from beforehand.engine.state import replay
from beforehand.model.decision import Decision
from beforehand.model.event import Event
from beforehand.model.plan import Plan
from beforehand.model.records import wire_of
from beforehand.model.versions import DATA_VERSION
from beforehand.ports.store import EventFilter, Record, Store

LOGS = sorted((Path(__file__).parents[1] / "fixtures" / "logs").glob("version-*.db.gz"))
DECIDED = frozenset({"decisionOpened", "decisionAnswered", "decisionWithdrawn"})
A_LOT = 100_000


@pytest.fixture(params=LOGS, ids=lambda path: path.name.removesuffix(".db.gz"))
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return unpacked(request.param, tmp_path)


def unpacked(packed: Path, folder: Path) -> Path:
    copy = folder / "log.db"
    copy.write_bytes(gzip.decompress(packed.read_bytes()))
    return copy


async def opened(path: Path, lead: bool = True) -> SqliteStore:
    return await SqliteStore.open(path, project=load_crafts().projection(), now_ms=lambda: 0, lead=lead)


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    store = await opened(path)
    yield store
    await store.close()


def content(path: Path) -> bytes:
    return path.read_bytes()


def query(path: Path, sql: str) -> list[Any]:
    file = sqlite3.connect(path)
    try:
        return file.execute(sql).fetchall()
    finally:
        file.close()


def rows_in(path: Path) -> list[Any]:
    return query(path, "SELECT kind, id, parent, open, ord, body FROM rows ORDER BY ord, rowid")


async def everything(store: Store) -> tuple[list[Event], list[Record], list[dict[str, Any]], int]:
    return (
        await store.events(limit=A_LOT),
        await store.records(limit=A_LOT),
        await store.rows("decision"),
        await store.last_seq(),
    )


def test_there_is_a_log_to_read() -> None:
    assert LOGS


async def test_every_owner_replays_from_events_in_their_present_form(store: SqliteStore) -> None:
    events = await store.events(limit=A_LOT)
    for owner in {event.owner for event in events}:
        own = await store.events(limit=A_LOT, only=EventFilter(owner=owner))
        assert own == [event for event in events if event.owner == owner]
    for decided in (event for event in events if event.kind in DECIDED):
        assert decided.data["owner"]


async def test_every_run_is_what_it_was(store: SqliteStore) -> None:
    runs = await store.rows("run")
    assert runs
    for row in runs:
        plans = {plan["version"]: Plan.model_validate(plan) for plan in await store.rows("plan", parent=row["planId"])}
        only = EventFilter(owner=f"run:{row['runId']}")
        run = replay(row["runId"], plans.__getitem__, await store.events(limit=A_LOT, only=only))
        waiting = [found["id"] for found in await store.rows("decision", parent=row["runId"], open=True)]
        assert (run.status, list(run.decisions)) == (row["status"], waiting)
        assert all(decision.owner == f"run:{row['runId']}" for decision in run.decisions.values())


async def test_every_fleet_is_what_it_was(store: SqliteStore) -> None:
    scenes = [row for row in await store.rows("scene") if row["kind"] == "fleet"]
    assert scenes
    for scene in scenes:
        began, *since = await store.events(limit=A_LOT, only=EventFilter(owner=f"fleet:{scene['name']}"))
        state = restore(read_fleet(began.data["scene"]), began.data["state"])
        for event in since:
            evolve(state, event)
        tasks = await store.rows("task", parent=scene["name"])
        assert [wire_of(task) for task in state.tasks.values()] == tasks
        assert tasks


async def test_every_session_is_what_it_was(store: SqliteStore, tmp_path: Path) -> None:
    """Where everything stood is worked out anew from the commands, so other physics would show here."""
    settings = load_settings({"home": str(tmp_path / "home")}, environment={})
    async with open_runtime(settings, with_servers=False, store=store, runs_plans=False) as runtime:
        for row in await store.rows("session"):
            state = await runtime.service(Sessions).from_log(row["sessionId"])
            head = json.loads(json.dumps(state.head()))
            assert {key: head.get(key) for key in row} == row


async def test_every_question_is_what_it_was(store: SqliteStore) -> None:
    for row in await store.rows("question"):
        state = from_events(await store.events(limit=A_LOT, only=EventFilter(owner=f"question:{row['questionId']}")))
        assert state is not None
        assert json.loads(json.dumps(state.head())) == row


async def test_every_draft_is_what_it_was(store: SqliteStore) -> None:
    for row in await store.rows("draft"):
        last = (await store.events(limit=A_LOT, only=EventFilter(owner=f"draft:{row['draftId']}")))[-1]
        assert (last.kind, last.data) == ("draftFinished", row)
        assert await store.row("planHead", row["planId"])


def test_logs_of_the_present_version_have_something_of_every_craft(tmp_path: Path) -> None:
    newest = [path for path in LOGS if path.name.startswith(f"version-{DATA_VERSION}")]
    logs = [query(unpacked(path, tmp_path), "SELECT DISTINCT kind FROM events") for path in newest]
    kinds = {kind for log in logs for (kind,) in log}
    unseen = [name for name, craft in load_crafts(built_in_only=True).by_name.items() if not kinds & {*craft.rows}]
    assert unseen == []


async def test_every_decision_has_an_owner_and_is_one_of_the_present_form(store: SqliteStore) -> None:
    decisions = await store.rows("decision")
    assert decisions
    for row in decisions:
        found = {key: value for key, value in row.items() if key not in ("why", "runId")}
        assert Decision.model_validate(found).owner.partition(":")[2]


async def test_rows_dropped_and_rebuilt_are_the_same_bytes(path: Path, store: SqliteStore) -> None:
    before = rows_in(path)
    assert before
    await store.rebuild_rows()
    assert rows_in(path) == before


async def test_records_carry_the_same_as_events(store: SqliteStore) -> None:
    records, events = await store.records(limit=A_LOT), await store.events(limit=A_LOT)
    assert [json.loads(record.line) for record in records] == [json.loads(json.dumps(e.wire())) for e in events]
    assert [(record.seq, record.kind, record.owner) for record in records] == [(e.seq, e.kind, e.owner) for e in events]


async def test_it_is_read_alike_before_and_after_and_nothing_is_lost(path: Path) -> None:
    ((written,),) = query(path, "SELECT MAX(seq) FROM events")
    bytes_before, lines = content(path), query(path, "SELECT seq, line FROM events")
    reader = await opened(path, lead=False)
    before = await everything(reader)
    await reader.close()
    assert content(path) == bytes_before, "reading changes nothing"
    store = await opened(path)
    assert await everything(store) == before
    await store.close()
    reader = await opened(path, lead=False)
    assert await everything(reader) == before
    await reader.close()
    assert before[-1] == len(before[0]) == written
    assert query(path, "SELECT seq, line FROM events") == lines, "what was written stays as it was written"


async def test_it_goes_on_behind_what_was_written(path: Path, store: SqliteStore) -> None:
    last = await store.last_seq()
    (old,) = await store.last_records(limit=1, only=EventFilter(frozenset({"decisionOpened"})))
    data = {**json.loads(old.line)["data"], "id": "new", "owner": "session:s1"}
    (new,) = await store.append([Event("decisionOpened", {}, data, 0, owner="session:s1")])
    assert new.seq == last + 1
    assert (await store.row("decision", "new") or {})["owner"] == "session:s1"
    await store.close()
    again = await opened(path)
    assert (await again.events(after=last))[0].data["owner"] == "session:s1"
    await again.close()
