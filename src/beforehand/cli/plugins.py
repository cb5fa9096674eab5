"""`beforehand plugins`: every tool there is, where it comes from, and what could not be loaded."""

import logging
from typing import TYPE_CHECKING, Any

from beforehand.cli.exits import DONE, FAILED
from beforehand.cli.options import OutputOption, settings_from
from beforehand.cli.screen import Output, line, print_err, print_json, print_out, print_table

if TYPE_CHECKING:
    from beforehand.app.settings import Settings


def plugins(output: OutputOption = Output.TABLE) -> int:
    """What is installed and what it brings: tools with their effect, and what could not be loaded."""
    from beforehand.cli.run_async import run_async

    shown = run_async(gather(settings_from()), log_level=logging.CRITICAL)
    if output is Output.JSON:
        print_json(shown)
    else:
        rows = [
            (tool["name"], tool["effect"], tool["destructive"], tool["source"], line(tool["description"]))
            for tool in shown["tools"]
        ]
        print_table(("tool", "effect", "destructive", "from", "what"), rows)
        print_out(f"Crafts: {', '.join(shown['crafts']) or 'none'}.")
        for point in shown["points"]:
            print_out(f"{point['group']}, for {point['craft']}: {', '.join(point['names']) or 'none'}.")
    for reason in shown["missing"]:
        print_err(f"{reason['about']}: {reason['says']} {reason['tryNext']}".strip())
    return FAILED if shown["missing"] else DONE


async def gather(settings: "Settings") -> dict[str, Any]:
    """What is installed, in a runtime of its own."""
    from beforehand.app.dry_run import open_dry_run
    from beforehand.app.installed import installed

    async with open_dry_run(settings) as runtime:
        return installed(runtime)
