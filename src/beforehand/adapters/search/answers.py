"""Requests answered from a table: the page of hits, the total, and what the aggregations come to.

Every statement goes through one `Asker`, which counts buckets and stops when the time is up.
"""

import sqlite3
import time
from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, TypeVar

from beforehand.adapters.search.aggregations import (
    MOST_BUCKETS,
    Aggregation,
    Histogram,
    Metric,
    Percentiles,
    Split,
    Terms,
    TopHits,
)
from beforehand.adapters.search.clauses import Columns, Sql, column
from beforehand.adapters.search.queries import ALL, joined
from beforehand.adapters.search.requests import Page, Request, shown
from beforehand.adapters.search.tallies import HOUR, Countable, fields_of
from beforehand.model.event import iso
from beforehand.ports.search import Field, Found, Hit, SearchError, SearchTimeError

NOTHING: Mapping[str, Any] = {}
T = TypeVar("T")
_AT_ONCE = 10_000
"""Numbers that are fetched together."""
_STEPS = 5_000
"""SQLite looks at the clock every so many of its instructions."""


@dataclass(slots=True)
class Asker:
    connection: sqlite3.Connection
    columns: Columns
    table: str
    limit_s: float
    began: float = field(default_factory=time.monotonic)
    buckets: int = 0

    def rows(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        return self._fetched(sql, values, sqlite3.Cursor.fetchall)

    def numbers(self, sql: str, values: Sequence[Any]) -> "array[float]":
        """The one column of what is found, in order. There may be millions: they are held and sorted as plain numbers,
        which takes a part of what SQLite needs to sort rows."""
        return self._fetched(sql, values, _sorted_numbers)

    def _fetched(self, sql: str, values: Sequence[Any], fetch: Callable[[sqlite3.Cursor], T]) -> T:
        if self._is_late():
            raise self.too_long()
        self.connection.set_progress_handler(self._is_late, _STEPS)
        try:
            return fetch(self.connection.execute(sql, values))
        except sqlite3.OperationalError as problem:
            if "interrupted" in str(problem):
                raise self.too_long() from None
            raise
        finally:
            self.connection.set_progress_handler(None, 0)

    def _is_late(self) -> bool:
        return time.monotonic() - self.began > self.limit_s

    def too_long(self) -> SearchTimeError:
        return SearchTimeError(
            f"The search took longer than {self.limit_s:g} s and was broken off.",
            hint="Narrow it to a shorter time or fewer documents.",
        )

    def count(self, new: int) -> None:
        self.buckets += new
        if self.buckets > MOST_BUCKETS:
            raise SearchError(
                f"The aggregations have more than {MOST_BUCKETS} buckets.",
                code="search.too_many_buckets",
                hint="Take a longer interval, a shorter time, or a smaller size.",
            )


def _sorted_numbers(found: sqlite3.Cursor) -> "array[float]":
    from numpy import frombuffer

    numbers = array("d")
    while rows := found.fetchmany(_AT_ONCE):
        numbers.extend([value for (value,) in rows])
    if numbers:
        frombuffer(numbers).sort()
    return numbers


def answer(asker: Asker, request: Request, counted: Countable | None = None) -> Found:
    """What a request finds; `counted` is its query where a tally can answer it."""
    total = _count(asker, request.where) if counted is None else sum(_from_tally(asker, counted, "0").values())
    hits = _hits(asker, request.page, request.where) if request.page.size else ()
    tallied = {} if counted is None else _tallied(asker, request.aggregations, counted)
    aggregations = _evaluated(asker, request.aggregations, request.where, tallied)
    return Found(total, hits, aggregations, round((time.monotonic() - asker.began) * 1000))


def _count(asker: Asker, where: Sql) -> int:
    found: int = asker.rows(f"SELECT COUNT(*) FROM {asker.table} WHERE {where.text}", where.values)[0][0]
    return found


def _from_tally(asker: Asker, counted: Countable, key: str) -> dict[Any, int]:
    """How many documents there are for each key, an SQL expression over the time of whole hours."""
    found: Counter[Any] = Counter()
    for table, many, where in counted.parts():
        sql = f"SELECT {key} AS bucket, TOTAL({many}) FROM {table} WHERE {where.text} GROUP BY bucket"
        found.update({bucket: int(count) for bucket, count in asker.rows(sql, where.values)})
    return found


def _tallied(asker: Asker, wanted: Sequence[Aggregation], counted: Countable) -> dict[str, Any]:
    """The aggregations that a tally has, with nothing inside: histograms over the time in whole hours, and the values
    of a field that is tallied."""
    found: dict[str, Any] = {}
    for one in wanted:
        if isinstance(one, Histogram) and _is_hourly(one, counted):
            found[one.name] = _histogram_of(asker, one, _from_tally(asker, counted, one.key))
        elif isinstance(one, Terms) and _is_tallied(one, counted):
            found[one.name] = _terms_of(asker, one, _values_from_tally(asker, counted, one.field.name))
    return found


def _is_hourly(wanted: Histogram, counted: Countable) -> bool:
    return not wanted.inside and wanted.field.name == counted.index.time and wanted.after(0) % HOUR == 0


def _is_tallied(wanted: Terms, counted: Countable) -> bool:
    return not wanted.inside and not counted.field and wanted.field.name in fields_of(counted.index)


def _values_from_tally(asker: Asker, counted: Countable, field: str) -> dict[Any, int]:
    found: Counter[Any] = Counter()
    for table, value, many, where in counted.parts_by(field):
        sql = f"SELECT {value} AS bucket, TOTAL({many}) FROM {table} WHERE {where.text} GROUP BY bucket"
        found.update({bucket: int(count) for bucket, count in asker.rows(sql, where.values)})
    return found


def _terms_of(asker: Asker, wanted: Terms, counts: Mapping[Any, int]) -> dict[str, Any]:
    buckets = [{"key": key, "doc_count": count} for key, count in sorted(counts.items()) if count >= wanted.least]
    for by, down in reversed(wanted.order):
        buckets.sort(key=itemgetter("key" if by == "_key" else "doc_count"), reverse=down)
    buckets = buckets[: wanted.size]
    asker.count(len(buckets))
    return _told_terms(wanted, buckets, sum(counts.values()))


def _histogram_of(asker: Asker, wanted: Histogram, counts: Mapping[Any, int]) -> dict[str, Any]:
    least = max(wanted.least, 1)
    buckets = [{"key": key, "doc_count": count} for key, count in sorted(counts.items()) if count >= least]
    asker.count(len(buckets))
    return _told(asker, wanted, buckets)


def _hits(asker: Asker, page: Page, where: Sql) -> tuple[Hit, ...]:
    fields = [name for name in asker.columns.fields if page.picks is not None and page.picks(name)]
    wanted = ", ".join(['"_id"', *map(column, fields), *(column(one.name) for one in page.order)])
    both = _and(where, page.after)
    order = ", ".join([*(one.sql for one in page.order), "rowid"])
    sql = f"SELECT {wanted} FROM {asker.table} WHERE {both.text} ORDER BY {order} LIMIT ? OFFSET ?"
    ends = len(fields) + 1
    return tuple(
        Hit(
            row[0],
            None if page.picks is None else _source(asker.columns, fields, row[1:ends]),
            tuple(row[ends:]),
        )
        for row in asker.rows(sql, (*both.values, page.size, page.start))
    )


def _source(columns: Columns, fields: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    """A document as it is shown: `about.robotId` lies in `about`, what is absent is left out."""
    made: dict[str, Any] = {}
    for name, value in zip(fields, values, strict=True):
        if value is None:
            continue
        *path, last = name.split(".")
        place = made
        for part in path:
            place = place.setdefault(part, {})
        place[last] = shown(columns, name, value)
    return made


def _and(*parts: Sql) -> Sql:
    return joined([one for one in parts if one is not ALL], "AND")


def _evaluated(
    asker: Asker, wanted: Sequence[Aggregation], where: Sql, known: Mapping[str, Any] = NOTHING
) -> dict[str, Any]:
    metrics = [one for one in wanted if isinstance(one, Metric)]
    found: dict[str, Any] = dict(known)
    if metrics:
        sql = f"SELECT {', '.join(_metric_columns(metrics))} FROM {asker.table} WHERE {where.text}"
        found |= _finished(metrics, asker.rows(sql, where.values)[0])
    return {
        one.name: found[one.name] if isinstance(one, Metric) or one.name in found else _one(asker, one, where)
        for one in wanted
    }


def _metric_columns(metrics: Sequence[Metric]) -> list[str]:
    return [sql for one in metrics for sql in one.columns]


def _finished(metrics: Sequence[Metric], values: Sequence[Any]) -> dict[str, Any]:
    found, at = {}, 0
    for one in metrics:
        found[one.name] = one.finish(values[at : at + len(one.columns)])
        at += len(one.columns)
    return found


def _one(asker: Asker, wanted: Percentiles | TopHits | Split | Terms | Histogram, where: Sql) -> dict[str, Any]:
    match wanted:
        case Percentiles():
            return _percentiles(asker, wanted, where)
        case TopHits():
            return _top_hits(asker, wanted, where)
        case Split():
            return _split(asker, wanted, where)
        case Terms():
            return _terms(asker, wanted, where)
        case Histogram():
            return _histogram(asker, wanted, where)


def _percentiles(asker: Asker, wanted: Percentiles, where: Sql) -> dict[str, Any]:
    """Exact, with a line drawn between the two values nearest to each percentage."""
    name = column(wanted.field.name)
    there = _and(where, Sql(f"{name} IS NOT NULL"))
    found = asker.numbers(f"SELECT {name} FROM {asker.table} WHERE {there.text}", there.values)
    values: dict[str, Any] = dict.fromkeys(map(str, wanted.percents))
    for percent in wanted.percents if found else ():
        place = percent / 100 * (len(found) - 1)
        low, high = found[int(place)], found[min(int(place) + 1, len(found) - 1)]
        values[str(percent)] = low + (high - low) * (place - int(place))
    return {"values": values}


def _top_hits(asker: Asker, wanted: TopHits, where: Sql) -> dict[str, Any]:
    total = _count(asker, where)
    hits = [one.wire(asker.columns.index) for one in _hits(asker, wanted.page, where)]
    return {"hits": {"total": {"value": total, "relation": "eq"}, "max_score": None, "hits": hits}}


def _split(asker: Asker, wanted: Split, where: Sql) -> dict[str, Any]:
    asker.count(len(wanted.parts))
    made = {}
    for name, condition in wanted.parts:
        both = _and(where, condition)
        count = _count(asker, both)
        made[name] = {"doc_count": count, **_evaluated(asker, wanted.inside, both)}
    return made[""] if wanted.is_one else {"buckets": made}


def _grouped(
    asker: Asker, key: str, inside: Sequence[Aggregation], where: Sql, more: str, values: Sequence[Any]
) -> list[dict[str, Any]]:
    metrics = [one for one in inside if isinstance(one, Metric)]
    wanted = ", ".join([f"{key} AS bucket", "COUNT(*) AS documents", *_metric_columns(metrics)])
    rows = asker.rows(
        f"SELECT {wanted} FROM {asker.table} WHERE {where.text} GROUP BY bucket {more}", (*where.values, *values)
    )
    asker.count(len(rows))
    rest = [one for one in inside if not isinstance(one, Metric)]
    made = []
    for row in rows:
        bucket = {"key": row[0], "doc_count": row[1], **_finished(metrics, row[2:])}
        if rest:
            bucket |= _evaluated(asker, rest, _and(where, Sql(f"{key} = ?", (row[0],))))
        made.append(bucket)
    return made


def _terms(asker: Asker, wanted: Terms, where: Sql) -> dict[str, Any]:
    name = column(wanted.field.name)
    there = _and(where, Sql(f"{name} IS NOT NULL"))
    places = {"_count": "documents", "_key": "bucket"}
    at = 3
    for one in wanted.inside:
        if isinstance(one, Metric):
            places[one.name] = str(at)
            at += len(one.columns)
    order = [f"{places[by]} {'DESC' if down else 'ASC'} NULLS LAST" for by, down in wanted.order]
    more = f"HAVING documents >= ? ORDER BY {', '.join([*order, 'bucket ASC'])} LIMIT ?"
    buckets = _grouped(asker, name, wanted.inside, there, more, (wanted.least, wanted.size))
    shown = sum(one["doc_count"] for one in buckets)
    is_all = wanted.least == 1 and len(buckets) < wanted.size
    return _told_terms(wanted, buckets, shown if is_all else _count(asker, there))


def _told_terms(wanted: Terms, buckets: list[dict[str, Any]], total: int) -> dict[str, Any]:
    other = total - sum(one["doc_count"] for one in buckets)
    named = [_named_key(wanted.field, one) for one in buckets]
    return {"doc_count_error_upper_bound": 0, "sum_other_doc_count": other, "buckets": named}


def _named_key(kind: Field, bucket: dict[str, Any]) -> dict[str, Any]:
    if kind.type == "boolean":
        return {**bucket, "key_as_string": "true" if bucket["key"] else "false"}
    return {**bucket, "key_as_string": iso(bucket["key"])} if kind.type == "date" else bucket


def _histogram(asker: Asker, wanted: Histogram, where: Sql) -> dict[str, Any]:
    there = _and(where, Sql(f"{column(wanted.field.name)} IS NOT NULL"))
    more = f"HAVING documents >= ? ORDER BY bucket LIMIT {MOST_BUCKETS + 1}"
    return _told(asker, wanted, _grouped(asker, wanted.key, wanted.inside, there, more, (max(wanted.least, 1),)))


def _told(asker: Asker, wanted: Histogram, buckets: list[dict[str, Any]]) -> dict[str, Any]:
    if wanted.least == 0:
        buckets = _without_gaps(asker, wanted, buckets)
    told = [{"key_as_string": iso(one["key"]), **one} for one in buckets]
    return {"buckets": told[::-1] if wanted.down else told}


def _without_gaps(asker: Asker, wanted: Histogram, buckets: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Intervals in which nothing happened have a bucket too."""
    low, high = wanted.bounds or (None, None)
    ends = [one["key"] for one in buckets] + [wanted.begin(end) for end in (low, high) if end is not None]
    if not ends:
        return buckets
    there = {one["key"]: one for one in buckets}
    nothing = _evaluated(asker, wanted.inside, Sql("0"))
    filled, at, last = [], min(ends), max(ends)
    while at <= last:
        if at not in there:
            asker.count(1)
            there[at] = {"key": at, "doc_count": 0, **nothing}
        filled.append(there[at])
        at = wanted.after(at)
    return filled
