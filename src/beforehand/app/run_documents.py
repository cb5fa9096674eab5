"""A run as the API shows it, read from the store alone: also beside whoever leads it."""

from typing import Any

from beforehand.loop.rows import plan_row_id
from beforehand.model.errors import NotFoundError
from beforehand.ports.store import Store


async def run_head_in(store: Store, run_id: str) -> dict[str, Any]:
    """A run without its steps; NotFoundError with the recent ones."""
    head = await store.row("run", run_id)
    if head is None:
        recent = [row["runId"] for row in await store.rows("run", limit=500, newest_first=True)]
        raise NotFoundError.unknown("run", run_id, recent)
    return head


async def run_document_in(store: Store, run_id: str) -> dict[str, Any]:
    """A run as the API shows it: its head, every step where it stands, and what waits for a person."""
    head = await run_head_in(store, run_id)
    plan = await store.row("plan", plan_row_id(head["planId"], head["version"])) or {"steps": []}
    states = {row["stepId"]: row for row in await store.rows("step", parent=run_id)}
    expansions = {row["stepId"]: row["items"] for row in await store.rows("expansion", parent=run_id)}
    steps: list[dict[str, Any]] = []
    for step in plan["steps"]:
        steps.append(_step_now(step, states.get(step["id"])))
        for place, item in enumerate(expansions.get(step["id"], ())):
            name = f"{step['id']}[{place}]"
            child = {**step, "id": name, "parent": step["id"], "item": item, "dependsOn": []}
            child.pop("forEach", None)
            steps.append(_step_now(child, states.get(name)))
    decisions = await store.rows("decision", parent=run_id, open=True)
    return {**head, "steps": steps, "decisions": decisions}


def _step_now(step: dict[str, Any], state: dict[str, Any] | None) -> dict[str, Any]:
    if state is None:
        return step
    more = ("status", "result", "attempt", "reason", "logs", "retryAt", "args")
    shown = {**step, **{name: state[name] for name in more if name in state}}
    return shown | ({"stopping": True} if state.get("stopping") else {})
