"""Which machines a plan works on: a tool says by `ToolSpec.machine` on which one a call works, from its arguments."""

from string import Formatter

from beforehand.engine.references import holds_reference
from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.model.plan import Plan, StepStatus
from beforehand.ports.tool import ToolSpec


def machine_of(spec: ToolSpec | None, args: dict[str, object]) -> str | None:
    """The machine a call works on; None where it works on none, or where its arguments do not say yet."""
    if spec is None or spec.machine is None:
        return None
    named = {field: args.get(field) for _, field, _, _ in Formatter().parse(spec.machine) if field}
    if any(value is None or holds_reference(value) for value in named.values()):
        return None
    return spec.machine.format_map(named)


def machines_of(plan: Plan, catalog: ToolCatalog) -> list[str]:
    """The machines that a plan's steps name, in the order they are first named; skipped steps name none."""
    steps = (step for step in plan.steps if step.status is not StepStatus.SKIPPED)
    found = (machine_of(catalog.get(step.tool), step.args) for step in steps)
    return list(dict.fromkeys(machine for machine in found if machine is not None))
