"""From what a model says to an answer: read, held to the schema and the asker's check, and asked again if it is wrong.

Every model that talks takes this way, the scripted one too; they differ only in how one request is sent.
"""

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from beforehand.engine.schemas import misfits
from beforehand.model.errors import ModelAnswerError, ModelError, ModelTimeoutError
from beforehand.model.reason import Problem
from beforehand.model.usage import NOTHING, Usage
from beforehand.ports.model import Answer, Ask, Piece

_FENCE = re.compile(r"^[ \t]*```[\w-]*[ \t]*\n(.*?)\n?[ \t]*```[ \t]*$", re.DOTALL | re.MULTILINE)
MOST_TOLD = 10
"""Problems a model is told at once."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What one request brought: words, or what a tool for structured answers was called with."""

    text: str = ""
    arguments: str | Mapping[str, Any] | None = None
    model: str = ""
    cut_off: bool = False
    """The words ended because there was no room for more."""


@dataclass(slots=True)
class Meter:
    """What one ask has used so far; asked for leave before every request."""

    ask: Ask
    used: Usage = NOTHING
    _began: float = field(default_factory=time.monotonic)

    def leave(self) -> None:
        """Before a request is sent: the asker may forbid it."""
        if self.ask.permit is not None:
            self.ask.permit(self.total())
        self.used = self.used.plus(Usage(requests=1, money=0))

    def add(self, used: Usage) -> None:
        """What a request has turned out to cost."""
        self.used = self.used.plus(used)

    def hear(self, text: str) -> None:
        """Some more of the answer has come; whoever listens is told."""
        if self.ask.hear is not None and text:
            self.ask.hear(Piece(self.used.requests, text))

    def total(self) -> Usage:
        return self.used.model_copy(update={"seconds": time.monotonic() - self._began})


Send = Callable[[Sequence[str]], Awaitable[Reply]]
"""Sends the ask or, where there are any, the problems of the last answer; the meter gives leave for every request."""


async def settled(meter: Meter, send: Send) -> Answer:
    """The first answer that nothing is wrong with; a ModelError, with what was used, when there is none in time."""
    try:
        async with asyncio.timeout(meter.ask.timeout_s):
            return await _repaired(meter, send)
    except ModelError as error:
        error.usage = meter.total()
        raise
    except TimeoutError:
        says = f"The model gave no answer within {meter.ask.timeout_s:g} s."
        raise ModelTimeoutError(says, hint="Give it more time, or ask for less.", usage=meter.total()) from None


async def _repaired(meter: Meter, send: Send) -> Answer:
    ask = meter.ask
    problems: Sequence[str] = ()
    for _ in range(1 + ask.repairs):
        reply = await send(problems)
        data, problems = read(ask, reply)
        if not problems:
            return Answer(text=_text(ask, reply, data), data=data, model=reply.model, usage=meter.total())
    raise _still_wrong(problems, meter.total().requests)


def read(ask: Ask, reply: Reply) -> tuple[Any, Sequence[str]]:
    """The data of a reply, and what is wrong with it."""
    if ask.schema is None:
        return None, _unfinished(reply) or _checked(ask, reply.text)
    try:
        data = _json(reply)
    except ValueError as error:
        return None, [f"The answer is not readable as JSON: {error}.", *_unfinished(reply)]
    if ask.tidy is not None:
        data = ask.tidy(data)
    return data, misfits(ask.schema, data, "answer") or _checked(ask, data)


def _unfinished(reply: Reply) -> list[str]:
    """Half an answer must not be taken for a whole one."""
    if reply.cut_off:
        return ["The answer was cut off: be shorter."]
    return [] if reply.text.strip() or reply.arguments else ["The answer is empty."]


def _checked(ask: Ask, answer: Any) -> Sequence[str]:
    return ask.check(answer) if ask.check is not None else ()


def _json(reply: Reply) -> Any:
    """What was meant for the tool, or else JSON in the words: all of them, or what stands in their only code fence."""
    if isinstance(reply.arguments, Mapping):
        return dict(reply.arguments)
    source = reply.text if reply.arguments is None else reply.arguments
    fenced = _FENCE.findall(source)
    return json.loads(fenced[0] if len(fenced) == 1 and not source.lstrip().startswith(("{", "[")) else source)


def _text(ask: Ask, reply: Reply, data: Any) -> str:
    return reply.text if ask.schema is None else json.dumps(data, ensure_ascii=False)


def correction(problems: Sequence[str]) -> str:
    """What the model is told about its answer."""
    listed = "\n".join(f"- {problem}" for problem in problems[:MOST_TOLD])
    return f"That answer cannot be used:\n{listed}\nGive the whole answer again, corrected."


def _still_wrong(problems: Sequence[str], requests: int) -> ModelAnswerError:
    tries = "once" if requests == 1 else f"{requests} times"
    return ModelAnswerError(
        f"The model was asked {tries} and its answer cannot be used: {' '.join(problems[:3])}",
        problems=[Problem(code="model.bad_answer", about="answer", says=problem) for problem in problems],
    )
