"""The cell's own form of a plan: a list of atomic steps, such as `plan -o steps` prints."""

from collections.abc import Mapping
from typing import Any

from beforehand.app.craft import Documents, Start
from beforehand.crafts.cell.cells import Cells
from beforehand.crafts.cell.core.plan_steps import atomic_step, from_plan_steps, plan_step
from beforehand.crafts.cell.core.verifier import verify
from beforehand.model.plan import Plan, step_wire
from beforehand.model.reason import Problem


def atomic_steps(document: Any) -> list[Any] | None:
    """The list in a document that is a list of atomic steps; None where it is none."""
    steps = document.get("steps") if isinstance(document, Mapping) else document
    if not isinstance(steps, list) or not any(isinstance(step, Mapping) and "action" in step for step in steps):
        return None
    return steps


def step_list(plan: Plan) -> list[dict[str, Any]]:
    """The atomic list of a cell's plan."""
    return [step.wire() for step in from_plan_steps([step_wire(step) for step in plan.steps])]


def documents_of(cells: Cells) -> Documents:
    """Reads such lists; they are verified as they stand, so that problems name the list's own places."""

    async def read(document: Any, scene: str, start: Start) -> tuple[Any, list[Problem]]:
        steps = atomic_steps(document) or []
        state = await cells.state_from(scene, start.get("position"), start.get("tool"))
        problems = list(verify(await cells.scene(scene), steps, state).problems)
        return (_plan_document(document, steps, scene) if _is_readable(steps) else None), problems

    return Documents(recognise=_recognise, read=read)


def _recognise(document: Any) -> str | None:
    return None if atomic_steps(document) is None else "a list of a cell's steps"


def _is_readable(steps: list[Any]) -> bool:
    """Whether every step of a list can be read, right or wrong."""
    try:
        for step in steps:
            atomic_step(step)
    except (AttributeError, TypeError, ValueError):
        return False
    return True


def _plan_document(document: Any, steps: list[Any], scene: str) -> dict[str, Any]:
    made = [
        {
            **plan_step(atomic_step(step), scene, f"step_{at}", [f"step_{at - 1}"] if at > 1 else [], None),
            "onFailure": "ask",
        }
        for at, step in enumerate(steps, start=1)
    ]
    head = document if isinstance(document, Mapping) else {}
    return {"scene": scene, "steps": made} | {key: head[key] for key in ("name", "world") if key in head}
