"""A physical tool: it appends a line to a file, which cannot be undone and can be counted.

The line carries the call's key, so that after a crash `probe` can tell whether it was written.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from beforehand import Fault, Judgement, Preview, ProbeAnswer, Tool, ToolContext, ToolSpec

SIDE = {"type": "string", "enum": ["before", "after"]}
SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 1, "description": "A file inside the workspace."},
        "line": {"type": "string", "pattern": "^[^\\r\\n]*$", "description": "What to append."},
        "hang_s": {"type": "number", "minimum": 0, "maximum": 86400, "description": "Seconds to hang; 0 by default."},
        "hang": SIDE | {"description": "Hang before or after the append; after by default."},
        "fail": SIDE | {"description": "Fail before or after the append; not at all by default."},
        "transient": {"type": "boolean", "description": "Whether that failure may pass; false by default."},
        "probe": {"type": "boolean", "description": "Whether the file tells what happened; true by default."},
    },
    "required": ["path", "line"],
    "additionalProperties": False,
}
REPORTS = 20


class Append(Tool):
    def __init__(self, name: str, turn: asyncio.Lock, *, can_probe: bool) -> None:
        self._turn = turn
        self.spec = ToolSpec(
            name=name,
            description="Append a line, with the call's key before it, to a file of the workspace.",
            input_schema=SCHEMA,
            effect="physical",
            destructive="judged",
            output="An object with the path, the line and the key it was written under.",
            estimate_s=0.05,
            can_probe=can_probe,
        )

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> dict[str, Any]:
        context.progress(0)
        await self._side("before", args, context)
        async with self._turn:  # two calls at once would each write without the other's line
            before = await held(args["path"], context)
            line = f"{context.key}\t{args['line']}\n"
            context.before_effect()
            await context.workspace.write(inside(args["path"], context), before + line.encode())
        context.log(f"Appended to {args['path']}.")
        await self._side("after", args, context)
        context.progress(100)
        return _value(args, context)

    async def probe(self, args: Mapping[str, Any], context: ToolContext) -> ProbeAnswer:
        if not self.spec.can_probe or not args.get("probe", True):
            return ProbeAnswer("unknown", says="This call was told not to look.")
        start = f"{context.key}\t".encode()
        lines = (await held(args["path"], context)).splitlines()
        if any(line.startswith(start) for line in lines):
            return ProbeAnswer("happened", _value(args, context), "The file holds the line of this call.")
        return ProbeAnswer("not_begun", says="The file does not hold a line of this call.")

    async def judge(self, args: Mapping[str, Any], context: ToolContext) -> Judgement:
        """Adding to a list of effects destroys nothing; adding to anybody else's file may."""
        lines = (await held(args["path"], context)).splitlines()
        if any(b"\t" not in line for line in lines):
            return Judgement(True, f"Appends to {args['path']}, which holds something else.", {"path": args["path"]})
        return Judgement(False, f"Appends a line to {args['path']}.")

    async def preview(self, args: Mapping[str, Any], context: ToolContext) -> Preview:
        seconds = args.get("hang_s", 0)
        known = isinstance(seconds, int | float)
        return Preview(f"Appends a line to {args.get('path')}.", self.spec.estimate_s + (seconds if known else 0))

    async def _side(self, side: str, args: Mapping[str, Any], context: ToolContext) -> None:
        """Hang and fail here if the arguments say so."""
        hang_s = args.get("hang_s", 0)
        if hang_s and args.get("hang", "after") == side:
            context.log(f"Hanging for {hang_s} s {side} the append.")
            for part in range(REPORTS):
                context.progress(5 + 90 * part / REPORTS)
                await asyncio.sleep(hang_s / REPORTS)
        if args.get("fail") == side:
            raise Fault(
                f"The bench was told to fail {side} the append.",
                code="bench.told_to_fail",
                transient=bool(args.get("transient", False)),
                untouched=side == "before",
            )


def _value(args: Mapping[str, Any], context: ToolContext) -> dict[str, Any]:
    return {"path": args["path"], "line": args["line"], "key": context.key}


def inside(path: str, context: ToolContext) -> str:
    """The path as the workspace takes it; an absolute one may be given where it lies inside."""
    return path.removeprefix(f"{context.workspace.describe().rstrip('/')}/")


async def held(path: str, context: ToolContext) -> bytes:
    """What the file holds; nothing when it is not there."""
    name = inside(path, context)
    return await context.workspace.read(name) if await context.workspace.exists(name) else b""
