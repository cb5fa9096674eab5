"""Folders outside the server's own are for admins: to choose, and to start or change what works there.

Anybody may still stop such a plan: pause, skip, deny, cancel.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from beforehand.app.not_live import NOT_LIVE
from beforehand.app.plans import get_plan
from beforehand.app.runtime import Runtime
from beforehand.model.errors import NotFoundError
from beforehand.server.callers import Caller, require

GOES_ON = frozenset({"start", "adopt", "approve", "insert", "replan", "run-again"})
"""Answers that let a plan do something it was not yet allowed to."""


def checked_workspace(runtime: Runtime, caller: Caller, path: str | None) -> str | None:
    """A folder that somebody chooses for a plan; ForbiddenError when it is not theirs to choose."""
    if path is not None:
        runtime.workspace(path)
        _require_for(runtime, caller, path, "a workspace outside the server's own")
    return path


async def require_for_plan(runtime: Runtime, caller: Caller, plan_id: str) -> None:
    """ForbiddenError unless this caller may start and change the plan."""
    try:
        plan = await get_plan(runtime, plan_id)
    except NotFoundError:
        return  # the call itself says so
    _require_for(
        runtime, caller, plan.workspace, "starting or changing a plan whose workspace is outside the server's own"
    )


async def require_for_run(runtime: Runtime, caller: Caller, run_id: str) -> None:
    """The same for a run, by its plan."""
    row = await runtime.store.row("run", run_id)
    if row is not None:
        await require_for_plan(runtime, caller, str(row["planId"]))


async def require_for_answer(runtime: Runtime, caller: Caller, decision_id: str, verb: str, value: Any) -> None:
    """The same for an answer that lets a plan go on, or changes it."""
    row = await runtime.store.row("decision", decision_id)
    if row is not None and row["kind"] == NOT_LIVE and verb == "deactivate":
        require(caller, "admin", "letting a scene rest")
    if row is None or not (verb in GOES_ON or (verb == "retry" and value is not None)):
        return
    about: Mapping[str, Any] = row["about"]
    if about.get("planId"):
        await require_for_plan(runtime, caller, str(about["planId"]))


def _require_for(runtime: Runtime, caller: Caller, path: str | None, for_what: str) -> None:
    if path is None:
        return
    own = runtime.settings.workspace
    if not Path(os.path.realpath(own / path)).is_relative_to(os.path.realpath(own)):
        require(caller, "admin", for_what)
