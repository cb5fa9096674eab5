"""Runs: starting a reviewed version, following it, steering it, and going on with what a crash left behind."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from pydantic_core import from_json

from beforehand.app.craft import Answering, Judge
from beforehand.app.decisions import answered
from beforehand.app.holds import keep_runs_held, refuse_held_plan
from beforehand.app.ids import new_id
from beforehand.app.intake import bound, problems_of, works_in_scene
from beforehand.app.leases import LOCK, refuse_held, refuse_needed
from beforehand.app.not_live import reason_of_run, refuse_not_live, scenes_of_run
from beforehand.app.plans import answer_review, correlation_of, get_plan, review_id, stale_version
from beforehand.app.run_documents import run_document_in, run_head_in
from beforehand.app.run_states import owner_of_run
from beforehand.app.runtime import Runtime
from beforehand.app.scenes import deactivate_scene, refuse_shared, scene_row
from beforehand.engine.inputs import (
    Adopted,
    CancelAsked,
    PauseAsked,
    ReleaseAsked,
    RerunAsked,
    ResumeAsked,
    RetryAsked,
    RunInput,
    SkipAsked,
)
from beforehand.engine.machines import machines_of
from beforehand.engine.state import RunState, StepState
from beforehand.engine.steering import adoption_problems
from beforehand.engine.validate import invalid_plan
from beforehand.loop.asked import preparing
from beforehand.loop.log_outage import note_unrecorded
from beforehand.model.decision import Decision
from beforehand.model.errors import BadInputError, BeforehandError, ConflictError, NotFoundError
from beforehand.model.event import Event, Verdict, iso
from beforehand.model.plan import Plan, RunStatus
from beforehand.ports.log import Log
from beforehand.ports.store import EventFilter

log = Log("beforehand.runs")
READ_S = 0.5
"""How long the answer to what stopped a run waits for a log that cannot be written, and perhaps not be read."""
STOP_PATIENCE_S = 2.0
"""How long the answer to a cancel waits for what runs to stop."""


async def start_run(
    runtime: Runtime, plan_id: str, version: int, *, by: str = "", note: str = "", correlation_id: str = ""
) -> dict[str, Any]:
    """Approve that version and start it; its review is answered by this. Gives the run.

    Its events carry the id that came with the plan, unless the start brings one of its own. Raises ConflictError when
    the version is not the latest, was started already, or the world has changed; BadInputError when it is not valid.
    """
    async with runtime.turns[plan_id]:
        plan = await get_plan(runtime, plan_id)
        if version != plan.version:
            raise await stale_version(runtime, plan, version)
        review = await open_review(runtime, plan)
        if problems := await problems_of(runtime, plan):
            raise invalid_plan(problems)
        await _refuse_taken(runtime, plan)  # while somebody moves a machine, where it stands says nothing yet
        runtime.workspace(plan.workspace)
        run_id = new_id("run")
        correlation_id = correlation_id or await correlation_of(runtime, plan.id)
        given = Answering("start", by=by, note=note)
        async with _made_ready(runtime, plan):
            await _refuse_drift(runtime, plan)
            async with runtime.turns[LOCK]:
                await _refuse_taken(runtime, plan)
                started = await _log_start(runtime, plan, review, run_id, correlation_id, given)
        run = RunState(run_id, plan, lambda wanted: plan, runtime.identity)
        run.apply(started)
        await runtime.runs.begin(run)
    return await run_document(runtime, run_id)


async def open_review(runtime: Runtime, plan: Plan) -> Decision:
    """The review that a start of this version would answer; ConflictError where there is none that can be."""
    row = await runtime.store.row("decision", review_id(plan.id, plan.version))
    if row is not None and row["status"] == "open" and "start" in row["verbs"]:
        return Decision.model_validate(row)
    runs = [run["runId"] for run in await runtime.store.rows("run", parent=plan.id) if run["version"] == plan.version]
    if runs:
        says, extra = f"Version {plan.version} was started already, as {runs[-1]}.", {"runId": runs[-1]}
    elif row is not None and row["status"] == "open":
        says, extra = "A run of this plan is under way; adopt the version there instead.", {}
    else:
        says, extra = f"The review of version {plan.version} was answered already; nothing starts.", {}
    raise ConflictError(says, code="plan.review_closed", extra=extra)


async def _refuse_taken(runtime: Runtime, plan: Plan) -> None:
    """A start needs machines that nobody holds, and that are not held with everything else."""
    await refuse_held_plan(runtime, plan)
    await refuse_held(runtime, machines_of(plan, runtime.catalog))


async def drift_of(runtime: Runtime, plan: Plan) -> dict[str, Any] | None:
    """How the world differs from what the plan was made for, as far as it is known; nothing is made live for it."""
    judge = await _judge_of(runtime, plan)
    return None if judge is None or judge.drift is None else await judge.drift(plan)


async def refuse_unready(runtime: Runtime, plan: Plan) -> None:
    """What making the plan's scenes ready for a start would refuse now; none is made ready."""
    for scene, judge in await _scenes_of(runtime, plan):
        if judge.refuse is not None:
            await judge.refuse(plan.model_copy(update={"scene": scene["name"]}))
        if judge.ready is not None:
            await refuse_shared(runtime, scene["name"])


@asynccontextmanager
async def _made_ready(runtime: Runtime, plan: Plan) -> AsyncIterator[None]:
    """The plan's scenes, live for a start; those that rested before rest again where the start is refused."""
    rested: list[str] = []
    try:
        for scene, judge in await _scenes_of(runtime, plan):
            if judge.ready is not None:
                await judge.ready(plan.model_copy(update={"scene": scene["name"]}))
                rested += [] if scene.get("active") else [scene["name"]]
        yield
    except BeforehandError:
        for name in rested:
            with suppress(ConflictError), preparing():  # somebody else has begun to work there meanwhile
                await deactivate_scene(runtime, name)
        raise


async def _scenes_of(runtime: Runtime, plan: Plan) -> list[tuple[dict[str, Any], Judge]]:
    """The scene that a plan is for and those that its steps name, each with the judge of its craft."""
    named = [step.args.get("scene") for step in plan.steps if works_in_scene(runtime.catalog, step.tool)]
    names = dict.fromkeys(name for name in [plan.scene, *named] if isinstance(name, str))
    rows = [await runtime.store.row("scene", name) for name in names]  # no row for what only a reference names
    parts = [(row, runtime.parts_for(row["kind"])) for row in rows if row is not None]
    return [(row, part.judge) for row, part in parts if part is not None and part.judge is not None]


def is_known(drift: Mapping[str, Any]) -> bool:
    """Whether the world is known to differ, and not just unknown."""
    return drift.get("now", drift) is not None


async def _refuse_drift(runtime: Runtime, plan: Plan) -> None:
    drift = await drift_of(runtime, plan)
    if drift is not None:
        changed = "The world has changed since this was planned, so it does not start."
        why = changed if is_known(drift) else "It does not start, since nobody knows how things stand."
        raise ConflictError(
            f"{why} {drift.get('says', '')}".strip(),
            code="plan.drift",
            hint=drift.get("tryNext")
            or "Make the plan again from the present state: `beforehand plan`, or POST /plans/{id}/regenerate.",
            extra={"difference": drift},
        )


async def _judge_of(runtime: Runtime, plan: Plan) -> Judge | None:
    """The judge of the craft whose scene the plan is for."""
    if plan.scene is None:
        return None
    parts = runtime.parts_for((await scene_row(runtime, plan.scene))["kind"])
    return None if parts is None else parts.judge


async def _log_start(
    runtime: Runtime, plan: Plan, review: Decision, run_id: str, correlation_id: str, given: Answering
) -> Event:
    data = {
        "runId": run_id,
        "planId": plan.id,
        "taskId": plan.task_id,
        "version": plan.version,
        "status": RunStatus.RUNNING.value,
        "startedAt": iso(runtime.now()),
        "startedBy": given.by,
    }
    if machines := machines_of(plan, runtime.catalog):
        data["machines"] = machines
    if plan.name:
        data["name"] = plan.name
    if plan.scene:
        data["scene"] = plan.scene
    where: dict[str, Any] = {"scene": plan.scene, "correlation_id": correlation_id}
    started = runtime.event(
        "runStarted", data, owner=f"run:{run_id}", planId=plan.id, taskId=plan.task_id, runId=run_id, **where
    )
    return (await runtime.store.append([answered(runtime, review, given, runId=run_id, **where), started]))[1]


async def recover_runs(runtime: Runtime) -> int:
    """After a start: go on with every run that has not ended. Gives how many; one that cannot go on spares the rest."""
    await keep_runs_held(runtime)
    return await take_up_runs(runtime)


async def take_up_runs(runtime: Runtime, *, scene: str | None = None) -> int:
    """Go on with the runs that have not ended, all or those in a scene, unless they wait for one that is not live."""
    going: list[str] = []
    for head in await runtime.store.rows("run", open=True):
        if scene is not None and scene not in scenes_of_run(head):
            continue
        run_id = str(head["runId"])
        await runtime.nursery.spare(owner_of_run(run_id), close_adopted(runtime, head))
        if (waits := await reason_of_run(runtime.store, head)) is None:
            going.append(run_id)
        else:
            log.warning("a run waits for its scene", run=run_id, says=waits.says)
    return await runtime.runs.recover_all(going)


async def close_adopted(runtime: Runtime, head: Mapping[str, Any]) -> None:
    """The review of the version a run follows is answered by that, also where a crash came before it was closed."""
    row = await runtime.store.row("decision", review_id(str(head["planId"]), int(head["version"])))
    if row is not None and row["status"] == "open":
        given = Answering("adopt")
        await runtime.store.append([answered(runtime, Decision.model_validate(row), given, scene=head.get("scene"))])


async def _run_head(runtime: Runtime, run_id: str) -> dict[str, Any]:
    return await run_head_in(runtime.store, run_id)


async def run_document(runtime: Runtime, run_id: str) -> dict[str, Any]:
    """A run as the API shows it: its head, every step where it stands, and what waits for a person."""
    return await run_document_in(runtime.store, run_id)


async def follow_run(runtime: Runtime, run_id: str) -> AsyncIterator[dict[str, Any]]:
    """Every event of a run, from its start to its end, as the API sends them: with `says`, the event in words.

    While the run waits for a person, so does whoever follows it. Raises NotFoundError where there is no such run.
    """
    await _run_head(runtime, run_id)
    async for batch in runtime.feed.follow(0, EventFilter(run=run_id)):
        for record, _ in batch:
            event = from_json(runtime.sentences.added_to(record.line))
            yield event
            # A run that failed may have been taken up again: only its last word ends it.
            if event["kind"] == "runFinished" and event["data"] == await _run_head(runtime, run_id):
                return


async def list_runs(runtime: Runtime, *, open: bool | None = None, limit: int = 200) -> list[dict[str, Any]]:
    """The heads of runs, newest first."""
    return await runtime.store.rows("run", open=open, limit=limit, newest_first=True)


# -- steering ------------------------------------------------------------------------------------------------------


async def steer(runtime: Runtime, run_id: str, given: RunInput) -> dict[str, Any]:
    """Hand what a person asks for to the run, and give the run. A refusal is a ConflictError with its reasons."""
    refuse_by_reasons(await runtime.runs.send(run_id, given))
    return await run_document(runtime, run_id)


def refuse_by_reasons(verdict: Verdict[Any]) -> None:
    """ConflictError when a decision refused what was asked for."""
    if reasons := verdict.reasons:
        raise ConflictError(
            reasons[0].says,
            code=reasons[0].code,
            hint=reasons[0].try_next,
            extra={"reasons": [reason.wire() for reason in reasons]},
        )


async def _refuse_ended(runtime: Runtime, run_id: str, verb: str) -> None:
    status = RunStatus((await _run_head(runtime, run_id))["status"])
    if status.is_final:
        raise ConflictError(f"The run {status.how_it_ended} already; it cannot {verb}.", code="run.ended")


async def pause_run(runtime: Runtime, run_id: str, *, by: str = "") -> dict[str, Any]:
    """Start nothing new; what runs goes on. Gives the run; raises as `resume_run` does."""
    recorded = await _brake(runtime, run_id, PauseAsked(runtime.now(), by), "be paused")
    return await run_document(runtime, run_id) if recorded else await _unrecorded(runtime, run_id, "paused")


async def _brake(runtime: Runtime, run_id: str, given: RunInput, verb: str) -> bool:
    """Stop something of a run, also where that cannot be recorded; whether it is in the log."""
    if not any(run.run_id == run_id and not run.status.is_final for run in runtime.runs.states()):
        await _refuse_ended(runtime, run_id, verb)
    verdict, is_recorded = await runtime.runs.brake(run_id, given)
    refuse_by_reasons(verdict)
    return is_recorded


async def _unrecorded(runtime: Runtime, run_id: str, what: str) -> dict[str, Any]:
    """The run as it is now, where the log does not have that yet; what it holds beside that may not be there."""
    note_unrecorded(f"The run {run_id} was {what}.")
    run = await runtime.runs.state(run_id)
    shown: dict[str, Any] = {"decisions": [], "steps": [step.wire() for step in run.plan.steps]}
    with suppress(BeforehandError, TimeoutError):
        async with asyncio.timeout(READ_S):
            shown = await run_document(runtime, run_id)
    steps = [{**step, **_step_now(run.steps.get(step["id"]))} for step in shown["steps"]]
    return {**shown, **run.head, "status": run.status.value, "steps": steps}


def _step_now(state: StepState | None) -> dict[str, Any]:
    if state is None:
        return {}
    return {"status": state.status.value, **({"stopping": True} if state.stopping is not None else {})}


async def release_run(runtime: Runtime, run_id: str, *, by: str = "") -> dict[str, Any]:
    """Give the run's machines back: while it is paused or waits, and nothing is in flight."""
    await _refuse_ended(runtime, run_id, "give anything back")
    return await steer(runtime, run_id, ReleaseAsked(runtime.now(), by))


async def stop_after_step(runtime: Runtime, run_id: str, *, by: str = "") -> dict[str, Any]:
    """Start nothing new; the run is paused when what is in flight has ended."""
    return await pause_run(runtime, run_id, by=by)


async def resume_run(runtime: Runtime, run_id: str, *, by: str = "") -> dict[str, Any]:
    """Go on with a paused run; ConflictError when another run holds a machine it needs."""
    await _refuse_ended(runtime, run_id, "be resumed")
    return await _set_going(runtime, run_id, ResumeAsked(runtime.now(), by))


async def _set_going(runtime: Runtime, run_id: str, given: RunInput) -> dict[str, Any]:
    """Hand in what lets a run move again; ConflictError while everything, or a machine it needs, is held."""
    for scene in scenes_of_run(await _run_head(runtime, run_id)):
        await refuse_not_live(runtime.store, scene)
    async with runtime.turns[LOCK]:
        run = await runtime.runs.state(run_id)
        await refuse_held_plan(runtime, run.plan)
        await refuse_needed(runtime, run)
        return await steer(runtime, run_id, given)


async def cancel_run(runtime: Runtime, run_id: str, *, by: str = "") -> dict[str, Any]:
    """Stop what runs and start nothing more. Gives the run; raises as `resume_run` does."""
    if not await _brake(runtime, run_id, CancelAsked(runtime.now(), by), "be cancelled"):
        return await _unrecorded(runtime, run_id, "cancelled, and what it does told to stop")
    await runtime.runs.wait(run_id, STOP_PATIENCE_S)  # most tools stop at once; the answer then shows the end
    return await run_document(runtime, run_id)


async def _known_step(runtime: Runtime, run_id: str, step_id: str) -> None:
    names = [step["id"] for step in (await run_document(runtime, run_id))["steps"]]
    if step_id not in names:
        raise NotFoundError.unknown("step", step_id, names)


async def retry_step(runtime: Runtime, run_id: str, step_id: str, *, args: Any = None, by: str = "") -> dict[str, Any]:
    """Try a failed step again, as it is or with other arguments; gives the run.

    Raises NotFoundError for an unknown run or step, BadInputError for arguments that would not work out, ConflictError
    when the step cannot be retried or another run holds its machine.
    """
    await _known_step(runtime, run_id, step_id)
    run = await runtime.runs.state(run_id)
    await refuse_bad_args(runtime, run, step_id, args)
    return await _set_going(runtime, run_id, RetryAsked(runtime.now(), step_id, by, args))


async def refuse_bad_args(runtime: Runtime, run: RunState, step_id: str, args: Any) -> None:
    """BadInputError with every problem that other arguments for a step would have, by the engine and every judge."""
    if not isinstance(args, Mapping):
        return
    name = step_id.partition("[")[0]
    steps = tuple(step.model_copy(update={"args": dict(args)}) if step.id == name else step for step in run.plan.steps)
    changed = await bound(runtime, run.plan.model_copy(update={"steps": steps}))
    problems = await problems_of(runtime, changed, run.begun())
    if problems := [problem for problem in problems if not problem.about or problem.about == name or problem.path]:
        raise invalid_plan(problems)


async def skip_step(runtime: Runtime, run_id: str, step_id: str, *, by: str = "") -> dict[str, Any]:
    """Skip a step; what depends on it goes on. Gives the run; raises as `retry_step` does."""
    await _known_step(runtime, run_id, step_id)
    return await steer(runtime, run_id, SkipAsked(runtime.now(), step_id, by))


async def rerun_from(runtime: Runtime, run_id: str, step_id: str, *, by: str = "") -> dict[str, Any]:
    """Run a step and everything that depends on it again; gives the run. Raises as `retry_step` does."""
    await _known_step(runtime, run_id, step_id)
    return await _set_going(runtime, run_id, RerunAsked(runtime.now(), step_id, by))


async def adopt_version(runtime: Runtime, run_id: str, version: int, *, by: str = "") -> dict[str, Any]:
    """Let a run go on with another version of its plan; a new approval, for steps that have not started.

    Gives the run. Raises ConflictError for a version that is not the latest or is followed already, BadInputError
    when it changes steps that have started.
    """
    await _refuse_ended(runtime, run_id, "adopt a version")
    head = await _run_head(runtime, run_id)
    async with runtime.turns[head["planId"]]:
        plan = await get_plan(runtime, head["planId"])
        if version != plan.version:
            raise await stale_version(runtime, plan, version)
        if version == head["version"]:
            raise ConflictError(f"The run already follows version {version}.", code="run.adopted")
        run = await runtime.runs.state(run_id)
        if problems := adoption_problems(run, plan):
            raise BadInputError(problems[0].says, code="run.step_started", problems=problems)
        if problems := await problems_of(runtime, plan, run.begun()):
            raise invalid_plan(problems)
        if not run.paused:
            await refuse_held_plan(runtime, plan)
        shown = await steer(runtime, run_id, Adopted(runtime.now(), plan, by))
        await answer_review(runtime, plan, Answering("adopt", by=by))
        return shown
