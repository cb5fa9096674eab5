"""Answers to what a run asks: approvals, failures, questions, steps in doubt; checked before anything is written."""

from collections.abc import Mapping
from typing import Any

from beforehand.app.craft import Answering, Owner
from beforehand.app.intake import works_in_scene
from beforehand.app.plan_changes import edit_running, edits_tried, replan_running
from beforehand.app.plans import answer_review
from beforehand.app.runs import refuse_bad_args, refuse_by_reasons
from beforehand.app.runtime import Runtime
from beforehand.engine.decide import record
from beforehand.engine.inputs import Adopted, Answered, RunInput
from beforehand.engine.references import references_in
from beforehand.engine.state import RunState
from beforehand.engine.steering import adoption_problems
from beforehand.engine.verb_values import INSERT, fitting
from beforehand.loop.asked import preparing
from beforehand.model.decision import Decision
from beforehand.model.errors import BadInputError
from beforehand.model.plan import Step
from beforehand.model.reason import unknown


def owner_of_runs(runtime: Runtime) -> Owner:
    """Takes the answers to what runs ask."""

    async def answer(decision: Decision, given: Answering) -> None:
        await _answer(runtime, decision, given)

    async def restart(run_id: str) -> None:
        await runtime.runs.recover(run_id)

    return Owner(answer, restart)


async def _answer(runtime: Runtime, decision: Decision, given: Answering) -> None:
    run_id = decision.owner.partition(":")[2]
    if given.carry_on:
        await runtime.runs.recover(run_id)
    run = await runtime.runs.state(run_id)
    value = await _checked_retry(runtime, run, decision, given.verb, given.value)
    answer = Answered(runtime.now(), decision.id, given.verb, value, given.note, given.by)
    item: RunInput = answer
    with preparing():  # the answer is given when the run takes it; a version before it is made again if need be
        if given.verb == "replan":
            plan, _ = await replan_running(runtime, run, by=given.by)
            await answer_review(runtime, plan, Answering("adopt", by=given.by))
            item = Adopted(runtime.now(), plan, given.by, answer)
        elif given.verb == "insert":
            value = fitting("insert", INSERT, value)  # decisions of older logs do not say what they take
            if not _is_inserted(run, value):
                await _hand_in(runtime, run, await _inserted(runtime, run, decision, value, given.by), given.carry_on)
    await _hand_in(runtime, run, item, given.carry_on)


async def _hand_in(runtime: Runtime, run: RunState, item: RunInput, carry_on: bool) -> None:
    if carry_on:
        refuse_by_reasons(await runtime.runs.send(run.run_id, item))
        return
    verdict = record(run, item, runtime.catalog)
    refuse_by_reasons(verdict)
    await runtime.store.append(verdict.events)


def _is_inserted(run: RunState, value: Any) -> bool:
    """Whether the run follows these steps already: a crash came between them and the answer that brought them."""
    known = {step.id: step for step in run.plan.steps}
    return all(isinstance(step, Mapping) and _is_like(known.get(step.get("id", "")), step) for step in value["steps"])


def _is_like(step: Step | None, said: Mapping[str, Any]) -> bool:
    args = said.get("args") or {}
    return step is not None and step.tool == said.get("tool") and {**step.args, **args} == step.args


async def check_answer(runtime: Runtime, decision: Decision, verb: str, value: Any) -> None:
    """Whether a run would take this answer; BadInputError with every problem, and nothing is written."""
    run = await runtime.runs.state(decision.owner.partition(":")[2])
    value = fitting(verb, decision.values.get(verb), value)
    await _checked_retry(runtime, run, decision, verb, value)
    if verb == "insert":
        plan = await edits_tried(runtime, run.plan, _insertion(run, decision, value))
        name = str(decision.about["stepId"]).partition("[")[0]
        if started := [bad for bad in adoption_problems(run, plan) if bad.about != name]:
            raise BadInputError(started[0].says, code="run.step_started", problems=started)


async def _checked_retry(runtime: Runtime, run: RunState, decision: Decision, verb: str, value: Any) -> Any:
    """The value as it is used; other arguments that would not work out are refused."""
    value = _in_its_scene(runtime, run, decision, verb, value)
    if verb == "retry" and isinstance(value, Mapping):
        _check_references(run, value.get("args"))
        await refuse_bad_args(runtime, run, str(decision.about["stepId"]), value.get("args"))
    return value


def _in_its_scene(runtime: Runtime, run: RunState, decision: Decision, verb: str, value: Any) -> Any:
    """Other arguments for a step that works in a scene are for the plan's own, unless they name one."""
    tool = run.steps[str(decision.about["stepId"])].step.tool
    args = value.get("args") if verb == "retry" and isinstance(value, Mapping) else None
    if run.plan.scene is None or not works_in_scene(runtime.catalog, tool) or not isinstance(args, Mapping):
        return value
    return {**value, "args": {"scene": run.plan.scene, **args}}


def _check_references(run: RunState, args: Any) -> None:
    """Refuse arguments that refer to steps which are not there, before anything is written."""
    lost = [ref for ref in references_in(args) if ref.step not in (*run.steps, "item", "index")]
    if told := [unknown("step", ref.step, run.steps, inside=str(ref)) for ref in lost]:
        says = " ".join(one.says for one in told)
        raise BadInputError(says, code="decision.value", nearest=told[0].nearest)


async def _inserted(runtime: Runtime, run: RunState, decision: Decision, value: Any, by: str) -> Adopted:
    """A new version in which the failed step waits for the inserted ones, ready to be adopted by its run."""
    name = str(decision.about["stepId"]).partition("[")[0]
    plan, _ = await edit_running(runtime, run.plan, _insertion(run, decision, value), step=name, by=by)
    await answer_review(runtime, plan, Answering("adopt", by=by))
    return Adopted(runtime.now(), plan, by)


def _insertion(run: RunState, decision: Decision, value: Any) -> list[dict[str, Any]]:
    """The edits that put steps in before a failed one, which then waits for them."""
    name = str(decision.about["stepId"]).partition("[")[0]
    steps = value["steps"]
    new_ids = [step["id"] for step in steps if isinstance(step, Mapping) and isinstance(step.get("id"), str)]
    edits: list[dict[str, Any]] = [{"op": "add", "step": step, "before": name} for step in steps]
    waits_for = [*run.steps[name].step.depends_on, *new_ids]
    return [*edits, {"op": "edit", "id": name, "set": {"dependsOn": waits_for}}]
