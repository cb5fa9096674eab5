"""Aggregations, read and checked: what each is computed from in SQL, and the form its result has.

Metrics are columns of one SELECT; buckets are its GROUP BY; what stands inside a bucket and is no metric is asked
again under that bucket's own condition.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from beforehand.adapters.search.clauses import Columns, Sql, a_list, an_object, column, only, unknown_name, whole
from beforehand.adapters.search.dates import floor, of_ms, shifted, to_ms
from beforehand.adapters.search.queries import Queries, refuse_other_zones
from beforehand.model.event import iso
from beforehand.ports.search import Field, SearchError

MOST_BUCKETS = 10_000
DEEPEST = 5
_FIXED = re.compile(r"(\d{1,9})(ms|s|m|h|d)")
_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_CALENDAR = {
    name: unit
    for unit, names in {
        "m": ("minute", "1m"),
        "h": ("hour", "1h"),
        "d": ("day", "1d"),
        "w": ("week", "1w"),
        "M": ("month", "1M"),
        "q": ("quarter", "1q"),
        "y": ("year", "1y"),
    }.items()
    for name in names
}
_THREE_DAYS = 3 * _MS["d"]
"""1970 began on a Thursday; weeks begin on Mondays."""


@dataclass(frozen=True, slots=True)
class Metric:
    name: str
    columns: tuple[str, ...]
    finish: Callable[[Sequence[Any]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Percentiles:
    name: str
    field: Field
    percents: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class TopHits:
    name: str
    page: Any


@dataclass(frozen=True, slots=True)
class Split:
    """Buckets by a condition each; a single one without a name is `filter` or `missing`."""

    name: str
    parts: tuple[tuple[str, Sql], ...]
    is_one: bool
    inside: tuple["Aggregation", ...]


@dataclass(frozen=True, slots=True)
class Terms:
    name: str
    field: Field
    size: int
    least: int
    order: tuple[tuple[str, bool], ...]
    """Metrics inside, `_count` or `_key`, each with whether it goes down."""
    inside: tuple["Aggregation", ...]


@dataclass(frozen=True, slots=True)
class Histogram:
    name: str
    field: Field
    key: str
    after: Callable[[int], int]
    """The beginning of the next interval."""
    begin: Callable[[int], int]
    """The beginning of the interval that a moment is in."""
    least: int
    bounds: tuple[int, int] | None
    inside: tuple["Aggregation", ...]
    down: bool = False


Aggregation = Metric | Percentiles | TopHits | Split | Terms | Histogram


def read_aggregations(columns: Columns, given: Any, queries: Queries, depth: int = 0) -> tuple[Aggregation, ...]:
    if depth > DEEPEST:
        raise SearchError(f"Aggregations are nested more than {DEEPEST} levels deep.", code="search.depth")
    reader = _Reader(columns, queries, depth)
    return tuple(reader.read(str(name), one) for name, one in an_object(given, "aggs").items())


class _Reader:
    def __init__(self, columns: Columns, queries: Queries, depth: int) -> None:
        self.columns = columns
        self.queries = queries
        self.depth = depth

    def read(self, name: str, given: Any) -> Aggregation:
        body = dict(an_object(given, f"The aggregation {name}"))
        inside = body.pop("aggs", body.pop("aggregations", {}))
        if len(body) != 1:
            raise SearchError(f"The aggregation {name} is of exactly one kind.", code="search.shape")
        kind, how = next(iter(body.items()))
        known = {*METRICS, *_BUCKETS, "percentiles", "top_hits"}
        if kind not in known:
            raise unknown_name("aggregation", kind, known)
        if kind in _BUCKETS:
            return _BUCKETS[kind](
                self, name, how, read_aggregations(self.columns, inside, self.queries, self.depth + 1)
            )
        if inside:
            raise SearchError(f"{kind} has no aggregations inside it.", code="search.shape")
        if kind == "percentiles":
            return self._percentiles(name, how)
        return self._top_hits(name, how) if kind == "top_hits" else self._metric(name, kind, how)

    def _metric(self, name: str, kind: str, how: Any) -> Metric:
        asked = only(how, kind, ("field",)).get("field")
        countable = kind in ("value_count", "cardinality")
        found = self.columns.ordered(asked, kind) if countable else self.columns.number(asked, kind)
        parts, finish = METRICS[kind](found)
        return Metric(name, parts, finish)

    def _percentiles(self, name: str, how: Any) -> Percentiles:
        given = only(how, "percentiles", ("field", "percents"))
        percents = a_list(given.get("percents", [1, 5, 25, 50, 75, 95, 99]), "percents", 20)
        if not all(isinstance(one, int | float) and 0 <= one <= 100 for one in percents):
            raise SearchError("percents are numbers from 0 to 100.", code="search.number")
        return Percentiles(name, self.columns.number(given.get("field"), "percentiles"), tuple(map(float, percents)))

    def _top_hits(self, name: str, how: Any) -> TopHits:
        from beforehand.adapters.search.requests import read_page

        given = only(how, "top_hits", ("from", "size", "sort", "_source"))
        whole(given.get("size", 3), "size", 100)
        return TopHits(name, read_page(self.columns, given, self.queries, usual=3))

    def _filter(self, name: str, how: Any, inside: tuple[Aggregation, ...]) -> Split:
        return Split(name, (("", self.queries.compile(how)),), True, inside)

    def _filters(self, name: str, how: Any, inside: tuple[Aggregation, ...]) -> Split:
        named = an_object(only(how, "filters", ("filters",)).get("filters"), "filters.filters")
        if len(named) > 100:
            raise SearchError("filters takes at most 100 conditions.", code="search.too_many")
        return Split(name, tuple((key, self.queries.compile(one)) for key, one in named.items()), False, inside)

    def _missing(self, name: str, how: Any, inside: tuple[Aggregation, ...]) -> Split:
        found = self.columns.field(only(how, "missing", ("field",)).get("field"))
        return Split(name, (("", Sql(f"({column(found.name)} IS NULL)")),), True, inside)

    def _terms(self, name: str, how: Any, inside: tuple[Aggregation, ...]) -> Terms:
        given = only(how, "terms", ("field", "size", "order", "min_doc_count"))
        found = self.columns.ordered(given.get("field"), "terms")
        size = whole(given.get("size", 10), "size", MOST_BUCKETS, 1)
        least = whole(given.get("min_doc_count", 1), "min_doc_count", 10**9, 1)
        order = tuple(self._order(one, inside) for one in a_list(given.get("order", {"_count": "desc"}), "order", 5))
        return Terms(name, found, size, least, order, inside)

    def _order(self, given: Any, inside: tuple[Aggregation, ...]) -> tuple[str, bool]:
        ways = an_object(given, "order")
        known = {"_count", "_key", *(one.name for one in inside if isinstance(one, Metric) and len(one.columns) == 1)}
        if len(ways) != 1:
            raise SearchError("order names one thing and its direction; several are a list.", code="search.shape")
        name, way = next(iter(ways.items()))
        if name not in known:
            raise unknown_name("order", name, known, inside="terms")
        if way not in ("asc", "desc"):
            raise unknown_name("order", way, ("asc", "desc"))
        return name, way == "desc"

    def _histogram(self, name: str, how: Any, inside: tuple[Aggregation, ...]) -> Histogram:
        known = (
            "field",
            "fixed_interval",
            "calendar_interval",
            "min_doc_count",
            "extended_bounds",
            "time_zone",
            "order",
            "format",
        )
        given = only(how, "date_histogram", known)
        refuse_other_zones(given.get("time_zone"))
        found = self.columns.field(given.get("field"))
        if found.type != "date":
            raise SearchError(
                f"date_histogram needs a date, and {found.name} is a {found.type}.", code="search.not_a_date"
            )
        key, after, begin = _interval(found, given)
        least = whole(given.get("min_doc_count", 0), "min_doc_count", 10**9)
        down = given.get("order", {"_key": "asc"}) == {"_key": "desc"}
        return Histogram(name, found, key, after, begin, least, self._bounds(given), inside, down)

    def _bounds(self, given: Any) -> tuple[int, int] | None:
        if "extended_bounds" not in given:
            return None
        bounds = only(given["extended_bounds"], "extended_bounds", ("min", "max"))
        moment = Field("extended_bounds", "date", "")
        low, high = (self.queries.value(moment, bounds.get(end)) for end in ("min", "max"))
        return low, high


def _interval(found: Field, given: Any) -> tuple[str, Callable[[int], int], Callable[[int], int]]:
    name = column(found.name)
    if ("fixed_interval" in given) == ("calendar_interval" in given):
        raise SearchError(
            "date_histogram takes either fixed_interval or calendar_interval.",
            code="search.interval",
            hint="Such as fixed_interval: 15m, or calendar_interval: day.",
        )
    if "fixed_interval" in given:
        read = _FIXED.fullmatch(str(given["fixed_interval"]))
        ms = int(read[1]) * _MS[read[2]] if read else 0
        if ms <= 0:
            says = f"fixed_interval is written 90s, 15m, 2h or 1d, not {given['fixed_interval']!r}."
            raise SearchError(says, code="search.interval")
        return f"({name} - {name} % {ms})", lambda at: at + ms, lambda at: at - at % ms
    unit = _CALENDAR.get(str(given["calendar_interval"]))
    if unit is None:
        raise unknown_name("interval", given["calendar_interval"], _CALENDAR)

    def after(at: int) -> int:
        return to_ms(shifted(of_ms(at), 1, unit))

    def begin(at: int) -> int:
        return to_ms(floor(of_ms(at), unit))

    return _calendar_key(name, unit), after, begin


def _calendar_key(name: str, unit: str) -> str:
    if unit in _MS:
        return f"({name} - {name} % {_MS[unit]})"
    if unit == "w":
        return f"(({name} + {_THREE_DAYS}) / {7 * _MS['d']} * {7 * _MS['d']} - {_THREE_DAYS})"
    seconds = f"{name} / 1000, 'unixepoch'"
    if unit == "q":
        months = f"(CAST(strftime('%m', {seconds}) AS INTEGER) - 1) % 3"
        return f"(CAST(strftime('%s', {seconds}, 'start of month', '-' || ({months}) || ' months') AS INTEGER) * 1000)"
    start = "start of month" if unit == "M" else "start of year"
    return f"(CAST(strftime('%s', {seconds}, '{start}') AS INTEGER) * 1000)"


def _single(
    found: Field, sql: str, *, counts: bool = False
) -> tuple[tuple[str, ...], Callable[[Sequence[Any]], dict[str, Any]]]:
    def finish(values: Sequence[Any]) -> dict[str, Any]:
        told: dict[str, Any] = {"value": values[0]}
        if found.type == "date" and not counts and values[0] is not None:
            told["value_as_string"] = iso(round(values[0]))
        return told

    return (sql,), finish


def _stats(found: Field) -> tuple[tuple[str, ...], Callable[[Sequence[Any]], dict[str, Any]]]:
    name = column(found.name)
    parts = (f"COUNT({name})", f"MIN({name})", f"MAX({name})", f"AVG({name})", f"TOTAL({name})")
    return parts, lambda values: dict(zip(("count", "min", "max", "avg", "sum"), values, strict=True))


METRICS: dict[str, Callable[[Field], Any]] = {
    "avg": lambda found: _single(found, f"AVG({column(found.name)})"),
    "sum": lambda found: _single(found, f"TOTAL({column(found.name)})"),
    "min": lambda found: _single(found, f"MIN({column(found.name)})"),
    "max": lambda found: _single(found, f"MAX({column(found.name)})"),
    "value_count": lambda found: _single(found, f"COUNT({column(found.name)})", counts=True),
    "cardinality": lambda found: _single(found, f"COUNT(DISTINCT {column(found.name)})", counts=True),
    "stats": _stats,
}
_BUCKETS: dict[str, Callable[[_Reader, str, Any, tuple[Aggregation, ...]], Aggregation]] = {
    "terms": _Reader._terms,
    "date_histogram": _Reader._histogram,
    "filter": _Reader._filter,
    "filters": _Reader._filters,
    "missing": _Reader._missing,
}
