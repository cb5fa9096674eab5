"""Workers: one in the process that leads, for decisions and the tools that work only there; others for their tools."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import Any

from temporalio.client import Client
from temporalio.worker import PollerBehaviorAutoscaling, Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from beforehand.adapters.temporal.address import Address
from beforehand.adapters.temporal.calls import Calls
from beforehand.adapters.temporal.heartbeats import beat_s
from beforehand.adapters.temporal.workflow import RunWorkflow

AT_ONCE = 1_000
STICKY = timedelta(seconds=5)
"""How long a decision waits for the process that knows its run before any other may take it."""
TOOL_POLLS = PollerBehaviorAutoscaling(minimum=1, maximum=20, initial=1)
RUN_POLLS = PollerBehaviorAutoscaling(minimum=2, maximum=20, initial=4)


def leader(client: Client, address: Address, activities: Sequence[Callable[..., Any]]) -> Worker:
    """Takes the decisions of every run, and calls the tools that work only in this process."""
    return Worker(
        client,
        task_queue=address.names.runs,
        workflows=[RunWorkflow],
        activities=activities,
        workflow_runner=workflow_runner(),
        # What Temporal would try again for ever, such as a replay that does not fit, becomes a decision of a person.
        workflow_failure_exception_types=[Exception],
        sticky_queue_schedule_to_start_timeout=STICKY,
        workflow_task_poller_behavior=RUN_POLLS,
        **_common(address, TOOL_POLLS),
    )


def tool_workers(client: Client, address: Address, calls: Calls, tools: Iterable[str], grace_s: float) -> list[Worker]:
    """One for each tool, so that a step finds whoever has its tool."""
    return [
        Worker(
            client,
            task_queue=address.names.tool(tool),
            activities=calls.activities,
            graceful_shutdown_timeout=timedelta(seconds=grace_s),
            **_common(address, TOOL_POLLS),
        )
        for tool in tools
    ]


@asynccontextmanager
async def running(workers: Sequence[Worker]) -> AsyncIterator[None]:
    """Have workers work; one that cannot go on ends the whole, and all are given time to end."""
    async with AsyncExitStack() as stack:
        for worker in workers:
            await stack.enter_async_context(worker)
        try:
            yield
        finally:
            await asyncio.gather(*(worker.shutdown() for worker in workers))


def _common(address: Address, polls: PollerBehaviorAutoscaling) -> dict[str, Any]:
    beat = timedelta(seconds=beat_s(address.lost_after_s))
    return {
        "build_id": "beforehand",  # else every loaded module is read and hashed at each start
        "max_concurrent_activities": AT_ONCE,
        "activity_task_poller_behavior": polls,
        "max_heartbeat_throttle_interval": beat,
        "default_heartbeat_throttle_interval": beat,
    }


def workflow_runner() -> SandboxedWorkflowRunner:
    """Workflow code may not look at the clock or the disk; everything it imports is pure or Temporal's own."""
    return SandboxedWorkflowRunner(restrictions=SandboxRestrictions.default.with_passthrough_all_modules())
