"""`beforehand audit`: every decision for the record."""

import logging
import sys
import time
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from beforehand.cli.exits import DONE
from beforehand.cli.options import DbOption, HomeOption, settings_from

if TYPE_CHECKING:
    from beforehand.app.settings import Settings

app = typer.Typer(help="Every decision, for the record.", no_args_is_help=True)


class Form(StrEnum):
    JSONL = "jsonl"
    CSV = "csv"


@app.callback()
def audit() -> None:
    """Every decision, for the record."""


@app.command()
def export(
    since: Annotated[
        str | None, typer.Option("--from", metavar="DATE", help="Decisions opened or closed from then on.")
    ] = None,
    until: Annotated[str | None, typer.Option("--to", metavar="DATE", help="And before then.")] = None,
    form: Annotated[Form, typer.Option("--format", help="Lines of JSON, or a table for spreadsheets.")] = Form.JSONL,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Write every decision to standard output: who, when, what was seen, what answer, what note, and what followed.

    Dates are 2026-01-31, a time, or an age such as 90d. Archived decisions are in it.
    """
    from beforehand.app.retention import moment
    from beforehand.cli.run_async import run_async

    settings = settings_from(home=home, db=db)
    now = time.time_ns() // 1_000_000
    first, last = moment(since, now) if since else 0, moment(until, now) if until else None
    run_async(_write(settings, form, first, last), log_level=logging.ERROR)
    return DONE


async def _write(settings: "Settings", form: Form, first: int, last: int | None) -> None:
    from beforehand.app.audit import audit_lines
    from beforehand.app.stores import open_reading, store_exists

    if not store_exists(settings.database):
        return
    async with open_reading(settings.database) as store:
        async for line in audit_lines(store, form.value, first, last):
            sys.stdout.write(line)
