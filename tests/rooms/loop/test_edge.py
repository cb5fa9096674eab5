"""Nothing is told to a machine by a process that is not sure that it leads."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from beforehand.adapters.files.workspace import DiskWorkspace
from beforehand.adapters.memory.store import MemoryStore
from beforehand.loop.edge import refuse_unled, until_led
from beforehand.loop.outbox import Outbox
from beforehand.model.errors import Fault


class Lapsing(MemoryStore):
    left_s = 0.0

    def lead_left_s(self) -> float:
        return self.left_s


def test_a_store_that_is_only_read_gives_no_right_to_act() -> None:
    refuse_unled(MemoryStore())
    with pytest.raises(Fault) as refused:
        refuse_unled(MemoryStore(lead=False))
    assert refused.value.untouched
    assert refused.value.transient


async def test_whoever_waits_goes_on_when_it_is_sure_again() -> None:
    store = Lapsing()
    waiting = asyncio.create_task(until_led(store))
    await asyncio.sleep(0)
    assert not waiting.done()
    store.left_s = 1.0
    async with asyncio.timeout(60):
        await waiting


async def test_the_outbox_sends_nothing_without_the_lead() -> None:
    store, sent = Lapsing(), asyncio.Event()

    async def send() -> None:
        sent.set()

    outbox = Outbox(store)
    outbox.send("a", send)
    await asyncio.sleep(0.01)
    assert not sent.is_set()
    store.left_s = 5.0
    outbox.send("a", send)
    async with asyncio.timeout(60):
        await sent.wait()


async def test_a_command_that_hangs_is_cut_off_when_the_time_is_over() -> None:
    loop = asyncio.get_running_loop()
    until_s = loop.time() + 0.05
    store: Any = Lapsing()
    store.lead_left_s = lambda: max(0.0, until_s - loop.time())
    ended = asyncio.Event()

    async def hang() -> None:
        try:
            await asyncio.sleep(600)
        finally:
            ended.set()

    outbox = Outbox(store)
    outbox.send("a", hang)
    async with asyncio.timeout(60):
        await ended.wait()


async def test_a_file_gets_its_content_only_from_a_process_that_leads(tmp_path: Path) -> None:
    store = Lapsing()
    workspace = DiskWorkspace(tmp_path, before_change=lambda: refuse_unled(store))
    with pytest.raises(Fault) as refused:
        await workspace.write("a.txt", b"1")
    assert refused.value.untouched
    assert await workspace.entries(".") == []
    store.left_s = 1.0
    await workspace.write("a.txt", b"1")
    store.left_s = 0.0
    with pytest.raises(Fault):
        await workspace.delete("a.txt")
    assert await workspace.read("a.txt") == b"1"
