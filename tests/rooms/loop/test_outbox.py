"""Commands on their way: in order for each machine, and no machine waits for another."""

import asyncio

import pytest

from beforehand.adapters.memory.store import MemoryStore
from beforehand.loop.outbox import Outbox
from beforehand.model.errors import UnavailableError


class Machines:
    """Machines that note what they are sent; one that hangs takes nothing until it is let go."""

    def __init__(self) -> None:
        self.got: list[tuple[str, int]] = []
        self.let_go = asyncio.Event()

    async def take(self, machine: str, number: int) -> None:
        if machine == "slow":
            await self.let_go.wait()
        if number == 13:
            raise UnavailableError("It does not answer.")
        if number == 14:
            raise ValueError("a bug of the link")
        self.got.append((machine, number))


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_a_machine_that_hangs_delays_nobody_else() -> None:
    machines, outbox = Machines(), Outbox(MemoryStore())
    for number in (1, 2):
        for machine in ("slow", "quick"):
            outbox.send(machine, lambda machine=machine, number=number: machines.take(machine, number))
    await settle()
    assert machines.got == [("quick", 1), ("quick", 2)]
    machines.let_go.set()
    await settle()
    assert machines.got[2:] == [("slow", 1), ("slow", 2)]


@pytest.mark.parametrize("bad", [13, 14])
async def test_a_command_that_fails_is_not_the_end(bad: int) -> None:
    machines, outbox = Machines(), Outbox(MemoryStore())
    for number in (1, bad, 2):
        outbox.send("a", lambda number=number: machines.take("a", number))
    await settle()
    assert machines.got == [("a", 1), ("a", 2)]
    outbox.send("a", lambda: machines.take("a", 3))
    await settle()
    assert machines.got[-1] == ("a", 3)


async def test_closing_cuts_off_what_hangs_and_sends_nothing_more() -> None:
    machines, outbox = Machines(), Outbox(MemoryStore())
    for number in (1, 2):
        outbox.send("slow", lambda number=number: machines.take("slow", number))
    await settle()
    await outbox.close()
    machines.let_go.set()
    await settle()
    assert machines.got == []
