"""From words or an intent to the plan of a cell.

No home is needed: a scene and a state come in, a plan or every reason against it goes out.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from beforehand.app.craft import PlanRequest
from beforehand.crafts.cell.core.builder import Sequence, build, refusal
from beforehand.crafts.cell.core.plan_steps import to_plan_steps
from beforehand.model.cell import CellScene, CellState, Intent
from beforehand.model.errors import BadInputError, NotUnderstoodError
from beforehand.model.plan import Origin, Plan, Step
from beforehand.ports.log import Log

if TYPE_CHECKING:
    from beforehand.crafts.cell.core.grammar import Understood

log = Log("beforehand.cell")
PLANNER = "cell"
MODEL = "model"
"""The option that names the model which may read words the grammar does not; `configured` is the one that is set."""
DONE_ALREADY = "The robot already is where it should be and holds what it should."


def make_cell_plan(
    scene: CellScene,
    state: CellState,
    request: PlanRequest,
    correlation_id: str = "",
    *,
    model: str | None = None,
) -> Plan:
    """From words or an intent to a plan; BadInputError with all problems, NotUnderstoodError rather than a guess.

    Where everything asked for is so already the plan has no steps, and its notes say so. With both words and an intent,
    the intent is what `model` read in the words.
    """
    notes: list[str] = []
    wanted: Any = request.intent
    if wanted is None:
        wanted, notes = understood(scene, request.text or "")
    about = {"service": "sequence_builder", "correlation_id": correlation_id, "high_level_steps": _goals(wanted)}
    log.info("Building step sequence", **about)
    intent, comparison = wanted, None
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
    plan = _plan(scene, state, request, sequence, notes or ([] if sequence.steps else [DONE_ALREADY]), comparison)
    return (
        plan if model is None else plan.model_copy(update={"origin": plan.origin.model_copy(update={"model": model})})
    )


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
        origin=Origin(
            planner=PLANNER,
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


def understood(scene: CellScene, text: str) -> tuple[Intent, list[str]]:
    """The intent of a text, and a note on every word whose spelling was corrected."""
    read = read_words(scene, text)
    return read.intent, list(read.notes)


def read_words(scene: CellScene, text: str) -> "Understood":
    """The intent of a text, piece by piece; NotUnderstoodError rather than a guess, BadInputError for unknown names."""
    from beforehand.crafts.cell.core.grammar import Refusal, parse
    from beforehand.crafts.cell.core.unknown_names import unknown_names_in

    read = parse(text, scene)
    if not isinstance(read, Refusal):
        return read
    if problems := unknown_names_in(text, scene, read):
        raise refusal(problems)
    raise NotUnderstoodError(
        read.says,
        hint=read.try_next,
        extra={
            "understood": [{"text": chip.text, "says": chip.says} for chip in read.understood],
            "notUnderstood": list(read.words),
        },
    )
