"""Words of order between the clauses of a sentence: which clause each belongs to, and whether they agree with it.

"First", "then", "finally" say when a clause is to be done. Clauses are done in the order they are named, so a word that
says otherwise ("Finally go home, weld 1") is a contradiction and the sentence is refused. Where the order is free,
these words bind: what stands behind a "then" comes after all that stands before it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

BREAKS = ("sign", "and")
TURNS = ("then", "last", "now", "count")
"""Words that lead on to something later."""

LEADING = ("finally", "lastly")
"""Words that always stand before what they speak of; of the others a sign must say which side they belong to."""

DANGLING = ("then", "next", "and", "&", "+", "plus")


@dataclass(frozen=True, slots=True)
class Joint:
    """A sign or a word between two clauses."""

    kind: str
    """sign, and, first, then, last, now or count."""
    text: str
    number: int = 0
    """For count: `second`, or `2.` before a clause."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A clause among the others: its goals by number, and the words of order before and behind it."""

    first: int
    last: int
    lead: tuple[Joint, ...]
    joined: str
    """start, then, and, sign, or nothing."""
    bare: bool = False
    """No sign and no `and` stands between it and the clause before."""
    trail: tuple[Joint, ...] = ()

    def leads(self, *kinds: str) -> bool:
        return any(joint.kind in kinds for joint in self.lead)

    def trails(self, *kinds: str) -> bool:
        return any(joint.kind in kinds for joint in self.trail)


def split(joints: Sequence[Joint], *, opening: bool, closing: bool) -> tuple[tuple[Joint, ...], tuple[Joint, ...]]:
    """What belongs to the clause before, and what to the one that follows.

    A word straight behind a clause belongs to it if a sign follows; with no sign between two clauses it leads on.
    """
    marks = [joint for joint in joints if joint.kind not in BREAKS]
    if opening:
        return (), tuple(marks)
    cut = next((at for at, joint in enumerate(joints) if joint.kind in BREAKS), None)
    if cut is None and not closing:
        held = 1 if len(marks) > 1 else 0
        return tuple(marks[:held]), tuple(marks[held:])
    cut = len(joints) if cut is None else cut
    return tuple(joints[:cut]), tuple(joint for joint in joints[cut:] if joint.kind not in BREAKS)


def dangling(joints: Sequence[Joint]) -> str:
    """The word a sentence stops after, although something should follow."""
    broken = False
    for joint in joints:
        broken = broken or joint.kind in BREAKS
        if joint.text.lower() in DANGLING or (broken and joint.kind in ("first", "then", "last", "count")):
            return joint.text
    return ""


def contradictions(clauses: Sequence[Placed]) -> list[str]:
    """The words of order that do not agree with the order in which the clauses stand."""
    wrong: list[Joint] = []
    for at, clause in enumerate(clauses):
        wrong += _wrong_before(clauses, at, clause) + _wrong_behind(clauses, at, clause)
    return list(dict.fromkeys(joint.text for joint in wrong))


def _wrong_before(clauses: Sequence[Placed], at: int, clause: Placed) -> list[Joint]:
    kinds = {joint.kind for joint in clause.lead}
    if len(kinds) > 1 and kinds != {"then", "last"}:
        return list(clause.lead)
    rest = clauses[at + 1 :]
    ends = not rest or (at > 0 and all(other.joined == "and" and not other.lead for other in rest))
    allowed = {"first": at == 0, "then": at > 0, "last": ends, "now": True}
    return [
        joint
        for joint in clause.lead
        if not (joint.number == at + 1 if joint.kind == "count" else allowed[joint.kind])
        or (clause.bare and joint.kind in ("first", "last", "now") and joint.text.lower() not in LEADING)
    ]


def _wrong_behind(clauses: Sequence[Placed], at: int, clause: Placed) -> list[Joint]:
    closes, alone = at == len(clauses) - 1, len(clauses) == 1
    several = clause.last > clause.first
    ordered = any(joint.kind in TURNS or joint.kind == "first" for other in clauses for joint in other.lead)
    allowed = {
        "first": at == 0 and not (alone and several),
        "then": closes and not alone,
        "last": closes,
        "now": at == 0 or (closes and not ordered),
        "count": False,
    }
    return [joint for joint in clause.trail if not allowed[joint.kind]] if len(clause.trail) < 2 else list(clause.trail)


def comes_after(clauses: Sequence[Placed]) -> list[tuple[int, ...]]:
    """For every goal the numbers of those that a word of order puts before it."""
    after: list[tuple[int, ...]] = []
    group = 0
    for at, clause in enumerate(clauses):
        turned = at > 0 and (clause.leads(*TURNS) or clause.trails("then", "last"))
        behind_first = at > 0 and (clauses[at - 1].leads("first") or clauses[at - 1].trails("first", "now"))
        group = clause.first - 1 if turned or behind_first else group
        after += [tuple(range(1, group + 1))] * (clause.last - clause.first + 1)
    return after
