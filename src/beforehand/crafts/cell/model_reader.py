"""Words the grammar refuses may be read by a model, if somebody says so: its goals are shown and reviewed.

What it read is kept with the plan, so that making the plan anew asks nobody again.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from beforehand.app.craft import PlanRequest, Wanted
from beforehand.app.runtime import Runtime
from beforehand.crafts.cell.plans import MODEL, make_cell_plan, understood
from beforehand.crafts.cell.wanted import read_wanted
from beforehand.model.cell import CellScene, CellState
from beforehand.model.errors import BadInputError, BeforehandError, ModelAnswerError, NotUnderstoodError
from beforehand.model.plan import Plan

if TYPE_CHECKING:
    from beforehand.ports.model import Ask

CONFIGURED = "configured"


async def plan_from_words(
    runtime: Runtime, scene: CellScene, state: CellState, request: PlanRequest, correlation_id: str = ""
) -> Plan:
    """The plan for a request; with the option `model`, a model reads what the grammar refuses."""
    name = request.options.get(MODEL)
    if name is None or request.text is None:
        return make_cell_plan(scene, state, request, correlation_id)
    if request.intent is None:
        refused = _refusal(scene, request.text)
        if refused is None:
            return make_cell_plan(scene, state, request, correlation_id)
        intent, name = await _read(runtime, scene, state, request.text, str(name), refused)
        request = replace(request, intent=intent, options={**request.options, MODEL: name})
    made = make_cell_plan(scene, state, request, correlation_id, model=str(name))
    goals = "; ".join(f"{at}. {goal['says']}" for at, goal in enumerate(_goals(made), 1))
    return made.model_copy(update={"notes": (f"{name} read the words as: {goals}.", *made.notes)})


async def wanted_from_words(runtime: Runtime, scene: CellScene, state: CellState, request: PlanRequest) -> Wanted:
    """What would be planned; with the option `model`, a model reads what the grammar refuses."""
    name = request.options.get(MODEL)
    if name is None or request.text is None or (refused := _refusal(scene, request.text)) is None:
        return read_wanted(scene, request)
    intent, name = await _read(runtime, scene, state, request.text, str(name), refused)
    return read_wanted(scene, replace(request, intent=intent), model=name)


def _refusal(scene: CellScene, text: str) -> BeforehandError | None:
    """Why the grammar does not take the words; None where it does, even if no plan can be made of them."""
    try:
        understood(scene, text)
    except (NotUnderstoodError, BadInputError) as error:
        return error
    return None


async def _read(
    runtime: Runtime, scene: CellScene, state: CellState, text: str, name: str, refused: BeforehandError
) -> tuple[dict[str, Any], str]:
    """The intent that a model reads in the words, and which model; refused where it is not sure either."""
    from beforehand.crafts.cell.core.model_intent import intent_ask, intent_of

    try:
        answer, model = await _asked(runtime, scene, name, intent_ask(text, scene, state))
    except ModelAnswerError as error:  # nothing is broken: no plan was made of these words, and others may do
        says = f"{refused.says} {error.says}"
        raise BadInputError(says, code=error.code, hint=refused.hint, problems=error.problems) from error
    if why := " ".join(str(answer["unclear"]).split()):
        says = f"{refused.says} {model} would not guess either: {why[:500]}"
        raise NotUnderstoodError(says, hint=refused.hint, extra=refused.extra)
    return intent_of(answer), model


async def _asked(runtime: Runtime, scene: CellScene, name: str, ask: "Ask") -> tuple[Mapping[str, Any], str]:
    from beforehand.adapters.models.budget import Budget, Limits
    from beforehand.app.live_models import watched_model
    from beforehand.app.models import open_model

    budget = Budget(
        open_model(runtime.settings, None if name == CONFIGURED else name), Limits(requests=10, seconds=120)
    )
    about = {"scene": scene.name}
    model = watched_model(runtime, budget, owner=f"words:{scene.name}", about=about, scene=scene.name)
    try:
        return (await model.answer(ask)).data, model.name
    finally:
        await model.close()


def _goals(plan: Plan) -> list[Mapping[str, Any]]:
    """What the steps serve, each goal once."""
    found: dict[Any, Mapping[str, Any]] = {}
    for step in plan.steps:
        if step.goal is not None:
            found.setdefault(step.goal.get("index"), step.goal)
    return list(found.values())
