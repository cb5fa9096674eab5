"""What is alive in the active scenes, gathered for the page.

Fleets with their maps, cells with the plan that concerns them, and how much else is under way.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from beforehand.app.runtime import Runtime
from beforehand.loop.rows import plan_row_id
from beforehand.model.plan import RunStatus

REVIEWS_LOOKED_AT = 20
Row = Mapping[str, Any]


@dataclass(slots=True)
class LiveScenes:
    names: list[str] = field(default_factory=list)
    fleets: list[Row] = field(default_factory=list)
    cells: list[tuple[Row, Row, Row | None]] = field(default_factory=list)
    work: list[str] = field(default_factory=list)


async def live_scenes(runtime: Runtime, decisions: list[dict[str, Any]], runs: list[dict[str, Any]]) -> LiveScenes:
    live = LiveScenes()
    for row in await runtime.store.rows("scene", open=True):
        name = str(row["name"])
        live.names.append(name)
        craft = runtime.crafts.get(row["kind"])
        state = await craft.state(name) if craft is not None else {}
        if row["kind"] == "fleet":
            live.fleets.append(row)
        elif row["kind"] == "cell":
            cell = next(iter(state.get("cells", ())), {})
            live.cells.append((row["document"], cell, await _plan_of(runtime, name, decisions, runs)))
        live.work += [*_tasks(name, state.get("tasks", [])), *_sessions(name, state.get("sessions", []))]
    return live


async def _plan_of(
    runtime: Runtime, name: str, decisions: list[dict[str, Any]], runs: list[dict[str, Any]]
) -> Row | None:
    """The run under way in a cell, else the plan that waits for review longest."""
    for run in runs:
        if run.get("scene") == name and not RunStatus(run["status"]).is_final:
            made = await runtime.store.row("plan", plan_row_id(run["planId"], run["version"])) or {}
            return {**run, "world": made.get("world")}
    reviews = [decision["about"] for decision in decisions if decision["kind"] == "review"]
    for about in reviews[:REVIEWS_LOOKED_AT]:
        plan = await runtime.store.row("plan", plan_row_id(about["planId"], about["version"]))
        if plan is not None and plan.get("scene") == name:
            return plan
    return None


def _tasks(name: str, tasks: list[dict[str, Any]]) -> list[str]:
    if not tasks:
        return []
    many = "1 transport is" if len(tasks) == 1 else f"{len(tasks)} transports are"
    held = sum(1 for task in tasks if task["status"] in ("held", "stale"))
    return [f"{many} under way in {name}, {held} of them held." if held else f"{many} under way in {name}."]


def _sessions(name: str, sessions: list[dict[str, Any]]) -> list[str]:
    going = [session for session in sessions if session.get("status") not in ("ended", "failed")]
    if not going:
        return []
    return [f"{'1 session is' if len(going) == 1 else f'{len(going)} sessions are'} under way in {name}."]
