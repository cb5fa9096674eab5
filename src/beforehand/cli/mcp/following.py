"""Following what was handed in: from its review to the end of its run, and waiting for that to change."""

import asyncio
from collections.abc import Mapping
from typing import Any

from beforehand.cli.asking import path_to
from beforehand.cli.mcp.arguments import text, whole
from beforehand.cli.mcp.desk import HomeDesk
from beforehand.cli.mcp.looking import decision_now, lines, recent_events, run_now, show_plan, step_lines
from beforehand.model.plan import RunStatus
from beforehand.ports.mcp import McpAnswer, McpTool

MOST_WAIT_S = 60
PAUSE_S = 0.5
FEW_RUNS = 50
MOST_RUNS = 10_000
"""Runs are listed newest first, and a plan that is followed has one of the newest, nearly always."""


async def follow_plan(desk: HomeDesk, given: Mapping[str, Any]) -> McpAnswer:
    """How it stands; with `waitS`, as soon as it has ended or its run waits for a person, else when that has passed."""
    clock = asyncio.get_running_loop().time
    until = clock() + given.get("waitS", 0)
    version = given.get("version") or (await show_plan(desk, {"planId": given["planId"]})).data["plan"]["version"]
    while True:
        found = await _standing(desk, given["planId"], version)
        if _is_settled(found) or clock() >= until or await desk.server() is None:
            return await _told(desk, found)
        await asyncio.sleep(min(PAUSE_S, max(until - clock(), 0)))


async def _standing(desk: HomeDesk, plan_id: str, version: int) -> dict[str, Any]:
    """The review of this version, and the newest run of the plan if there is one."""
    review = await decision_now(desk, f"{plan_id}-v{version}")
    run = await _newest_run(desk, plan_id, FEW_RUNS)
    if run is None and review["status"] != "open":
        run = await _newest_run(desk, plan_id, MOST_RUNS)
    return {"review": review} if run is None else {"review": review, "run": await run_now(desk, run)}


async def _newest_run(desk: HomeDesk, plan_id: str, among: int) -> str | None:
    from beforehand.app.runs import list_runs

    runs = await desk.look(path_to("runs", limit=str(among)), lambda runtime: list_runs(runtime, limit=among))
    return next((str(run["runId"]) for run in runs if run["planId"] == plan_id), None)


def _is_settled(found: Mapping[str, Any]) -> bool:
    run = found.get("run")
    if run is not None:
        return RunStatus(run["status"]).is_final or bool(run["decisions"])
    return bool(found["review"]["status"] == "withdrawn" or found["review"].get("answer", {}).get("verb") == "cancel")


async def _told(desk: HomeDesk, found: dict[str, Any]) -> McpAnswer:
    review, run = found["review"], found.get("run")
    if run is None:
        says = {
            "open": f"It waits for a person's review, {review['id']}. Nothing runs before that.",
            "answered": f"A person answered its review with {review.get('answer', {}).get('verb')!r}.",
            "withdrawn": f"Its review was withdrawn. {review.get('why', '')}".rstrip(),
        }
        return McpAnswer(
            says.get(review["status"], review["status"]), {"status": f"review {review['status']}", **found}
        )
    happened = (await recent_events(desk, {"run": run["runId"]})).data["events"]
    waits = [f"waits for a person: {decision['title']} ({decision['id']})" for decision in run["decisions"]]
    head = f"Its run {run['runId']} is {run['status']}."
    told = {"status": run["status"], **found, "events": happened}
    return McpAnswer(lines(head, [*waits, *step_lines(run["steps"])]), told)


TOOLS = (
    McpTool(
        "follow_plan",
        "Follow a plan",
        "How a plan that was handed in stands: its review, then its run step by step and what happened. With `waitS` "
        "the answer comes when the run has ended or waits for a person, at the latest after that many seconds.",
        follow_plan,
        {
            "planId": text("The plan's id, as submit_plan gives it."),
            "version": whole("Which version's review; the latest when left out.", 1, 10**9),
            "waitS": {
                "type": "number",
                "minimum": 0,
                "maximum": MOST_WAIT_S,
                "description": f"How many seconds to wait for that, up to {MOST_WAIT_S}; 0 when left out.",
            },
        },
        ("planId",),
    ),
)
