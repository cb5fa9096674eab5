"""The rows are a cache: whatever happened, reading them anew from the log gives the same bytes in the same order."""

import asyncio
import sqlite3
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from beforehand.adapters.sqlite.store import SqliteStore
from beforehand.model.event import Event
from beforehand.ports.store import Row

names = st.sampled_from(["a", "b", "c", "ü", "n\0l", ""])
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
bodies = st.none() | st.just("own data") | st.dictionaries(st.text(max_size=4), values, max_size=3)
changes = st.tuples(st.sampled_from(["run", "step"]), names, bodies, names, st.booleans())
events = st.builds(
    lambda kind, about, extra, rows, ts, scene, owner: Event(
        kind, about, {"extra": extra, "rows": [list(row) for row in rows]}, ts, scene, "c", owner
    ),
    names,
    st.dictionaries(st.sampled_from(["runId", "taskId", "stepId"]), names, max_size=2),
    values,
    st.lists(changes, max_size=4),
    st.integers(-(10**12), 10**14),
    st.none() | names,
    names,
)
appends = st.lists(st.lists(events, max_size=3), max_size=8)


def project(event: Event) -> Iterable[Row]:
    for kind, id, body, parent, is_open in event.data["rows"]:
        yield Row(kind, id, event.data if body == "own data" else body, parent, is_open)


def modelled(log: Iterable[Event]) -> dict[tuple[str, str], Any]:
    """The rows as plain words say it: a dict keeps the place of a key that is set again, not of one made anew."""
    rows: dict[tuple[str, str], Any] = {}
    for event in log:
        for row in project(event):
            if row.body is None:
                rows.pop((row.kind, row.id), None)
            else:
                rows[row.kind, row.id] = row.body
    return rows


def table(path: Path) -> list[Any]:
    file = sqlite3.connect(path)
    try:
        return file.execute("SELECT kind, id, parent, open, ord, body FROM rows ORDER BY ord, rowid").fetchall()
    finally:
        file.close()


@settings(max_examples=60, deadline=None)
@given(together=appends, one_by_one=appends)
def test_rebuilding_gives_the_same_bytes_and_rows_are_what_the_events_say(
    together: list[list[Event]], one_by_one: list[list[Event]]
) -> None:
    asyncio.run(check_rebuild(together, one_by_one))


async def check_rebuild(together: list[list[Event]], one_by_one: list[list[Event]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.db"
        store = await SqliteStore.open(path, project=project, now_ms=lambda: 0)
        try:
            appended = [await task for task in [asyncio.ensure_future(store.append(batch)) for batch in together]]
            appended += [await store.append(batch) for batch in one_by_one]
            log = await store.events(limit=10**6)
            assert log == [event for batch in appended for event in batch]
            assert [event.seq for event in log] == list(range(1, len(log) + 1))
            expected = modelled(log)
            for kind in ("run", "step"):
                assert await store.rows(kind) == [body for (of, _), body in expected.items() if of == kind]
            before = table(path)
            await store.rebuild_rows()
            assert table(path) == before
            assert [row[4] for row in before] == sorted(row[4] for row in before)
        finally:
            await store.close()
