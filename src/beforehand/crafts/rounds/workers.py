"""The workers of questions: the built-in ones, any tool that only looks or may be called twice, and any plan template.

A worker is what the planner knows of it, and a function. What destroys something is asked about first; nothing here
moves a machine: a template only hands its plan in for review.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from beforehand.app.runtime import Runtime
from beforehand.crafts.rounds.core.inputs import RunWorker
from beforehand.crafts.rounds.core.state import QuestionState
from beforehand.crafts.rounds.core.words import Worker
from beforehand.crafts.rounds.help_worker import HELP
from beforehand.crafts.rounds.history_workers import HISTORY
from beforehand.crafts.rounds.plug_ins import WORKERS
from beforehand.crafts.rounds.worker_kind import Outputs, WorkerKind
from beforehand.engine.schemas import misfits
from beforehand.model.errors import BadInputError, NotFoundError
from beforehand.ports.foreign import contain, loaded, why
from beforehand.ports.log import Log
from beforehand.ports.tool import ToolContext, ToolSpec

log = Log("beforehand.rounds")
TOOL, TEMPLATE = "tool:", "template:"


@cache
def brought() -> tuple[WorkerKind, ...]:
    """The workers of installed packages, loaded once; one that cannot be used is reported and left out."""
    from beforehand.app.entry_points import entry_points

    found = []
    for entry in entry_points(WORKERS):
        try:
            kind = loaded(entry.load)
            if not isinstance(kind, WorkerKind):
                raise TypeError(f"{entry.value} is not a WorkerKind")
            found.append(kind)
        except Exception as error:  # somebody else's package must not keep questions from being answered
            log.error("a worker could not be used", name=entry.name, says=why(error))
    return tuple(found)


@dataclass(slots=True)
class Crew:
    """Everybody a planner may give work to, in one runtime."""

    runtime: Runtime

    def kinds(self) -> dict[str, WorkerKind]:
        """The built-in workers and those of installed packages."""
        found = {kind.worker.name: kind for kind in (*HELP, *HISTORY)}
        for kind in brought():
            found.setdefault(kind.worker.name, kind)
        return found

    async def workers(self) -> list[Worker]:
        """What the planner is told of everybody; built-in ones first."""
        tools = [_tool_worker(spec) for spec in self.runtime.catalog.specs() if _may_be_called(spec)]
        templates = [_template_worker(row) for row in await self.runtime.store.rows("template")]
        return [*(kind.worker for kind in self.kinds().values()), *tools, *templates]

    async def run(self, command: RunWorker, state: QuestionState) -> Outputs:
        """Call a worker; a BeforehandError where it fails."""
        if command.worker.startswith(TOOL):
            return await self._call_tool(command)
        if command.worker.startswith(TEMPLATE):
            return await self._hand_in(command, state)
        kind = self.kinds().get(command.worker)
        if kind is None:
            raise NotFoundError.unknown("worker", command.worker, self.kinds())
        return await contain(kind.run(self.runtime, command, state))

    async def _call_tool(self, command: RunWorker) -> Outputs:
        tool = self.runtime.extensions.tools.get(command.worker.removeprefix(TOOL))
        args = {**command.params, **command.inputs}
        args = {name: value for name, value in args.items() if name in tool.spec.input_schema.get("properties", {})}
        if problems := misfits(tool.spec.input_schema, args, "args"):
            raise BadInputError(f"{tool.spec.name} cannot be called like this: {' '.join(problems)}", code="tool.args")
        context = ToolContext(key=command.key, workspace=self.runtime.workspace(None))
        return {"value": await contain(tool.run(args, context))}

    async def _hand_in(self, command: RunWorker, state: QuestionState) -> Outputs:
        from beforehand.app.templates import plan_from_template

        name = command.worker.removeprefix(TEMPLATE)
        given = {**command.params, **command.inputs}
        plan, decision = await plan_from_template(self.runtime, name, given, by=state.by)
        return {"planId": plan.id, "decisionId": decision.id}


def _may_be_called(spec: ToolSpec) -> bool:
    """What moves something belongs into plans, which people review; questions to people are a worker of their own."""
    return not (spec.moves or spec.asks_person)


def _tool_worker(spec: ToolSpec) -> Worker:
    return Worker(
        name=f"{TOOL}{spec.name}",
        description=f"{spec.description} {spec.output}".strip(),
        outputs=("value",),
        destructive=spec.destructive != "never",
        effect=spec.effect,
        options=tuple(spec.input_schema.get("properties", {})),
    )


def _template_worker(row: Mapping[str, Any]) -> Worker:
    return Worker(
        name=f"{TEMPLATE}{row['name']}",
        description=f"Hands the plan {row['name']} in for review; a person decides whether it runs.",
        outputs=("planId", "decisionId"),
        effect="idempotent",
        options=tuple(row.get("parameters") or ()),
    )
