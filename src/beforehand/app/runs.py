"""Runs: starting a reviewed version, following it, steering it, and taking up what a crash left behind."""

import asyncio
from typing import Any

import structlog

from beforehand.app.ids import new_id
from beforehand.app.plans import correlation_of, craft_of, get_plan, problems_of, stale_version
from beforehand.app.runtime import Runtime
from beforehand.engine.inputs import (
    Adopted,
    Begin,
    CancelAsked,
    PauseAsked,
    Recover,
    RerunAsked,
    ResumeAsked,
    RetryAsked,
    RunInput,
    SkipAsked,
)
from beforehand.engine.state import RunState, replay
from beforehand.engine.steering import adoption_problems
from beforehand.engine.validate import invalid_plan
from beforehand.loop.rows import plan_row_id
from beforehand.loop.run_driver import DriverEndedError, RunDriver, Surroundings
from beforehand.model.decision import Answer, Decision
from beforehand.model.errors import BadInputError, BeforehandError, ConflictError, NotFoundError
from beforehand.model.event import Event, iso
from beforehand.model.plan import Plan, RunStatus
from beforehand.model.reason import name_list, nearest_names
from beforehand.ports.store import EventFilter

log = structlog.get_logger("beforehand.runs")
CHUNK = 5_000
STOP_PATIENCE_S = 2.0
"""How long the answer to a cancel waits for what runs to stop."""


async def start_run(
    runtime: Runtime, plan_id: str, version: int, *, by: str = "", note: str = "", correlation_id: str = ""
) -> dict[str, Any]:
    """Approve that version and start it; its review is answered by this.

    Its events carry the id that came with the plan, unless the start brings one of its own.
    """
    async with runtime.turns[plan_id]:
        plan = await get_plan(runtime, plan_id)
        if version != plan.version:
            raise await stale_version(runtime, plan, version)
        review = await _open_review(runtime, plan)
        if problems := await problems_of(runtime, plan):
            raise invalid_plan(problems)
        await _refuse_drift(runtime, plan)
        runtime.workspace(plan.workspace)
        run_id = new_id("run")
        correlation_id = correlation_id or await correlation_of(runtime, plan.id)
        started = await _log_start(
            runtime, plan, review, run_id, correlation_id, Answer(verb="start", by=by, note=note)
        )
        run = RunState(run_id, plan, lambda wanted: plan)
        run.apply(started)
        launch(runtime, run, plan).put(Begin(runtime.now()))
    return await run_document(runtime, run_id)


async def _open_review(runtime: Runtime, plan: Plan) -> Decision:
    row = await runtime.store.row("decision", f"{plan.id}-v{plan.version}")
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


async def _refuse_drift(runtime: Runtime, plan: Plan) -> None:
    if plan.scene is None:
        return
    craft = await craft_of(runtime, plan.scene)
    await craft.make_ready(plan)
    drift = await craft.drift(plan)
    if drift is not None:
        raise ConflictError(
            f"The world is not as it was when this was planned, so it does not start. {drift.get('says', '')}".strip(),
            code="plan.drift",
            hint="Make the plan anew from the present state (`beforehand plan`, or regenerate).",
            extra={"difference": drift},
        )


async def _log_start(
    runtime: Runtime, plan: Plan, review: Decision, run_id: str, correlation_id: str, answer: Answer
) -> Event:
    answer = answer.model_copy(update={"at": iso(runtime.now())})
    data = {
        "runId": run_id,
        "planId": plan.id,
        "taskId": plan.task_id,
        "version": plan.version,
        "status": RunStatus.RUNNING.value,
        "startedAt": iso(runtime.now()),
        "startedBy": answer.by,
    }
    if plan.name:
        data["name"] = plan.name
    if plan.scene:
        data["scene"] = plan.scene
    about = {"planId": plan.id, "runId": run_id}
    answered = runtime.event(
        "decisionAnswered",
        review.wire() | {"status": "answered", "answer": answer.wire(), "runId": run_id},
        owner=f"plan:{plan.id}",
        correlation_id=correlation_id,
        scene=plan.scene,
        decisionId=review.id,
        **about,
    )
    started = runtime.event(
        "runStarted", data, owner=f"run:{run_id}", correlation_id=correlation_id, scene=plan.scene, **about
    )
    return (await runtime.store.append([answered, started]))[1]


def launch(runtime: Runtime, run: RunState, plan: Plan) -> RunDriver:
    """Put a driver on a run; it works until the run has ended."""

    def on_progress(run_id: str, step_id: str, percent: float) -> None:
        frame = {"kind": "progress", "runId": run_id, "stepId": step_id, "progress": round(percent, 1)}
        runtime.telemetry.publish(frame, plan.scene)

    around = Surroundings(
        runtime.store,
        runtime.clock,
        runtime.catalog,
        runtime.extensions.tools,
        runtime.workspace(plan.workspace),
        on_progress,
    )
    driver = RunDriver(run, around)
    runtime.drivers[run.run_id] = driver
    runtime.work[run.run_id] = asyncio.create_task(_drive(runtime, driver), name=f"run {run.run_id}")
    return driver


async def _drive(runtime: Runtime, driver: RunDriver) -> None:
    run = driver.run
    try:
        await driver.drive()
    except asyncio.CancelledError:
        raise
    except Exception as error:  # a bug stops this run only, and a person hears of it
        log.exception("a run stopped on a bug", run=run.run_id)
        await _report_bug(runtime, run, error)
    finally:
        runtime.drivers.pop(run.run_id, None)
        runtime.work.pop(run.run_id, None)


async def _report_bug(runtime: Runtime, run: RunState, error: Exception) -> None:
    decision = Decision(
        id=f"{run.run_id}-bug-{run.last_seq}",
        kind="bug",
        title=f"The run {run.run_id} stopped on an error of Beforehand itself",
        about={"runId": run.run_id, "planId": run.plan.id},
        evidence={"error": f"{type(error).__name__}: {error}", "afterSeq": run.last_seq},
        verbs=("take-up", "leave"),
        effects={"take-up": "The run is taken up again from the log.", "leave": "It stays as it is."},
        if_unanswered="The run stands still.",
        asked_by="beforehand",
        opened_at=iso(runtime.now()),
    )
    try:
        await runtime.log(
            "decisionOpened",
            decision.wire(),
            owner=f"bug:{run.run_id}",
            correlation_id=run.correlation_id,
            runId=run.run_id,
            planId=run.plan.id,
            decisionId=decision.id,
        )
    except Exception:
        log.exception("the error could not be written to the log", run=run.run_id)


async def load_run(runtime: Runtime, run_id: str) -> RunState:
    """The state of a run, from the log alone."""
    head = await runtime.store.row("run", run_id)
    if head is None:
        raise await unknown_run(runtime, run_id)
    plans = {
        row["version"]: Plan.model_validate(row) for row in await runtime.store.rows("plan", parent=head["planId"])
    }
    events: list[Event] = []
    after = 0
    while chunk := await runtime.store.events(after=after, limit=CHUNK, only=EventFilter(owner=f"run:{run_id}")):
        events += chunk
        after = chunk[-1].seq
    return replay(run_id, plans.__getitem__, events)


async def unknown_run(runtime: Runtime, run_id: str) -> NotFoundError:
    recent = [row["runId"] for row in await runtime.store.rows("run", limit=500, newest_first=True)]
    nearest = nearest_names(run_id, recent)
    return NotFoundError(
        f"There is no run {run_id!r}; nearest: {name_list(nearest)}.", code="run.unknown", nearest=nearest
    )


async def recover(runtime: Runtime, run_id: str) -> None:
    """Put a driver on a run that has none: what was in the air is decided anew."""
    if run_id in runtime.drivers:
        return
    run = await load_run(runtime, run_id)
    if not run.status.is_final:
        launch(runtime, run, run.plan).put(Recover(runtime.now()))


async def recover_runs(runtime: Runtime) -> int:
    """After a start: take up every run that has not ended."""
    open_runs = await runtime.store.rows("run", open=True)
    taken = 0
    for row in open_runs:
        try:
            await recover(runtime, row["runId"])
            taken += 1
        except BeforehandError as error:  # a workspace that is gone: this run stands still, the others go on
            log.error("a run could not be taken up", run=row["runId"], says=error.says)
    return taken


async def run_document(runtime: Runtime, run_id: str) -> dict[str, Any]:
    """A run as the API shows it: its head, every step where it stands, and what waits for a person."""
    head = await runtime.store.row("run", run_id)
    if head is None:
        raise await unknown_run(runtime, run_id)
    plan = await runtime.store.row("plan", plan_row_id(head["planId"], head["version"])) or {"steps": []}
    states = {row["stepId"]: row for row in await runtime.store.rows("step", parent=run_id)}
    expansions = {row["stepId"]: row["items"] for row in await runtime.store.rows("expansion", parent=run_id)}
    steps: list[dict[str, Any]] = []
    for step in plan["steps"]:
        steps.append(_step_now(step, states.get(step["id"])))
        for place, item in enumerate(expansions.get(step["id"], ())):
            name = f"{step['id']}[{place}]"
            child = {**step, "id": name, "parent": step["id"], "item": item, "dependsOn": []}
            child.pop("forEach", None)
            steps.append(_step_now(child, states.get(name)))
    decisions = await runtime.store.rows("decision", parent=run_id, open=True)
    return {**head, "steps": steps, "decisions": decisions}


def _step_now(step: dict[str, Any], state: dict[str, Any] | None) -> dict[str, Any]:
    if state is None:
        return step
    more = ("status", "result", "attempt", "reason", "logs", "retryAt")
    return {**step, **{name: state[name] for name in more if name in state}}


async def list_runs(runtime: Runtime, *, open: bool | None = None, limit: int = 200) -> list[dict[str, Any]]:
    """The heads of runs, newest first."""
    return await runtime.store.rows("run", open=open, limit=limit, newest_first=True)


# -- steering ------------------------------------------------------------------------------------------------------


async def tell(runtime: Runtime, run_id: str, given: RunInput) -> dict[str, Any]:
    """Hand a person's word to the run's driver; a refusal is a conflict with its reasons."""
    while True:
        await recover(runtime, run_id)
        driver = runtime.drivers.get(run_id)
        if driver is None:  # the run has ended; a retry may open it again
            run = await load_run(runtime, run_id)
            driver = launch(runtime, run, run.plan)
        try:
            verdict = await driver.ask(given)
            break
        except DriverEndedError:
            await asyncio.gather(runtime.work.get(run_id, asyncio.sleep(0)), return_exceptions=True)
    if verdict.reasons:
        raise ConflictError(
            verdict.reasons[0].says,
            code=verdict.reasons[0].code,
            hint=verdict.reasons[0].try_next,
            extra={"reasons": [reason.wire() for reason in verdict.reasons]},
        )
    return await run_document(runtime, run_id)


async def _refuse_ended(runtime: Runtime, run_id: str, verb: str) -> None:
    head = await runtime.store.row("run", run_id)
    if head is None:
        raise await unknown_run(runtime, run_id)
    if RunStatus(head["status"]).is_final:
        how = "was cancelled" if head["status"] == RunStatus.CANCELLED.value else f"has {head['status']}"
        raise ConflictError(f"The run {how} already; it cannot {verb}.", code="run.ended")


async def pause_run(runtime: Runtime, run_id: str, *, by: str = "") -> dict[str, Any]:
    """Start nothing new; what runs goes on."""
    await _refuse_ended(runtime, run_id, "be paused")
    return await tell(runtime, run_id, PauseAsked(runtime.now(), by))


async def resume_run(runtime: Runtime, run_id: str, *, by: str = "") -> dict[str, Any]:
    await _refuse_ended(runtime, run_id, "be resumed")
    return await tell(runtime, run_id, ResumeAsked(runtime.now(), by))


async def cancel_run(runtime: Runtime, run_id: str, *, by: str = "") -> dict[str, Any]:
    """Stop what runs and start nothing more."""
    await _refuse_ended(runtime, run_id, "be cancelled")
    await tell(runtime, run_id, CancelAsked(runtime.now(), by))
    if run_id in runtime.work:  # most tools stop at once; the answer then shows the end
        await asyncio.wait([runtime.work[run_id]], timeout=STOP_PATIENCE_S)
    return await run_document(runtime, run_id)


async def _known_step(runtime: Runtime, run_id: str, step_id: str) -> None:
    names = [step["id"] for step in (await run_document(runtime, run_id))["steps"]]
    if step_id not in names:
        nearest = nearest_names(step_id, names)
        raise NotFoundError(
            f"The run has no step {step_id!r}; nearest: {name_list(nearest)}.", code="step.unknown", nearest=nearest
        )


async def retry_step(runtime: Runtime, run_id: str, step_id: str, *, args: Any = None, by: str = "") -> dict[str, Any]:
    """Try a failed step again, as it is or with other arguments."""
    await _known_step(runtime, run_id, step_id)
    return await tell(runtime, run_id, RetryAsked(runtime.now(), step_id, by, args))


async def skip_step(runtime: Runtime, run_id: str, step_id: str, *, by: str = "") -> dict[str, Any]:
    await _known_step(runtime, run_id, step_id)
    return await tell(runtime, run_id, SkipAsked(runtime.now(), step_id, by))


async def rerun_from(runtime: Runtime, run_id: str, step_id: str, *, by: str = "") -> dict[str, Any]:
    """Run a step and everything that depends on it again."""
    await _known_step(runtime, run_id, step_id)
    return await tell(runtime, run_id, RerunAsked(runtime.now(), step_id, by))


async def adopt_version(runtime: Runtime, run_id: str, version: int, *, by: str = "") -> dict[str, Any]:
    """Let a run go on with another version of its plan; a new approval, for steps that have not started."""
    await _refuse_ended(runtime, run_id, "adopt a version")
    head = await runtime.store.row("run", run_id) or {}
    async with runtime.turns[head["planId"]]:
        plan = await get_plan(runtime, head["planId"])
        if version != plan.version:
            raise await stale_version(runtime, plan, version)
        if version == head["version"]:
            raise ConflictError(f"The run already follows version {version}.", code="run.adopted")
        driver = runtime.drivers.get(run_id)
        run = driver.run if driver is not None else await load_run(runtime, run_id)
        if problems := adoption_problems(run, plan):
            raise BadInputError(problems[0].says, code="run.step_started", problems=problems)
        run.plan_of = _with_plan(run, plan)
        shown = await tell(runtime, run_id, Adopted(runtime.now(), plan, by))
        await answer_review(runtime, plan, "adopt", by)
        return shown


def _with_plan(run: RunState, plan: Plan) -> Any:
    before = run.plan_of
    return lambda version: plan if version == plan.version else before(version)


async def answer_review(runtime: Runtime, plan: Plan, verb: str, by: str) -> None:
    """Close the review of a version that was taken up in another way."""
    row = await runtime.store.row("decision", f"{plan.id}-v{plan.version}")
    if row is not None and row["status"] == "open":
        answer = Answer(verb=verb, by=by, at=iso(runtime.now()))
        await runtime.log(
            "decisionAnswered",
            {**row, "status": "answered", "answer": answer.wire()},
            owner=f"plan:{plan.id}",
            scene=plan.scene,
            planId=plan.id,
            decisionId=row["id"],
        )
