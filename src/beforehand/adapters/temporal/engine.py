"""Temporal as the process that leads sees it: runs are started, asked and followed there.

The server may come and go. While it cannot be reached nothing is decided and nothing is lost: runs go on when it is
back, and what somebody asks for meanwhile is refused with a sentence.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from temporalio.client import (
    Client,
    WithStartWorkflowOperation,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowHandle,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.service import RPCError, RPCStatusCode

from beforehand.adapters.temporal.address import Address
from beforehand.adapters.temporal.connection import CONNECT_S, connect, identity_of
from beforehand.adapters.temporal.faults import unanswered, unreachable
from beforehand.adapters.temporal.names import HAND_IN, LOOK, WORKFLOW, Names
from beforehand.adapters.temporal.progress import progress_of
from beforehand.adapters.temporal.working import leader
from beforehand.model.errors import BeforehandError, UnavailableError
from beforehand.ports.log import Log
from beforehand.ports.tasks import SERVER, lasting, stop

log = Log("beforehand.temporal")
RETRY_S = 1.0
ANSWER_S = 30.0
"""How long an answer to what somebody asks of a run is waited for."""
TASK_TIMEOUT = timedelta(seconds=10)
"""How long a decision may take; after that another process may take it."""


class RunFailedError(BeforehandError):
    """The workflow of a run broke; the log says how far the run came."""

    code = "run.workflow_failed"


class Engine:
    def __init__(self, address: Address, activities: Sequence[Callable[..., Any]]) -> None:
        self._address = address
        self._activities = activities
        self._client: Client | None = None
        self._connected = asyncio.Event()
        self._working: asyncio.Task[None] | None = None
        self._before = replace(address, names=Names(address.names.prefix))
        """Where an older version began the runs of this log."""
        self._ids: dict[str, str] = {}
        """The ids of workflows, as far as they have been looked for."""

    def open(self) -> None:
        """Begin to work; a server that is not there yet is waited for."""
        self._working = lasting(self._work, "taking decisions through Temporal", SERVER)

    async def close(self) -> None:
        """Take no more decisions; what is in the air goes on, and its results wait at the server."""
        if self._working is not None:
            await stop([self._working])

    async def _work(self) -> None:
        while True:
            try:
                await self._take_decisions(await connect(self._address, identity_of("up")))
            except BeforehandError as error:
                log.warning("runs wait, because Temporal cannot be reached", says=error.says)
            except Exception as error:  # whatever ends it, it is begun anew
                log.error("decisions could not be taken through Temporal", error=str(error))
            await asyncio.sleep(RETRY_S)

    async def _take_decisions(self, client: Client) -> None:
        places = [self._address, self._before] if self._address.names.log.legacy else [self._address]
        workers = [leader(client, place, self._activities) for place in places]
        running = asyncio.gather(*(worker.run() for worker in workers))
        self._client = client
        self._connected.set()
        try:
            await asyncio.shield(running)
        finally:
            self._connected.clear()
            await asyncio.gather(*(worker.shutdown() for worker in workers))
            await asyncio.gather(running, return_exceptions=True)

    async def progress(self, run_id: str) -> list[tuple[str, float]]:
        """How far the calls of a run are; nothing where that cannot be found out now."""
        if self._client is None:
            return []
        try:
            return await progress_of(self._client, await self._id_of(self._client, run_id))
        except RPCError:
            return []

    async def _id_of(self, client: Client, run_id: str) -> str:
        """The id of a run's workflow: one that an older version began, and that goes on, keeps the id it has."""
        names = self._address.names
        if names.log.legacy and run_id not in self._ids:
            older = self._before.names.run(run_id)
            self._ids[run_id] = older if await _goes_on(client, older) else names.run(run_id)
        return self._ids.get(run_id) or names.run(run_id)

    # -- runs ----------------------------------------------------------------------------------------------------

    async def drive(self, run_id: str, *, start: bool) -> None:
        """Return when the run's workflow has ended; RunFailedError where it broke.

        With `start` it is started where there is none, and one that is there looks at the log: others may have written.
        """
        handle: WorkflowHandle[Any, Any] | None = None
        while True:
            await self._connected.wait()
            try:
                handle = handle or await self._handle(run_id, start)
                await handle.result()
                return
            except WorkflowFailureError as error:
                raise RunFailedError(f"{error.cause}") from error
            except RPCError as error:
                if error.status is RPCStatusCode.NOT_FOUND:
                    return
                log.warning("a run cannot be followed at Temporal; tried again", run=run_id, error=error.message)
                await asyncio.sleep(RETRY_S)

    async def _handle(self, run_id: str, start: bool) -> WorkflowHandle[Any, Any]:
        assert self._client is not None
        if not start:
            return self._client.get_workflow_handle(await self._id_of(self._client, run_id))
        return await self._client.start_workflow(
            WORKFLOW,
            self._order(run_id),
            id=await self._id_of(self._client, run_id),
            task_queue=self._address.names.runs,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            task_timeout=TASK_TIMEOUT,
            start_signal=LOOK,
        )

    def _order(self, run_id: str) -> dict[str, Any]:
        return {"runId": run_id, "lostAfterS": self._address.lost_after_s}

    async def _reached(self) -> Client:
        try:
            async with asyncio.timeout(CONNECT_S):
                await self._connected.wait()
        except TimeoutError as error:
            raise unreachable(self._address, error) from error
        assert self._client is not None
        return self._client

    async def hand_in(self, run_id: str, given: Mapping[str, Any], asked: Mapping[str, Any] | None) -> dict[str, Any]:
        """The verdict on an input, once it is durable; a run that has ended is taken up for it.

        UnavailableError where no answer comes; its code says whether the input may have been taken all the same.
        """
        client = await self._reached()
        try:
            async with asyncio.timeout(ANSWER_S):
                start: WithStartWorkflowOperation[Any, Any] = WithStartWorkflowOperation(
                    WORKFLOW,
                    self._order(run_id),
                    id=await self._id_of(client, run_id),
                    task_queue=self._address.names.runs,
                    id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                    task_timeout=TASK_TIMEOUT,
                )
                told: dict[str, Any] = await client.execute_update_with_start_workflow(
                    HAND_IN, args=[given, asked], start_workflow_operation=start, result_type=dict
                )
        except (RPCError, WorkflowUpdateRPCTimeoutOrCancelledError, TimeoutError) as error:
            raise unanswered(self._address, run_id, error) from error
        except WorkflowUpdateFailedError as error:
            raise UnavailableError(
                f"The run {run_id} could not take this: {error.cause}.", code="run.not_driven", hint="Try again."
            ) from error
        return told


async def _goes_on(client: Client, workflow_id: str) -> bool:
    try:
        described = await client.get_workflow_handle(workflow_id).describe()
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return False
        raise
    return described.status is WorkflowExecutionStatus.RUNNING
