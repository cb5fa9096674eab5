"""Signs of life while an activity works; with their answers comes word that it is to stop."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from temporalio import activity

from beforehand.ports.tasks import part, stop

BEATS_A_PATIENCE = 10
"""Signs of life in the time after which a worker is given up."""
SLOWEST_S = 0.5


def beat_s(patience_s: float) -> float:
    return min(SLOWEST_S, patience_s / BEATS_A_PATIENCE)


@dataclass(slots=True)
class Pulse:
    """What goes with a sign of life: which step it is, and how far its work is in percent; nothing before it begins."""

    step_id: str = ""
    percent: float = 0.0


@asynccontextmanager
async def heartbeats(pulse: Pulse | None = None) -> AsyncIterator[None]:
    """Give signs of life until the work inside has ended."""
    patience = activity.info().heartbeat_timeout
    pulse = pulse or Pulse()
    beating = part(_beat(pulse, beat_s(patience.total_seconds() if patience else SLOWEST_S)))
    try:
        yield
    finally:
        await stop([beating])


async def _beat(pulse: Pulse, every_s: float) -> None:
    while True:
        await asyncio.sleep(every_s)
        if pulse.step_id:
            activity.heartbeat(pulse.step_id, pulse.percent)
        else:
            activity.heartbeat()
