"""Following what was handed in: from its review to the end of its run, and waiting for that to change."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from beforehand.cli.asking import path_to
from beforehand.cli.mcp.arguments import text, whole
from beforehand.cli.mcp.home_access import HomeAccess
from beforehand.cli.mcp.looking import decision_now, lines, recent_events, run_now, show_plan, step_lines
from beforehand.model.errors import UnavailableError
from beforehand.model.plan import RunStatus
from beforehand.ports.mcp import McpAnswer, McpTool

MOST_WAIT_S = 60
TURNS = (
    *("decisionOpened", "decisionAnswered", "decisionWithdrawn"),
    *("runStarted", "runUpdated", "runFinished"),
)
"""The events after which a plan may stand otherwise than before."""
FEW_RUNS = 50
MOST_RUNS = 10_000
"""Runs are listed newest first, and a plan that is followed has one of the newest, nearly always."""


async def follow_plan(access: HomeAccess, given: Mapping[str, Any]) -> McpAnswer:
    """How it stands; with `waitS`, as soon as it has ended or its run waits for a person, else when that has passed."""
    plan_id = str(given["planId"])
    version = given.get("version") or (await show_plan(access, {"planId": plan_id})).data["plan"]["version"]
    if given.get("waitS"):
        with suppress(TimeoutError, UnavailableError):  # then it is told how it stands
            async with asyncio.timeout(given["waitS"]):
                await _settled(access, plan_id, version)
    return await _told(access, await _standing(access, plan_id, version))


async def _settled(access: HomeAccess, plan_id: str, version: int) -> None:
    """Wait for the end, or for a person's turn; without a server nothing is waited for."""
    async with access.news(*TURNS) as news:  # heard before it is looked at, so that nothing falls in between
        if _is_settled(await _standing(access, plan_id, version)):
            return
        async for event in news:
            if _concerns(event, plan_id) and _is_settled(await _standing(access, plan_id, version)):
                return


def _concerns(event: Mapping[str, Any], plan_id: str) -> bool:
    data = event["data"]
    return plan_id in (event["about"].get("planId"), data.get("planId"), data.get("about", {}).get("planId"))


async def _standing(access: HomeAccess, plan_id: str, version: int) -> dict[str, Any]:
    """The review of this version, and the newest run of the plan if there is one."""
    review = await decision_now(access, f"{plan_id}-v{version}")
    run = await _newest_run(access, plan_id, FEW_RUNS)
    if run is None and review["status"] != "open":
        run = await _newest_run(access, plan_id, MOST_RUNS)
    return {"review": review} if run is None else {"review": review, "run": await run_now(access, run)}


async def _newest_run(access: HomeAccess, plan_id: str, among: int) -> str | None:
    from beforehand.app.runs import list_runs

    runs = await access.look(path_to("runs", limit=str(among)), lambda runtime: list_runs(runtime, limit=among))
    return next((str(run["runId"]) for run in runs if run["planId"] == plan_id), None)


def _is_settled(found: Mapping[str, Any]) -> bool:
    run = found.get("run")
    if run is not None:
        return RunStatus(run["status"]).is_final or bool(run["decisions"])
    return bool(found["review"]["status"] == "withdrawn" or found["review"].get("answer", {}).get("verb") == "cancel")


async def _told(access: HomeAccess, found: dict[str, Any]) -> McpAnswer:
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
    happened = (await recent_events(access, {"run": run["runId"]})).data["events"]
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
