"""The gate: a planner's batch becomes sub-goals, or fails one by one, before anything runs.

Ids count up over the whole session, so references inside a batch may point forward or back. What makes no sense fails
at once and alone; what is there already is dropped, its id an alias; a retry stands in for what it retries and revives
what waited for that.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from beforehand.crafts.rounds.core.state import QuestionState, SubGoal, changed
from beforehand.crafts.rounds.core.words import (
    BUNDLES_WITH,
    CONTEXT,
    FORCE_EXECUTE,
    NEEDS_CLARIFICATION,
    RETRY_OF,
    PlannedInputRef,
    PlannedSubGoal,
    PlannerDecision,
)
from beforehand.model.reason import name_list, unknown

_WORK = json.JSONEncoder(sort_keys=True, default=str)
"""Writes the same work the same way."""


@dataclass(frozen=True, slots=True)
class Admission:
    """What a batch came to: sub-goals that are new or changed, and what ids mean from now on."""

    changed: Mapping[int, SubGoal]
    aliases: Mapping[int, int]
    stand_ins: Mapping[int, int]
    next_id: int
    warnings: tuple[str, ...] = ()
    problems: Mapping[int, str] = field(default_factory=dict)
    """Why sub-goals of this batch failed at once, by id."""


def completed(state: QuestionState, decision: PlannerDecision) -> PlannerDecision:
    """The decision with the parameters that always follow from its wiring (rules 5 and 12)."""
    filled = tuple(_filled(state, planned) for planned in decision.sub_goals)
    return decision if filled == decision.sub_goals else decision.model_copy(update={"sub_goals": filled})


def _filled(state: QuestionState, planned: PlannedSubGoal) -> PlannedSubGoal:
    worker = state.workers.get(planned.worker)
    if worker is None:
        return planned
    follows: dict[str, Any] = {}
    source = planned.inputs.get(worker.bundles) if worker.bundles else None
    if source is not None and source.from_sub_goal != CONTEXT:
        follows[BUNDLES_WITH] = source.from_sub_goal
    if state.forces and NEEDS_CLARIFICATION in worker.outputs:
        follows[FORCE_EXECUTE] = True
    missing = {name: value for name, value in follows.items() if name not in {*planned.params, *planned.inputs}}
    return planned.model_copy(update={"params": {**planned.params, **missing}}) if missing else planned


def admit(state: QuestionState, batch: Sequence[PlannedSubGoal]) -> Admission:
    """What becomes of a batch in this state; nothing is dispatched yet."""
    return _Gate(state, batch).admission()


class _Gate:
    def __init__(self, state: QuestionState, batch: Sequence[PlannedSubGoal]) -> None:
        self.before = state
        self.new = {state.next_id + at: _sub_goal(state, state.next_id + at, each) for at, each in enumerate(batch)}
        self.changed: dict[int, SubGoal] = {}
        self.aliases = dict(state.aliases)
        self.stand_ins = dict(state.stand_ins)
        self.warnings: list[str] = []
        self.problems: dict[int, str] = {}

    def admission(self) -> Admission:
        self._stand_in()
        for sub_goal in self.new.values():
            self._fail(sub_goal.id, self._problems_of(sub_goal))
        self._break_cycles()
        self._revive()
        self._drop_doubles()
        self._hold_behind()
        kept = {id: each for id, each in self.new.items() if id not in self.aliases}
        next_id = self.before.next_id + len(self.new)
        return Admission(
            {**self.changed, **kept}, self.aliases, self.stand_ins, next_id, tuple(self.warnings), self.problems
        )

    # -- looking up ------------------------------------------------------------------------------------------------

    def resolved(self, sub_goal: int) -> int:
        while (further := self.aliases.get(sub_goal, self.stand_ins.get(sub_goal))) is not None:
            sub_goal = further
        return sub_goal

    def find(self, sub_goal: int) -> SubGoal | None:
        meant = self.resolved(sub_goal)
        return self.new.get(meant) or self.changed.get(meant) or self.before.sub_goals.get(meant)

    def sources(self, sub_goal: SubGoal) -> set[int]:
        return {self.resolved(ref.from_sub_goal) for ref in sub_goal.inputs.values()} - {CONTEXT}

    def _fail(self, id: int, problems: Sequence[str]) -> None:
        if problems:
            says = " ".join(problems)
            self.problems[id] = says
            self.new[id] = changed(self.new[id], status="failed", error=says, ended_round=self.before.round)

    # -- each by itself --------------------------------------------------------------------------------------------

    def _problems_of(self, sub_goal: SubGoal) -> list[str]:
        workers = self.before.workers
        found = [] if sub_goal.worker in workers else [unknown("worker", sub_goal.worker, workers).says]
        if twice := sorted(sub_goal.inputs.keys() & sub_goal.params.keys()):
            found.append(f"In inputs and in params at once: {name_list(twice)}.")
        for name, ref in sub_goal.inputs.items():
            found += self._reference_problems(sub_goal, name, ref)
        return found + self._retry_problems(sub_goal)

    def _reference_problems(self, sub_goal: SubGoal, name: str, ref: PlannedInputRef) -> list[str]:
        if self.resolved(ref.from_sub_goal) == sub_goal.id:
            return [f"The input {name} refers to the sub-goal itself."]
        if ref.from_sub_goal == CONTEXT:
            return self._slot_problems(name, ref, self.before.context, "the context")
        source = self.find(ref.from_sub_goal)
        if source is None:
            ids = [str(known) for known in (CONTEXT, *self.before.sub_goals, *self.new)]
            return [f"The input {name}: {unknown('sub-goal', ref.from_sub_goal, ids).says}"]
        if source.status == "failed" or source.worker not in self.before.workers:
            return []  # whatever slot it would have had, there will be none: it fails with its source
        slots = {*self.before.workers[source.worker].outputs, *source.outputs}
        return self._slot_problems(name, ref, slots, f"sub-goal {source.id} ({source.worker})")

    def _slot_problems(self, name: str, ref: PlannedInputRef, slots: Iterable[str], inside: str) -> list[str]:
        known = set(slots)
        if ref.slot in known:
            return []
        return [f"The input {name}: {unknown('slot', ref.slot, known, inside=inside).says}"]

    def _retry_problems(self, sub_goal: SubGoal) -> list[str]:
        if RETRY_OF not in sub_goal.params:
            return []
        wanted = sub_goal.params[RETRY_OF]
        is_id = isinstance(wanted, int) and not isinstance(wanted, bool)
        if is_id and wanted == sub_goal.id:
            return [f"{RETRY_OF} refers to the sub-goal itself."]
        if is_id and self.before.resolved(wanted) in {*self.before.sub_goals, *self.new}:
            return []
        return [f"{RETRY_OF}: {unknown('sub-goal', wanted, [str(id) for id in self.before.sub_goals]).says}"]

    # -- together --------------------------------------------------------------------------------------------------

    def _stand_in(self) -> None:
        """A retry takes the place of what it retries, if that has failed."""
        for id, sub_goal in self.new.items():
            wanted = sub_goal.params.get(RETRY_OF)
            if not isinstance(wanted, int) or isinstance(wanted, bool) or wanted == id:
                continue
            meant = self.resolved(wanted)
            target = self.before.sub_goals.get(meant)
            if target is not None and target.status == "failed":
                self.stand_ins[meant] = id
            elif target is not None or wanted in self.new or meant in self.new:
                says = f"Sub-goal {id} would retry sub-goal {wanted}, which has not failed; it runs by itself."
                self.warnings.append(says)

    def _break_cycles(self) -> None:
        """Whatever waits for itself, over however many others, fails."""
        needs = {each.id: self.sources(each) for each in self._could_wait() if each.inputs}
        reach = {id: _reached(needs, id) for id in needs}
        for id in self.new:
            if id in reach.get(id, ()):
                knot = sorted(other for other in reach[id] if id in reach.get(other, ()))
                self._fail(id, [f"These sub-goals wait for each other: {name_list(map(str, knot))}."])

    def _could_wait(self) -> list[SubGoal]:
        """What is pending, what is new and makes sense, and what suffers from another's failure."""
        old = [each for each in self.before.sub_goals.values() if each.is_open]
        return [*old, *self._suffering(), *(each for each in self.new.values() if each.status != "failed")]

    def _revive(self) -> None:
        """What failed because of another waits again, once nothing it waits for has failed any more."""
        going = True
        while going:
            going = False
            for each in self._suffering():
                if each.id not in self.changed and not self._suffers(each):
                    waits = changed(each, status="pending", error="", root=0, ended_round=0)
                    self.changed[each.id] = waits
                    going = True
        self._let_go({*self.changed})

    def _let_go(self, revived: set[int]) -> None:
        """The planner has looked at what is revived: nobody waits behind it a second time."""
        for each in self.before.sub_goals.values():
            if each.status == "pending" and revived & {*each.behind}:
                self.changed[each.id] = changed(each, behind=tuple(id for id in each.behind if id not in revived))

    def _suffering(self) -> list[SubGoal]:
        """What failed because of another, unless something else stands in for it by now."""
        found = self.before.sub_goals.values()
        return [each for each in found if each.root and each.id not in self.stand_ins]

    def _suffers(self, sub_goal: SubGoal) -> bool:
        found = (self.find(source) for source in self.sources(sub_goal))
        return any(source is None or source.status == "failed" for source in found)

    def _drop_doubles(self) -> None:
        """The same work as something pending or running is not done twice."""
        old = [each for each in {**self.before.sub_goals, **self.changed}.values() if each.is_open]
        going = True
        while going:
            going = False
            seen = {self._work(each): each.id for each in reversed(old)}
            for id, each in self.new.items():
                if id in self.aliases or each.status == "failed":
                    continue
                first = seen.setdefault(self._work(each), id)
                if first != id:
                    self._drop(each, first)
                    going = True

    def _drop(self, double: SubGoal, first: int) -> None:
        self.aliases[double.id] = first
        for retried, by in list(self.stand_ins.items()):
            if by == double.id:
                self.stand_ins[retried] = first
        says = f"Sub-goal {double.id} is the same work as sub-goal {first} ({double.worker}) and was dropped."
        self.warnings.append(says)
        kept = self.find(first)
        if kept is not None and double.goal_type == "deliverable" and kept.goal_type != "deliverable":
            where = self.new if first in self.new else self.changed
            where[first] = changed(kept, goal_type="deliverable")

    def _work(self, sub_goal: SubGoal) -> str:
        inputs = {name: [self.resolved(ref.from_sub_goal), ref.slot] for name, ref in sub_goal.inputs.items()}
        return _WORK.encode([sub_goal.worker, inputs, dict(sub_goal.params)])

    def _hold_behind(self) -> None:
        """What does not feed an exclusive sub-goal of its batch waits until the planner has looked at that."""
        batch = {id: each for id, each in self.new.items() if each.status != "failed" and id not in self.aliases}
        exclusive = [id for id, each in batch.items() if self.before.workers[each.worker].exclusive]
        if not exclusive:
            return
        needs = {id: self.sources(each) for id, each in {**self.changed, **batch}.items()}
        fed_by = {id: _reached(needs, id) & batch.keys() for id in batch}  # also through what a retry revives
        turns = sorted(exclusive, key=lambda id: (len(fed_by[id].intersection(exclusive)), id))  # feeders first
        for id, each in batch.items():
            stage = next((at for at, one in enumerate(turns) if id == one or id in fed_by[one]), len(turns))
            if stage:
                self.new[id] = changed(each, behind=tuple(turns[:stage]))


def _sub_goal(state: QuestionState, id: int, planned: PlannedSubGoal) -> SubGoal:
    return SubGoal(
        id,
        planned.worker,
        state.round,
        planned.description,
        dict(planned.inputs),
        dict(planned.params),
        planned.goal_type,
    )


def _reached(needs: Mapping[int, Iterable[int]], start: int) -> set[int]:
    """Everything that something waits for, over however many others; itself only where there is a cycle."""
    reached: set[int] = set()
    ahead = list(needs.get(start, ()))
    while ahead:
        id = ahead.pop()
        if id not in reached:
            reached.add(id)
            ahead.extend(needs.get(id, ()))
    return reached
