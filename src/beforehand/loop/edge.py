"""The last look before a machine is told anything: does this process still lead?

A lead lasts for a time only where several servers share a log. A process that was frozen, or cut off from its database,
may think that it leads while another one does; so this is asked right before every command, and not only where a
request comes in. While the log cannot be written the same holds. What stops a machine is not asked about.
"""

import asyncio
import math
from collections.abc import Awaitable

from beforehand.model.errors import Fault
from beforehand.ports.store import Store
from beforehand.ports.tasks import part, stop

CODE = "lead.unsure"
LOOK_S = 0.05


def refuse_unled(store: Store) -> None:
    """Fault, with nothing touched, where this process is not sure that it leads."""
    if store.lead_left_s() <= 0:
        raise Fault(
            "This server is not sure that it still leads and can write its log, so it told the machine nothing.",
            code=CODE,
            transient=True,
            untouched=True,
        )


async def while_led(store: Store, sending: Awaitable[None]) -> None:
    """Send something, which may take its time, and cut it off when this process is not sure any more that it leads."""
    if math.isinf(store.lead_left_s()):
        await sending
        return
    task = part(sending)
    try:
        while not task.done() and (left_s := store.lead_left_s()) > 0:
            await asyncio.wait([task], timeout=left_s)
        if not task.done():
            refuse_unled(store)
        await task
    finally:
        await stop([task])


async def until_led(store: Store) -> None:
    """Wait while this process is not sure that it leads; it is stopped meanwhile where another one does."""
    while store.lead_left_s() <= 0:  # noqa: ASYNC110  a clock tells it, and nobody else
        await asyncio.sleep(LOOK_S)
