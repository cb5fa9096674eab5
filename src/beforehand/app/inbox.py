"""The inbox: whatever waits for a person, listed and answered in one way."""

from collections.abc import Mapping
from typing import Any

from beforehand.app.plans import SCENE_TOOLS, correlation_of, edit_running, get_plan, stale_version
from beforehand.app.runs import adopt_version, answer_review, load_run, recover, start_run, tell
from beforehand.app.runtime import Runtime
from beforehand.app.scenes import activate_scene
from beforehand.engine.decide import record
from beforehand.engine.inputs import Adopted, Answered
from beforehand.engine.references import holds_reference, references_in
from beforehand.engine.state import RunState
from beforehand.model.decision import Answer, Decision
from beforehand.model.errors import BadInputError, ConflictError, NotFoundError
from beforehand.model.event import iso
from beforehand.model.reason import name_list, nearest_names


async def list_decisions(runtime: Runtime) -> list[dict[str, Any]]:
    """Every open decision, oldest first."""
    return await runtime.store.rows("decision", open=True)


async def show_decision(runtime: Runtime, decision_id: str) -> dict[str, Any]:
    row = await runtime.store.row("decision", decision_id)
    if row is None:
        open_ids = [found["id"] for found in await list_decisions(runtime)]
        nearest = nearest_names(decision_id, open_ids)
        raise NotFoundError(
            f"There is no decision {decision_id!r}; open: {name_list(nearest)}.",
            code="decision.unknown",
            nearest=nearest,
        )
    return row


async def answer_decision(
    runtime: Runtime,
    decision_id: str,
    verb: str,
    *,
    value: Any = None,
    note: str = "",
    by: str = "",
    carry_on: bool = True,
) -> dict[str, Any]:
    """Answer a decision with one of its verbs. `carry_on` false only writes it down; whoever runs the plan goes on."""
    row = await show_decision(runtime, decision_id)
    await _refuse_closed(runtime, row)
    if verb not in row["verbs"]:
        raise BadInputError(
            f"This decision does not take {verb!r}; it takes {name_list(row['verbs'])}.",
            code="decision.verb",
            nearest=row["verbs"],
        )
    decision = Decision.model_validate(row)
    match decision.kind:
        case "review":
            await _answer_review(runtime, decision, verb, note=note, by=by)
        case "bug":
            await _close(runtime, decision, Answer(verb=verb, note=note, by=by, at=iso(runtime.now())))
            if verb == "take-up" and carry_on:
                await _take_up_again(runtime, decision)
        case "hold":
            await _answer_craft(runtime, decision, verb, value=value, note=note, by=by)
        case _:
            await _answer_run(runtime, decision, verb, value=value, note=note, by=by, carry_on=carry_on)
    return await show_decision(runtime, decision_id)


async def _take_up_again(runtime: Runtime, decision: Decision) -> None:
    """What stopped on a bug goes on from the log: a run, or a scene's own driver."""
    if "runId" in decision.about:
        await recover(runtime, str(decision.about["runId"]))
    else:
        await activate_scene(runtime, str(decision.about["scene"]))


async def _refuse_closed(runtime: Runtime, row: Mapping[str, Any]) -> None:
    """Answering twice is a conflict; so is answering the review of a version that another has replaced."""
    if row["status"] == "open":
        return
    given = row.get("answer", {})
    changes: Mapping[str, Any] = {}
    if given:
        says = f"This decision was answered with {given['verb']!r} already."
    else:
        says = f"This decision was withdrawn. {row.get('why', '')}".strip()
        changes = await _changes_since(runtime, row)
    raise ConflictError(
        says,
        code="decision.closed",
        hint="The inbox lists what still waits.",
        extra={"status": row["status"], "answer": given or None, **changes},
    )


async def _changes_since(runtime: Runtime, row: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a newer version changed, when a review of an older one is answered."""
    if row["kind"] != "review":
        return {}
    latest = await get_plan(runtime, str(row["about"]["planId"]))
    return (await stale_version(runtime, latest, int(row["about"]["version"]))).extra


async def _answer_review(runtime: Runtime, decision: Decision, verb: str, *, note: str, by: str) -> None:
    plan_id, version = str(decision.about["planId"]), int(decision.about["version"])
    if verb == "start":
        await start_run(runtime, plan_id, version, by=by, note=note)
    elif verb == "adopt":
        runs = await runtime.store.rows("run", parent=plan_id, open=True)
        if not runs:
            raise ConflictError("The run has ended, so nothing can adopt this version.", code="run.ended")
        await adopt_version(runtime, runs[-1]["runId"], version, by=by)
    else:
        await _close(runtime, decision, Answer(verb=verb, note=note, by=by, at=iso(runtime.now())))


async def _close(runtime: Runtime, decision: Decision, answer: Answer) -> None:
    data = decision.wire() | {"status": "answered", "answer": answer.wire()}
    about = dict(decision.about)
    scene = about.pop("scene", None)
    owner = f"plan:{about['planId']}" if decision.kind == "review" else f"bug:{about.get('runId', scene)}"
    correlation_id = await correlation_of(runtime, about["planId"]) if decision.kind == "review" else ""
    await runtime.log(
        "decisionAnswered",
        data,
        owner=owner,
        correlation_id=correlation_id,
        scene=scene,
        decisionId=decision.id,
        **about,
    )


async def _answer_craft(runtime: Runtime, decision: Decision, verb: str, *, value: Any, note: str, by: str) -> None:
    for craft in runtime.crafts.values():
        if await craft.answer(decision, verb, value=value, note=note, by=by):
            return
    raise ConflictError("Nobody is there to take this answer; start the server first.", code="decision.no_owner")


async def _answer_run(
    runtime: Runtime, decision: Decision, verb: str, *, value: Any, note: str, by: str, carry_on: bool
) -> None:
    run_id = str(decision.about["runId"])
    if carry_on and run_id not in runtime.drivers:
        await recover(runtime, run_id)
    driver = runtime.drivers.get(run_id)
    run = driver.run if driver is not None else await load_run(runtime, run_id)
    value = _in_its_scene(run, decision, verb, _as_meant(decision, verb, value))
    _check_value(runtime, run, decision, verb, value)
    given: list[Any] = [Answered(runtime.now(), decision.id, verb, value, note, by)]
    if decision.kind == "failure" and verb == "insert":
        given.insert(0, await _inserted(runtime, run, decision, value, by))
    for item in given:
        if carry_on:
            await tell(runtime, run_id, item)
            continue
        verdict = record(run, item, runtime.catalog)
        if verdict.reasons:
            raise ConflictError(verdict.reasons[0].says, code=verdict.reasons[0].code)
        await runtime.store.append(verdict.events)


def _as_meant(decision: Decision, verb: str, value: Any) -> Any:
    """What goes with a failure's verb may be given bare: the arguments themselves, or the list of steps."""
    if decision.kind == "failure" and verb == "retry" and isinstance(value, Mapping) and value and "args" not in value:
        return {"args": dict(value)}
    if decision.kind == "failure" and verb == "insert" and isinstance(value, list):
        return {"steps": value}
    return value


def _in_its_scene(run: RunState, decision: Decision, verb: str, value: Any) -> Any:
    """Other arguments for a step of a cell or a fleet are for the plan's own scene, unless they name one."""
    tool = run.steps[str(decision.about["stepId"])].step.tool
    args = value.get("args") if verb == "retry" and isinstance(value, Mapping) else None
    if run.plan.scene is None or not tool.startswith(SCENE_TOOLS) or not isinstance(args, Mapping):
        return value
    return {**value, "args": {"scene": run.plan.scene, **args}}


def _check_value(runtime: Runtime, run: RunState, decision: Decision, verb: str, value: Any) -> None:
    """Refuse a value that could not work before anything is written."""
    if verb == "answer" and value is None:
        raise BadInputError("An answer needs a `value`.", code="decision.value")
    if verb == "retry" and value is not None:
        if not isinstance(value, Mapping) or not isinstance(value.get("args", {}), Mapping):
            raise BadInputError("A retry takes `value: {args: {…}}`, or no value.", code="decision.value")
        state = run.steps[str(decision.about["stepId"])]
        args = value.get("args")
        if lost := [str(ref) for ref in references_in(args) if ref.step not in (*run.steps, "item", "index")]:
            raise BadInputError(f"{name_list(lost)} refers to no step of this run.", code="decision.value")
        if args is not None and not holds_reference(args) and runtime.catalog.get(state.step.tool) is not None:
            wrong = runtime.catalog.complaints(state.step.tool, args, filled_in=False)
            if wrong:
                says = "; ".join(f"{where} {what}" for where, what in wrong)
                raise BadInputError(f"These arguments do not fit {state.step.tool}: {says}.", code="decision.value")
    if verb == "insert" and not (isinstance(value, Mapping) and isinstance(value.get("steps"), list)):
        raise BadInputError("An insert takes `value: {steps: [{id, tool, args …}]}`.", code="decision.value")


async def _inserted(runtime: Runtime, run: RunState, decision: Decision, value: Any, by: str) -> Adopted:
    """A new version in which the failed step waits for the inserted ones, ready to be adopted by its run."""
    step_id = str(decision.about["stepId"])
    name = step_id.partition("[")[0]
    steps = value["steps"]
    new_ids = [step["id"] for step in steps if isinstance(step, Mapping) and isinstance(step.get("id"), str)]
    edits: list[dict[str, Any]] = [{"op": "add", "step": step, "before": name} for step in steps]
    waits_for = [*run.steps[name].step.depends_on, *new_ids]
    edits.append({"op": "edit", "id": name, "set": {"dependsOn": waits_for}})
    plan, _ = await edit_running(runtime, run.plan, edits, step=name, by=by)
    before = run.plan_of
    run.plan_of = lambda version: plan if version == plan.version else before(version)
    await answer_review(runtime, plan, "adopt", by)
    return Adopted(runtime.now(), plan, by)
