"""The query clauses, each compiled to a condition in SQL; values never become part of the text."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from beforehand.adapters.search.clauses import LARGEST, Columns, Sql, a_list, column, one_entry, only, unknown_name
from beforehand.adapters.search.dates import read_date
from beforehand.adapters.search.tallies import EARLIEST, LATEST
from beforehand.ports.search import Field, SearchError

ALL = Sql("1")
DEEPEST = 20
SIGNS = ("gte", "gt", "lte", "lt")
_WORD = re.compile(r"\w+")


class Queries:
    """Compiles queries over one index at one moment."""

    def __init__(self, columns: Columns, now_ms: int) -> None:
        self.columns = columns
        self.now_ms = now_ms

    def compile(self, query: Any, depth: int = 0) -> Sql:
        if depth > DEEPEST:
            raise SearchError(f"The query is nested more than {DEEPEST} levels deep.", code="search.depth")
        name, body = one_entry(query, "A query")
        if name == "bool":
            return self._bool(body, depth)
        if name not in CLAUSES:
            raise unknown_name("clause", name, {*CLAUSES, "bool"}, inside="the query")
        return CLAUSES[name](self, body)

    def _bool(self, body: Any, depth: int) -> Sql:
        given = only(body, "bool", ("must", "filter", "should", "must_not", "minimum_should_match"))

        def part(name: str) -> list[Sql]:
            return [self.compile(one, depth + 1) for one in a_list(given.get(name, []), f"bool.{name}", 200)]

        needed = [*part("must"), *part("filter")]
        should, never = part("should"), part("must_not")
        least = given.get("minimum_should_match", 0 if needed else 1)
        if isinstance(least, bool) or not isinstance(least, int) or not 0 <= least <= 200:
            raise SearchError("minimum_should_match is a whole number.", code="search.number")
        if should and least == 1:
            needed.append(joined(should, "OR"))
        elif should and least:
            held = " + ".join(f"({one.text} IS TRUE)" for one in should)
            needed.append(Sql(f"({held}) >= {least}", values_of(should)))
        # Where a field is absent a comparison is unknown, which NOT alone would leave unknown.
        needed += [Sql(f"({one.text} IS NOT TRUE)", one.values) for one in never]
        return joined(needed, "AND")

    def value(self, field: Field, given: Any) -> Any:
        """A value as the column holds it."""
        if given is None or isinstance(given, Mapping | list):
            raise SearchError(f"{field.name} takes one plain value.", code="search.value")
        match field.type:
            case "date":
                return read_date(given, self.now_ms)
            case "boolean":
                return _boolean(field, given)
            case "long" | "double":
                return number(field, given)
            case "keyword" | "text":
                return str(given).lower() if isinstance(given, bool) else str(given)

    def term(self, body: Any) -> Sql:
        name, given = one_entry(body, "term")
        field = self.columns.field(name)
        folded = False
        if isinstance(given, Mapping):
            given = only(given, "term", ("value", "case_insensitive"))
            folded = given.get("case_insensitive") is True
            given = given.get("value")
        value = self.value(field, given)
        return is_so(f"{column(name)} = ?{' COLLATE NOCASE' if folded else ''}", value)

    def terms(self, body: Any) -> Sql:
        name, given = one_entry(body, "terms")
        field = self.columns.field(name)
        if not isinstance(given, list | tuple):
            raise SearchError("terms takes a list of values.", code="search.shape")
        values = [self.value(field, one) for one in a_list(given, "terms")]
        return is_so(f"{column(name)} IN ({', '.join('?' * len(values))})", *values) if values else Sql("0")

    def range(self, body: Any) -> Sql:
        name, given = one_entry(body, "range")
        field = self.columns.ordered(name, "range")
        limits = only(given, "range", ("gt", "gte", "lt", "lte", "format", "time_zone"))
        refuse_other_zones(limits.get("time_zone"))
        parts = [
            is_so(f"{column(name)} {mark} ?", self._limit(field, sign, limits[sign]))
            for sign, mark in (("gte", ">="), ("gt", ">"), ("lte", "<="), ("lt", "<"))
            if limits.get(sign) is not None
        ]
        return joined(parts, "AND") if parts else is_so(f"{column(name)} IS NOT NULL")

    def _limit(self, field: Field, sign: str, given: Any) -> Any:
        is_date = field.type == "date"
        return read_date(given, self.now_ms, up=sign in ("gt", "lte")) if is_date else self.value(field, given)

    def stretch(self, limits: Mapping[str, Any]) -> tuple[int, int]:
        """The first ms of a range over a date, and the first after it."""
        ups = {sign: sign in ("gt", "lte") for sign in SIGNS if limits.get(sign) is not None}
        found = {sign: read_date(limits[sign], self.now_ms, up=up) for sign, up in ups.items()}
        low = max([EARLIEST, *(found[sign] + (sign == "gt") for sign in ("gte", "gt") if sign in found)])
        high = min([LATEST, *(found[sign] + (sign == "lte") for sign in ("lte", "lt") if sign in found)])
        return min(low, LATEST), max(high, EARLIEST)

    def exists(self, body: Any) -> Sql:
        field = self.columns.field(only(body, "exists", ("field",)).get("field"))
        return Sql(f"({column(field.name)} IS NOT NULL)")

    def ids(self, body: Any) -> Sql:
        values = [str(one) for one in a_list(only(body, "ids", ("values",)).get("values", []), "ids")]
        return Sql(f'("_id" IN ({", ".join("?" * len(values))}))', tuple(values))

    def prefix(self, body: Any) -> Sql:
        name, value, folded = self._pattern(body, "prefix", ("value",))
        return like(name, f"{_escaped(value)}*", folded)

    def wildcard(self, body: Any) -> Sql:
        name, value, folded = self._pattern(body, "wildcard", ("value", "wildcard"))
        return like(name, value.replace("[", "[[]"), folded)

    def _pattern(self, body: Any, what: str, under: tuple[str, ...]) -> tuple[str, str, bool]:
        name, given = one_entry(body, what)
        field = self.columns.field(name)
        if field.type not in ("keyword", "text"):
            raise SearchError(f"{what} needs words, and {name} is a {field.type}.", code="search.not_words")
        folded = False
        if isinstance(given, Mapping):
            given = only(given, what, (*under, "case_insensitive"))
            folded = given.get("case_insensitive") is True
            given = next((given[key] for key in under if key in given), None)
        if not isinstance(given, str):
            raise SearchError(f"{what} takes a text.", code="search.value")
        return name, given, folded

    def match(self, body: Any) -> Sql:
        """Any of the words, or all with `operator: and`; on what is not text it is the value itself."""
        name, given = one_entry(body, "match")
        field = self.columns.field(name)
        operator = "or"
        if isinstance(given, Mapping):
            given = only(given, "match", ("query", "operator"))
            operator = str(given.get("operator", "or")).lower()
            given = given.get("query")
        if operator not in ("or", "and"):
            raise unknown_name("operator", operator, ("and", "or"))
        if field.type != "text":
            return self.term({name: given})
        words = _WORD.findall(str(given).lower())
        found = [is_so(f"words({column(name)}) LIKE ?", f"% {one} %") for one in words]
        return joined(found, "OR" if operator == "or" else "AND") if found else Sql("0")

    def match_phrase(self, body: Any) -> Sql:
        name, given = one_entry(body, "match_phrase")
        field = self.columns.field(name)
        if isinstance(given, Mapping):
            given = only(given, "match_phrase", ("query",)).get("query")
        if field.type != "text":
            return self.term({name: given})
        words = _WORD.findall(str(given).lower())
        return is_so(f"words({column(name)}) LIKE ?", f"% {' '.join(words)} %") if words else Sql("0")

    def match_all(self, body: Any) -> Sql:
        only(body, "match_all", ())
        return ALL

    def match_none(self, body: Any) -> Sql:
        only(body, "match_none", ())
        return Sql("0")


CLAUSES: Mapping[str, Callable[[Queries, Any], Sql]] = {
    "match_all": Queries.match_all,
    "match_none": Queries.match_none,
    "match": Queries.match,
    "match_phrase": Queries.match_phrase,
    "term": Queries.term,
    "terms": Queries.terms,
    "range": Queries.range,
    "exists": Queries.exists,
    "ids": Queries.ids,
    "prefix": Queries.prefix,
    "wildcard": Queries.wildcard,
}


def is_so(condition: str, *values: Any) -> Sql:
    """A condition on its own; left bare, so that SQLite can use the order it keeps of the column."""
    return Sql(f"({condition})", values)


def like(name: str, pattern: str, folded: bool) -> Sql:
    if folded:
        return is_so(f"lower({column(name)}) GLOB ?", pattern.lower())
    return is_so(f"{column(name)} GLOB ?", pattern)


def joined(parts: list[Sql], word: str) -> Sql:
    if not parts:
        return ALL
    return Sql(f"({f' {word} '.join(one.text for one in parts)})", values_of(parts))


def values_of(parts: list[Sql]) -> tuple[Any, ...]:
    return tuple(value for one in parts for value in one.values)


def words_of(text: Any) -> str | None:
    """A text's words in small letters between single spaces; the SQL function behind `match`."""
    return None if text is None else f" {' '.join(_WORD.findall(str(text).lower()))} "


def refuse_other_zones(zone: Any) -> None:
    if zone not in (None, "UTC", "Z", "+00:00", "Etc/UTC"):
        raise SearchError(f"The only time zone is UTC, not {zone!r}.", code="search.time_zone", nearest=("UTC",))


def _escaped(text: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", text)


def _boolean(field: Field, given: Any) -> int:
    if given in (True, "true"):
        return 1
    if given in (False, "false"):
        return 0
    raise SearchError(f"{field.name} is true or false, not {given!r}.", code="search.value")


def number(field: Field, given: Any) -> int | float:
    try:
        if isinstance(given, bool):
            raise ValueError
        found = float(given) if not isinstance(given, int) else given
        if not -LARGEST <= found <= LARGEST:
            raise ValueError
        return int(found) if field.type == "long" and found == int(found) else found
    except (TypeError, ValueError):
        raise SearchError(f"{field.name} is a number, not {given!r}.", code="search.value") from None
