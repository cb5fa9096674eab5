"""Plans: kept for review, read in any version, edited, made anew, previewed."""

from collections.abc import Callable, Sequence
from typing import Any

from beforehand.adapters.files.overlay import OverlayWorkspace
from beforehand.app.aside import aside
from beforehand.app.craft import Answering, Begun, Done, Owner, Parts, PlanRequest
from beforehand.app.decisions import answered, close_decision, opened, withdrawn
from beforehand.app.evidence import review_evidence
from beforehand.app.ids import new_id
from beforehand.app.intake import NONE_DONE, PlanInput, SceneFinder, judged, planner_named, take_in
from beforehand.app.runtime import Runtime
from beforehand.app.scenes import known_scene, scene_row
from beforehand.engine.edit import apply_edits, difference, edited
from beforehand.engine.preview import preview_plan
from beforehand.engine.state import RunState
from beforehand.engine.steering import adoption_problems
from beforehand.engine.validate import invalid_plan, plan_from
from beforehand.loop.rows import plan_row_id
from beforehand.model.decision import Decision, content_hash
from beforehand.model.errors import BadInputError, ConflictError, NotFoundError, RefusedError
from beforehand.model.event import Event, iso
from beforehand.model.plan import Plan, step_wire
from beforehand.model.words import counted

REVIEW_EFFECTS = {
    "start": "The plan runs as it stands in this version.",
    "cancel": "The plan is discarded; nothing runs.",
}
AlsoKept = Callable[[Plan], Sequence[Event]]
"""Events that become durable together with a plan, once it has its id and version."""
ADOPT_EFFECTS = {"adopt": "The run goes on with this version.", "cancel": "The run goes on as it was."}


def nothing_else(plan: Plan) -> Sequence[Event]:
    return ()


async def create_plan(
    runtime: Runtime,
    given: PlanInput,
    *,
    scene_of: SceneFinder = known_scene,
    workspace: str | None = None,
    correlation_id: str = "",
    by: str = "",
) -> tuple[Plan, Decision]:
    """Take a plan in, or have one made: a fresh id, version 1, and a review for a person.

    Raises BadInputError with every problem, RefusedError where there is nothing to do.
    """
    correlation_id = correlation_id or new_id("ask")
    taken = await take_in(runtime, given, scene_of=scene_of, correlation_id=correlation_id)
    if not taken.plan.steps and not taken.problems:
        raise _nothing_to_do(taken.plan)
    if taken.problems:
        raise invalid_plan(taken.problems)
    plan = taken.plan if workspace is None else taken.plan.model_copy(update={"workspace": workspace})
    return await keep_plan(runtime, plan, correlation_id=correlation_id, by=by)


def _nothing_to_do(plan: Plan) -> RefusedError:
    says = f"There is nothing to do in {plan.scene}. {' '.join(plan.notes)}".strip()
    return RefusedError(says, code=f"{plan.origin.planner}.nothing_to_do", extra={"notes": list(plan.notes)})


async def keep_plan(
    runtime: Runtime, plan: Plan, *, correlation_id: str, by: str, also: AlsoKept = nothing_else
) -> tuple[Plan, Decision]:
    """Keep a plan that was judged: a fresh id, version 1, and a review; `also` becomes durable with it."""
    plan_id = new_id("plan")
    update = {"id": plan_id, "task_id": plan.task_id or plan_id, "version": 1, "created_at": iso(runtime.now())}
    plan = plan.model_copy(update=update)
    review = await aside(plan, _review, runtime, plan, by=by, running=False)
    where = {"scene": plan.scene, "correlation_id": correlation_id}
    created = await aside(plan, _plan_event, runtime, "planCreated", plan, correlation_id)
    await runtime.store.append([created, opened(runtime, review, **where), *also(plan)])
    return plan, review


def _plan_event(runtime: Runtime, kind: str, plan: Plan, correlation_id: str) -> Event:
    return runtime.event(
        kind,
        plan.wire(),
        owner=f"plan:{plan.id}",
        correlation_id=correlation_id,
        scene=plan.scene,
        planId=plan.id,
        taskId=plan.task_id,
    )


def _review(runtime: Runtime, plan: Plan, *, by: str, running: bool) -> Decision:
    effects = ADOPT_EFFECTS if running else REVIEW_EFFECTS
    count = counted(len(plan.steps), "step")
    return Decision(
        id=review_id(plan),
        kind="review",
        owner=f"plan:{plan.id}",
        title=f"Review: {plan.name or plan.description or 'a plan'} ({count}, version {plan.version})",
        about={"planId": plan.id, "taskId": plan.task_id, "version": plan.version},
        evidence=review_evidence(plan, runtime.catalog),
        verbs=tuple(effects),
        effects=effects,
        if_unanswered="Nothing runs.",
        asked_by=by or plan.origin.planner,
        covers=content_hash(plan.wire()["steps"]),
        opened_at=iso(runtime.now()),
    )


async def get_plan(runtime: Runtime, plan_id: str, version: int | None = None) -> Plan:
    """The latest version of a plan, or the one asked for. NotFoundError for an unknown plan or version."""
    head = await runtime.store.row("planHead", plan_id)
    if head is None:
        raise NotFoundError.unknown("plan", plan_id, [row["id"] for row in await plan_heads(runtime, 500)])
    wanted = head["version"] if version is None else version
    row = await runtime.store.row("plan", plan_row_id(plan_id, wanted))
    if row is None:
        raise NotFoundError(f"Plan {plan_id} has versions 1 to {head['version']}, not {version}.", code="plan.version")
    return await aside(row, Plan.model_validate, row)


async def plan_heads(runtime: Runtime, limit: int = 200) -> list[dict[str, Any]]:
    """The plans there are, newest first, without their steps."""
    return await runtime.store.rows("planHead", limit=limit, newest_first=True)


async def plan_versions(runtime: Runtime, plan_id: str) -> list[dict[str, Any]]:
    """Every version with what it changed against the one before."""
    latest = await get_plan(runtime, plan_id)
    versions: list[dict[str, Any]] = []
    before: Plan | None = None
    for row in await runtime.store.rows("plan", parent=plan_id):
        plan = Plan.model_validate(row)
        changes = [] if before is None else difference(before, plan)
        versions.append(
            {
                "version": plan.version,
                "createdAt": plan.created_at,
                "stepCount": len(plan.steps),
                "latest": plan.version == latest.version,
                "changes": changes,
            }
        )
        before = plan
    return versions


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
        run = await live_run_state(runtime, plan_id)
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
    run = await live_run_state(runtime, running.id)
    return await _edited(runtime, base, edits, repair=False, done=NONE_DONE if run is None else run.begun())


async def replan_running(runtime: Runtime, run: RunState, *, by: str = "") -> tuple[Plan, str]:
    """A version in which the rest of a run's plan is planned anew from the present state; and what it says.

    Raises RefusedError where no craft can do that, BadInputError where the rest cannot be done from there.
    """
    async with runtime.turns[run.plan.id]:
        latest = await get_plan(runtime, run.plan.id)
        done = run.begun()
        parts = None if run.plan.scene is None else await _parts_of(runtime, run.plan.scene)
        judge = None if parts is None else parts.judge
        offer = None if judge is None or judge.replan is None else await judge.replan(run.plan, done)
        if offer is None:
            raise RefusedError(
                "The rest cannot be planned from the present state.",
                code="plan.no_replan",
                hint="Correct the machine's state and check again, skip the step, or abort.",
            )
        documents, says = offer
        steps = plan_from({"steps": _after_done(run.plan, done, documents)}, runtime.catalog).steps
        update = {"version": latest.version + 1, "steps": steps, "created_at": iso(runtime.now())}
        taken = await judged(runtime, run.plan.model_copy(update=update), done=done)
        if taken.problems:
            raise invalid_plan(taken.problems)
        plan, _ = await _keep_version(runtime, taken.plan, by=by, may_change=None)
        return plan, says


def _after_done(plan: Plan, done: Done, rest: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The steps that are done as they were, and behind them the new ones, none of them under an old id."""
    kept = [step_wire(step) for step in plan.steps if step.id in done]
    taken = {step["id"] for step in kept}
    names = {step["id"]: f"{step['id']}_v{plan.version + 1}" for step in rest if step["id"] in taken}
    made = []
    for step in rest:
        needs = [names.get(name, name) for name in step.get("dependsOn", ())]
        if not needs and kept:
            needs = [kept[-1]["id"]]
        made.append({**step, "id": names.get(step["id"], step["id"]), "dependsOn": needs})
    return [{**step, "order": at} for at, step in enumerate([*kept, *made], start=1)]


async def _edited(runtime: Runtime, latest: Plan, edits: Any, *, repair: bool, done: Done) -> Plan:
    """The edited plan; for a scene's plan that its craft then refuses, an offer to repair it, or the repair itself."""
    try:
        plan = edited(latest, edits, runtime.catalog, created_at=iso(runtime.now()))
        taken = await judged(runtime, plan, done=done)
        if not taken.problems:
            return taken.plan
        raise invalid_plan(taken.problems)
    except BadInputError as error:
        if latest.scene is None or error.code == "edit.shape":
            raise
        refused = error
    offer = await _repair(runtime, latest, edits)
    if offer is None:
        raise refused
    documents, says = offer
    if not repair:
        refused.hint = f"{says} Send the edits with `repair: true` to take it."
        refused.extra["repair"] = {"says": says, "steps": documents}
        raise refused
    mended = plan_from({"steps": documents}, runtime.catalog)
    update = {"version": latest.version + 1, "steps": mended.steps, "created_at": iso(runtime.now())}
    return await _sound(runtime, latest.model_copy(update=update))


async def _repair(runtime: Runtime, latest: Plan, edits: Any) -> tuple[list[dict[str, Any]], str] | None:
    parts = await _parts_of(runtime, str(latest.scene))
    if parts is None or parts.judge is None or parts.judge.repair is None:
        return None
    return await parts.judge.repair(latest, apply_edits(latest, edits))


async def _parts_of(runtime: Runtime, scene: str) -> Parts | None:
    return runtime.parts_for((await scene_row(runtime, scene))["kind"])


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
            raise _nothing_to_do(fresh)
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


async def keep_anew(
    runtime: Runtime, plan_id: str, version: int, fresh: Plan, *, by: str = "", also: AlsoKept = nothing_else
) -> tuple[Plan, Decision]:
    """Keep what a planner made anew from a version; ConflictError where somebody has changed the plan meanwhile."""
    async with runtime.turns[plan_id]:
        latest = await get_plan(runtime, plan_id)
        await _refuse_stale(runtime, latest, version)
        plan = await _sound(runtime, _after(runtime, latest, fresh))
        return await _keep_version(runtime, plan, by=by, also=also)


async def correlation_of(runtime: Runtime, plan_id: str) -> str:
    """The id that goes with a plan from what somebody wanted to the last event of its run."""
    head = await runtime.store.row("planHead", plan_id) or {}
    return str(head.get("correlationId") or plan_id)


async def _keep_version(
    runtime: Runtime, plan: Plan, *, by: str, may_change: str | None = None, also: AlsoKept = nothing_else
) -> tuple[Plan, Decision]:
    correlation_id = await correlation_of(runtime, plan.id)
    run = await live_run_state(runtime, plan.id)
    started = [] if run is None else [bad for bad in adoption_problems(run, plan) if bad.about != may_change]
    if started:
        raise BadInputError(started[0].says, code="run.step_started", problems=started)
    where = {"scene": plan.scene, "correlation_id": correlation_id}
    events = [await aside(plan, _plan_event, runtime, "planEdited", plan, correlation_id)]
    for row in await runtime.store.rows("decision", parent=plan.id, open=True):
        why = f"Version {plan.version} took its place."
        events.append(withdrawn(runtime, Decision.model_validate(row), why, **where))
    review = await aside(plan, _review, runtime, plan, by=by, running=run is not None)
    await runtime.store.append([*events, opened(runtime, review, **where), *also(plan)])
    return plan, review


async def live_run_state(runtime: Runtime, plan_id: str) -> RunState | None:
    """The state of the run of this plan that has not ended yet, if there is one."""
    for row in await runtime.store.rows("run", parent=plan_id, open=True):
        return await runtime.runs.state(row["runId"])
    return None


async def _refuse_stale(runtime: Runtime, latest: Plan, version: int) -> None:
    if version != latest.version:
        raise await stale_version(runtime, latest, version)


async def stale_version(runtime: Runtime, latest: Plan, version: int) -> ConflictError:
    """What has changed since the version somebody still holds."""
    changes: list[dict[str, Any]] = []
    if 0 < version < latest.version:
        changes = difference(await get_plan(runtime, latest.id, version), latest)
    return ConflictError(
        f"Version {version} is not the latest; version {latest.version} is.",
        code="plan.stale",
        hint="Look at what changed and try again on the latest version.",
        extra={"latestVersion": latest.version, "changes": changes},
    )


async def preview(runtime: Runtime, plan: Plan) -> dict[str, Any]:
    """What the plan would do, without doing it: simulated by its scene's craft, else as its tools say.

    File tools are asked on a copy of the workspace.
    """
    parts = None if plan.scene is None else await _parts_of(runtime, plan.scene)
    if parts is not None and parts.judge is not None and parts.judge.preview is not None:
        simulated = await parts.judge.preview(plan)
        if simulated is not None:
            return simulated
    workspace = OverlayWorkspace(runtime.workspace(plan.workspace))
    shown = await preview_plan(plan, runtime.catalog, runtime.extensions.tools, workspace)
    for parts in runtime.crafts.values():
        if parts.judge is not None:
            shown["problems"] += [problem.wire() for problem in (await parts.judge.assess(plan)).problems]
    return shown


def plan_answer(plan: Plan, decision: Decision | None) -> dict[str, Any]:
    """A plan as `POST /plans` answers it: the plan, with the review it waits for."""
    shown: dict[str, Any] = plan.wire()
    if decision is not None:
        shown["decision"] = decision.wire()
    return shown


# -- reviews -------------------------------------------------------------------------------------------------------


def owner_of_plans(runtime: Runtime) -> Owner:
    """Takes the answers to reviews: start, adopt or discard. ConflictError where the run has ended meanwhile."""

    async def answer(decision: Decision, given: Answering) -> None:
        from beforehand.app.runs import adopt_version, start_run

        plan_id, version = str(decision.about["planId"]), int(decision.about["version"])
        if given.verb == "start":
            await start_run(runtime, plan_id, version, by=given.by, note=given.note)
        elif given.verb == "adopt":
            runs = await runtime.store.rows("run", parent=plan_id, open=True)
            if not runs:
                raise ConflictError("The run has ended, so nothing can adopt this version.", code="run.ended")
            await adopt_version(runtime, runs[-1]["runId"], version, by=given.by)
        else:
            scene = (await get_plan(runtime, plan_id, version)).scene
            where = {"scene": scene, "correlation_id": await correlation_of(runtime, plan_id)}
            await close_decision(runtime, decision, given, **where)

    return Owner(answer)


def review_id(plan: Plan) -> str:
    """The id of the review of a version."""
    return f"{plan.id}-v{plan.version}"


async def answer_review(runtime: Runtime, plan: Plan, given: Answering, **about: Any) -> None:
    """Close the review of a version that was taken up in another way, if it is open."""
    row = await runtime.store.row("decision", review_id(plan))
    if row is not None and row["status"] == "open":
        await runtime.store.append([answered(runtime, Decision.model_validate(row), given, scene=plan.scene, **about)])
