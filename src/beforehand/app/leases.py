"""Who holds which machine: read from the runs that have not ended and from what else holds one.

A run's lease is part of its head in the log. Whoever takes one holds the lock from looking until its event is durable,
so that no machine is given to two.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any

from beforehand.app.runtime import Runtime
from beforehand.engine.machines import machines_of
from beforehand.model.errors import ConflictError, UnavailableError
from beforehand.ports.log import Log

if TYPE_CHECKING:
    from beforehand.engine.inputs import LeaseMachine, MachineAsked
    from beforehand.engine.state import RunState
    from beforehand.loop.run_driver import RunDriver

log = Log("beforehand.runs")
LOCK = "machines"
"""The name of the one turn that all who take machines wait for."""
LEASE_ROW = "lease"
"""Rows of machines that something other than a run holds, by the machine: its `holder` in words, `since`,
`status`, and `howToFree`."""
AGAIN_MS = 1_000
"""How long a run waits before it asks again, where the log could not be read."""
HOLD = ("hold", "everything")
"""The row that is there while everything is held; then nobody is given a machine."""


async def holder_of(runtime: Runtime, machine: str, *, but: str = "") -> dict[str, Any] | None:
    """Who holds a machine, unless it is the run named by `but`; None where it is free."""
    for run in await runtime.store.rows("run", open=True):
        if machine in (run.get("machines") or ()) and run["runId"] != but:
            return {"machine": machine, "runId": run["runId"], "since": run["startedAt"], "status": run["status"]}
    return await runtime.store.row(LEASE_ROW, machine)


def _holder(held: dict[str, Any]) -> str:
    return str(held.get("holder") or f"the run {held['runId']}")


def _how_to_free(held: dict[str, Any]) -> str:
    run = held.get("runId")
    if run is None:
        return str(held.get("howToFree", "Wait until it ends, or end it."))
    return f"Wait until it ends, or: `beforehand runs cancel {run}`, `beforehand runs release {run}`."


async def refuse_held(runtime: Runtime, machines: Iterable[str], *, but: str = "") -> None:
    """ConflictError `machine.held` that names every machine another run holds."""
    found = [held for machine in machines if (held := await holder_of(runtime, machine, but=but)) is not None]
    if found:
        first = found[0]
        raise ConflictError(
            f"{first['machine']} is held by {_holder(first)} since {first['since']} ({first['status']}).",
            code="machine.held",
            hint=_how_to_free(first),
            extra={"held": found},
        )


async def refuse_needed(runtime: Runtime, run: "RunState") -> None:
    """The same for what a run that goes on needs and does not hold."""
    await refuse_held(runtime, machines_of(run.plan, runtime.catalog), but=run.run_id)


async def ask_for_machine(
    runtime: Runtime, run_id: str, command: "LeaseMachine", hand_in: "Callable[[MachineAsked], Awaitable[Any]]"
) -> None:
    """Tell a run whether it can have a machine; `hand_in` returns when that is in the log, and only then others ask."""
    from beforehand.engine.inputs import MachineAsked

    async with runtime.turns[LOCK]:
        held = await holder_of(runtime, command.machine, but=run_id)
        everything = runtime.held_now or await runtime.store.row(*HOLD)
        if everything is not None:
            held = {"machine": command.machine, "since": everything["since"], "by": everything["by"]}
        await hand_in(MachineAsked(runtime.now(), command.step_id, command.machine, held))


def lease_for(runtime: Runtime) -> Any:
    """What a run's driver asks when a step needs a machine that the run does not hold."""

    async def lease(driver: "RunDriver", command: "LeaseMachine") -> None:
        while True:
            try:
                return await ask_for_machine(runtime, driver.run.run_id, command, driver.request)
            except UnavailableError as error:
                if error.code == "run.not_driven":  # it has ended meanwhile
                    return None
                log.warning("the log does not say who has a machine", machine=command.machine, says=error.says)
            await runtime.clock.sleep_until(runtime.now() + AGAIN_MS)

    return lease
