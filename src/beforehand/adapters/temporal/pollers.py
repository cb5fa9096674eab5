"""Who has asked a Temporal server for work lately, as the server remembers it for some minutes."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client
from temporalio.service import RPCError

from beforehand.adapters.temporal.address import Address
from beforehand.adapters.temporal.connection import connect, identity_of
from beforehand.adapters.temporal.faults import unreachable

DECISIONS, CALLS = TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW, TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY


@dataclass(frozen=True, slots=True)
class Seen:
    leaders: frozenset[str]
    """Who takes decisions, as `beforehand-up@host:process`."""
    workers: frozenset[str]
    idle_tools: tuple[str, ...]
    """The tools that no worker has."""


async def seen_at(address: Address, tools: Sequence[str]) -> Seen:
    """Who leads and who works, for these tools; UnavailableError where the server does not answer."""
    client = await connect(address, identity_of("doctor"))
    names = address.names
    try:
        leaders = await _pollers(client, names.runs, DECISIONS)
        found = await asyncio.gather(*(_pollers(client, names.tool(tool), CALLS) for tool in tools))
    except RPCError as error:
        raise unreachable(address, error) from error
    idle = tuple(tool for tool, workers in zip(tools, found, strict=True) if not workers)
    return Seen(leaders, frozenset().union(*found), idle)


async def _pollers(client: Client, queue: str, kind: TaskQueueType.ValueType) -> frozenset[str]:
    request = DescribeTaskQueueRequest(
        namespace=client.namespace, task_queue=TaskQueue(name=queue), task_queue_type=kind
    )
    answer = await client.workflow_service.describe_task_queue(request)
    return frozenset(poller.identity for poller in answer.pollers)
