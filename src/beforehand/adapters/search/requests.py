"""A whole body read: what is looked for, in which order, which page, which fields, and what it comes to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from beforehand.adapters.search.aggregations import Aggregation, read_aggregations
from beforehand.adapters.search.clauses import Columns, Sql, a_list, column, one_entry, only, unknown_name, whole
from beforehand.adapters.search.queries import ALL, Queries
from beforehand.model.event import iso
from beforehand.ports.search import SearchError

MOST_HITS = 10_000
"""How far into the hits a page may reach, as in Elasticsearch."""
LONGEST_S = 5.0
_BODY = (
    "query",
    "from",
    "size",
    "sort",
    "search_after",
    "_source",
    "aggs",
    "aggregations",
    "track_total_hits",
    "track_scores",
    "timeout",
)
Picker = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Order:
    name: str
    down: bool
    missing_first: bool = False

    @property
    def sql(self) -> str:
        nulls = "FIRST" if self.missing_first else "LAST"
        return f"{column(self.name)} {'DESC' if self.down else 'ASC'} NULLS {nulls}"


@dataclass(frozen=True, slots=True)
class Page:
    """Which hits to show, and how much of each."""

    start: int
    size: int
    order: tuple[Order, ...]
    after: Sql
    picks: Picker | None
    """None shows no source at all."""


@dataclass(frozen=True, slots=True)
class Request:
    where: Sql
    page: Page
    aggregations: tuple[Aggregation, ...]
    limit_s: float


def read_request(columns: Columns, body: Any, now_ms: int) -> Request:
    """The body in parts; SearchError where something in it is wrong or asks for what is not there."""
    given = only(body, "the body", _BODY)
    queries = Queries(columns, now_ms)
    if "aggs" in given and "aggregations" in given:
        raise SearchError("The body has both aggs and aggregations; it takes one of them.", code="search.shape")
    return Request(
        queries.compile(given["query"]) if given.get("query") is not None else ALL,
        read_page(columns, given, queries),
        read_aggregations(columns, given.get("aggs", given.get("aggregations", {})), queries),
        _limit(given.get("timeout")),
    )


def read_page(columns: Columns, given: Mapping[str, Any], queries: Queries, usual: int = 10) -> Page:
    start = whole(given.get("from", 0), "from", MOST_HITS)
    size = whole(given.get("size", usual), "size", MOST_HITS)
    if start + size > MOST_HITS:
        raise SearchError(
            f"from and size together reach to {start + size}; {MOST_HITS} is the most.",
            code="search.too_many",
            hint="Narrow the query, or go on with search_after.",
        )
    order = read_order(columns, given.get("sort", []))
    after = _after(columns, order, given["search_after"], queries) if given.get("search_after") is not None else ALL
    return Page(start, size, order, after, read_source(columns, given.get("_source", True)))


def read_order(columns: Columns, given: Any) -> tuple[Order, ...]:
    found = []
    for one in a_list(given, "sort", 10):
        name, how = (one, {}) if isinstance(one, str) else one_entry(one, "sort")
        if name in ("_doc", "_score", "_shard_doc"):
            continue
        how = {"order": how} if isinstance(how, str) else only(how, "sort", ("order", "missing", "unmapped_type"))
        columns.ordered(name, "sort")
        direction, missing = how.get("order", "asc"), how.get("missing", "_last")
        if direction not in ("asc", "desc"):
            raise unknown_name("order", direction, ("asc", "desc"))
        if missing not in ("_first", "_last"):
            raise unknown_name("missing", missing, ("_first", "_last"), plural="values of missing")
        found.append(Order(name, direction == "desc", missing == "_first"))
    return tuple(found)


def _after(columns: Columns, order: tuple[Order, ...], given: Any, queries: Queries) -> Sql:
    """What comes behind the values of the last hit: equal in the first ones, further in the next."""
    if not order or not isinstance(given, list | tuple) or len(given) != len(order):
        raise SearchError("search_after takes one value for each field of sort.", code="search.search_after")
    equal, values, parts = "", [], []
    held: list[Any] = []
    for one, value in zip(order, given, strict=True):
        known = queries.value(columns.field(one.name), value)
        further = f"{column(one.name)} {'<' if one.down else '>'} ?"
        beyond = further if one.missing_first else f"({further} OR {column(one.name)} IS NULL)"
        parts.append(f"({equal}{beyond})")
        values += [*held, known]
        equal += f"{column(one.name)} = ? AND "
        held.append(known)
    return Sql(f"({' OR '.join(parts)})", tuple(values))


def read_source(columns: Columns, given: Any) -> Picker | None:
    if isinstance(given, bool):
        return (lambda name: True) if given else None
    if isinstance(given, Mapping):
        given = only(given, "_source", ("includes", "include", "excludes", "exclude"))
        wanted = _patterns(columns, given.get("includes", given.get("include", [])))
        left = _patterns(columns, given.get("excludes", given.get("exclude", [])))
    else:
        wanted, left = _patterns(columns, given), []
    return lambda name: (not wanted or _any(name, wanted)) and not _any(name, left)


def _any(name: str, patterns: list[str]) -> bool:
    return any(fnmatchcase(name, one) or name.startswith(f"{one}.") for one in patterns)


def _patterns(columns: Columns, given: Any) -> list[str]:
    found = a_list(given, "_source", 200)
    for one in found:
        if not isinstance(one, str) or not any(_any(name, [one]) for name in columns.fields):
            raise unknown_name("field", one, columns.fields, inside=f"the index {columns.index}")
    return found


def _limit(given: Any) -> float:
    if given is None:
        return LONGEST_S
    text = str(given)
    for unit, worth in (("ms", 0.001), ("s", 1.0)):
        number = text.removesuffix(unit)
        if number != text and number.isascii() and number.isdigit():
            return min(int(number[:9]) * worth, LONGEST_S)
    raise SearchError(f"timeout is written 500ms or 2s, not {given!r}.", code="search.timeout")


def shown(columns: Columns, name: str, value: Any) -> Any:
    """A column's value as a document shows it."""
    kind = columns.fields[name].type
    if kind == "date":
        return iso(value)
    return bool(value) if kind == "boolean" else value
