"""One call of a tool, whatever comes of it: a value, a fault, a doubt, or that it was stopped.

Whoever drives a run calls tools through this, in the same process or on a machine somewhere else, so that a call comes
to the same input for the next decision wherever it is made.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

from beforehand.engine.inputs import JudgeStep, ProbeStep, StartStep, StepEnded
from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.engine.values import json_value, own_copy, writable
from beforehand.model.errors import BeforehandError, ChangedSinceError, DriftError, Fault, InDoubtError
from beforehand.model.event import iso
from beforehand.model.secrets import without_secrets
from beforehand.ports.clock import Clock
from beforehand.ports.foreign import contain
from beforehand.ports.log import Log
from beforehand.ports.tool import Judgement, ProbeAnswer, ToolContext, ToolSource, Workspace

log = Log("beforehand.engine")

STOP_GRACE_MS = 10_000
"""How long a tool may take to end after it was told to stop."""
NOT_CONFIRMED = "It was told to stop; not confirmed."
"""What is known of a step on a machine whose tool has not ended since."""
MAX_LOG_LINES = 200
Lines = list[dict[str, Any]]
"""What a tool says of its work, a line each."""


async def _at_once() -> None: ...


@dataclass(frozen=True, slots=True)
class Caller:
    """Calls the tools of one run."""

    run_id: str
    correlation_id: str
    tools: ToolSource
    catalog: ToolCatalog
    clock: Clock
    workspace: Workspace
    on_progress: Callable[[str, str, float], None]
    before_effect: Callable[[], None]
    """Called right before a machine is told anything: a Fault where this process may not any more."""
    until_led: Callable[[], Awaitable[None]] = _at_once
    """Returns when this process may call tools at all."""
    unheard: dict[tuple[str, int], str] = field(default_factory=dict)
    """Of attempts that were told to stop without an answer: why there was none."""

    async def outcome(self, command: StartStep, lines: Lines, was_told_to_stop: Callable[[], bool]) -> StepEnded:
        """Call the tool. Being cancelled goes on outwards unless the call itself was told to stop."""
        try:
            tool = self.tools.get(command.tool)
            args = own_copy(command.args)
            await self.until_led()
            context = self._context(command, lines, expects=command.expects, seen=command.seen)
            value = json_value(await contain(tool.run(args, context)), command.tool)
            return StepEnded(self.clock.now_ms(), command.step_id, command.attempt, True, value)
        except ChangedSinceError as changed:
            return self._failed(command, error=says(changed), untouched=True, stale=True)
        except DriftError as drift:
            return self._failed(command, error=says(drift), untouched=True, drift=drift.difference)
        except InDoubtError as doubt:
            return self._failed(command, error=says(doubt), in_doubt=True, difference=doubt.difference)
        except Fault as fault:
            told = {"transient": fault.transient, "untouched": fault.untouched}
            return self._failed(command, error=says(fault), **told)
        except BeforehandError as error:
            return self._failed(command, error=says(error))
        except asyncio.CancelledError:
            if not was_told_to_stop():
                raise  # whoever waits for it ends; the log says that it had begun
            return await self._what_became_of(command)
        except Exception as error:  # a tool's bug is that step's failure, not ours
            log.exception("a tool broke", tool=command.tool, step=command.step_id, run=self.run_id)
            return self._failed(command, error=f"The tool {command.tool} broke: {says(error)}")

    async def judgement(self, command: JudgeStep) -> Judgement:
        """What the call would do; when that cannot be found out, a person is asked."""
        try:
            tool = self.tools.get(command.tool)
            judgement = await contain(tool.judge(own_copy(command.args), self._context(command, [])))
            return replace(judgement, evidence=json_value(dict(judgement.evidence), command.tool))
        except Exception as error:  # when in doubt, a person is asked
            if isinstance(error, Fault) and error.untouched and not error.transient:
                return Judgement(False, refused=says(error))
            return Judgement(True, f"What it would do could not be found out: {says(error)}")

    async def probe(self, command: ProbeStep | StartStep) -> ProbeAnswer:
        """What the machine says became of a call."""
        try:
            tool = self.tools.get(command.tool)
            context = self._context(command, [], expects=command.expects)
            answer = await contain(tool.probe(own_copy(command.args), context))
            return replace(answer, value=json_value(answer.value, command.tool))
        except Exception as error:  # a machine that cannot be asked leaves the step to a person
            return ProbeAnswer("unknown", says=f"The machine could not be asked: {says(error)}")

    async def tell_to_stop(self, begun: StartStep | ProbeStep) -> bool:
        """Tell the tool that its call is to stop; false where it cannot be told, and the call has to be cut off.

        Nobody asks whether this process still leads: stopping can only be too much.
        """
        try:
            tool = self.tools.get(begun.tool)
            return await contain(tool.stop(begun.args, self._context(begun, [])))
        except Exception as error:  # what cannot be told is cut off
            self.unheard[begun.step_id, begun.attempt] = says(error)
            if not isinstance(error, Fault):
                log.exception("a tool could not be told to stop", step=begun.step_id, run=self.run_id)
            return False

    def stopped(self, step_id: str, attempt: int) -> StepEnded:
        """The end of a call of which nothing is known but that it was to stop."""
        error = f"{NOT_CONFIRMED} {self.unheard.get((step_id, attempt), '')}".strip()
        return StepEnded(self.clock.now_ms(), step_id, attempt, ok=False, error=error, stopped=True)

    async def _what_became_of(self, command: StartStep) -> StepEnded:
        """A call was cut off. A machine that can be asked says whether it happened; else the step only was stopped."""
        stopped = self.stopped(command.step_id, command.attempt)
        spec = self.catalog.get(command.tool)
        if spec is None or spec.effect != "physical":
            return replace(stopped, untouched=True)
        if not spec.can_probe:
            return stopped
        answer = await self.probe(command)
        if answer.state == "happened":
            return replace(stopped, ok=True, value=answer.value, error="", stopped=False)
        if answer.state != "running":
            stopped = replace(stopped, error=f"It was told to stop in the middle. {answer.says}".strip())
        return replace(stopped, untouched=answer.state == "not_begun", difference=answer.difference)

    def _failed(self, command: StartStep, **more: Any) -> StepEnded:
        return StepEnded(self.clock.now_ms(), command.step_id, command.attempt, False, **more)

    def _context(self, command: StartStep | JudgeStep | ProbeStep, lines: Lines, **held_to: Any) -> ToolContext:
        def note(line: str) -> None:
            if len(lines) < MAX_LOG_LINES:
                lines.append({"ts": iso(self.clock.now_ms()), "line": writable(without_secrets(str(line))[:2000])})

        return ToolContext(
            key=command.key,
            workspace=self.workspace,
            correlation_id=self.correlation_id,
            progress=lambda percent: self.on_progress(self.run_id, command.step_id, percent),
            log=note,
            before_effect=self.before_effect,
            **held_to,
        )


def says(error: Exception) -> str:
    """What went wrong and, where the error knows it, what to do about it."""
    if isinstance(error, BeforehandError):
        return writable(without_secrets(f"{error.says} {error.hint}".strip()))
    return writable(without_secrets(f"{type(error).__name__}: {error}"))
