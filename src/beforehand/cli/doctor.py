"""`beforehand doctor`: is everything there and well, and if not, what to do."""

import logging

from beforehand.cli.exits import DONE, FAILED
from beforehand.cli.options import DbOption, HomeOption, OutputOption
from beforehand.cli.screen import Output, print_err, print_json, print_table


def doctor(output: OutputOption = Output.TABLE, home: HomeOption = None, db: DbOption = None) -> int:
    """Check that everything is installed and works.

    `broken` needs mending and makes the exit code 1; `missing` is something only some parts need.
    """
    from beforehand.cli.checks import examine
    from beforehand.cli.options import settings_from
    from beforehand.cli.run_async import run_async

    findings = run_async(examine(settings_from(home=home, db=db)), log_level=logging.CRITICAL)
    broken = [finding for finding in findings if finding.state == "broken"]
    if output is Output.JSON:
        print_json({"ok": not broken, "checks": [finding.wire() for finding in findings]})
    else:
        print_table(
            ("check", "", "what was found", "what to do"),
            [(finding.check, finding.state, finding.says, finding.try_next) for finding in findings],
        )
    for finding in broken:
        print_err(f"{finding.check}: {finding.says} {finding.try_next}".strip())
    return FAILED if broken else DONE
