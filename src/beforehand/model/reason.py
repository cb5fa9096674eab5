"""Why something waits, is refused or is wrong, as data.

A Reason has a code for programs, what it is about, a sentence for people and what to try next; it reaches the
screen unchanged. A Problem is a Reason about a document: it also says where in the document.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Literal

from pydantic import AliasChoices, Field

from beforehand.model.base import WireModel


class Reason(WireModel):
    code: str
    about: str
    says: str
    try_next: str = ""


class Problem(Reason):
    path: str = ""
    nearest: tuple[str, ...] = ()
    fixable_by: Literal["user", "graph", "state"] | None = Field(
        default=None, validation_alias=AliasChoices("fixable_by", "fixableBy"), serialization_alias="fixable_by"
    )
    """A word of the sequence spec, so it is written as that spec writes its words."""


def nearest_names(wanted: str, names: Iterable[str]) -> tuple[str, ...]:
    """All the names when there are ten or fewer, else the three nearest, as every message of the house offers them."""
    known = sorted(set(names))
    if len(known) <= 10:
        return tuple(known)
    folded: dict[str, str] = {}
    for name in known:
        folded.setdefault(name.lower(), name)
    close = [folded[match] for match in get_close_matches(wanted.lower(), list(folded), n=3, cutoff=0.0)]
    return tuple(close)


def name_list(names: Iterable[str]) -> str:
    """Names as they stand in a sentence: `a, b, c`, or `none`."""
    return ", ".join(names) or "none"
