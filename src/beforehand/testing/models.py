"""A model that follows a script: the n-th request gets the n-th outcome, the last one repeating.

It reads, checks and repairs answers exactly as a real one does, and writes down what it was asked.

    ScriptedModel("start(sitting on bed1)", ModelBusyError("Busy."), {"n": 3}, lambda ask: "skip(1)")
"""

import inspect
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from beforehand.adapters.models.repairing import Meter, Reply, settled
from beforehand.model.usage import Usage
from beforehand.ports.model import Answer, Ask

Outcome = str | Mapping[str, Any] | Exception
"""Words, a structured answer, or what is raised."""
Script = Outcome | Callable[[Ask], Outcome | Awaitable[Outcome]]
FREE = Usage(input_tokens=100, output_tokens=10, money=0)


class ScriptedModel:
    def __init__(self, *script: Script, name: str = "scripted", cost: Usage = FREE) -> None:
        self.name = name
        self.asks: list[Ask] = []
        self.problems: list[tuple[str, ...]] = []
        """What each request was told about the answer before it; nothing for the first one of an ask."""
        self._script = script
        self._cost = cost

    async def answer(self, ask: Ask) -> Answer:
        self.asks.append(ask)
        meter = Meter(ask)

        async def send(problems: Sequence[str]) -> Reply:
            meter.leave()
            self.problems.append(tuple(problems))
            outcome = await self._next(ask)
            if isinstance(outcome, Exception):
                raise outcome
            meter.add(self._cost)
            meter.hear(outcome if isinstance(outcome, str) else json.dumps(outcome))
            if isinstance(outcome, str):
                return Reply(outcome, model=self.name)
            return Reply(arguments=outcome, model=self.name)

        return await settled(meter, send)

    async def close(self) -> None: ...

    async def _next(self, ask: Ask) -> Outcome:
        step = self._script[min(len(self.problems), len(self._script)) - 1]
        outcome = step(ask) if callable(step) else step
        return await outcome if inspect.isawaitable(outcome) else outcome
