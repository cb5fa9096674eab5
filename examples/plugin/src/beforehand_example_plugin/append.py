"""A physical tool: it appends a line to a file, which cannot be undone and can be counted.

The line carries the call's key, so that after a crash `probe` can tell whether it was written.
"""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from beforehand import Fault, Preview, ProbeAnswer, Tool, ToolContext, ToolSpec

SIDE = {"type": "string", "enum": ["before", "after"]}
SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "pattern": "^/", "description": "An absolute path, outside any workspace."},
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
    def __init__(self, name: str, *, can_probe: bool) -> None:
        self.spec = ToolSpec(
            name=name,
            description="Append a line, with the call's key before it, to a file that no workspace guards.",
            input_schema=SCHEMA,
            effect="physical",
            output="An object with the path, the line and the key it was written under.",
            estimate_s=0.05,
            can_probe=can_probe,
        )

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> dict[str, Any]:
        context.progress(0)
        await self._side("before", args, context)
        await asyncio.to_thread(_append, Path(args["path"]), f"{context.key}\t{args['line']}\n")
        context.log(f"Appended to {args['path']}.")
        await self._side("after", args, context)
        context.progress(100)
        return _value(args, context)

    async def probe(self, args: Mapping[str, Any], context: ToolContext) -> ProbeAnswer:
        if not self.spec.can_probe or not args.get("probe", True):
            return ProbeAnswer("unknown", says="This call was told not to look.")
        if await asyncio.to_thread(_holds, Path(args["path"]), context.key):
            return ProbeAnswer("happened", _value(args, context), "The file holds the line of this call.")
        return ProbeAnswer("not_begun", says="The file does not hold a line of this call.")

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


def _append(path: Path, line: str) -> None:
    """One write at the end of the file, on disk before it counts as done."""
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise Fault(
            f"{path} cannot be opened: {error.strerror}.",
            code="bench.no_file",
            hint="Name another file.",
            untouched=True,
        ) from None
    try:
        os.write(fd, line.encode("utf-8"))
        os.fsync(fd)
    finally:
        os.close(fd)


def _holds(path: Path, key: str) -> bool:
    if not path.is_file():
        return False
    start = f"{key}\t".encode()
    return any(line.startswith(start) for line in path.read_bytes().splitlines())
