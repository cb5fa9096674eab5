"""The planner without a model: backward from the wanted slot, by what workers need and deliver.

The same state gives the same decision. It plans as far ahead as it can see: where the next worker depends on a flag
that nobody has read yet, or on an exclusive worker, the batch ends there. A flag in the way is routed to the worker
whose preconditions ask for just that value, such as the one that asks a person; what was flagged is made anew
afterwards, with the answer wired in.
"""

from typing import Any, Literal

from beforehand.crafts.rounds.core.intake import NO_NEXT_PAGE, explicit_size
from beforehand.crafts.rounds.core.state import QuestionState, SubGoal
from beforehand.crafts.rounds.core.synthesis import outputs_by_name
from beforehand.crafts.rounds.core.words import (
    CONTEXT,
    NEEDS_CLARIFICATION,
    RETRY_OF,
    PlannedInputRef,
    PlannedSubGoal,
    PlannerDecision,
    Precondition,
    Worker,
    same,
)
from beforehand.model.reason import name_list

MOST_TRIES = 2
"""How often a worker is called whose failures may pass."""
MOST_DETOURS = 2
"""How often a person is asked to clarify."""

Found = PlannedInputRef | Literal["later"] | None
"""Where a slot is, or that it takes a round to know, or that it cannot be had."""


def plan_by_rules(state: QuestionState) -> PlannerDecision:
    """The decision for this round."""
    if state.context.get(NO_NEXT_PAGE) is True:
        return PlannerDecision(action="failed", reasoning="There is no next page: everything has been shown.")
    why: list[str] = []
    for slot in wanted_of(state):
        chain = _Chain(state, slot)
        found = chain.find(slot, ())
        if isinstance(found, PlannedInputRef) and not chain.planned and found.from_sub_goal in state.finished:
            return PlannerDecision(
                action="done", reasoning=f"{slot} has been delivered.", synthesis_inputs={slot: found}
            )
        if chain.planned or chain.waits:
            names = name_list(each.worker for each in chain.planned) if chain.planned else "what is pending"
            return PlannerDecision(action="continue", reasoning=f"For {slot}: {names}.", sub_goals=tuple(chain.planned))
        why += [says for says in chain.why if says not in why]
    return _without_more(state, why)


def wanted_of(state: QuestionState) -> tuple[str, ...]:
    """The slots to work towards: those the question wants, else what the workers that answer deliver first."""
    answering = (worker.outputs[0] for worker in state.workers.values() if worker.answers and worker.outputs)
    return state.wanted or tuple(dict.fromkeys(answering))


def _without_more(state: QuestionState, why: list[str]) -> PlannerDecision:
    """Nothing more can be done: what there is will do, or it has failed."""
    deliverables = list(state.deliverables())
    roots = [says for says in why if " failed: " in says] or why
    said = " ".join(roots) or "No worker delivers what is wanted."
    if deliverables:
        refs = outputs_by_name(state, deliverables)
        return PlannerDecision(action="done", reasoning=f"This is all there is. {said}", synthesis_inputs=refs)
    return PlannerDecision(action="failed", reasoning=said)


class _Chain:
    """A batch in the making, from the wanted slot backward."""

    def __init__(self, state: QuestionState, wanted: str) -> None:
        self.state = state
        self.wanted = wanted
        self.planned: list[PlannedSubGoal] = []
        self.why: list[str] = []
        self.waits = False
        """Whether something pending is needed, which goes by itself."""
        self._made: dict[str, PlannedInputRef] = {}
        self._stale = _stale(state)

    # -- slots -----------------------------------------------------------------------------------------------------

    def find(self, slot: str, path: tuple[str, ...]) -> Found:
        """Where a slot is; what makes it is planned where it has to be."""
        if (there := self._fresh(slot)) is not None:
            return there
        if slot in self._made:
            return self._made[slot]
        for worker in self.state.workers.values():
            if slot in worker.outputs and worker.name not in path:
                outcome = self._plan(worker, (*path, worker.name))
                if outcome == "later":
                    return "later"
                if outcome:
                    return self._made[slot]
        return None

    def _fresh(self, slot: str) -> PlannedInputRef | None:
        """The newest value of a slot, without what was flagged before somebody answered."""
        state = self.state
        for id in reversed(state.finished):
            if slot in state.sub_goals[id].outputs and id not in self._stale:
                return PlannedInputRef(from_sub_goal=id, slot=slot)
        return PlannedInputRef(from_sub_goal=CONTEXT, slot=slot) if slot in state.context else None

    # -- workers ---------------------------------------------------------------------------------------------------

    def _plan(self, worker: Worker, path: tuple[str, ...]) -> bool | Literal["later"]:
        """Have a worker called: in this batch, later, or not at all."""
        if self._is_pending(worker):
            self.waits = True
            return "later"
        if not self._may_try(worker):
            return False
        before, made = len(self.planned), dict(self._made)
        inputs: dict[str, PlannedInputRef] = {}
        later = False
        for need in worker.preconditions:
            found = self._flag(worker, need, path) if need.has_value else self._input(worker, need.slot, path)
            if found is None:
                del self.planned[before:]
                self._made = made
                return False
            if found == "later":
                later = True
            elif isinstance(found, PlannedInputRef):
                inputs[_input_name(worker, need.slot)] = found
        if later or any(self.state.workers[each.worker].exclusive for each in self.planned[before:]):
            return "later"
        self._add(worker, inputs)
        return True

    def _is_pending(self, worker: Worker) -> bool:
        return any(each.worker == worker.name and each.is_open for each in self.state.sub_goals.values())

    def _may_try(self, worker: Worker) -> bool:
        failures = self._failures(worker)
        if not failures or (failures[-1].transient and len(failures) < MOST_TRIES):
            return True
        self.why.append(f"{worker.name} failed: {failures[-1].error}")
        return False

    def _failures(self, worker: Worker) -> list[SubGoal]:
        """Its own failures since it last succeeded."""
        tries = [each for each in self.state.sub_goals.values() if each.worker == worker.name and not each.root]
        ended = [each for each in tries if not each.is_open]
        last = max((at for at, each in enumerate(ended) if each.status == "success"), default=-1)
        return ended[last + 1 :]

    def _input(self, worker: Worker, slot: str, path: tuple[str, ...]) -> Found:
        for candidate in worker.takes.get(slot, (slot,)):
            if (there := self._fresh(candidate)) is not None:
                return there
        for candidate in worker.takes.get(slot, (slot,)):
            if (found := self.find(candidate, path)) is not None:
                return found
        self.why.append(f"{worker.name} needs {slot}, and nothing delivers it.")
        return None

    def _flag(self, worker: Worker, need: Precondition, path: tuple[str, ...]) -> Found | Literal[True]:
        """Whether a flag is as a worker needs it; where nobody has said so yet, that takes a round."""
        if need.slot == NEEDS_CLARIFICATION and self.state.forces:
            return True
        there = self._fresh(need.slot)
        if there is None:
            found = self.find(need.slot, path)
            return "later" if found is not None else None
        if same(self.state.value_of(there), need.equals):
            return True if there == self.state.newest(need.slot) else there
        return self._detour(worker, need, self.state.value_of(there), path)

    def _detour(self, worker: Worker, need: Precondition, value: Any, path: tuple[str, ...]) -> Found:
        """The flag stands in the way: whoever's preconditions ask for just this value is called first."""
        for other in self.state.workers.values():
            if other.name not in path and self._answers_flag(other, need.slot, value):
                if any(each.worker == other.name for each in self.planned):
                    return "later"  # another worker needed it already
                done = sum(1 for each in self.state.sub_goals.values() if each.worker == other.name)
                if done < MOST_DETOURS and self._plan(other, (*path, other.name)):
                    return "later"
        self.why.append(f"{worker.name} needs {need.in_words()}.")
        return None

    def _answers_flag(self, worker: Worker, slot: str, value: Any) -> bool:
        return any(n.slot == slot and n.has_value and same(n.equals, value) for n in worker.preconditions)

    def _add(self, worker: Worker, inputs: dict[str, PlannedInputRef]) -> None:
        params: dict[str, Any] = {}
        for name, slots in worker.takes.items():
            there = next((ref for slot in slots if (ref := self._fresh(slot)) is not None), None)
            if name not in inputs and there is not None:
                inputs[name] = there
        if "size" in worker.options and (size := explicit_size(self.state.question)) and "size" not in inputs:
            params["size"] = size
        failures = self._failures(worker)
        if failures:
            params[RETRY_OF] = failures[-1].id
        id = self.state.next_id + len(self.planned)
        self.planned.append(
            PlannedSubGoal(
                worker=worker.name,
                description=worker.description,
                inputs=inputs,
                params=params,
                goal_type="deliverable" if self.wanted in worker.outputs else "support",
            )
        )
        self._made |= {slot: PlannedInputRef(from_sub_goal=id, slot=slot) for slot in worker.outputs}


def _input_name(worker: Worker, slot: str) -> str:
    """The input of a worker that a slot is wired to: its own name, else the input it may feed."""
    fed = [name for name, slots in worker.takes.items() if slot in slots]
    return slot if slot in worker.takes or not fed else fed[0]


def _stale(state: QuestionState) -> set[int]:
    """What was flagged as unclear before the last answer to such a flag: it is to be made anew."""
    answers = [at for at, id in enumerate(state.finished) if _is_answer(state, state.sub_goals[id])]
    before = state.finished[: answers[-1]] if answers else ()
    return {id for id in before if state.sub_goals[id].outputs.get(NEEDS_CLARIFICATION) is True}


def _is_answer(state: QuestionState, sub_goal: SubGoal) -> bool:
    needs = state.workers[sub_goal.worker].preconditions
    return any(need.slot == NEEDS_CLARIFICATION and need.has_value and need.equals is True for need in needs)
