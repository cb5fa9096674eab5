"""A question understood: what is asked of which index, narrowed how, over which time, by what it is split.

It is plain data, kept beside the query it becomes, so that "and per hour?" knows what it goes on from.
"""

from typing import Any, Literal

from beforehand.crafts.rounds.core.question_words import plural
from beforehand.model.base import WireModel

Act = Literal["count", "list", "top", "measure", "distinct", "share", "why", "when"]
How = Literal["", "avg", "sum", "max", "min", "median"]
Interval = Literal["", "hour", "day", "week", "month"]


class Span(WireModel):
    """From a moment to just before another, in ms since 1970, and what was said for it."""

    start: int
    end: int
    says: str


class Filter(WireModel):
    """One of the fields has one of the values."""

    fields: tuple[str, ...]
    values: tuple[Any, ...] = ()
    source: str
    """What it comes from: `noun`, `condition`, `more`, or `name:` and the kind of name."""
    ends_with: bool = False
    """A short id also means the long one that ends with it: `t13` is `hall-t13`."""
    missing: bool = False
    """None of the fields is there."""
    over: float | None = None
    under: float | None = None


class Question(WireModel):
    text: str
    index: str
    act: Act
    noun: str
    """What is asked about, for sentences."""
    filters: tuple[Filter, ...] = ()
    span: Span | None = None
    time: str
    measure: str = ""
    how: How = ""
    group: str = ""
    interval: Interval = ""
    down: bool = True
    size: int = 10
    start: int = 0
    corrections: tuple[str, ...] = ()
    """Names that were read as others, a sentence each."""

    @property
    def many(self) -> str:
        return plural(self.noun)
