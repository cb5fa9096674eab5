"""What a search found, as a table and in words, where no question was understood to say how."""

from collections.abc import Mapping, Sequence
from typing import Any

from beforehand.crafts.rounds.core.chart import Chart
from beforehand.ports.search import Found, Hit

MOST_COLUMNS = 8
_STATS = ("count", "min", "max", "avg", "sum")


def as_found(results: Mapping[str, Any]) -> Found:
    """The answer of a search again, from its wire form."""
    hits = tuple(
        Hit(str(one["_id"]), one.get("_source"), tuple(one.get("sort", ()))) for one in results["hits"]["hits"]
    )
    return Found(results["hits"]["total"]["value"], hits, results.get("aggregations", {}))


def in_table(results: Mapping[str, Any]) -> dict[str, Any]:
    """A sentence and a table: of the buckets where it was split, else of the hits."""
    total = results["hits"]["total"]["value"]
    says = f"{total} found in {results['index']}."
    name, buckets = _buckets(results)
    if buckets:
        inside = list(_values(buckets[0]))
        rows = [[_key(one), one["doc_count"], *(_values(one).get(each) for each in inside)] for one in buckets]
        return {"says": says, "columns": [name, "count", *inside], "rows": rows}
    if values := _values(results.get("aggregations", {})):
        return {"says": says, "columns": list(values), "rows": [list(values.values())]}
    sources = [one.get("_source") or {} for one in results["hits"]["hits"]]
    columns = list(dict.fromkeys(key for source in sources for key in source))[:MOST_COLUMNS]
    return {
        "says": says,
        "columns": columns,
        "rows": [[_flat(source.get(key)) for key in columns] for source in sources],
    }


def _buckets(results: Mapping[str, Any]) -> tuple[str, Sequence[Mapping[str, Any]]]:
    for name, found in results.get("aggregations", {}).items():
        buckets = found.get("buckets") if isinstance(found, Mapping) else None
        if isinstance(buckets, list):
            return name, buckets
        if isinstance(buckets, Mapping):
            return name, [{"key": key, **bucket} for key, bucket in buckets.items()]
    return "", ()


def _values(found: Mapping[str, Any]) -> dict[str, Any]:
    """The single values among aggregations: of averages, sums and the like, and how many are in a filter."""
    told: dict[str, Any] = {}
    for name, one in found.items():
        if isinstance(one, Mapping) and "buckets" not in one and "hits" not in one:
            if "value" in one or "doc_count" in one:
                told[name] = one["value"] if "value" in one else one["doc_count"]
            parts = one.get("values", {key: one[key] for key in _STATS if key in one})
            told |= {f"{name} {key}": value for key, value in parts.items()}
    return told


def _key(bucket: Mapping[str, Any]) -> Any:
    return bucket.get("key_as_string", bucket["key"])


def _flat(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def told_of(results: Mapping[str, Any]) -> str:
    """What stands out in what was found."""
    total = results["hits"]["total"]["value"]
    name, buckets = _buckets(results)
    if not buckets:
        return f"{total} found."
    most = max(buckets, key=lambda one: one["doc_count"])
    least = min(buckets, key=lambda one: one["doc_count"])
    mean = sum(one["doc_count"] for one in buckets) / len(buckets)
    return (
        f"{total} found, split by {name}: most at {_key(most)} ({most['doc_count']}), least at {_key(least)} "
        f"({least['doc_count']}), {mean:.1f} on average."
    )


def chart_from(told: Mapping[str, Any]) -> Chart:
    """The chart again, from its wire form."""
    labels, values = tuple(map(str, told["labels"])), tuple(map(float, told["values"]))
    return Chart(str(told["title"]), labels, values, str(told["unit"]), told["kind"] == "line")


def in_text(shown: Mapping[str, Any]) -> str:
    """A sentence with its table as plain text."""
    rows = [[_cell(value) for value in row] for row in shown.get("rows", ())]
    columns = [str(name) for name in shown.get("columns", ())]
    if not rows or (len(rows) == 1 and len(columns) == 1):
        return str(shown["says"])
    widths = [max(len(row[at]) for row in (columns, *rows)) for at in range(len(columns))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (columns, *rows)
    ]
    return "\n".join([str(shown["says"]), "", *lines])


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)
