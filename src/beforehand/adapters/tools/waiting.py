"""The tools that let time pass: wait, and ask_person, whose step waits for a person's answer. Both are pure."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from beforehand.adapters.tools.arguments import dependence, strict
from beforehand.model.errors import Fault
from beforehand.ports.tool import Preview, Tool, ToolContext, ToolSpec, Unknown

LONGEST_WAIT_S = 86_400
REPORT_EVERY_S = 0.25


class Wait(Tool):
    spec = ToolSpec(
        name="wait",
        description="Let a number of seconds pass.",
        input_schema=strict(
            {
                "seconds": {
                    "type": "number",
                    "minimum": 0,
                    "maximum": LONGEST_WAIT_S,
                    "description": "How long, in seconds; at most a day.",
                }
            }
        ),
        effect="pure",
        output="An object with the seconds waited.",
        estimate_s=1.0,
    )

    def __init__(self, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._sleep = sleep

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> dict[str, Any]:
        seconds = _seconds(args["seconds"])
        parts = max(1, min(100, int(seconds / REPORT_EVERY_S)))
        for part in range(parts):
            context.progress(100 * part / parts)
            await self._sleep(seconds / parts)
        context.progress(100)
        return {"seconds": args["seconds"]}

    async def preview(self, args: Mapping[str, Any], context: ToolContext) -> Preview:
        if depends := dependence(args):
            return Preview(f"Waits; how long depends on {depends}.", self.spec.estimate_s, Unknown("what wait gives"))
        try:
            seconds = _seconds(args.get("seconds"))
        except Fault as fault:
            return Preview(f"wait would fail: {fault.says}", 0, Unknown("what wait gives"), problems=(fault.says,))
        return Preview(f"Waits {seconds:g} s.", seconds, {"seconds": args["seconds"]})


def _seconds(value: Any) -> float:
    """A reference may have put anything here, so it is looked at again when the step runs."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LONGEST_WAIT_S:
        raise Fault(
            f"wait needs a number of seconds from 0 to {LONGEST_WAIT_S}, not {str(value)[:40]!r}.",
            code="wait.bad_seconds",
            hint="Give the seconds as a plain number.",
            untouched=True,
        )
    return float(value)


class AskPerson(Tool):
    spec = ToolSpec(
        name="ask_person",
        description="Ask a person a question and wait for the answer.",
        input_schema=strict({"question": {"type": "string", "minLength": 1, "description": "What to ask."}}),
        effect="pure",
        asks_person=True,
        output="The person's answer.",
        estimate_s=60.0,
    )

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> Any:
        raise Fault(
            "ask_person is answered by a person in the inbox; it cannot be run by itself.",
            code="tool.asks_person",
            untouched=True,
        )

    async def preview(self, args: Mapping[str, Any], context: ToolContext) -> Preview:
        depends = dependence(args)
        says = f"Asks a person; the question depends on {depends}." if depends else f"Asks: {args.get('question', '')}"
        return Preview(says, self.spec.estimate_s, Unknown("the person's answer"))
