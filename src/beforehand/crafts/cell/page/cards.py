"""The cells: each with its map, where the robot stands and what it holds, and the plan that runs there or waits."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from beforehand.app.plans import get_plan
from beforehand.crafts.cell.cells import KIND, Cells
from beforehand.crafts.cell.core.plan_steps import MOVE_TOOL, ROUTINE_TOOL
from beforehand.crafts.cell.page.map import Way, cell_map
from beforehand.model.plan import RunStatus
from beforehand.model.words import counted
from beforehand.server.page.html import Html, Part, el
from beforehand.server.page.icons import badge, shape
from beforehand.server.page.panels import PageContext, Panel
from beforehand.server.page.parts import card

REVIEWS_LOOKED_AT = 20
_DONE = ("completed", "skipped")
_LEGEND = (("home", "Home"), ("safe", "Safe"), ("work", "Work"), ("stand", "Tool stand"))
_WAYS = (("now", "Under way"), ("ahead", "To come"), ("done", "Done"))


async def live_card(context: PageContext, scene: Mapping[str, Any]) -> Html:
    """The card of a live cell, with the run under way in it, else the plan that waits longest for review."""
    name = str(scene["name"])
    state = await context.runtime.service(Cells).document(name)
    return cell_card(scene["document"], state, await _plan_of(context, name))


async def _plan_of(context: PageContext, name: str) -> Mapping[str, Any] | None:
    for run in context.runs:
        if run.get("scene") == name and not RunStatus(run["status"]).is_final:
            plan = await get_plan(context.runtime, run["planId"], run["version"])
            return {**run, "world": plan.world}
    reviews = [decision["about"] for decision in context.decisions if decision["kind"] == "review"]
    for about in reviews[:REVIEWS_LOOKED_AT]:
        plan = await get_plan(context.runtime, about["planId"], about["version"])
        if plan.scene == name:
            return plan.wire()
    return None


def cell_card(document: Mapping[str, Any], state: Mapping[str, Any], plan: Mapping[str, Any] | None) -> Html:
    name = str(document["name"])
    standing, tool = state.get("current_position"), str(state.get("current_tool") or "none")
    way = way_of(plan, standing) if plan is not None else Way()
    return card(
        f"cell-{name}",
        "cell",
        el(
            "div",
            {"class": "cell-shell", "data-cell": name, "data-position": standing or "", "data-tool": tool},
            cell_map(document, standing, tool, way),
            el(
                "div",
                {"class": "cell-side"},
                el("h3", {}, name),
                _facts(standing, tool, state),
                _plan(plan),
                _legend(bool(way.hops or way.stops)),
            ),
        ),
    )


def way_of(plan: Mapping[str, Any], standing: str | None) -> Way:
    """The hops and stops of a plan or run, each done, under way or to come."""
    way = Way()
    here = (plan.get("world") or {}).get("current_position") or standing
    for step in plan["steps"]:
        args, state = step.get("args") or {}, _progress(step.get("status", "pending"))
        if step["tool"] == MOVE_TOOL:
            if here is not None:
                way.hop(str(here), str(args.get("target")), state)
            here = args.get("target")
        elif step["tool"] == ROUTINE_TOOL:
            way.stop(str(args.get("position")), step.get("description") or str(args.get("target")), state)
    return way


def _progress(status: str) -> str:
    if status in _DONE:
        return "done"
    return "now" if status in ("running", "inDoubt", "failed") else "ahead"


def _facts(standing: str | None, tool: str, state: Mapping[str, Any]) -> Html:
    where: Part = el("strong", {}, standing) if standing else badge("inDoubt")
    rows = [
        el("dt", {}, "Stands at"),
        el("dd", {}, where, None if standing else [" ", state.get("says") or "Its position is not known."]),
        el("dt", {}, "Holds"),
        el("dd", {}, el("strong", {}, tool) if tool != "none" else "nothing"),
    ]
    return el("dl", {"class": "cell-facts"}, rows)


def _plan(plan: Mapping[str, Any] | None) -> Html:
    if plan is None:
        return el(
            "p", {"class": "cell-plan fine"}, "No plan runs or waits here. Say what you want and it is planned first."
        )
    steps = plan["steps"]
    if "runId" not in plan:
        return el(
            "div",
            {"class": "cell-plan"},
            badge("review"),
            el(
                "p",
                {},
                el("a", {"href": "#needs-you"}, plan.get("name") or "A plan"),
                f" waits: {counted(len(steps), 'step')}.",
            ),
        )
    done = sum(1 for step in steps if step["status"] in _DONE)
    now = next((step for step in steps if step["status"] not in (*_DONE, "pending", "ready")), None)
    doing = [f"Step {steps.index(now) + 1}: {now.get('description') or now['tool']}"] if now else None
    return el(
        "div",
        {"class": "cell-plan"},
        badge(plan["status"]),
        el("p", {}, plan.get("name") or "A plan", f": {done} of {counted(len(steps), 'step')} done."),
        el("p", {"class": "cell-now"}, doing),
    )


def _legend(has_way: bool) -> Html:
    swatches = {"home": "home", "safe": "ring", "work": "square", "stand": "diamond"}
    roles = [el("li", {"class": f"role {name}"}, shape(swatches[name]), word) for name, word in _LEGEND]
    ways = [el("li", {"class": f"way {name}"}, el("span", {"class": "stroke"}), word) for name, word in _WAYS]
    return el("ul", {"class": "cell-legend", "aria-label": "What the shapes mean"}, roles, ways if has_way else None)


PANEL = Panel(
    "cells",
    "Cells",
    KIND,
    live_card,
    static=Path(__file__).parent / "static",
    styles=("cells.css",),
    scripts=("cells.js",),
)
