"""The shortest tool there is: a function with hints and a docstring."""

from beforehand import ToolContext, tool
from beforehand_example_plugin.append import held


@tool("bench.count", effect="pure", output="How many lines the file has; 0 when it is not there.")
async def count(path: str, context: ToolContext) -> int:
    """Count the lines of a file that bench.append wrote."""
    return len((await held(path, context)).splitlines())
