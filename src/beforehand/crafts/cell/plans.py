"""From words, an intent or a step list to the plan of a cell.

No home is needed: a scene and a state come in, a plan or every reason against it goes out.
"""

from collections.abc import Mapping
from typing import Any

import structlog

from beforehand.app.craft import PlanRequest
from beforehand.crafts.cell.core.builder import Sequence, build, refusal
from beforehand.crafts.cell.core.grammar import Refusal, parse
from beforehand.crafts.cell.core.plan_steps import atomic_step, plan_step, to_plan_steps
from beforehand.crafts.cell.core.preview import preview
from beforehand.crafts.cell.core.unknown_names import strange_names
from beforehand.model.cell import CellScene, CellState
from beforehand.model.errors import BadInputError, NotUnderstoodError
from beforehand.model.plan import Origin, Plan, Step, step_wire

log = structlog.get_logger("beforehand.cell")
CELL_TOOLS = ("cell.move", "cell.routine")
DONE_ALREADY = "The robot is where it should be and holds what it should already."


def make_cell_plan(scene: CellScene, state: CellState, request: PlanRequest, correlation_id: str = "") -> Plan:
    """From words or an intent to a plan; BadInputError with all problems, NotUnderstoodError rather than a guess.

    Where everything asked for is so already the plan has no steps, and its notes say so.
    """
    wanted = _understood(scene, request.text) if request.text is not None else request.intent
    about = {"service": "sequence_builder", "correlation_id": correlation_id, "high_level_steps": _goals(wanted)}
    log.info("Building step sequence", **about)
    intent, notes, comparison = wanted, [], None
    if request.options.get("order") == "free":
        from beforehand.crafts.cell.core.order import best_order  # brings numpy, which most plans do without

        intent, saved = best_order(scene, wanted, state)
        notes.append(saved.says)
        comparison = {
            "order": list(saved.order),
            "steps": saved.steps,
            "stepsGiven": saved.steps_given,
            "stepsSaved": saved.steps_saved,
            "says": saved.says,
        } | _given_order(scene, state, wanted)
    sequence = build(scene, intent, state)
    log.info("Step sequence built", **about, concrete_steps=len(sequence.steps))
    notes += [note.says for note in sequence.notes]
    return _plan(scene, state, request, sequence, notes or ([] if sequence.steps else [DONE_ALREADY]), comparison)


def _goals(intent: Any) -> int:
    steps = intent.get("steps") if isinstance(intent, Mapping) else getattr(intent, "steps", ())
    return len(steps) if isinstance(steps, list | tuple) else 0


def _plan(
    scene: CellScene,
    state: CellState,
    request: PlanRequest,
    sequence: Sequence,
    notes: list[str],
    comparison: dict[str, Any] | None,
) -> Plan:
    made = enumerate(to_plan_steps(sequence), start=1)
    steps = tuple(Step.model_validate({**step, "onFailure": "ask", "order": at}) for at, step in made)
    return Plan(
        name=(request.text or "; ".join(sequence.goals))[:200],
        scene=scene.name,
        steps=steps,
        estimated_duration=preview(scene, [step_wire(step) for step in steps], state).duration_s,
        origin=Origin(
            planner="cell",
            text=request.text,
            intent=None if request.intent is None else dict(request.intent),
            options=dict(request.options),
        ),
        world=state.wire(),
        notes=tuple(notes),
        comparison=comparison,
    )


def _given_order(scene: CellScene, state: CellState, intent: Any) -> dict[str, Any]:
    """The same goals in the order given, to be compared in review; absent when that order cannot be done."""
    try:
        given = build(scene, intent, state)
    except BadInputError:
        return {}
    return {"given": [step.name for step in given.steps]}


def _understood(scene: CellScene, text: str) -> Any:
    read = parse(text, scene)
    if not isinstance(read, Refusal):
        return read.intent
    if strangers := strange_names(text, scene, read):
        raise refusal(strangers)
    raise NotUnderstoodError(
        read.says,
        hint=read.try_next,
        extra={
            "understood": [{"text": chip.text, "says": chip.says} for chip in read.understood],
            "notUnderstood": list(read.words),
        },
    )


# -- step lists --------------------------------------------------------------------------------------------------------


def atomic_steps(document: Any) -> list[Any] | None:
    """The list in a document that is a list of atomic steps, such as `plan -o steps` prints; None where it is none."""
    steps = document.get("steps") if isinstance(document, Mapping) else document
    if not isinstance(steps, list) or not any(isinstance(step, Mapping) and "action" in step for step in steps):
        return None
    return steps


def scene_in(document: Any) -> str | None:
    """The scene a plan's document is for: the one it names, else the only one its steps of cells and fleets name."""
    if not isinstance(document, Mapping):
        return None
    if document.get("scene") is not None or not isinstance(document.get("steps"), list):
        return document["scene"] if isinstance(document.get("scene"), str) else None
    named = {_scene_of(step) for step in document["steps"]} - {None}
    return named.pop() if len(named) == 1 else None


def _scene_of(step: Any) -> str | None:
    if not isinstance(step, Mapping) or not str(step.get("tool")).startswith(("cell.", "fleet.")):
        return None
    args = step.get("args")
    scene = args.get("scene") if isinstance(args, Mapping) else None
    return scene if isinstance(scene, str) and not scene.startswith("$") else None


def readable(steps: list[Any]) -> bool:
    """Whether every step of a list can be read, right or wrong."""
    try:
        for step in steps:
            atomic_step(step)
    except (AttributeError, TypeError, ValueError):
        return False
    return True


def plan_document(document: Any, scene: str) -> Any:
    """A plan's document from a verified list of atomic steps; other documents stay as they are."""
    steps = atomic_steps(document)
    if steps is None:
        return document
    made = [
        {
            **plan_step(atomic_step(step), scene, f"step_{at}", [f"step_{at - 1}"] if at > 1 else [], None),
            "onFailure": "ask",
        }
        for at, step in enumerate(steps, start=1)
    ]
    return {"scene": scene, "steps": made}


def claims(document: Any) -> dict[str, Any]:
    """What a plan's document says of the state it was made from and of how it came about, where it can be read."""
    if not isinstance(document, Mapping):
        return {}
    found: dict[str, Any] = {}
    world, origin = document.get("world"), document.get("origin")
    if isinstance(world, Mapping):
        try:
            found["world"] = CellState.model_validate(dict(world)).wire()
        except ValueError:
            return {}
    if isinstance(origin, Mapping) and origin.get("planner") in ("cell", "fleet"):
        try:
            found["origin"] = Origin.model_validate(dict(origin))
        except ValueError:
            return found
    return found
