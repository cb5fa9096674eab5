"""Where in the log a kind or a scene occurs, to the nearest stretch of 256 events.

There are few kinds and few scenes, and each fills the log again and again: an index entry for every event would cost
each commit two pages more. So a name is noted once per stretch in which it occurs, and a question looks through those.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence

from beforehand.ports.store import EventFilter, Record

SPAN = 256
Note = tuple[str, str, int]


class Spans:
    """What the writer has noted of the present stretch."""

    def __init__(self) -> None:
        self._kinds: dict[str, int] = {}
        self._scenes: dict[str | None, int] = {}

    def unnoted(self, records: Sequence[Record]) -> list[Note]:
        """What these records have that is not noted yet; None is no scene and never noted."""
        found: dict[Note, None] = {}
        for record in records:
            span = record.seq // SPAN
            if self._kinds.get(record.kind) != span:
                found["kind", record.kind, span] = None
            if record.scene is not None and self._scenes.get(record.scene) != span:
                found["scene", record.scene, span] = None
        return list(found)

    def keep(self, notes: Iterable[Note]) -> None:
        """Remember what has been committed."""
        for axis, name, span in notes:
            if axis == "kind":
                self._kinds[name] = span
            else:
                self._scenes[name] = span


def note_spans(connection: sqlite3.Connection, notes: Sequence[Note]) -> None:
    connection.executemany("INSERT OR IGNORE INTO spans (axis, name, span) VALUES (?, ?, ?)", notes)


def stretches(connection: sqlite3.Connection, low: int, high: int, only: EventFilter) -> Iterator[tuple[int, int]]:
    """The numbers between two among which the filter may find something, as ranges in order, both ends in them."""
    if not only.kinds and only.scene is None:
        yield low, high
        return
    spans = _spans_of(connection, low // SPAN, high // SPAN, only)
    first = low // SPAN
    for place, span in enumerate(spans):
        if place == 0 or spans[place - 1] != span - 1:
            first = span
        if place == len(spans) - 1 or spans[place + 1] != span + 1:
            yield max(first * SPAN, low), min(span * SPAN + SPAN - 1, high)


def _spans_of(connection: sqlite3.Connection, first: int, last: int, only: EventFilter) -> list[int]:
    asked = []
    if only.kinds:
        asked.append(("kind", sorted(only.kinds)))
    if only.scene is not None:
        asked.append(("scene", [only.scene]))
    found = [_spans_on(connection, first, last, axis, names) for axis, names in asked]
    return sorted(set.intersection(*found))


def _spans_on(connection: sqlite3.Connection, first: int, last: int, axis: str, names: Sequence[str]) -> set[int]:
    marks = ", ".join("?" * len(names))
    sql = f"SELECT span FROM spans WHERE axis = ? AND name IN ({marks}) AND span >= ? AND span <= ?"
    return {span for (span,) in connection.execute(sql, (axis, *names, first, last))}
