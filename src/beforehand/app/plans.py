"""Plans: taking them in, reading any version, editing, making anew, previewing."""

from collections.abc import Mapping
from typing import Any

from beforehand.adapters.files.overlay import OverlayWorkspace
from beforehand.app.craft import Craft, PlanRequest
from beforehand.app.ids import new_id
from beforehand.app.runtime import Runtime
from beforehand.crafts.cell.plans import claims
from beforehand.engine.edit import apply_edits, difference, edited
from beforehand.engine.preview import preview_plan
from beforehand.engine.reading import PlanReading
from beforehand.engine.state import RunState
from beforehand.engine.steering import adoption_problems
from beforehand.engine.validate import find_problems, invalid_plan, plan_from
from beforehand.loop.rows import plan_row_id
from beforehand.model.decision import Decision, content_hash
from beforehand.model.errors import BadInputError, ConflictError, NotFoundError, RefusedError
from beforehand.model.event import Event, iso
from beforehand.model.plan import Origin, Plan, Step, StepStatus
from beforehand.model.reason import Problem, name_list, nearest_names

SCENE_TOOLS = ("cell.", "fleet.")
"""How the names of tools begin that work in a scene."""
REVIEW_EFFECTS = {
    "start": "The plan runs as it stands in this version.",
    "cancel": "The plan is put away; nothing runs.",
}
ADOPT_EFFECTS = {"adopt": "The run goes on with this version.", "cancel": "The run goes on as it was."}


async def take_plan(
    runtime: Runtime, document: Any, *, workspace: str | None = None, correlation_id: str = "", by: str = ""
) -> tuple[Plan, Decision]:
    """Take a plan's document in: a fresh id, version 1, and a review for a person."""
    plan = plan_from(document, runtime.catalog)
    update = {"workspace": workspace, **(claims(document) if plan.scene is not None else {})}
    return await keep_plan(runtime, plan.model_copy(update=update), correlation_id=correlation_id, by=by)


async def plan_for(
    runtime: Runtime, request: PlanRequest, *, correlation_id: str = "", by: str = ""
) -> tuple[Plan, Decision]:
    """Have the scene's craft make a plan for what somebody wants."""
    craft = await craft_of(runtime, request.scene)
    correlation_id = correlation_id or new_id("ask")
    return await keep_plan(runtime, await craft.plan(request, correlation_id), correlation_id=correlation_id, by=by)


async def keep_plan(runtime: Runtime, plan: Plan, *, correlation_id: str, by: str) -> tuple[Plan, Decision]:
    plan_id = new_id("plan")
    plan = plan.model_copy(
        update={
            "id": plan_id,
            "task_id": plan.task_id or plan_id,
            "version": 1,
            "created_at": iso(runtime.now()),
            "estimated_duration": plan.estimated_duration or _estimate(runtime, plan),
        }
    )
    if plan.scene is not None:
        plan = await (await craft_of(runtime, plan.scene)).prepare(plan)
    await _refuse_scene_problems(runtime, plan)
    correlation_id = correlation_id or plan_id
    review = _review(plan, iso(runtime.now()), by=by, running=False)
    await runtime.store.append(
        [_plan_event(runtime, "planCreated", plan, correlation_id), _opened(runtime, review, plan, correlation_id)]
    )
    return plan, review


def _estimate(runtime: Runtime, plan: Plan) -> float:
    """A first guess at the seconds it takes, as if nothing ran side by side; the preview knows better."""
    specs = (runtime.catalog.get(step.tool) for step in plan.steps)
    return round(sum(spec.estimate_s for spec in specs if spec is not None), 1)


def _plan_event(runtime: Runtime, kind: str, plan: Plan, correlation_id: str, **about: Any) -> Event:
    return runtime.event(
        kind,
        plan.wire(),
        owner=f"plan:{plan.id}",
        correlation_id=correlation_id,
        scene=plan.scene,
        planId=plan.id,
        **about,
    )


def _opened(runtime: Runtime, decision: Decision, plan: Plan, correlation_id: str) -> Event:
    return runtime.event(
        "decisionOpened",
        decision.wire(),
        owner=f"plan:{plan.id}",
        correlation_id=correlation_id,
        scene=plan.scene,
        planId=plan.id,
        decisionId=decision.id,
    )


def _review(plan: Plan, at: str, *, by: str, running: bool) -> Decision:
    effects = ADOPT_EFFECTS if running else REVIEW_EFFECTS
    count = "1 step" if len(plan.steps) == 1 else f"{len(plan.steps)} steps"
    return Decision(
        id=f"{plan.id}-v{plan.version}",
        kind="review",
        title=f"Review: {plan.name or plan.description or 'a plan'} ({count}, version {plan.version})",
        about={"planId": plan.id, "version": plan.version},
        evidence=_review_evidence(plan),
        verbs=tuple(effects),
        effects=effects,
        if_unanswered="Nothing runs.",
        asked_by=by or plan.origin.planner,
        covers=content_hash(plan.wire()["steps"]),
        opened_at=at,
    )


def _line(step: Step) -> str:
    skipped = " (skipped)" if step.status is StepStatus.SKIPPED else ""
    return f"{step.order}. {step.description or step.tool}{skipped}"


def _review_evidence(plan: Plan) -> dict[str, Any]:
    evidence: dict[str, Any] = {"steps": [_line(step) for step in plan.steps[:50]]}
    if plan.notes:
        evidence["notes"] = list(plan.notes)
    if plan.comparison:
        evidence["comparison"] = plan.comparison
    return evidence


async def get_plan(runtime: Runtime, plan_id: str, version: int | None = None) -> Plan:
    """The latest version of a plan, or the one asked for."""
    head = await runtime.store.row("planHead", plan_id)
    if head is None:
        raise NotFoundError(f"There is no plan {plan_id!r}.", code="plan.unknown")
    wanted = head["version"] if version is None else version
    row = await runtime.store.row("plan", plan_row_id(plan_id, wanted))
    if row is None:
        raise NotFoundError(f"Plan {plan_id} has versions 1 to {head['version']}, not {version}.", code="plan.version")
    return Plan.model_validate(row)


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
        plan = await _edited(runtime, latest, edits, repair=repair)
        return await _keep_version(runtime, plan, by=by)


async def edit_running(
    runtime: Runtime, running: Plan, edits: Any, *, step: str, by: str = ""
) -> tuple[Plan, Decision]:
    """Apply edits to the version a run follows, so that newer ones nobody has approved do not slip in with them.

    `step` names the started step that may change all the same: a failed one that gets steps put in before it.
    """
    async with runtime.turns[running.id]:
        latest = await get_plan(runtime, running.id)
        base = running.model_copy(update={"version": latest.version})
        plan = await _edited(runtime, base, edits, repair=False)
        return await _keep_version(runtime, plan, by=by, may_change=step)


async def _edited(runtime: Runtime, latest: Plan, edits: Any, *, repair: bool) -> Plan:
    """The edited plan; for a scene's plan that its craft then refuses, an offer to repair it, or the repair itself."""
    try:
        plan = edited(latest, edits, runtime.catalog, created_at=iso(runtime.now()))
        if plan.scene is not None:
            plan = await (await craft_of(runtime, plan.scene)).prepare(plan)
        if not (problems := await _scene_problems(runtime, plan)):
            return plan
        raise invalid_plan(problems)
    except BadInputError as error:
        if latest.scene is None or error.code == "edit.shape":
            raise
        refused = error
    craft = await craft_of(runtime, str(latest.scene))
    offer = await craft.repair(latest, apply_edits(latest, edits))
    if offer is None:
        raise refused
    documents, says = offer
    if not repair:
        refused.hint = f"{says} Send the edits with `repair: true` to take it."
        refused.extra["repair"] = {"says": says, "steps": documents}
        raise refused
    mended = plan_from({"steps": documents}, runtime.catalog)
    update = {"version": latest.version + 1, "steps": mended.steps, "created_at": iso(runtime.now())}
    return await craft.prepare(latest.model_copy(update=update))


async def regenerate_plan(runtime: Runtime, plan_id: str, note: str = "", *, by: str = "") -> tuple[Plan, Decision]:
    """A new version by the planner that made it, from the present state of its scene."""
    async with runtime.turns[plan_id]:
        latest = await get_plan(runtime, plan_id)
        if latest.scene is None or latest.origin.planner == "person":
            raise RefusedError(
                "This plan was written by hand, so there is no planner to make it anew.",
                code="plan.no_planner",
                hint="Edit its steps instead.",
            )
        craft = await craft_of(runtime, latest.scene)
        origin = latest.origin
        request = PlanRequest(latest.scene, origin.text, origin.intent, note, origin.options)
        fresh = await craft.plan(request, await correlation_of(runtime, plan_id))
        plan = fresh.model_copy(
            update={
                "id": latest.id,
                "task_id": latest.task_id,
                "version": latest.version + 1,
                "created_at": iso(runtime.now()),
            }
        )
        return await _keep_version(runtime, plan, by=by)


async def correlation_of(runtime: Runtime, plan_id: str) -> str:
    """The id that goes with a plan from what somebody wanted to the last event of its run."""
    head = await runtime.store.row("planHead", plan_id) or {}
    return str(head.get("correlationId") or plan_id)


async def _keep_version(
    runtime: Runtime, plan: Plan, *, by: str, may_change: str | None = None
) -> tuple[Plan, Decision]:
    await _refuse_scene_problems(runtime, plan)
    correlation_id = await correlation_of(runtime, plan.id)
    run = await live_run_state(runtime, plan.id)
    started = [] if run is None else [bad for bad in adoption_problems(run, plan) if bad.about != may_change]
    if started:
        raise BadInputError(started[0].says, code="run.step_started", problems=started)
    review = _review(plan, iso(runtime.now()), by=by, running=run is not None)
    events = [_plan_event(runtime, "planEdited", plan, correlation_id)]
    for row in await runtime.store.rows("decision", parent=plan.id, open=True):
        data = {**row, "status": "withdrawn", "why": f"Version {plan.version} took its place."}
        events.append(
            runtime.event(
                "decisionWithdrawn",
                data,
                owner=f"plan:{plan.id}",
                correlation_id=correlation_id,
                scene=plan.scene,
                planId=plan.id,
                decisionId=row["id"],
            )
        )
    events.append(_opened(runtime, review, plan, correlation_id))
    await runtime.store.append(events)
    return plan, review


async def live_run_state(runtime: Runtime, plan_id: str) -> RunState | None:
    """The state of the run of this plan that has not ended yet, if there is one."""
    from beforehand.app.runs import load_run

    for row in await runtime.store.rows("run", parent=plan_id, open=True):
        driver = runtime.drivers.get(row["runId"])
        return driver.run if driver is not None else await load_run(runtime, row["runId"])
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
    """What the plan would do, without doing it."""
    if plan.scene is not None:
        return await (await craft_of(runtime, plan.scene)).preview(plan)
    return await preview_by_tools(runtime, plan)


async def preview_by_tools(runtime: Runtime, plan: Plan) -> dict[str, Any]:
    """What each step's tool says it would do, in virtual time; file tools on a copy of the workspace."""
    workspace = OverlayWorkspace(runtime.workspace(plan.workspace))
    return await preview_plan(plan, runtime.catalog, runtime.extensions.tools, workspace)


async def problems_of(runtime: Runtime, plan: Plan) -> list[Problem]:
    """Every problem a kept plan has now: tools may have gone, the scene may have changed."""
    paths = [f"steps[{place}]" for place in range(len(plan.steps))]
    found = find_problems(PlanReading(plan, paths=paths), runtime.catalog)
    return found + await _scene_problems(runtime, plan)


async def _refuse_scene_problems(runtime: Runtime, plan: Plan) -> None:
    if problems := await _scene_problems(runtime, plan):
        raise invalid_plan(problems)


async def _scene_problems(runtime: Runtime, plan: Plan) -> list[Problem]:
    """Every craft judges the steps of its own tools, whichever scene they name."""
    if plan.scene is not None:
        await craft_of(runtime, plan.scene)
    return [problem for craft in runtime.crafts.values() for problem in await craft.problems(plan)]


async def craft_of(runtime: Runtime, scene: str) -> Craft:
    """The craft of a scene that the house knows."""
    row = await runtime.store.row("scene", scene)
    if row is None:
        known = [found["name"] for found in await runtime.store.rows("scene")]
        nearest = nearest_names(scene, known)
        raise BadInputError(
            f"There is no scene {scene!r}; known: {name_list(nearest)}.", code="scene.unknown", nearest=nearest
        )
    craft = runtime.crafts.get(row["kind"])
    if craft is None:
        raise RefusedError(f"Scenes of kind {row['kind']!r} cannot be planned for.", code="scene.no_planner")
    return craft


def origin_of(request: PlanRequest, planner: str) -> Origin:
    """Where a plan comes from, as it is kept with it."""
    intent = None if request.intent is None else dict(request.intent)
    return Origin(planner=planner, text=request.text, intent=intent, options=dict(request.options))


def plan_answer(plan: Plan, decision: Decision | None) -> dict[str, Any]:
    """A plan as `POST /plans` answers it: the plan, with the review it waits for."""
    shown: dict[str, Any] = plan.wire()
    if decision is not None:
        shown["decision"] = decision.wire()
    return shown


def request_from(body: Mapping[str, Any]) -> PlanRequest:
    """A planning request from `{scene, text}` or `{scene, intent}`."""
    scene, text, intent = body.get("scene"), body.get("text"), body.get("intent")
    if not isinstance(scene, str) or not scene:
        raise BadInputError("Planning needs a `scene`, and `text` or `intent`.", code="plan.request")
    if (text is None) == (intent is None):
        raise BadInputError("Give either `text` or `intent`.", code="plan.request")
    if intent is not None and not isinstance(intent, Mapping):
        raise BadInputError("`intent` is an object with `goal` and `steps`.", code="plan.request")
    options = {key: body[key] for key in ("order", "position", "tool") if body.get(key) is not None}
    return PlanRequest(scene, None if text is None else str(text), intent, options=options)
