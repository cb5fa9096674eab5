"""How far a run is and what it does, for lists of what goes on: its newest step in words, and how many have ended."""

from collections.abc import Iterable
from typing import Any

from beforehand.app.run_documents import with_reason
from beforehand.app.runtime import Runtime
from beforehand.model.plan import RunStatus, StepStatus

Document = dict[str, Any]
_ENDED = {status.value for status in StepStatus if status.is_final}


def show_progress(runtime: Runtime, run_id: str, step_id: str, percent: float, scene: str | None) -> None:
    """Send how far a step is to whoever looks; it is not kept."""
    frame = {"kind": "progress", "runId": run_id, "stepId": step_id, "progress": round(percent, 1)}
    runtime.telemetry.publish(frame, scene)


def taken_in_turn(run_ids: Iterable[str], turn: int, most: int) -> list[str]:
    """The runs whose progress is asked for in a turn, at most so many; every one comes up, however many there are."""
    ordered = sorted(run_ids)
    first = turn * most % len(ordered) if len(ordered) > most else 0
    return [*ordered[first:], *ordered[:first]][:most]


async def with_progress(runtime: Runtime, head: Document) -> Document:
    """A run that goes on with `says` and `progress`; one that has ended as it is."""
    if RunStatus(head["status"]).is_final:
        return head
    steps = await runtime.store.rows("step", parent=head["runId"])
    plan = await runtime.store.row("planHead", head["planId"]) or {}
    done = sum(step["status"] in _ENDED for step in steps)
    progress = {"done": done, "total": max(int(plan.get("stepCount", 0)), len(steps))}
    told = await with_reason(runtime.store, head)
    says = told["reason"]["says"] if "reason" in told else _says(runtime, head, steps)
    return {**told, "says": says, "progress": progress}


def _says(runtime: Runtime, head: Document, steps: list[Document]) -> str:
    name = str(head.get("name") or "The run")
    begun = [step for step in steps if step["status"] not in ("pending", *_ENDED)]
    if head["status"] == RunStatus.PAUSED.value or not begun:
        return runtime.sentences.of("runUpdated", {}, head)
    return f"{name}: {runtime.sentences.of('stepUpdated', {}, begun[-1])}"
