"""A run as the API shows it, read from the store alone: also beside whoever leads it."""

from typing import Any

from beforehand.app.not_live import reason_of_run
from beforehand.loop.rows import plan_row_id
from beforehand.model.errors import NotFoundError
from beforehand.model.plan import RunStatus
from beforehand.ports.store import RowQuery, Store


async def run_head_in(store: Store, run_id: str) -> dict[str, Any]:
    """A run without its steps; NotFoundError with the recent ones."""
    head = await store.row("run", run_id)
    if head is None:
        recent = [row["runId"] for row in await store.rows("run", limit=500, newest_first=True)]
        raise NotFoundError.unknown("run", run_id, recent)
    return head


async def run_document_in(store: Store, run_id: str) -> dict[str, Any]:
    """A run as the API shows it, all of one moment: its head, where every step stands, what waits for a person."""
    known = await run_head_in(store, run_id)
    heads, plans, step_rows, expansion_rows, decisions = await store.query(
        RowQuery("run", run_id),
        RowQuery("plan", plan_row_id(known["planId"], known["version"])),
        RowQuery("step", parent=run_id),
        RowQuery("expansion", parent=run_id),
        RowQuery("decision", parent=run_id, open=True),
    )
    if not heads or heads[0]["version"] != known["version"]:  # adopted, or forgotten, in between
        return await run_document_in(store, run_id)
    states = {row["stepId"]: row for row in step_rows}
    expansions = {row["stepId"]: row["items"] for row in expansion_rows}
    steps: list[dict[str, Any]] = []
    for step in plans[0]["steps"] if plans else ():
        steps.append(_step_now(step, states.get(step["id"])))
        for place, item in enumerate(expansions.get(step["id"], ())):
            name = f"{step['id']}[{place}]"
            child = {**step, "id": name, "parent": step["id"], "item": item, "dependsOn": []}
            child.pop("forEach", None)
            steps.append(_step_now(child, states.get(name)))
    return {**await with_reason(store, heads[0]), "steps": steps, "decisions": decisions}


async def with_reason(store: Store, head: dict[str, Any]) -> dict[str, Any]:
    """A run, with why it waits where a scene that it works in should be live and is not."""
    if RunStatus(head["status"]).is_final:
        return head
    reason = await reason_of_run(store, head)
    return head if reason is None else {**head, "reason": reason.wire()}


def _step_now(step: dict[str, Any], state: dict[str, Any] | None) -> dict[str, Any]:
    if state is None:
        return step
    more = ("status", "result", "attempt", "reason", "logs", "retryAt", "args")
    shown = {**step, **{name: state[name] for name in more if name in state}}
    return shown | ({"stopping": True} if state.get("stopping") else {})
