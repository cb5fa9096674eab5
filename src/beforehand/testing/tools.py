"""Tools that follow a script: the n-th call gives the n-th outcome, the last one repeating.

They count what they did per key, so that a test can tell an effect done twice from a call made twice.

    ScriptedTool("drill", fails("Jammed.", transient=True), gives("a hole"), effect="physical")
"""

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from beforehand.model.errors import Fault
from beforehand.ports.clock import Clock
from beforehand.ports.tool import Destructive, Effect, Judgement, Preview, ProbeAnswer, Tool, ToolContext, ToolSpec

ANYTHING: Mapping[str, Any] = {"type": "object"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one call comes to: after `seconds` a value, or a fault; or nothing until it is stopped."""

    value: Any = None
    fault: Fault | Exception | None = None
    seconds: float = 0
    hangs: bool = False
    acts: bool = True
    """Whether the effect has happened by the end, or by the moment it hangs."""
    logs: tuple[str, ...] = field(default=())


def gives(value: Any = None, *, logs: tuple[str, ...] = ()) -> Outcome:
    """An outcome that is a value, after so many seconds."""
    return Outcome(value, logs=logs)


def echoes() -> Outcome:
    """Gives back its argument `value`."""
    return Outcome(...)


def takes(seconds: float, value: Any = None) -> Outcome:
    """Gives the value after so many seconds of virtual time."""
    return Outcome(value, seconds=seconds)


def fails(says: str = "It did not work.", *, transient: bool = False, untouched: bool = False) -> Outcome:
    """An outcome that is a fault with this sentence."""
    return Outcome(fault=Fault(says, transient=transient, untouched=untouched), acts=False)


def breaks(error: Exception) -> Outcome:
    """The tool has a bug."""
    return Outcome(fault=error, acts=False)


def hangs(*, acts: bool = True) -> Outcome:
    """Never ends by itself; `acts` says whether the effect happened before it hung."""
    return Outcome(hangs=True, acts=acts)


class ScriptedTool(Tool):
    def __init__(
        self,
        name: str,
        *script: Outcome,
        effect: Effect = "pure",
        destructive: Destructive = "never",
        schema: Mapping[str, Any] = ANYTHING,
        asks_person: bool = False,
        probes: tuple[ProbeAnswer, ...] = (),
        judgements: tuple[Judgement, ...] = (),
        clock: Clock | None = None,
        estimate_s: float = 0.1,
    ) -> None:
        self.spec = ToolSpec(
            name=name,
            description=f"The scripted tool {name}.",
            input_schema=schema,
            effect=effect,
            destructive=destructive,
            asks_person=asks_person,
            can_probe=bool(probes),
            estimate_s=estimate_s,
            source="script",
        )
        self.script = script or (gives(),)
        self.clock = clock
        self.probes = probes
        self.judgements = judgements
        self.calls: list[tuple[str, Mapping[str, Any]]] = []
        """Key and arguments of every call, in order."""
        self.effects: Counter[str] = Counter()
        """How often the effect of each key happened."""
        self.probed: list[str] = []
        self.judged: list[Mapping[str, Any]] = []
        self.stopped: list[str] = []

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> Any:
        outcome = self.script[min(len(self.calls), len(self.script) - 1)]
        self.calls.append((context.key, args))
        for line in outcome.logs:
            context.log(line)
        try:
            if outcome.seconds:
                await self._sleep(outcome.seconds)
            if outcome.acts:
                self.effects[context.key] += 1
            if outcome.hangs:
                await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            self.stopped.append(context.key)
            raise
        if outcome.fault is not None:
            raise outcome.fault
        return args.get("value") if outcome.value is ... else outcome.value

    async def _sleep(self, seconds: float) -> None:
        if self.clock is None:
            raise RuntimeError(f"The tool {self.spec.name} takes time, so it needs a clock.")
        await self.clock.sleep_until(self.clock.now_ms() + round(seconds * 1000))

    async def judge(self, args: Mapping[str, Any], context: ToolContext) -> Judgement:
        self.judged.append(args)
        if not self.judgements:
            return Judgement(destructive=self.spec.destructive == "always")
        return self.judgements[min(len(self.judged), len(self.judgements)) - 1]

    async def probe(self, args: Mapping[str, Any], context: ToolContext) -> ProbeAnswer:
        self.probed.append(context.key)
        if not self.probes:
            return ProbeAnswer("unknown")
        return self.probes[min(len(self.probed), len(self.probes)) - 1]

    async def preview(self, args: Mapping[str, Any], context: ToolContext) -> Preview:
        outcome = self.script[0]
        wrong = (str(outcome.fault),) if outcome.fault is not None else ()
        value = args.get("value") if outcome.value is ... else outcome.value
        return Preview(f"Would call {self.spec.name}.", outcome.seconds, value, problems=wrong)
