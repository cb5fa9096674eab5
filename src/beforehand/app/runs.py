"""Runs: starting a reviewed version, following it, steering it, and taking up what a crash left behind."""

import asyncio
from typing import Any

import structlog

from beforehand.app.house import House
from beforehand.app.ids import new_id
from beforehand.app.plans import correlation_of, craft_of, get_plan, problems_of, stale_version
from beforehand.app.projection import plan_row_id
from beforehand.engine.driver import DriverEndedError, RunDriver, Surroundings
from beforehand.engine.inputs import (
    Adopted,
    Begin,
    CancelAsked,
    PauseAsked,
    RerunAsked,
    ResumeAsked,
    RetryAsked,
    RunInput,
    SkipAsked,
    TakeUp,
)
from beforehand.engine.state import RunState, replay
from beforehand.engine.steering import adoption_problems
from beforehand.engine.validate import invalid_plan
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
    house: House, plan_id: str, version: int, *, by: str = "", note: str = "", correlation_id: str = ""
) -> dict[str, Any]:
    """Approve that version and start it; its review is answered by this.

    Its events carry the id that came with the plan, unless the start brings one of its own.
    """
    async with house.turns[plan_id]:
        plan = await get_plan(house, plan_id)
        if version != plan.version:
            raise await stale_version(house, plan, version)
        review = await _open_review(house, plan)
        if problems := await problems_of(house, plan):
            raise invalid_plan(problems)
        await _refuse_drift(house, plan)
        house.workspace(plan.workspace)
        run_id = new_id("run")
        correlation_id = correlation_id or await correlation_of(house, plan.id)
        started = await _log_start(house, plan, review, run_id, correlation_id, Answer(verb="start", by=by, note=note))
        run = RunState(run_id, plan, lambda wanted: plan)
        run.apply(started)
        launch(house, run, plan).put(Begin(house.now()))
    return await run_document(house, run_id)


async def _open_review(house: House, plan: Plan) -> Decision:
    row = await house.store.row("decision", f"{plan.id}-v{plan.version}")
    if row is not None and row["status"] == "open" and "start" in row["verbs"]:
        return Decision.model_validate(row)
    runs = [run["runId"] for run in await house.store.rows("run", parent=plan.id) if run["version"] == plan.version]
    if runs:
        says, extra = f"Version {plan.version} was started already, as {runs[-1]}.", {"runId": runs[-1]}
    elif row is not None and row["status"] == "open":
        says, extra = "A run of this plan is under way; adopt the version there instead.", {}
    else:
        says, extra = f"The review of version {plan.version} was answered already; nothing starts.", {}
    raise ConflictError(says, code="plan.review_closed", extra=extra)


async def _refuse_drift(house: House, plan: Plan) -> None:
    if plan.scene is None:
        return
    craft = await craft_of(house, plan.scene)
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
    house: House, plan: Plan, review: Decision, run_id: str, correlation_id: str, answer: Answer
) -> Event:
    answer = answer.model_copy(update={"at": iso(house.now())})
    data = {
        "runId": run_id,
        "planId": plan.id,
        "taskId": plan.task_id,
        "version": plan.version,
        "status": RunStatus.RUNNING.value,
        "startedAt": iso(house.now()),
        "startedBy": answer.by,
    }
    if plan.name:
        data["name"] = plan.name
    if plan.scene:
        data["scene"] = plan.scene
    about = {"planId": plan.id, "runId": run_id}
    answered = house.event(
        "decisionAnswered",
        review.wire() | {"status": "answered", "answer": answer.wire(), "runId": run_id},
        owner=f"plan:{plan.id}",
        correlation_id=correlation_id,
        scene=plan.scene,
        decisionId=review.id,
        **about,
    )
    started = house.event(
        "runStarted", data, owner=f"run:{run_id}", correlation_id=correlation_id, scene=plan.scene, **about
    )
    return (await house.store.append([answered, started]))[1]


def launch(house: House, run: RunState, plan: Plan) -> RunDriver:
    """Put a driver on a run; it works until the run has ended."""

    def on_progress(run_id: str, step_id: str, percent: float) -> None:
        frame = {"kind": "progress", "runId": run_id, "stepId": step_id, "progress": round(percent, 1)}
        house.telemetry.publish(frame, plan.scene)

    around = Surroundings(
        house.store, house.clock, house.catalog, house.shed.toolbox, house.workspace(plan.workspace), on_progress
    )
    driver = RunDriver(run, around)
    house.drivers[run.run_id] = driver
    house.work[run.run_id] = asyncio.create_task(_drive(house, driver), name=f"run {run.run_id}")
    return driver


async def _drive(house: House, driver: RunDriver) -> None:
    run = driver.run
    try:
        await driver.drive()
    except asyncio.CancelledError:
        raise
    except Exception as error:  # a bug stops this run only, and a person hears of it
        log.exception("a run stopped on a bug", run=run.run_id)
        await _report_bug(house, run, error)
    finally:
        house.drivers.pop(run.run_id, None)
        house.work.pop(run.run_id, None)


async def _report_bug(house: House, run: RunState, error: Exception) -> None:
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
        opened_at=iso(house.now()),
    )
    try:
        await house.log(
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


async def load_run(house: House, run_id: str) -> RunState:
    """The state of a run, from the log alone."""
    head = await house.store.row("run", run_id)
    if head is None:
        raise await unknown_run(house, run_id)
    plans = {row["version"]: Plan.model_validate(row) for row in await house.store.rows("plan", parent=head["planId"])}
    events: list[Event] = []
    after = 0
    while chunk := await house.store.events(after=after, limit=CHUNK, only=EventFilter(owner=f"run:{run_id}")):
        events += chunk
        after = chunk[-1].seq
    return replay(run_id, plans.__getitem__, events)


async def unknown_run(house: House, run_id: str) -> NotFoundError:
    recent = [row["runId"] for row in await house.store.rows("run", limit=500, newest_first=True)]
    nearest = nearest_names(run_id, recent)
    return NotFoundError(
        f"There is no run {run_id!r}; nearest: {name_list(nearest)}.", code="run.unknown", nearest=nearest
    )


async def take_up(house: House, run_id: str) -> None:
    """Put a driver on a run that has none: what was in the air is decided anew."""
    if run_id in house.drivers:
        return
    run = await load_run(house, run_id)
    if not run.status.is_final:
        launch(house, run, run.plan).put(TakeUp(house.now()))


async def take_up_all(house: House) -> int:
    """After a start: take up every run that has not ended."""
    open_runs = await house.store.rows("run", open=True)
    taken = 0
    for row in open_runs:
        try:
            await take_up(house, row["runId"])
            taken += 1
        except BeforehandError as error:  # a workspace that is gone: this run stands still, the others go on
            log.error("a run could not be taken up", run=row["runId"], says=error.says)
    return taken


async def run_document(house: House, run_id: str) -> dict[str, Any]:
    """A run as the API shows it: its head, every step where it stands, and what waits for a person."""
    head = await house.store.row("run", run_id)
    if head is None:
        raise await unknown_run(house, run_id)
    plan = await house.store.row("plan", plan_row_id(head["planId"], head["version"])) or {"steps": []}
    states = {row["stepId"]: row for row in await house.store.rows("step", parent=run_id)}
    expansions = {row["stepId"]: row["items"] for row in await house.store.rows("expansion", parent=run_id)}
    steps: list[dict[str, Any]] = []
    for step in plan["steps"]:
        steps.append(_step_now(step, states.get(step["id"])))
        for place, item in enumerate(expansions.get(step["id"], ())):
            name = f"{step['id']}[{place}]"
            child = {**step, "id": name, "parent": step["id"], "item": item, "dependsOn": []}
            child.pop("forEach", None)
            steps.append(_step_now(child, states.get(name)))
    decisions = await house.store.rows("decision", parent=run_id, open=True)
    return {**head, "steps": steps, "decisions": decisions}


def _step_now(step: dict[str, Any], state: dict[str, Any] | None) -> dict[str, Any]:
    if state is None:
        return step
    more = ("status", "result", "attempt", "reason", "logs", "retryAt")
    return {**step, **{name: state[name] for name in more if name in state}}


async def list_runs(house: House, *, open: bool | None = None, limit: int = 200) -> list[dict[str, Any]]:
    """The heads of runs, newest first."""
    return await house.store.rows("run", open=open, limit=limit, newest_first=True)


# -- steering ------------------------------------------------------------------------------------------------------


async def tell(house: House, run_id: str, given: RunInput) -> dict[str, Any]:
    """Hand a person's word to the run's driver; a refusal is a conflict with its reasons."""
    while True:
        await take_up(house, run_id)
        driver = house.drivers.get(run_id)
        if driver is None:  # the run has ended; a retry may open it again
            run = await load_run(house, run_id)
            driver = launch(house, run, run.plan)
        try:
            verdict = await driver.ask(given)
            break
        except DriverEndedError:
            await asyncio.gather(house.work.get(run_id, asyncio.sleep(0)), return_exceptions=True)
    if verdict.reasons:
        raise ConflictError(
            verdict.reasons[0].says,
            code=verdict.reasons[0].code,
            hint=verdict.reasons[0].try_next,
            extra={"reasons": [reason.wire() for reason in verdict.reasons]},
        )
    return await run_document(house, run_id)


async def _refuse_ended(house: House, run_id: str, verb: str) -> None:
    head = await house.store.row("run", run_id)
    if head is None:
        raise await unknown_run(house, run_id)
    if RunStatus(head["status"]).is_final:
        how = "was cancelled" if head["status"] == RunStatus.CANCELLED.value else f"has {head['status']}"
        raise ConflictError(f"The run {how} already; it cannot {verb}.", code="run.ended")


async def pause_run(house: House, run_id: str, *, by: str = "") -> dict[str, Any]:
    """Start nothing new; what runs goes on."""
    await _refuse_ended(house, run_id, "be paused")
    return await tell(house, run_id, PauseAsked(house.now(), by))


async def resume_run(house: House, run_id: str, *, by: str = "") -> dict[str, Any]:
    await _refuse_ended(house, run_id, "be resumed")
    return await tell(house, run_id, ResumeAsked(house.now(), by))


async def cancel_run(house: House, run_id: str, *, by: str = "") -> dict[str, Any]:
    """Stop what runs and start nothing more."""
    await _refuse_ended(house, run_id, "be cancelled")
    await tell(house, run_id, CancelAsked(house.now(), by))
    if run_id in house.work:  # most tools stop at once; the answer then shows the end
        await asyncio.wait([house.work[run_id]], timeout=STOP_PATIENCE_S)
    return await run_document(house, run_id)


async def _known_step(house: House, run_id: str, step_id: str) -> None:
    names = [step["id"] for step in (await run_document(house, run_id))["steps"]]
    if step_id not in names:
        nearest = nearest_names(step_id, names)
        raise NotFoundError(
            f"The run has no step {step_id!r}; nearest: {name_list(nearest)}.", code="step.unknown", nearest=nearest
        )


async def retry_step(house: House, run_id: str, step_id: str, *, args: Any = None, by: str = "") -> dict[str, Any]:
    """Try a failed step again, as it is or with other arguments."""
    await _known_step(house, run_id, step_id)
    return await tell(house, run_id, RetryAsked(house.now(), step_id, by, args))


async def skip_step(house: House, run_id: str, step_id: str, *, by: str = "") -> dict[str, Any]:
    await _known_step(house, run_id, step_id)
    return await tell(house, run_id, SkipAsked(house.now(), step_id, by))


async def rerun_from(house: House, run_id: str, step_id: str, *, by: str = "") -> dict[str, Any]:
    """Run a step and everything that depends on it again."""
    await _known_step(house, run_id, step_id)
    return await tell(house, run_id, RerunAsked(house.now(), step_id, by))


async def adopt_version(house: House, run_id: str, version: int, *, by: str = "") -> dict[str, Any]:
    """Let a run go on with another version of its plan; a new approval, for steps that have not started."""
    await _refuse_ended(house, run_id, "adopt a version")
    head = await house.store.row("run", run_id) or {}
    async with house.turns[head["planId"]]:
        plan = await get_plan(house, head["planId"])
        if version != plan.version:
            raise await stale_version(house, plan, version)
        if version == head["version"]:
            raise ConflictError(f"The run already follows version {version}.", code="run.adopted")
        driver = house.drivers.get(run_id)
        run = driver.run if driver is not None else await load_run(house, run_id)
        if problems := adoption_problems(run, plan):
            raise BadInputError(problems[0].says, code="run.step_started", problems=problems)
        run.plan_of = _with_plan(run, plan)
        shown = await tell(house, run_id, Adopted(house.now(), plan, by))
        await answer_review(house, plan, "adopt", by)
        return shown


def _with_plan(run: RunState, plan: Plan) -> Any:
    before = run.plan_of
    return lambda version: plan if version == plan.version else before(version)


async def answer_review(house: House, plan: Plan, verb: str, by: str) -> None:
    """Close the review of a version that was taken up in another way."""
    row = await house.store.row("decision", f"{plan.id}-v{plan.version}")
    if row is not None and row["status"] == "open":
        answer = Answer(verb=verb, by=by, at=iso(house.now()))
        await house.log(
            "decisionAnswered",
            {**row, "status": "answered", "answer": answer.wire()},
            owner=f"plan:{plan.id}",
            scene=plan.scene,
            planId=plan.id,
            decisionId=row["id"],
        )
