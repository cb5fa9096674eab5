"""Runs carried out in this process: a driver each, on the one loop."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from beforehand.app.leases import lease_for
from beforehand.app.run_progress import show_progress
from beforehand.app.run_states import owner_of_run, replayed
from beforehand.app.runtime import Runtime
from beforehand.engine.inputs import Begin, PauseAsked, Recover, RunInput
from beforehand.engine.state import RunState
from beforehand.loop.host import Host
from beforehand.model.errors import UnavailableError
from beforehand.model.event import Verdict

if TYPE_CHECKING:
    from beforehand.loop.run_driver import RunDriver


GONE = "run.not_driven"
TIMES = 5
"""How often a run that ends just when it is asked is taken up again for the question."""


class LocalRuns:
    """The `RunHost` of an installation on one machine."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._host: Host[RunDriver] = Host(runtime.nursery, owner_of_run, self._take_up)

    @property
    def driven(self) -> int:
        return len(self._host.live)

    def drives(self, run_id: str) -> bool:
        return run_id in self._host

    async def begin(self, run: RunState) -> None:
        from beforehand.app.holds import moves

        driver = self._put_on(run)
        if self._runtime.held_now is not None and moves(self._runtime, run.plan):  # held while its start was written
            driver.put(PauseAsked(self._runtime.now()))
        driver.put(Begin(self._runtime.now()))

    async def recover(self, run_id: str) -> None:
        await self._host.take_up(run_id)

    async def recover_all(self, run_ids: Iterable[str]) -> int:
        return await self._host.take_up_all(run_ids)

    async def _take_up(self, run_id: str) -> None:
        run = await replayed(self._runtime.store, run_id)
        if not run.status.is_final:
            self._put_on(run).put(Recover(self._runtime.now()))

    async def send(self, run_id: str, given: RunInput) -> Verdict[Any]:
        for _ in range(TIMES):
            await self._host.take_up(run_id)
            driver = self._host.live.get(run_id)
            if driver is None:  # the run has ended; a retry may open it again
                driver = self._put_on(await replayed(self._runtime.store, run_id))
            try:
                return await driver.request(given, patient=False)
            except UnavailableError as error:
                if error.code != GONE:
                    raise
                await self.wait(run_id)  # it ended while it was asked: a fresh driver takes the question
        raise UnavailableError(
            f"The run {run_id} stopped each time before it could take this.",
            code=GONE,
            hint="The inbox says why it stopped.",
        )

    async def brake(self, run_id: str, given: RunInput) -> tuple[Verdict[Any], bool]:
        driver = self._host.live.get(run_id)
        if driver is None:  # nothing of it is under way
            return await self.send(run_id, given), True
        try:
            braked = await driver.brake(given)
        except UnavailableError as error:
            if error.code != GONE:
                raise
            return await self.send(run_id, given), True  # it stopped just now
        return braked.verdict, braked.is_recorded

    def states(self) -> list[RunState]:
        return [driver.run for driver in self._host]

    async def state(self, run_id: str) -> RunState:
        driver = self._host.live.get(run_id)
        return driver.run if driver is not None else await replayed(self._runtime.store, run_id)

    async def wait(self, run_id: str, timeout_s: float | None = None) -> None:
        await self._host.wait(run_id, timeout_s)

    async def close(self) -> None:
        await self._host.close()

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
        driver = RunDriver(run, around)
        self._host.start(run.run_id, driver, driver.drive(), owner_of_run(run.run_id, run.correlation_id, plan.id))
        return driver
