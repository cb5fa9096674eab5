"""When somebody sets the machine's clock, the log says so: from there on its times are not quite those of the wall.

Nothing waits longer or shorter for it, and nothing is older than it is: see `clock`.
"""

import asyncio

from beforehand.app.clock import WallClock
from beforehand.app.runtime import Runtime
from beforehand.app.sentences import clock_stepped
from beforehand.model.errors import BeforehandError
from beforehand.ports.log import Log

log = Log("beforehand.clock")
LOOK_S = 1.0


async def tell_steps(runtime: Runtime) -> None:
    """For as long as the server leads: what happens to the machine's clock is told in its log, and in the log."""
    if not isinstance(runtime.clock, WallClock):
        return  # a clock that nobody can set
    while True:
        for step in runtime.clock.take_steps():
            data = {"byMs": step.by_ms, "aheadMs": step.ahead_ms, "atStart": step.at_start}
            log.warning(clock_stepped(data))
            try:
                await runtime.log("clockStepped", data, owner="clock")
            except BeforehandError as error:  # while the log cannot be written, the server's log has it
                log.warning("the log does not say that the clock was set", says=error.says)
        await asyncio.sleep(LOOK_S)
