"""A draft is written: the model is asked, its plan is checked by the engine and every judge, and told what is wrong.

Three tries, each a question of its own in the log. What comes out is sound, or nothing comes out.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from beforehand.app.intake import PlanInput, judged, take_in
from beforehand.app.plans import preview
from beforehand.app.runtime import Runtime
from beforehand.crafts.drafting.core.prompt import Request, corrected, draft_ask
from beforehand.crafts.drafting.core.shaping import remarks_on, shaped
from beforehand.crafts.drafting.core.wire import plan_document, remarks_of
from beforehand.model.errors import BeforehandError, ModelAnswerError, RefusedError
from beforehand.model.plan import Plan
from beforehand.model.reason import Problem
from beforehand.ports.model import Message, Model

TRIES = 3
MOST_TOLD = 20
"""Problems of one try that are told and kept."""
UNREADABLE = "(An answer that could not be read.)"
Tried = Callable[[Sequence[str]], Awaitable[None]]
"""Hears what is wrong with a try."""


async def write_plan(
    runtime: Runtime, model: Model, request: Request, *, scene: str | None, workspace: str | None, tried: Tried
) -> Plan:
    """A sound plan, with notes for its reviewer.

    Raises ModelAnswerError when three tries bring none, RefusedError when the model says that it cannot be done, and
    whatever ModelError keeps it from answering.
    """
    talk: tuple[Message, ...] = ()
    problems: list[str] = []
    for _ in range(TRIES):
        said, plan, problems = await _one_try(runtime, model, request, talk, scene)
        await tried(problems)
        if plan is not None:
            return await _for_review(runtime, plan, workspace)
        talk = (*talk, *corrected(said, problems))
    raise ModelAnswerError(
        f"The model was asked {TRIES} times and its plan cannot be used: {' '.join(problems[:3])}",
        code="draft.invalid",
        hint="Say it in other words or in smaller parts, or write the plan by hand.",
        problems=[Problem(code="draft.invalid", about="plan", says=problem) for problem in problems],
    )


async def _one_try(
    runtime: Runtime, model: Model, request: Request, talk: tuple[Message, ...], scene: str | None
) -> tuple[str, Plan | None, list[str]]:
    """What the model said, the plan if it is sound, and else everything that is wrong with it."""
    try:
        answer = await model.answer(draft_ask(request, talk))
    except ModelAnswerError as error:  # nothing of the wanted shape: that is told like any other mistake
        if not error.problems:  # what came is not the model's doing
            raise
        return UNREADABLE, None, [problem.says for problem in error.problems][:MOST_TOLD]
    data: Mapping[str, Any] = answer.data
    if not data["steps"]:
        return answer.text, None, [_without_steps(data)]
    document, problems = plan_document(data, runtime.catalog)
    taken = await take_in(runtime, PlanInput(document, scene))
    problems += [_told(problem) for problem in taken.problems]
    if problems:
        return answer.text, None, problems[:MOST_TOLD]
    steps, notes = shaped(taken.plan.steps, runtime.catalog)
    found = await judged(runtime, taken.plan.model_copy(update={"steps": steps, "notes": (*remarks_of(data), *notes)}))
    if found.problems:
        return answer.text, None, [_told(problem) for problem in found.problems][:MOST_TOLD]
    return answer.text, found.plan, []


def _without_steps(data: Mapping[str, Any]) -> str:
    """What is wrong with an answer without steps, unless it says why there can be none."""
    why = " ".join(str(data["cannot"]).split())
    if why:
        raise RefusedError(
            f"The model says that it cannot be done: {why[:500]}",
            code="draft.cannot",
            hint="Ask for something the installed tools can do; `beforehand plugins` and GET /tools list them.",
        )
    return "The plan has no steps, and `cannot` does not say why."


def _told(problem: Problem) -> str:
    where = f"{problem.path}: " if problem.path and not problem.says.startswith(problem.path) else ""
    return f"{where}{problem.says} {problem.try_next}".strip()


async def _for_review(runtime: Runtime, plan: Plan, workspace: str | None) -> Plan:
    """With what a reviewer should know, and how long it would take."""
    plan = plan.model_copy(update={"workspace": workspace})
    notes = [*plan.notes, *remarks_on(plan.steps, runtime.catalog)]
    update: dict[str, Any] = {"workspace": workspace}
    try:
        shown = await preview(runtime, plan)
        update["estimated_duration"] = round(float(shown["durationS"]), 1)
        notes += [f"In the preview: {problem['says']}" for problem in shown["problems"][:MOST_TOLD]]
    except BeforehandError as error:  # an estimate is worth having, and not worth losing a plan for
        notes.append(f"It could not be previewed: {error.says}")
    return plan.model_copy(update=update | {"notes": tuple(notes)})
