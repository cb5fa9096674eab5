"""Machines held by a run: when one more is taken, and when one is given back.

The run's head lists those it holds, so that a lease is taken and given back by events of the run like everything else.
Whether a machine is free is asked outside.
"""

from beforehand.engine.board import Board
from beforehand.engine.inputs import LeaseMachine, MachineAsked
from beforehand.engine.machines import machine_of
from beforehand.engine.state import RunState, StepState
from beforehand.model.decision import content_hash
from beforehand.model.plan import StepStatus
from beforehand.ports.tool import ToolSpec

HELD_EFFECTS = {
    "check-again": "The machine is asked for again.",
    "skip": "The step is skipped and what depends on it goes on.",
    "abort": "Nothing new starts and the run ends as failed.",
}
_STILL = frozenset({StepStatus.PENDING, StepStatus.READY, StepStatus.RUNNING, StepStatus.IN_DOUBT})


def lacks_machine(board: Board, state: StepState, spec: ToolSpec, args: dict[str, object]) -> bool:
    """Whether the step works on a machine the run does not hold; then the machine is asked for."""
    machine = machine_of(spec, args)
    if machine is None or machine in board.run.machines:
        return False
    board.run.take_off(state.step.id)
    board.commands.append(LeaseMachine(board.run.key_of(state.step.id, state.attempt + 1), state.step.id, machine))
    return True


def machine_asked(board: Board, given: MachineAsked) -> None:
    """The machine is the run's now, or somebody else's: then a person is asked, and nothing waits in silence."""
    run = board.run
    run.land(given.step_id)
    if given.held_by is None:
        if given.machine not in run.machines:
            board.update_run(run.status, machines=[*run.machines, given.machine])
        return
    state = run.steps.get(given.step_id)
    if state is None or given.step_id not in run.eligible or run.cancelling or run.stopped_by:
        return
    holder = given.held_by.get("holder") or given.held_by.get("runId") or given.held_by.get("by") or "a person"
    says = f"{given.machine} is held by {holder} since {given.held_by.get('since')}."
    reason = {"code": "machine.held", "about": state.step.id, "says": says, "tryNext": "Answer in the inbox."}
    board.update_step(state, StepStatus.READY, reason=reason)
    evidence = {"tool": state.step.tool, "args": dict(state.step.args), "says": says, "heldBy": dict(given.held_by)}
    board.open_decision(
        "machineHeld",
        state,
        title=f"Its machine is held: {state.step.description or state.step.id}",
        effects=HELD_EFFECTS,
        evidence=evidence,
        covers=content_hash(evidence),
    )


def give_back(board: Board) -> None:
    """Machines that no step can need any more are given back."""
    run = board.run
    if run.head.get("machines"):
        left = [machine for machine in run.machines if _is_needed(board, run, machine)]
        if len(left) < len(run.machines):
            board.update_run(run.status, machines=left or None)


def _is_needed(board: Board, run: RunState, machine: str) -> bool:
    """Whether a step on this machine is still to start, in flight or in doubt, or waits for a person.

    The steps are looked at from the first that may need it on; those that cannot any more are not looked at again.
    """
    waiting = run.on_machine.get(machine)
    if waiting is None:
        names = (name for name, state in run.steps.items() if _works_on(board, state, machine))
        waiting = run.on_machine[machine] = dict.fromkeys(names)
    while waiting:
        name = next(iter(waiting))
        state = run.steps.get(name)
        if state is not None and (state.status in _STILL or state.decision is not None):
            return True
        del waiting[name]
    return False


def _works_on(board: Board, state: StepState, machine: str) -> bool:
    spec = board.catalog.get(state.step.tool)
    if spec is None or spec.machine is None:
        return False
    return machine_of(spec, state.step.args if state.args is None else state.args) in (machine, None)
