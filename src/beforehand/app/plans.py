"""Plans: kept for review, read in any version, previewed, reviewed. How they change is in `plan_changes`."""

from collections.abc import Callable, Sequence
from typing import Any

from beforehand.adapters.files.overlay import OverlayWorkspace
from beforehand.app.craft import Answering, Owner, Parts
from beforehand.app.decisions import answered, close_decision, opened
from beforehand.app.evidence import review_evidence
from beforehand.app.ids import new_id
from beforehand.app.intake import PlanInput, SceneFinder, take_in
from beforehand.app.off_loop import off_loop
from beforehand.app.runtime import Runtime
from beforehand.app.scenes import known_scene, scene_row
from beforehand.engine.edit import difference
from beforehand.engine.preview import preview_plan
from beforehand.engine.validate import invalid_plan
from beforehand.loop.rows import plan_row_id
from beforehand.model.decision import Decision, content_hash
from beforehand.model.errors import ConflictError, NotFoundError, RefusedError
from beforehand.model.event import Event, iso
from beforehand.model.plan import Plan
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
        raise nothing_to_do(taken.plan)
    if taken.problems:
        raise invalid_plan(taken.problems)
    plan = taken.plan if workspace is None else taken.plan.model_copy(update={"workspace": workspace})
    return await keep_plan(runtime, plan, correlation_id=correlation_id, by=by)


def nothing_to_do(plan: Plan) -> RefusedError:
    """The refusal of a plan without steps, with what its planner noted."""
    says = f"There is nothing to do in {plan.scene}. {' '.join(plan.notes)}".strip()
    return RefusedError(says, code=f"{plan.origin.planner}.nothing_to_do", extra={"notes": list(plan.notes)})


async def keep_plan(
    runtime: Runtime, plan: Plan, *, correlation_id: str, by: str, also: AlsoKept = nothing_else
) -> tuple[Plan, Decision]:
    """Keep a plan that was judged: a fresh id, version 1, and a review; `also` becomes durable with it."""
    plan_id = new_id("plan")
    update = {"id": plan_id, "task_id": plan.task_id or plan_id, "version": 1, "created_at": iso(runtime.now())}
    plan = plan.model_copy(update=update)
    review = await off_loop(plan, review_of, runtime, plan, by=by, running=False)
    where = {"scene": plan.scene, "correlation_id": correlation_id}
    created = await off_loop(plan, plan_event, runtime, "planCreated", plan, correlation_id)
    await runtime.store.append([created, opened(runtime, review, **where), *also(plan)])
    return plan, review


def plan_event(runtime: Runtime, kind: str, plan: Plan, correlation_id: str) -> Event:
    """What makes a version of a plan durable."""
    return runtime.event(
        kind,
        plan.wire(),
        owner=f"plan:{plan.id}",
        correlation_id=correlation_id,
        scene=plan.scene,
        planId=plan.id,
        taskId=plan.task_id,
    )


def review_of(runtime: Runtime, plan: Plan, *, by: str, running: bool) -> Decision:
    """What a person is asked about a version: to start it, or, while a run of the plan goes on, to adopt it."""
    effects = ADOPT_EFFECTS if running else REVIEW_EFFECTS
    count = counted(len(plan.steps), "step")
    return Decision(
        id=review_id(plan.id, plan.version),
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
    return await off_loop(row, Plan.model_validate, row)


async def plan_heads(runtime: Runtime, limit: int = 200) -> list[dict[str, Any]]:
    """The plans there are, newest first, without their steps."""
    return await runtime.store.rows("planHead", limit=limit, newest_first=True)


async def plan_versions(runtime: Runtime, plan_id: str) -> list[dict[str, Any]]:
    """Every version with what it changed against the one before."""
    await get_plan(runtime, plan_id)
    versions: list[dict[str, Any]] = []
    before: Plan | None = None
    rows = await runtime.store.rows("plan", parent=plan_id)
    for row in rows:
        plan = Plan.model_validate(row)
        changes = [] if before is None else difference(before, plan)
        versions.append(
            {
                "version": plan.version,
                "createdAt": plan.created_at,
                "stepCount": len(plan.steps),
                "latest": row is rows[-1],
                "changes": changes,
            }
        )
        before = plan
    return versions


async def parts_of_scene(runtime: Runtime, scene: str) -> Parts | None:
    """What the craft of a scene brings."""
    return runtime.parts_for((await scene_row(runtime, scene))["kind"])


async def correlation_of(runtime: Runtime, plan_id: str) -> str:
    """The id that goes with a plan from what somebody wanted to the last event of its run."""
    head = await runtime.store.row("planHead", plan_id) or {}
    return str(head.get("correlationId") or plan_id)


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
    parts = None if plan.scene is None else await parts_of_scene(runtime, plan.scene)
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


def review_id(plan_id: str, version: int) -> str:
    """The id of the review of a version."""
    return f"{plan_id}-v{version}"


async def answer_review(runtime: Runtime, plan: Plan, given: Answering, **about: Any) -> None:
    """Close the review of a version that was taken up in another way, if it is open."""
    row = await runtime.store.row("decision", review_id(plan.id, plan.version))
    if row is not None and row["status"] == "open":
        await runtime.store.append([answered(runtime, Decision.model_validate(row), given, scene=plan.scene, **about)])
