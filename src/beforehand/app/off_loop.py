"""Work on big plans is done beside the event loop, so that nobody else is held up."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

from beforehand.model.plan import Plan

BIG = 200
"""Plans of more steps are worked on in a thread."""
P = ParamSpec("P")
T = TypeVar("T")


async def off_loop(plan: Any, work: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """What pure work on a plan, or on its document, comes to."""
    if _size(plan) > BIG:
        return await asyncio.to_thread(work, *args, **named)
    return work(*args, **named)


def _size(plan: Any) -> int:
    if isinstance(plan, Mapping):
        plan = plan.get("steps", plan.get("plan"))
        return _size(plan) if isinstance(plan, Mapping | list) else 0
    if isinstance(plan, Plan):
        return len(plan.steps)
    return len(plan) if isinstance(plan, list) else 0
