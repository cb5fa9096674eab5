"""A bare Temporal workflow of the same activities, to compare with: no log, no decisions, nothing to see or to steer.

`python benchmarks/_bare_temporal.py ADDRESS QUEUE` is a worker for its activities, until it is ended.
"""

import asyncio
import sys
from datetime import timedelta

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.worker import PollerBehaviorAutoscaling, Worker


@activity.defn(name="wait")
async def wait(args: dict[str, float]) -> dict[str, float]:
    await asyncio.sleep(args["seconds"])
    return {"seconds": args["seconds"]}


@workflow.defn(name="bare")
class Bare:
    """Steps one after the other, each as our own are asked for."""

    @workflow.run
    async def run(self, steps: int, tools: str) -> int:
        for _ in range(steps):
            await workflow.execute_activity(
                wait,
                {"seconds": 0.0},
                task_queue=tools,
                start_to_close_timeout=timedelta(days=365),
                schedule_to_start_timeout=timedelta(minutes=10),
                heartbeat_timeout=timedelta(seconds=10),
            )
        return steps


def leader(client: Client, queue: str) -> Worker:
    polls = PollerBehaviorAutoscaling(minimum=2, maximum=20, initial=4)
    return Worker(client, task_queue=queue, workflows=[Bare], build_id="bare", workflow_task_poller_behavior=polls)


async def work(address: str, queue: str) -> None:
    client = await Client.connect(address)
    polls = PollerBehaviorAutoscaling(minimum=1, maximum=20, initial=1)
    worker = Worker(
        client,
        task_queue=queue,
        activities=[wait],
        build_id="bare",
        max_concurrent_activities=1_000,
        activity_task_poller_behavior=polls,
    )
    running = asyncio.create_task(worker.run())
    print("Working", flush=True)
    await running


if __name__ == "__main__":
    asyncio.run(work(*sys.argv[1:]))
