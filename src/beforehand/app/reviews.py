"""How a version of a plan stands before anybody starts it: its review, its risks, and why it would not start now."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import PurePosixPath
from typing import Any

from beforehand.app.holds import refuse_held_plan
from beforehand.app.intake import problems_of
from beforehand.app.leases import refuse_held
from beforehand.app.plans import get_plan, preview, review_id, stale_version
from beforehand.app.runs import drift_of, is_known, open_review, refuse_unready
from beforehand.app.runtime import Runtime
from beforehand.engine.machines import machines_of
from beforehand.engine.prose import prose_fits
from beforehand.engine.references import references_in
from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.model.errors import BeforehandError, ConflictError
from beforehand.model.plan import Plan, Step, StepStatus
from beforehand.model.reason import Problem, Reason
from beforehand.model.words import counted
from beforehand.ports.tool import ToolSpec


async def plan_review(runtime: Runtime, plan_id: str, version: int | None = None) -> dict[str, Any]:
    """A version's review, its risks, why it would not start as things are, and the runs of the plan, newest first."""
    plan = await get_plan(runtime, plan_id, version)
    head = await runtime.store.row("planHead", plan_id) or {}
    decision = await runtime.store.row("decision", review_id(plan.id, plan.version))
    runs = await runtime.store.rows("run", parent=plan_id)
    shown = {
        "planId": plan_id,
        "version": plan.version,
        "latestVersion": head.get("version", plan.version),
        "risks": await _risks(runtime, plan),
        "whyNot": [reason.wire() for reason in await _why_not(runtime, plan)],
        "runs": [{key: run[key] for key in ("runId", "version", "status", "startedAt")} for run in reversed(runs)],
    }
    return shown | ({} if decision is None else {"decision": decision})


# -- risks ---------------------------------------------------------------------------------------------------------

Judged = Callable[[Step, ToolSpec], bool]
_SAYS: Mapping[str, tuple[str, str]] = {
    "physical": ("moves a machine, which cannot be undone.", "move a machine, which cannot be undone."),
    "destructive": ("overwrites or deletes something.", "overwrite or delete something."),
    "outside": ("reaches outside the workspace.", "reach outside the workspace."),
    "duration": ("takes a time that cannot be known beforehand.", "take a time that cannot be known beforehand."),
    "mismatch": ("does not do what its words say.", "do not do what their words say."),
}


async def _risks(runtime: Runtime, plan: Plan) -> list[dict[str, Any]]:
    destroys = await _destroying(runtime, plan)
    judged: Mapping[str, Judged] = {
        "physical": lambda step, spec: spec.effect == "physical",
        "destructive": lambda step, spec: spec.destructive == "always" or step.id in destroys,
        "outside": lambda step, spec: _reaches_out(step, spec),
        "duration": lambda step, spec: spec.asks_person or _hangs_on_others(step),
        "mismatch": lambda step, spec: not prose_fits(step.description, spec, step.args),
    }
    pairs = _calls(plan, runtime.catalog)
    found = {kind: [step.id for step, spec in pairs if holds(step, spec)] for kind, holds in judged.items()}
    return [
        {"kind": kind, "says": f"{counted(len(names), 'step')} {_SAYS[kind][len(names) > 1]}", "steps": names}
        for kind, names in found.items()
        if names
    ]


def _calls(plan: Plan, catalog: ToolCatalog) -> list[tuple[Step, ToolSpec]]:
    """The steps that would run, each with its tool; what has no tool any more is a problem and told there."""
    running = [step for step in plan.steps if step.status is not StepStatus.SKIPPED]
    return [(step, spec) for step in running if (spec := catalog.get(step.tool)) is not None]


async def _destroying(runtime: Runtime, plan: Plan) -> set[str]:
    """The steps whose own tool says, asked on a copy of the world, that this call destroys something."""
    if all(spec.destructive != "judged" for _, spec in _calls(plan, runtime.catalog)):
        return set()
    shown = await preview(runtime, plan)
    return {str(line["stepId"]) for line in shown["timeline"] if line.get("destroys")}


def _reaches_out(step: Step, spec: ToolSpec) -> bool:
    """A path that leaves the workspace, an address, or a tool of another server."""
    if spec.source.startswith("mcp"):
        return True
    known = spec.input_schema.get("properties", {})
    paths = {name for name in known if _is_path(known[name])} | set(spec.writes)
    return any(
        value.startswith(("http://", "https://")) or (name in paths and _leaves(value))
        for name, value in step.args.items()
        if isinstance(value, str)
    )


def _is_path(schema: Any) -> bool:
    return isinstance(schema, Mapping) and "workspace" in str(schema.get("description", ""))


def _leaves(path: str) -> bool:
    return path.startswith(("/", "~")) or ".." in PurePosixPath(path).parts


def _hangs_on_others(step: Step) -> bool:
    """Repeated for what another step gives, or waiting as long as one says."""
    return bool(list(references_in(step.for_each))) or bool(list(references_in(step.args.get("seconds"))))


# -- why it would not start ----------------------------------------------------------------------------------------


async def _why_not(runtime: Runtime, plan: Plan) -> list[Reason]:
    """What a start would refuse now, each asked by itself, so that all of it is told at once.

    For a version that can be started no more, whatever comes, only that is told.
    """
    latest = await get_plan(runtime, plan.id)
    if latest.version != plan.version:
        return [_reason(plan, await stale_version(runtime, latest, plan.version))]
    try:
        await open_review(runtime, plan)
    except BeforehandError as error:
        return [_reason(plan, error)]
    told = [
        await _refusal(plan, refuse_unready(runtime, plan)),
        await _refusal(plan, _drift(runtime, plan)),
        await _refusal(plan, refuse_held_plan(runtime, plan)),
        await _refusal(plan, refuse_held(runtime, machines_of(plan, runtime.catalog))),
    ]
    problems = [_plain(problem) for problem in await problems_of(runtime, plan)]
    return problems + [reason for reason in told if reason is not None]


async def _drift(runtime: Runtime, plan: Plan) -> None:
    drift = await drift_of(runtime, plan)
    if drift is not None:
        why = "The world has changed since this was planned." if is_known(drift) else "Nobody knows how things stand."
        raise ConflictError(
            f"{why} {drift.get('says', '')}".strip(),
            code="plan.drift",
            hint=drift.get("tryNext") or "Regenerate the plan from the present state.",
        )


async def _refusal(plan: Plan, refuses: Awaitable[None]) -> Reason | None:
    try:
        await refuses
    except BeforehandError as error:
        return _reason(plan, error)
    return None


def _reason(plan: Plan, error: BeforehandError) -> Reason:
    return Reason(code=error.code, about=plan.id, says=error.says, try_next=error.hint or "")


def _plain(found: Problem) -> Reason:
    return Reason(code=found.code, about=found.about, says=found.says, try_next=found.try_next)
