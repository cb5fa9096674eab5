"""What a call that gave no result means: it never began, its worker is gone, or it broke outside the tool."""

from dataclasses import replace
from datetime import timedelta

from temporalio.exceptions import ActivityError, ApplicationError, CancelledError, TimeoutError, TimeoutType

from beforehand.adapters.temporal.names import LOST
from beforehand.engine.calls import NOT_CONFIRMED
from beforehand.engine.inputs import StartStep, StepEnded, StepLost

UNTAKEN = timedelta(minutes=10)
"""How long a step may wait for a worker that has its tool."""

Attempt = tuple[str, int]


def stopped(attempt: Attempt) -> StepEnded:
    return StepEnded(0, *attempt, ok=False, error=NOT_CONFIRMED, stopped=True)


def what_became_of(command: StartStep, error: ActivityError, *, is_physical: bool) -> StepEnded | StepLost:
    """The input that says so; what may have moved something is in doubt unless it never began."""
    attempt = (command.step_id, command.attempt)
    match error.cause:
        case CancelledError():
            return replace(stopped(attempt), untouched=True)  # nobody had taken it yet
        case TimeoutError(type=TimeoutType.SCHEDULE_TO_START):
            says = (
                f"No worker with the tool {command.tool} took it within {UNTAKEN.total_seconds() / 60:g} minutes. "
                f"Start one: beforehand worker --tools {command.tool}"
            )
            return StepEnded(0, *attempt, ok=False, error=says, transient=True, untouched=True)
        case TimeoutError() as late:
            return StepLost(0, *attempt, begun=not is_physical or bool(late.last_heartbeat_details))
        case ApplicationError(type="lost" | "notBegun") as lost:
            return StepLost(0, *attempt, begun=not is_physical or lost.type == LOST)
        case cause:
            says = f"It could not be carried out: {cause}"
            return StepEnded(0, *attempt, ok=False, error=says, in_doubt=is_physical)
