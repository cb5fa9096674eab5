"""`beforehand doctor`: is everything there and well, and if not, what to do."""

import logging
from typing import TYPE_CHECKING, Any

from beforehand.cli.exits import DONE, FAILED
from beforehand.cli.options import DbOption, HomeOption, OutputOption
from beforehand.cli.screen import Output, print_err, print_json, print_table

if TYPE_CHECKING:
    from beforehand.app.settings import Settings


def doctor(output: OutputOption = Output.TABLE, home: HomeOption = None, db: DbOption = None) -> int:
    """Check that everything is installed and works.

    `broken` needs mending and makes the exit code 1; `missing` is something only some parts need.
    """
    from beforehand.cli.options import settings_from
    from beforehand.cli.run_async import run_async

    found = run_async(_examine(settings_from(home=home, db=db)), log_level=logging.CRITICAL)
    if output is Output.JSON:
        print_json(found)
    else:
        rows = [(one["check"], one["state"], one["says"], one["tryNext"]) for one in found["checks"]]
        print_table(("check", "", "what was found", "what to do"), rows)
    for one in found["checks"]:
        if one["state"] == "broken":
            print_err(f"{one['check']}: {one['says']} {one['tryNext']}".strip())
    return DONE if found["ok"] else FAILED


async def _examine(settings: "Settings") -> dict[str, Any]:
    from beforehand.app.doctor import diagnosis
    from beforehand.cli.plugins import gather
    from beforehand.model.errors import BeforehandError

    try:
        brought = await gather(settings)
    except BeforehandError as error:
        brought = {"tools": [], "missing": [{"about": error.code, "says": error.says, "tryNext": error.hint}]}
    return await diagnosis(settings, brought)
