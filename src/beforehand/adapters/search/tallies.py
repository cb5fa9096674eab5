"""Counts kept by the hour, for indexes whose documents are only added: how many there are of each often asked value.

A query that asks for such a value, for a stretch of time, or for both is counted from them: whole hours from the tally,
what is left at both ends from the documents. So a count over a million documents looks at a few hundred rows.
"""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from beforehand.adapters.search.clauses import Sql, column
from beforehand.ports.search import Document, Index

Bounds = Callable[[Mapping[str, Any]], tuple[int, int]]
HOUR = 3_600_000
LATEST = 2**62 // HOUR * HOUR
EARLIEST = -LATEST
_EVERYTHING = ""
"""The field under which all documents are counted."""


def fields_of(index: Index) -> list[str]:
    """The fields whose values are counted; none where documents change."""
    if not index.grows:
        return []
    return [names[0] for names in index.sped if names[1:] == (index.time,)]


def table_of(index: Index) -> str:
    return column(f"{index.name} by the hour")


def make(connection: sqlite3.Connection, index: Index) -> None:
    if index.grows:
        connection.execute(
            f"CREATE TABLE {table_of(index)} (field TEXT, value TEXT, {column(index.time)} INTEGER,"
            f" documents INTEGER, PRIMARY KEY (field, value, {column(index.time)})) WITHOUT ROWID"
        )


def add(connection: sqlite3.Connection, index: Index, documents: Iterable[Document]) -> None:
    """Count new documents."""
    if not index.grows:
        return
    documents = list(documents)
    hours = [document[index.time] // HOUR * HOUR for document in documents]
    counted = [(_EVERYTHING, "", hour, count) for hour, count in Counter(hours).items()]
    for field in fields_of(index):
        values = [(document.get(field), hour) for document, hour in zip(documents, hours, strict=True)]
        found = Counter((str(value), hour) for value, hour in values if isinstance(value, str | int | float))
        counted += [(field, value, hour, many) for (value, hour), many in found.items()]
    connection.executemany(
        f"INSERT INTO {table_of(index)} VALUES (?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET documents = documents + excluded.documents",
        counted,
    )


@dataclass(frozen=True, slots=True)
class Countable:
    """A query that a tally can answer: documents with a value, in a stretch of time, its end not in it."""

    index: Index
    field: str = _EVERYTHING
    value: str = ""
    low: int = EARLIEST
    high: int = LATEST

    def both(self, other: "Countable") -> "Countable | None":
        if self.field and other.field:
            return None
        named = self if self.field else other
        return Countable(self.index, named.field, named.value, max(self.low, other.low), min(self.high, other.high))

    def parts(self) -> list[tuple[str, str, Sql]]:
        """Where its documents are counted: a table, what to add up there, and the condition."""
        named = Sql(f"{column(self.field)} = ?", (self.value,)) if self.field else Sql("1")
        return self._in_all(Sql("field = ? AND value = ?", (self.field, self.value)), named)

    def parts_by(self, field: str) -> list[tuple[str, str, str, Sql]]:
        """The same for every value of a field: a table, what holds the value, what to add up, and the condition."""
        parts = self._in_all(Sql("field = ?", (field,)), Sql(f"{column(field)} IS NOT NULL"))
        tally = table_of(self.index)
        return [
            (table, "value" if table == tally else column(field), many, condition) for table, many, condition in parts
        ]

    def _in_all(self, tallied: Sql, among: Sql) -> list[tuple[str, str, Sql]]:
        """Whole hours from the tally, what is left at both ends from the documents."""
        first, last = -(-self.low // HOUR) * HOUR, self.high // HOUR * HOUR
        if first >= last:
            edges, tally = [(self.low, self.high)], []
        else:
            edges = [(self.low, first), (last, self.high)]
            tally = [(table_of(self.index), "documents", self._in_time(tallied, first, last))]
        documents = column(self.index.name)
        return [*tally, *((documents, "1", self._in_time(among, low, high)) for low, high in edges if low < high)]

    def _in_time(self, condition: Sql, low: int, high: int) -> Sql:
        time = column(self.index.time)
        return Sql(f"{condition.text} AND {time} >= ? AND {time} < ?", (*condition.values, low, high))


def countable(index: Index, query: Any, bounds: Bounds) -> Countable | None:
    """The query as a tally can answer it; None for any other. `bounds` reads the limits of a range over the time.

    The query has been compiled before, so what is read here is known to be sound.
    """
    if not index.grows:
        return None
    if query is None or "match_all" in query:
        return Countable(index)
    name, body = next(iter(query.items()))
    if name == "bool":
        return _all_of(index, body, bounds)
    if name == "range" and index.time in body:
        low, high = bounds(body[index.time])
        return Countable(index, low=low, high=high)
    if name == "term":
        return _with_value(index, body)
    return None


def _with_value(index: Index, body: Mapping[str, Any]) -> Countable | None:
    field, given = next(iter(body.items()))
    value = given.get("value") if isinstance(given, Mapping) and len(given) == 1 else given
    return Countable(index, field, value) if field in fields_of(index) and isinstance(value, str) else None


def _all_of(index: Index, body: Mapping[str, Any], bounds: Bounds) -> Countable | None:
    if not body.keys() <= {"filter", "must"}:
        return None
    found: Countable | None = Countable(index)
    for asked in body.values():
        for one in asked if isinstance(asked, list | tuple) else [asked]:
            other = countable(index, one, bounds)
            found = None if found is None or other is None else found.both(other)
    return found
