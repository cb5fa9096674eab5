"""What was found as an answer: a sentence, a table, and a chart where a picture says more."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from beforehand.crafts.rounds.core.chart import Chart
from beforehand.crafts.rounds.core.question_query import GROUPS, PART, VALUE, summary_of
from beforehand.crafts.rounds.core.question_shape import Question
from beforehand.model.words import counted, named
from beforehand.ports.search import Found, Index

_IDS = ("taskId", "stepId", "decisionId", "runId", "planId", "sessionId")
_TOLD = 5
"""As many groups stand in the sentence; all are in the table."""
_DAYS = {"hour": 16, "day": 10, "week": 10, "month": 7}


@dataclass(frozen=True, slots=True)
class Answer:
    says: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    chart: Chart | None = None
    more: int = 0
    """How many hits are behind this page."""

    def wire(self) -> dict[str, Any]:
        told: dict[str, Any] = {
            "says": self.says,
            "columns": list(self.columns),
            "rows": [list(row) for row in self.rows],
        }
        return told | ({"chart": self.chart.wire()} if self.chart else {}) | ({"more": self.more} if self.more else {})


def answer_of(question: Question, found: Found, index: Index) -> Answer:
    """The answer to a question, from what its query found."""
    match question.act:
        case "list":
            return _listed(question, found, index)
        case "why":
            return _why(question, found)
        case "when":
            return _when(question, found)
        case "share":
            return _share(question, found)
        case "count" | "top" | "measure" | "distinct":
            return _reckoned(question, found, index)


def _reckoned(question: Question, found: Found, index: Index) -> Answer:
    if question.group or question.interval:
        return _grouped(question, found, index)
    if question.how or question.act == "distinct":
        return _valued(question, found, index)
    return Answer(f"{counted(found.total, question.noun, question.many)}.", (question.many,), ((found.total,),))


def _listed(question: Question, found: Found, index: Index) -> Answer:
    columns = index.shown
    rows = tuple(tuple(_inside(hit.source or {}, name) for name in columns) for hit in found.hits)
    if not rows:
        said = f"There are only {found.total}." if found.total else f"There are no such {question.many}."
        return Answer(said, tuple(map(named, columns)))
    first, last = question.start + 1, question.start + len(rows)
    says = f"{counted(found.total, question.noun, question.many)}; these are {first} to {last}."
    return Answer(says, tuple(map(named, columns)), rows, more=max(found.total - last, 0))


def _inside(source: Mapping[str, Any], name: str) -> Any:
    value: Any = source
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _why(question: Question, found: Found) -> Answer:
    """What the documents themselves say went wrong."""
    if not found.hits:
        return Answer(f"There are no such {question.many}: {summary_of(question)}")
    rows = []
    for hit in found.hits:
        source = hit.source or {}
        name = next((source[key] for key in _IDS if key in source), hit.id)
        error = source.get("error") or source.get("errorCode")
        rows.append((name, source.get("status", ""), error or "nothing is written down as an error"))
    says = " ".join(f"{name} is {status}: {str(error).rstrip('.')}." for name, status, error in rows[:3])
    return Answer(says, ("what", "status", "why"), tuple(rows))


def _when(question: Question, found: Found) -> Answer:
    if not found.hits:
        return Answer(f"There are no such {question.many}.")
    at = _inside(found.hits[0].source or {}, question.time)
    which = "last" if question.down else "first"
    return Answer(f"The {which} of {found.total}: {at}.", (named(question.time),), ((at,),))


def _share(question: Question, found: Found) -> Answer:
    if question.group or question.interval:
        return _shares(question, found)
    part = found.aggregations[PART]["doc_count"]
    share = round(100 * part / found.total, 1) if found.total else None
    told = "There are none." if share is None else f"{share:g} %: {part} of {found.total} {question.many}."
    return Answer(told, ("share %", "of them", "in all"), ((share, part, found.total),))


def _shares(question: Question, found: Found) -> Answer:
    """The share in each group."""
    by = question.interval or named(question.group)
    rows = []
    for bucket in found.aggregations[GROUPS]["buckets"]:
        part, all = bucket[PART]["doc_count"], bucket["doc_count"]
        rows.append((_key(question, bucket), round(100 * part / all, 1) if all else None, part, all))
    says = f"The share per {by}: {len(rows)} of them, {found.total} {question.many} in all."
    return Answer(says, (by, "share %", "of them", "in all"), tuple(rows))


def _key(question: Question, bucket: Mapping[str, Any]) -> str:
    key = str(bucket.get("key_as_string", bucket["key"]))
    return key[: _DAYS[question.interval]].replace("T", " ") if question.interval else key


def _valued(question: Question, found: Found, index: Index) -> Answer:
    value = value_in(found.aggregations)
    unit = _unit(question, index)
    label = _label(question)
    if value is None:
        fit = counted(found.total, question.noun, question.many)
        return Answer(f"There is nothing to measure among {fit}.", (label,), ())
    hours = f" ({value / 3600:.1f} h)" if unit == " s" and value >= 3600 else ""
    says = f"{label.capitalize()}: {_number(value)}{unit}{hours}.{_left_out(question, index)}"
    return Answer(says, (label,), ((_number(value),),))


def _left_out(question: Question, index: Index) -> str:
    """Stretches of time are measured whole, by when they began, so that the edges of a time may be missing."""
    is_stretch = any(value is None for value in index.present.values())
    if not (question.how and question.span and is_stretch):
        return ""
    return " Measured is what began in that time and has ended."


def value_in(bucket: Mapping[str, Any]) -> Any:
    """The value of a bucket or of everything."""
    found = bucket[VALUE]
    return next(iter(found["values"].values())) if "values" in found else found["value"]


def rows_in(question: Question, found: Found) -> list[tuple[str, Any]]:
    """The names and values of the groups, in the order a person expects them; of the first ones all that are alike."""
    rows = []
    for bucket in found.aggregations[GROUPS]["buckets"]:
        rows.append((_key(question, bucket), value_in(bucket) if VALUE in bucket else bucket["doc_count"]))
    if question.act == "top":
        there = [row for row in rows if row[1] is not None and (row[1] or question.how)]
        there.sort(key=lambda row: row[1], reverse=question.down)
        last = there[: question.size][-1:]
        return there[: question.size] + [row for row in there[question.size :] if last and row[1] == last[0][1]]
    return rows


def _grouped(question: Question, found: Found, index: Index) -> Answer:
    by = question.interval or named(question.group)
    rows = tuple((key, None if value is None else _number(value)) for key, value in rows_in(question, found))
    label, unit = _label(question), _unit(question, index)
    if not rows:
        return Answer(f"There are no such {question.many}.", (by, label))
    chart = Chart(
        f"{label} per {by}",
        tuple(key for key, _ in rows),
        tuple(0 if value is None else value for _, value in rows),
        unit.strip(),
        is_line=bool(question.interval) and len(rows) > 12,
    )
    if question.act == "top":
        told = ", ".join(f"{key}: {value}{unit}" for key, value in rows[:_TOLD])
        says = f"{told}{' …' if len(rows) > _TOLD else '.'}{_left_out(question, index)}"
    else:
        all = counted(found.total, question.noun, question.many)
        says = f"{label.capitalize()} per {by}: {len(rows)} of them, {all} in all.{_left_out(question, index)}"
    return Answer(says, (by, label), rows, chart if len(rows) > 1 else None)


def _label(question: Question) -> str:
    if question.act == "distinct":
        return f"different {named(question.measure)}"
    if not question.how:
        return question.many
    word = {"avg": "average", "sum": "total", "max": "longest", "min": "shortest", "median": "median"}[question.how]
    return f"{word} {named(question.measure).removesuffix(' s')}"


def _unit(question: Question, index: Index) -> str:
    field = index.field(question.measure) if question.how else None
    return f" {field.unit}" if field is not None and field.unit else ""


def _number(value: float) -> float | int:
    rounded = round(value, 2)
    return int(rounded) if rounded == int(rounded) else rounded
