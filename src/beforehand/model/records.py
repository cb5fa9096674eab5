"""Copies of a fleet's run-time records, and their form on the wire.

A tick changes thousands of records and a replay reads as many, so what can be known of a kind of record is worked out
once (`_Layout`).
"""

import dataclasses
from collections.abc import Callable, Mapping
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar

from pydantic.alias_generators import to_camel

from beforehand.model.fleet import Errand, Leg, Robot, Stream, Task, Trace, Worksite

RecordT = TypeVar("RecordT")


class _Layout:
    """How to read and to make a kind of record, all fields at once."""

    def __init__(self, kind: Any) -> None:
        fields = dataclasses.fields(kind)
        names = [one.name for one in fields]
        self.read: Callable[[Any], tuple[Any, ...]] = attrgetter(*names)
        self.places = {name: place for place, name in enumerate(names)}
        self.wire_names = tuple(to_camel(name) for name in names)
        self.names = dict(zip(self.wire_names, names, strict=True))
        self.defaults = {one.name: one.default for one in fields}
        if kind is Task:
            self.defaults["stream_id"] = None  # left out where it is None, as all that is None
        self.required = [name for name, default in self.defaults.items() if default is dataclasses.MISSING]
        self.structured = [name for name in names if name in _READ_BACK]


@cache
def _layout(kind: Any) -> _Layout:
    return _Layout(kind)


def changed(record: RecordT, **changes: Any) -> RecordT:
    """As `dataclasses.replace`, but a fraction of its cost: a tick does this for everything that changes."""
    kind: Any = type(record)
    layout = _layout(kind)
    values = [*layout.read(record)]
    for name, value in changes.items():
        values[layout.places[name]] = value
    made: RecordT = kind(*values)
    return made


def wire_of(record: Any) -> dict[str, Any]:
    """A run-time record as JSON-ready data with the spec's names, absent values left out."""
    kind: Any = type(record)
    layout = _layout(kind)
    values = zip(layout.wire_names, layout.read(record), strict=True)
    shown = {name: value for name, value in values if value is not None}
    if "errand" in shown:
        shown["errand"] = wire_of(shown["errand"])
    if "trace" in shown:
        shown["trace"] = wire_of(shown["trace"])
    if "legs" in shown:
        shown["legs"] = [wire_of(leg) for leg in shown["legs"]]
    return shown


def from_wire(kind: type[RecordT], data: Mapping[str, Any]) -> RecordT:
    """The record that `wire_of` wrote; names it does not know are passed over, so that later logs still read."""
    hashable: Any = kind
    layout = _layout(hashable)
    names = layout.names
    given = {names[name]: value for name, value in data.items() if name in names}
    for name in layout.structured:
        if given.get(name) is not None:
            given[name] = _READ_BACK[name](given[name])
    for name in layout.required:
        if name not in given:
            return kind(**given)  # which makes a default of its own, or says what is missing
    made: RecordT = hashable(*(layout.defaults | given).values())
    return made


_READ_BACK: dict[str, Callable[[Any], Any]] = {
    "failed_at": tuple,
    "way": tuple,
    "errand": lambda errand: from_wire(Errand, errand),
    "trace": lambda trace: from_wire(Trace, trace),
    "legs": lambda legs: tuple(from_wire(Leg, leg) for leg in legs),
}
"""The fields that JSON does not give back as they were."""


def lay_out_records() -> None:
    """Works out now what is worked out once for each kind of record, so that no tick has to."""
    for kind in (Worksite, Stream, Errand, Robot, Trace, Task):
        _layout(kind)
