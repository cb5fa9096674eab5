"""The shortest tool there is: a function with hints and a docstring."""

import asyncio
from pathlib import Path

from beforehand import tool


@tool("bench.count", effect="pure", output="How many lines the file has; 0 when it is not there.")
async def count(path: str) -> int:
    """Count the lines of a file that bench.append wrote."""
    return await asyncio.to_thread(_lines, Path(path))


def _lines(file: Path) -> int:
    return len(file.read_bytes().splitlines()) if file.is_file() else 0
