"""A question as a body of the query DSL, and in prose as it was understood."""

from typing import Any

from beforehand.crafts.rounds.core.question_shape import Filter, Question
from beforehand.model.event import iso
from beforehand.model.words import named

GROUPS, VALUE, PART = "groups", "value", "part"
"""The names of what is aggregated, by which answers find it again."""
ALIKE = 10
"""So many more groups are asked for than are wanted, since the next ones may be as good as the last of them."""
_HOW = {"avg": "average", "sum": "total", "max": "longest", "min": "shortest", "median": "median", "": ""}


def body_of(question: Question) -> dict[str, Any]:
    """The query that answers a question."""
    shared = question.act == "share"
    wanted = [_clause(one) for one in question.filters if not (shared and one.source == "condition")]
    if question.span is not None:
        limits = {"gte": iso(question.span.start), "lt": iso(question.span.end)}
        wanted.append({"range": {question.time: limits}})
    query: dict[str, Any] = {"bool": {"filter": wanted}} if wanted else {"match_all": {}}
    if question.act in ("list", "why", "when"):
        return {"query": query, "from": question.start, "size": question.size, "sort": _sort(question)}
    body: dict[str, Any] = {"query": query, "size": 0, "track_total_hits": True}
    aggs = _aggregations(question)
    return body | ({"aggs": aggs} if aggs else {})


def _sort(question: Question) -> list[Any]:
    by = question.measure if question.act == "list" and question.measure else question.time
    return [{by: {"order": "desc" if question.down else "asc"}}]


def _clause(one: Filter) -> dict[str, Any]:
    if one.over is not None or one.under is not None:
        limits = {"gt": one.over, "lt": one.under}
        return {"range": {one.fields[0]: {name: limit for name, limit in limits.items() if limit is not None}}}
    if one.missing:
        return {"bool": {"must_not": [{"exists": {"field": name}} for name in one.fields]}}
    ways = [way for name in one.fields for way in _ways(name, one)]
    return ways[0] if len(ways) == 1 else {"bool": {"should": ways, "minimum_should_match": 1}}


def _ways(name: str, one: Filter) -> list[dict[str, Any]]:
    exact: dict[str, Any] = (
        {"term": {name: one.values[0]}} if len(one.values) == 1 else {"terms": {name: list(one.values)}}
    )
    return [exact, *(way for value in one.values if one.ends_with for way in _longer(name, str(value), one))]


def _longer(name: str, value: str, one: Filter) -> list[dict[str, Any]]:
    """A short id also means the long one: `t13` is hall-t13, and so is `task 13`."""
    ways: list[dict[str, Any]] = [{"wildcard": {name: f"*-{value}"}}]
    if value.isdigit():
        lettered = f"{one.source.removeprefix('name:')[0]}{value}"
        ways += [{"term": {name: lettered}}, {"wildcard": {name: f"*-{lettered}"}}]
    return ways


def _aggregations(question: Question) -> dict[str, Any]:
    inside = _values(question)
    if question.interval:
        how: dict[str, Any] = {"field": question.time, "calendar_interval": question.interval}
        if question.span is not None and question.act != "top":
            how["extended_bounds"] = {"min": question.span.start, "max": question.span.end - 1}
        return {GROUPS: {"date_histogram": how} | ({"aggs": inside} if inside else {})}
    if question.group:
        way = "desc" if question.down else "asc"
        order = {VALUE: way} if question.how and question.how != "median" else {"_count": way}  # shares: of most first
        size = question.size + ALIKE if question.act == "top" and question.how != "median" else 1000
        terms = {"field": question.group, "size": size, "order": order}
        return {GROUPS: {"terms": terms} | ({"aggs": inside} if inside else {})}
    return inside


def _values(question: Question) -> dict[str, Any]:
    if question.act == "share":
        parts = [_clause(one) for one in question.filters if one.source == "condition"]
        return {PART: {"filter": {"bool": {"filter": parts}}}}
    if question.act == "distinct":
        return {VALUE: {"cardinality": {"field": question.measure}}}
    if question.how == "median":
        return {VALUE: {"percentiles": {"field": question.measure, "percents": [50]}}}
    return {VALUE: {question.how: {"field": question.measure}}} if question.how else {}


def summary_of(question: Question) -> str:
    """What was understood, in prose: a person can see whether it is what was meant."""
    parts = [f"{_doing(question)} {question.many}"]
    parts += [_filter_says(one) for one in question.filters if one.source != "noun"]
    if question.span is not None:
        parts.append(
            f"with {named(question.time)} {question.span.says} "
            f"({iso(question.span.start)[:16]} to {iso(question.span.end)[:16]} UTC)"
        )
    if question.act == "top":
        first = "most first" if question.down else "least first, of those that have any"
        parts.append(f"by {question.interval or named(question.group)}, {first}")
    elif question.interval or question.group:
        parts.append(f"per {question.interval or named(question.group)}")
    if question.act == "list" and question.start:
        parts.append(f"from number {question.start + 1} on")
    said = " ".join([", ".join(parts) + ".", *question.corrections])
    return f"{said[0].upper()}{said[1:]}"


def _doing(question: Question) -> str:
    measure = named(question.measure).removesuffix(" s")
    match question.act:
        case "list":
            if question.measure:
                return f"the {question.size} {'longest' if question.down else 'shortest'} by {measure} of"
            return f"the {'last' if question.down else 'first'} {question.size} of"
        case "why":
            return "why: what is written about"
        case "when":
            return f"when: the {'last' if question.down else 'first'} of"
        case "distinct":
            return f"the number of different values of {measure} of"
        case "share":
            return "the share of"
        case "count" | "top" | "measure":
            return f"the {_HOW[question.how]} {measure} of" if question.how else "the number of"


def _filter_says(one: Filter) -> str:
    where = " or ".join(named(name) for name in one.fields)
    if one.missing:
        return f"{where} not there yet"
    if one.over is not None or one.under is not None:
        limits = [
            f"over {one.over:g}" if one.over is not None else "",
            f"under {one.under:g}" if one.under is not None else "",
        ]
        return f"{where} {' and '.join(limit for limit in limits if limit)} seconds"
    return f"{where} {' or '.join(_value_says(value) for value in one.values)}"


def _value_says(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
