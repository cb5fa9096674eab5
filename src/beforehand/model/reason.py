"""Why something waits, is refused or is wrong, as data.

A Reason has a code for programs, what it is about, a sentence for people and what to try next; it reaches the
screen unchanged. A Problem is a Reason about a document: it also says where in the document.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Literal, NamedTuple

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
    """All the names when there are ten or fewer, else the three nearest, as every message offers them."""
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


class UnknownName(NamedTuple):
    """A name nobody knows, told: the sentence, and the names to choose from."""

    says: str
    nearest: tuple[str, ...]


def unknown(
    kind: str, name: object, known: Iterable[str] | None, *, inside: str = "", plural: str = "", like: str = ""
) -> UnknownName:
    """The one way to say that a name is not known: `Unknown robot 'RB-9' in hall. Known robots: RB-1, RB-2.`

    With more than ten names the three nearest are given, with `known=None` none. `inside` says where the name was
    looked for, `plural` is for nouns that do not just take an s, `like` is the spelling to compare with when that is
    not the name itself.
    """
    lead = f"Unknown {kind} {_shown(name)}{f' in {inside}' if inside else ''}."
    if known is None:
        return UnknownName(lead, ())
    names = set(known)
    nearest = nearest_names((like or str(name))[:80], names)
    plural = plural or f"{kind}s"
    if not nearest:
        return UnknownName(f"{lead} There are no {plural}.", ())
    which = "Known" if len(names) <= 10 else "Nearest"
    return UnknownName(f"{lead} {which} {plural}: {name_list(nearest)}.", nearest)


def _shown(name: object) -> str:
    """A name as a sentence can hold it: short, and never a whole tree."""
    if isinstance(name, str):
        return repr(name[:80])
    return repr(name)[:80] if isinstance(name, int | float | None) else "(a list or an object)"
