"""Requests answered from a table: the page of hits, the total, and what the aggregations come to.

Every statement goes through one `Asker`, which counts buckets and stops when the time is up.
"""

import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

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
from beforehand.model.event import iso
from beforehand.ports.search import Field, Found, Hit, SearchError, SearchTimeError

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
        if self._is_late():
            raise self.too_long()
        self.connection.set_progress_handler(self._is_late, _STEPS)
        try:
            return self.connection.execute(sql, values).fetchall()
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


def answer(asker: Asker, request: Request) -> Found:
    """What a request finds."""
    total = asker.rows(f"SELECT COUNT(*) FROM {asker.table} WHERE {request.where.text}", request.where.values)[0][0]
    hits = _hits(asker, request.page, request.where) if request.page.size else ()
    aggregations = _evaluated(asker, request.aggregations, request.where)
    return Found(total, hits, aggregations, round((time.monotonic() - asker.began) * 1000))


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


def _evaluated(asker: Asker, wanted: Sequence[Aggregation], where: Sql) -> dict[str, Any]:
    metrics = [one for one in wanted if isinstance(one, Metric)]
    found: dict[str, Any] = {}
    if metrics:
        sql = f"SELECT {', '.join(_metric_columns(metrics))} FROM {asker.table} WHERE {where.text}"
        found = _finished(metrics, asker.rows(sql, where.values)[0])
    return {one.name: found[one.name] if isinstance(one, Metric) else _one(asker, one, where) for one in wanted}


def _metric_columns(metrics: Sequence[Metric]) -> list[str]:
    return [sql for one in metrics for sql in one.columns]


def _finished(metrics: Sequence[Metric], values: Sequence[Any]) -> dict[str, Any]:
    found, at = {}, 0
    for one in metrics:
        found[one.name] = one.finish(values[at : at + len(one.columns)])
        at += len(one.columns)
    return found


def _one(asker: Asker, wanted: Aggregation, where: Sql) -> dict[str, Any]:
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
    raise TypeError(wanted)


def _percentiles(asker: Asker, wanted: Percentiles, where: Sql) -> dict[str, Any]:
    """Exact, with a line drawn between the two values nearest to each percentage."""
    name = column(wanted.field.name)
    there = _and(where, Sql(f"{name} IS NOT NULL"))
    count = asker.rows(f"SELECT COUNT(*) FROM {asker.table} WHERE {there.text}", there.values)[0][0]
    sql = f"SELECT {name} FROM {asker.table} WHERE {there.text} ORDER BY {name} LIMIT 2 OFFSET ?"
    values: dict[str, Any] = {}
    for percent in wanted.percents:
        if not count:
            values[str(percent)] = None
            continue
        place = percent / 100 * (count - 1)
        near = [row[0] for row in asker.rows(sql, (*there.values, int(place)))]
        values[str(percent)] = near[0] + (near[-1] - near[0]) * (place - int(place))
    return {"values": values}


def _top_hits(asker: Asker, wanted: TopHits, where: Sql) -> dict[str, Any]:
    total = asker.rows(f"SELECT COUNT(*) FROM {asker.table} WHERE {where.text}", where.values)[0][0]
    hits = [one.wire(asker.columns.index) for one in _hits(asker, wanted.page, where)]
    return {"hits": {"total": {"value": total, "relation": "eq"}, "max_score": None, "hits": hits}}


def _split(asker: Asker, wanted: Split, where: Sql) -> dict[str, Any]:
    asker.count(len(wanted.parts))
    made = {}
    for name, condition in wanted.parts:
        both = _and(where, condition)
        count = asker.rows(f"SELECT COUNT(*) FROM {asker.table} WHERE {both.text}", both.values)[0][0]
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
    total = asker.rows(f"SELECT COUNT(*) FROM {asker.table} WHERE {there.text}", there.values)[0][0]
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
    buckets = _grouped(asker, wanted.key, wanted.inside, there, more, (max(wanted.least, 1),))
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
