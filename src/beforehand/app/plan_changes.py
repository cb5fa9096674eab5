"""How a kept plan changes: edited, repaired, planned anew. Each gives its next version, and a review of that."""

from collections.abc import Mapping, Sequence
from typing import Any

from beforehand.app.craft import Begun, Done, PlanRequest
from beforehand.app.decisions import opened, withdrawn
from beforehand.app.intake import NONE_DONE, judged, planner_named
from beforehand.app.off_loop import off_loop
from beforehand.app.plans import (
    AlsoKept,
    correlation_of,
    get_plan,
    nothing_else,
    nothing_to_do,
    parts_of_scene,
    plan_event,
    review_of,
    stale_version,
)
from beforehand.app.runtime import Runtime
from beforehand.engine.edit import apply_edits, edited
from beforehand.engine.state import RunState
from beforehand.engine.steering import adoption_problems
from beforehand.engine.validate import invalid_plan, plan_from
from beforehand.model.decision import Decision
from beforehand.model.errors import BadInputError, RefusedError
from beforehand.model.event import Event, iso
from beforehand.model.plan import Plan, step_wire
from beforehand.model.reason import Problem


async def edit_plan(
    runtime: Runtime,
    plan_id: str,
    version: int,
    edits: Any,
    *,
    by: str = "",
    repair: bool = False,
) -> tuple[Plan, Decision]:
    """Apply edits to the latest version, all or nothing; a stale version is a conflict with the difference."""
    async with runtime.turns[plan_id]:
        latest = await get_plan(runtime, plan_id)
        await _refuse_stale(runtime, latest, version)
        run = await _live_run_state(runtime, plan_id)
        plan = await _edited(runtime, latest, edits, repair=repair, done=NONE_DONE if run is None else run.begun())
        return await _keep_version(runtime, plan, by=by)


async def edit_running(
    runtime: Runtime, running: Plan, edits: Any, *, step: str, by: str = ""
) -> tuple[Plan, Decision]:
    """Apply edits to the version a run follows, so that newer ones nobody has approved do not slip in with them.

    `step` names the started step that may change all the same: a failed one that gets steps put in before it.
    """
    async with runtime.turns[running.id]:
        plan = await edits_tried(runtime, running, edits)
        return await _keep_version(runtime, plan, by=by, may_change=step)


async def edits_tried(runtime: Runtime, running: Plan, edits: Any) -> Plan:
    """The version that edits to what a run follows would make, kept nowhere; BadInputError with every problem."""
    latest = await get_plan(runtime, running.id)
    base = running.model_copy(update={"version": latest.version})
    run = await _live_run_state(runtime, running.id)
    return await _edited(runtime, base, edits, repair=None, done=NONE_DONE if run is None else run.begun())


async def replan_running(runtime: Runtime, run: RunState, *, by: str = "") -> tuple[Plan, str]:
    """A version in which the rest of a run's plan is planned anew from the present state; and what it says.

    Raises RefusedError where no craft can do that, BadInputError where the rest cannot be done from there.
    """
    async with runtime.turns[run.plan.id]:
        latest = await get_plan(runtime, run.plan.id)
        done, given = run.stands(), run.plan_as_given()
        parts = None if run.plan.scene is None else await parts_of_scene(runtime, run.plan.scene)
        judge = None if parts is None else parts.judge
        offer = None if judge is None or judge.replan is None else await judge.replan(given, done)
        if offer is None:
            raise no_replan()
        documents, says = offer
        steps = plan_from({"steps": _after_done(run, done, documents)}, runtime.catalog).steps
        update = {"version": latest.version + 1, "steps": steps, "created_at": iso(runtime.now())}
        if not done:
            update["world"] = None  # nothing has begun, so it is bound to the present state
        taken = await judged(runtime, run.plan.model_copy(update=update), done=done)
        if taken.problems:
            raise invalid_plan(taken.problems)
        plan, _ = await _keep_version(runtime, taken.plan, by=by, anew=True)
        return plan, says


def no_replan(problems: Sequence[Problem] = ()) -> RefusedError:
    """That the rest of a run's plan cannot be planned anew from the present state, and why."""
    says = ["The rest cannot be planned from the present state.", *(problem.says for problem in problems)]
    hint = "Correct the machine's state and check again, skip the step, or abort."
    return RefusedError(" ".join(says), code="plan.no_replan", hint=hint, problems=problems)


def _after_done(run: RunState, done: Done, rest: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The steps that stand as they were, and behind them the new ones, none of them under an old id.

    What is new waits for the last step that lets it go on; what the new plan did not touch waits for what it did.
    """
    before = {step.id: step_wire(step) for step in run.plan.steps}
    kept = [step for name, step in before.items() if name in done]
    behind = [step["id"] for step in kept if run.steps[step["id"]].lets_go_on][-1:]
    names = {name: f"{name}_v{run.plan.version + 1}" for step in rest if (name := step["id"]) in done}
    made = []
    for step in rest:
        needs = [names.get(name, name) for name in step.get("dependsOn", ())]
        if not needs and not _is_untouched(step, before.get(step["id"])):
            needs = behind
        made.append({**step, "id": names.get(step["id"], step["id"]), "dependsOn": needs})
    return [{**step, "order": at} for at, step in enumerate([*kept, *made], start=1)]


def _is_untouched(step: Mapping[str, Any], before: Mapping[str, Any] | None) -> bool:
    return before is not None and {**before, "order": 0} == {**step, "order": 0}


async def _edited(runtime: Runtime, latest: Plan, edits: Any, *, repair: bool | None, done: Done) -> Plan:
    """The edited plan; for a scene's plan that its craft then refuses, an offer to repair it, or the repair itself.

    Nothing is offered where `repair` is None: whoever asks could not take it.
    """
    try:
        plan = edited(latest, edits, runtime.catalog, created_at=iso(runtime.now()))
        taken = await judged(runtime, plan, done=done)
        if not taken.problems:
            return taken.plan
        raise invalid_plan(taken.problems)
    except BadInputError as error:
        if latest.scene is None or error.code == "edit.shape" or repair is None:
            raise
        refused = error
    offer = await _repair(runtime, latest, edits)
    if offer is None:
        raise refused
    documents, says = offer
    mended = plan_from({"steps": documents}, runtime.catalog)
    update = {"version": latest.version + 1, "steps": mended.steps, "created_at": iso(runtime.now())}
    taken = await judged(runtime, latest.model_copy(update=update), done=done)
    if taken.problems:  # a run has left the plan it was made from, so that no repair of that plan is one
        raise refused
    if not repair:
        refused.hint = f"{says} Send the edits with `repair: true` to take it."
        refused.extra["repair"] = {"says": says, "steps": documents}
        raise refused
    return taken.plan


async def _repair(runtime: Runtime, latest: Plan, edits: Any) -> tuple[list[dict[str, Any]], str] | None:
    parts = await parts_of_scene(runtime, str(latest.scene))
    if parts is None or parts.judge is None or parts.judge.repair is None:
        return None
    return await parts.judge.repair(latest, apply_edits(latest, edits))


async def _sound(runtime: Runtime, plan: Plan) -> Plan:
    """The plan, judged; BadInputError with every problem."""
    taken = await judged(runtime, plan)
    if taken.problems:
        raise invalid_plan(taken.problems)
    return taken.plan


async def regenerate_plan(runtime: Runtime, plan_id: str, note: str = "", *, by: str = "") -> tuple[Plan, Decision]:
    """A new version by the planner that made it, from the present state of its scene, and its review.

    Raises NotFoundError for an unknown plan, RefusedError for one no planner made, BadInputError for an invalid result.
    """
    async with runtime.turns[plan_id]:
        latest = await get_plan(runtime, plan_id)
        planner = planner_named(runtime, latest.origin.planner)
        if latest.scene is None or planner is None or planner.plan is None:
            raise RefusedError(
                "This plan was written by hand, so no planner can make it again.",
                code="plan.no_planner",
                hint="Edit its steps instead.",
            )
        origin = latest.origin
        request = PlanRequest(latest.scene, origin.text, origin.intent, note, origin.options)
        fresh = await planner.plan(request, await correlation_of(runtime, plan_id))
        if not fresh.steps:
            raise nothing_to_do(fresh)
        return await _keep_version(runtime, await _sound(runtime, _after(runtime, latest, fresh)), by=by)


def _after(runtime: Runtime, latest: Plan, fresh: Plan) -> Plan:
    """A fresh plan as the next version of another."""
    update = {
        "id": latest.id,
        "task_id": latest.task_id,
        "version": latest.version + 1,
        "created_at": iso(runtime.now()),
        "workspace": latest.workspace,
    }
    return fresh.model_copy(update=update)


async def begin_again(runtime: Runtime, plan_id: str, note: str = "", *, by: str = "") -> Begun | None:
    """Have the planner that made a plan begin to make it anew; None where that planner does so at once, or is none."""
    latest = await get_plan(runtime, plan_id)
    planner = planner_named(runtime, latest.origin.planner)
    return None if planner is None or planner.begin_again is None else await planner.begin_again(latest, note, by)


async def begun_by(runtime: Runtime, event: Event) -> Begun:
    """What beginning to make a plan anew came to, from the event that it began with."""
    plan = await get_plan(runtime, str(event.data["planId"]))
    planner = planner_named(runtime, plan.origin.planner)
    if planner is None or planner.begun is None:
        says = f"Its planner {plan.origin.planner!r} is not installed any more, or does not say what it has begun."
        raise RefusedError(says, code="plan.no_planner")
    return planner.begun(event)


async def keep_anew(
    runtime: Runtime, plan_id: str, version: int, fresh: Plan, *, by: str = "", also: AlsoKept = nothing_else
) -> tuple[Plan, Decision]:
    """Keep what a planner made anew from a version; ConflictError where somebody has changed the plan meanwhile."""
    async with runtime.turns[plan_id]:
        latest = await get_plan(runtime, plan_id)
        await _refuse_stale(runtime, latest, version)
        plan = await _sound(runtime, _after(runtime, latest, fresh))
        return await _keep_version(runtime, plan, by=by, also=also)


async def _keep_version(
    runtime: Runtime,
    plan: Plan,
    *,
    by: str,
    may_change: str | None = None,
    anew: bool = False,
    also: AlsoKept = nothing_else,
) -> tuple[Plan, Decision]:
    correlation_id = await correlation_of(runtime, plan.id)
    run = await _live_run_state(runtime, plan.id)
    found = [] if run is None else adoption_problems(run, plan, anew=anew)
    started = [bad for bad in found if bad.about != may_change]
    if started:
        raise BadInputError(started[0].says, code="run.step_started", problems=started)
    where = {"scene": plan.scene, "correlation_id": correlation_id}
    events = [await off_loop(plan, plan_event, runtime, "planEdited", plan, correlation_id)]
    for row in await runtime.store.rows("decision", parent=plan.id, open=True):
        why = f"Version {plan.version} took its place."
        events.append(withdrawn(runtime, Decision.model_validate(row), why, **where))
    review = await off_loop(plan, review_of, runtime, plan, by=by, running=run is not None)
    await runtime.store.append([*events, opened(runtime, review, **where), *also(plan)])
    return plan, review


async def _live_run_state(runtime: Runtime, plan_id: str) -> RunState | None:
    """The state of the run of this plan that has not ended yet, if there is one."""
    for row in await runtime.store.rows("run", parent=plan_id, open=True):
        return await runtime.runs.state(row["runId"])
    return None


async def _refuse_stale(runtime: Runtime, latest: Plan, version: int) -> None:
    if version != latest.version:
        raise await stale_version(runtime, latest, version)
