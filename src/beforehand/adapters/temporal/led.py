"""What workflows ask of the process that leads: what the log holds of a run, an append, a machine.

An append names how many events of the run the log is thought to hold. Where it holds another number, nothing is
written: the workflow task that appended before was lost with its process, and the workflow reads the log anew.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from beforehand.adapters.temporal.heartbeats import heartbeats
from beforehand.adapters.temporal.known import part_of, write_known
from beforehand.adapters.temporal.names import APPEND, FETCH, LEASE, NOT_LEADING
from beforehand.adapters.temporal.wire import read_events
from beforehand.engine.inputs import LeaseMachine
from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.model.errors import NotFoundError, NotLeadingError, UnavailableError
from beforehand.model.event import Event
from beforehand.model.log_identity import LogIdentity
from beforehand.ports.log import Log
from beforehand.ports.store import EventFilter, Record, Store
from beforehand.ports.tool import ToolSpec

log = Log("beforehand.temporal")
CHUNK = 5_000
STORE_RETRY_S = 1.0
Lease = Callable[[str, LeaseMachine], Awaitable[None]]
"""Finds out whether a run can have a machine and hands that in, before anybody else is told that it is free."""


@dataclass(slots=True)
class Counted:
    """How many events of a run the log holds, and the number of the last one that was counted."""

    events: int
    seq: int


class Led:
    def __init__(
        self,
        store: Store,
        catalog: Callable[[], ToolCatalog],
        queue_of: Callable[[str], str],
        lease: Lease,
        identity: LogIdentity,
    ) -> None:
        self._store = store
        self._catalog = catalog
        self._queue_of = queue_of
        self._lease = lease
        self._identity = identity
        self._counts: dict[str, Counted] = {}
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._written: tuple[tuple[str, int | None, int], bytes] | None = None
        self._take_off = store.on_commit(self._count)

    @property
    def activities(self) -> Sequence[Callable[..., Any]]:
        return [self.fetch, self.append, self.lease]

    def close(self) -> None:
        self._take_off()

    def forget(self, run_id: str) -> None:
        """Nobody drives the run any more."""
        self._counts.pop(f"run:{run_id}", None)
        self._turns.pop(run_id, None)

    @activity.defn(name=FETCH)
    async def fetch(self, run_id: str, version: int | None, number: int, upto: int) -> bytes:
        """One part of what is known of a run, or of one version of its plan, up to an event of the log."""
        upto = upto or await self._store.last_seq()
        about = (run_id, version, upto)
        if self._written is None or self._written[0] != about:
            self._written = (about, await self._write(*about))
        return part_of(self._written[1], number, upto)

    async def _write(self, run_id: str, version: int | None, upto: int) -> bytes:
        events = [] if version is not None else await self._events(run_id, upto)
        wanted = {version} if version is not None else {event.data.get("version") for event in events}
        head = await self._store.row("run", run_id)
        if head is None:
            log.error("Temporal asks for a run that this log does not hold", run=run_id)
            raise NotFoundError(f"This log holds no run {run_id}; does another installation use the same prefix?")
        plans = [row for row in await self._store.rows("plan", parent=head["planId"]) if row["version"] in wanted]
        return write_known(plans, events, self._tools(plans), self._identity)

    def _tools(self, plans: Sequence[Mapping[str, Any]]) -> list[tuple[ToolSpec, str]]:
        catalog = self._catalog()
        names = dict.fromkeys(step["tool"] for plan in plans for step in plan["steps"])
        return [(spec, self._queue_of(name)) for name in names if (spec := catalog.get(name)) is not None]

    async def _events(self, run_id: str, upto: int) -> list[Event]:
        found: list[Event] = []
        only = EventFilter(owner=f"run:{run_id}")
        while chunk := await self._store.events(found[-1].seq if found else 0, CHUNK, only):
            found += chunk
        return [event for event in found if event.seq <= upto]

    @activity.defn(name=APPEND)
    async def append(self, run_id: str, count: int, written: bytes) -> bool:
        """Durable, or not at all; false where the log does not hold `count` events of the run."""
        events = read_events(written)
        async with self._turns[run_id]:
            counted = await self._counted(f"run:{run_id}")
            if counted.events != count:
                return False
            if not events:
                return True
            done = await self._durable(run_id, events)
            if counted.seq < done[-1].seq:
                counted.events, counted.seq = counted.events + len(done), done[-1].seq
        return True

    async def _durable(self, run_id: str, events: Sequence[Event]) -> Sequence[Event]:
        """The events as the log keeps them; a process that does not lead any more hands the decision back at once."""
        while True:
            try:
                return await self._store.append(events)
            except UnavailableError as error:
                log.error("the log cannot be written", owner=f"run:{run_id}", error=error.says)
                await asyncio.sleep(STORE_RETRY_S)
            except NotLeadingError as error:
                expected = ApplicationErrorCategory.BENIGN
                raise ApplicationError(error.says, type=NOT_LEADING, non_retryable=True, category=expected) from error

    async def _counted(self, owner: str) -> Counted:
        if owner not in self._counts:
            counted = Counted(0, 0)
            while chunk := await self._store.records(counted.seq, CHUNK, EventFilter(owner=owner)):
                counted.events, counted.seq = counted.events + len(chunk), chunk[-1].seq
            self._counts[owner] = counted
        return self._counts[owner]

    def _count(self, records: Sequence[Record]) -> None:
        for record in records:
            counted = self._counts.get(record.owner)
            if counted is not None and counted.seq < record.seq:
                counted.events, counted.seq = counted.events + 1, record.seq

    @activity.defn(name=LEASE)
    async def lease(self, run_id: str, command: dict[str, Any]) -> None:
        async with heartbeats():
            await self._lease(run_id, LeaseMachine(**command))
