"""The claim of a physical call: before anything moves, the worker writes down at the server that the call begins.

A worker that was taken for lost cannot, so it does not begin; and a call that is lost without that mark never began, so
nobody need be asked about it. Signs of life before the claim are asked for one by one, each answered before the next
goes out, and all later ones carry the mark: none without it can arrive behind it.
"""

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

from temporalio import activity
from temporalio.client import AsyncActivityCancelledError
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError

from beforehand.adapters.temporal.heartbeats import beat_s
from beforehand.adapters.temporal.names import NOT_BEGUN
from beforehand.engine.inputs import StepEnded
from beforehand.ports.tasks import part


async def claimed(stopped: StepEnded, until_let: Coroutine[Any, Any, None]) -> StepEnded | None:
    """Claim the call as soon as it is let; else how its step ends, with nothing touched.

    `stopped` is how it ends where the server says that it is to stop.
    """
    untouched = replace(stopped, untouched=True)
    waiting = part(until_let)
    try:
        await _alive_until(waiting)
        await _mark(stopped.step_id, 0.0)
    except AsyncActivityCancelledError:
        return untouched
    except RPCError as error:
        says = f"The server could not be asked whether this worker may begin: {error.message}"
        return replace(untouched, error=says, stopped=False, transient=True)
    except asyncio.CancelledError:  # the worker ends
        raise ApplicationError(NOT_BEGUN, type=NOT_BEGUN) from None
    finally:
        waiting.cancel()
    return None


async def _alive_until(waiting: "asyncio.Task[None]") -> None:
    patience = activity.info().heartbeat_timeout
    every_s = beat_s(patience.total_seconds()) if patience is not None else None
    while not (await asyncio.wait({waiting}, timeout=every_s))[0]:
        await _mark()
    waiting.result()


async def _mark(*details: Any) -> None:
    """A sign of life that the server has taken."""
    handle = activity.client().get_async_activity_handle(task_token=activity.info().task_token)
    await handle.heartbeat(*details)
