"""Runs carried out in this process: a driver each, on the one loop."""

from typing import TYPE_CHECKING, Any

from beforehand.app.leases import lease_for
from beforehand.app.run_progress import show_progress
from beforehand.app.run_states import replayed
from beforehand.app.runtime import Runtime
from beforehand.engine.inputs import Begin, Recover, RunInput
from beforehand.engine.state import RunState
from beforehand.loop.drivers import Driven
from beforehand.model.errors import UnavailableError
from beforehand.model.event import Verdict

if TYPE_CHECKING:
    from beforehand.loop.run_driver import RunDriver


class LocalRuns:
    """The `RunHost` of an installation on one machine."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._drivers: dict[str, RunDriver] = {}

    @property
    def driven(self) -> int:
        return len(self._drivers)

    def drives(self, run_id: str) -> bool:
        return run_id in self._drivers

    async def begin(self, run: RunState) -> None:
        self._put_on(run).put(Begin(self._runtime.now()))

    async def recover(self, run_id: str) -> None:
        if run_id in self._drivers:
            return
        run = await replayed(self._runtime.store, run_id)
        if not run.status.is_final and run_id not in self._drivers:
            self._put_on(run).put(Recover(self._runtime.now()))

    async def send(self, run_id: str, given: RunInput) -> Verdict[Any]:
        while True:
            await self.recover(run_id)
            driver = self._drivers.get(run_id)
            if driver is None:  # the run has ended; a retry may open it again
                driver = self._put_on(await replayed(self._runtime.store, run_id))
            try:
                return await driver.request(given)
            except UnavailableError as error:
                if error.code != "run.not_driven":
                    raise
                await self.wait(run_id)  # it ended while it was asked: a fresh driver takes the question

    async def state(self, run_id: str) -> RunState:
        driver = self._drivers.get(run_id)
        return driver.run if driver is not None else await replayed(self._runtime.store, run_id)

    async def wait(self, run_id: str, timeout_s: float | None = None) -> None:
        await self._runtime.drivers.wait(f"run:{run_id}", timeout_s)

    async def close(self) -> None:
        await self._runtime.drivers.stop("run:")

    def _put_on(self, run: RunState) -> "RunDriver":
        """Put a driver on a run; it works until the run has ended."""
        from beforehand.loop.run_driver import RunDriver, Surroundings

        runtime, plan = self._runtime, run.plan
        around = Surroundings(
            runtime.store,
            runtime.clock,
            runtime.catalog,
            runtime.extensions.tools,
            runtime.workspace(plan.workspace),
            lambda run_id, step_id, percent: show_progress(runtime, run_id, step_id, percent, plan.scene),
            lease_for(runtime),
        )
        driver = self._drivers[run.run_id] = RunDriver(run, around)
        about = {"runId": run.run_id, "planId": plan.id}
        driven = Driven(f"run:{run.run_id}", f"The run {run.run_id}", about, correlation_id=run.correlation_id)
        runtime.drivers.start(driven, driver.drive(), ended=lambda: self._forget(driver))
        return driver

    def _forget(self, driver: "RunDriver") -> None:
        if self._drivers.get(driver.run.run_id) is driver:
            del self._drivers[driver.run.run_id]
