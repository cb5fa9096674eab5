"""`beforehand audit`: what was decided and done, for the record, and whether record and log are what was written."""

import logging
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from beforehand.cli.exits import DONE, FAILED
from beforehand.cli.options import DbOption, HomeOption, OutputOption, settings_from
from beforehand.cli.screen import Output, print_err, print_json, print_out

if TYPE_CHECKING:
    from beforehand.app.audit_check import LogFinding
    from beforehand.app.audit_file import FileFinding
    from beforehand.app.settings import Settings
    from beforehand.model.chain import Anchor
    from beforehand.model.reason import Problem

app = typer.Typer(help="What was decided and done, for the record.", no_args_is_help=True)


class Form(StrEnum):
    JSONL = "jsonl"
    CSV = "csv"


@app.callback()
def audit() -> None:
    """What was decided and done, for the record."""


@app.command()
def export(
    since: Annotated[
        str | None, typer.Option("--from", metavar="DATE", help="What was asked, answered or done from then on.")
    ] = None,
    until: Annotated[str | None, typer.Option("--to", metavar="DATE", help="And before then.")] = None,
    form: Annotated[Form, typer.Option("--format", help="Lines of JSON, or a table for spreadsheets.")] = Form.JSONL,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Write every decision to standard output: who, when, what was seen, what answer, what note, and what followed.

    What else somebody did is in it, too: everything held and cleared, tokens, scenes, requests. Each line has a hash
    chained to the line before. Dates are 2026-01-31, a time, or an age such as 90d. Archived decisions are in it.
    """
    from beforehand.app.clock import wall_ms
    from beforehand.app.retention import moment
    from beforehand.cli.run_async import run_async

    settings = settings_from(home=home, db=db)
    now = wall_ms()
    first, last = moment(since, now) if since else 0, moment(until, now) if until else None
    run_async(_write(settings, form, first, last), log_level=logging.ERROR)
    return DONE


async def _write(settings: "Settings", form: Form, first: int, last: int | None) -> None:
    from beforehand.app.audit_file import audit_lines, hash_of
    from beforehand.app.stores import open_reading, store_exists

    if not store_exists(settings.database):
        return
    line = ""
    async with open_reading(settings.database) as store:
        async for line in audit_lines(store, form.value, first, last):
            sys.stdout.write(line)
    print_err(f"The hash of the last line, to be kept elsewhere: {hash_of(line)}")


@app.command()
def verify(
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="An export; without it the log is checked. - reads one.")
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            "--against",
            metavar="ANCHOR|FILE",
            help="For the log: NUMBER:HASH, or an earlier export. For FILE: the hash of its last line.",
        ),
    ] = None,
    output: OutputOption = Output.TABLE,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Find what was changed, taken out, put in or moved by hand: in the log with its archive, or in an export.

    Keep what it prints elsewhere: the next check compares with it, and then a log that somebody wrote anew is found.
    """
    if file is not None:
        return _verify_file(file, against or [], output)
    from beforehand.cli.run_async import run_async

    return run_async(_verify_log(settings_from(home=home, db=db), against or [], output), log_level=logging.ERROR)


def _verify_file(file: str, against: list[str], output: Output) -> int:
    found = _file_finding(file, against)
    if output is Output.JSON:
        told = {"ok": not found.problems, "lines": found.lines, "hash": found.last_hash, "log": found.log}
        problems = [problem.wire() for problem in found.problems]
        print_json({**told, "anchor": str(found.anchor or ""), "problems": problems})
    elif not found.problems:
        print_out(f"{found.lines} lines, each as it was written and in its place.")
        print_out(f"The hash of the last line: {found.last_hash}")
        print_out(f"The log then: {found.anchor}" if found.anchor else "The log had no chain then.")
    return _ended(found.problems)


def _file_finding(file: str, against: list[str]) -> "FileFinding":
    from beforehand.app.audit_file import check_file
    from beforehand.model.errors import BadInputError

    if len(against) > 1:
        raise BadInputError("A file has one last hash to be compared with.", code="usage", hint="Give --against once.")
    return check_file(_text(file), against[0].strip().lower() if against else None)


def _text(file: str) -> str:
    from beforehand.model.errors import BadInputError, NotFoundError

    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return raw.decode("utf-8-sig")
    except FileNotFoundError:
        raise NotFoundError(f"There is no file {file}.", code="audit.file", hint="Name an export.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(f"{file} cannot be read: {error}.", code="audit.file", hint="Name an export.") from None


async def _verify_log(settings: "Settings", against: list[str], output: Output) -> int:
    from beforehand.app.audit_check import check_log
    from beforehand.app.crafts import load_crafts
    from beforehand.app.stores import open_reading, store_exists, store_location
    from beforehand.model.errors import NotFoundError
    from beforehand.model.versions import UPCASTERS

    where = store_location(settings.database)
    if not store_exists(settings.database):
        raise NotFoundError(f"There is no log at {where}.", code="store.missing", hint="Name a home with --home.")
    anchors = [_anchor(told) for told in against]
    upcasters = {**load_crafts().upcasters(), **UPCASTERS}
    async with open_reading(settings.database, upcasters) as store:
        found = await check_log(store, upcasters, anchors)
    if output is Output.JSON:
        print_json({"store": where, **found.wire()})
    else:
        for sentence in _sentences(found, where, len(anchors)):
            print_out(sentence)
    return _ended(found.problems)


def _anchor(told: str) -> "Anchor":
    """An anchor as it was printed, or that of an export, which must be whole itself."""
    from beforehand.app.audit_file import read_anchor
    from beforehand.model.errors import BadInputError

    if told != "-" and not Path(told).is_file():
        return read_anchor(told)
    found = _file_finding(told, [])
    if found.problems or found.anchor is None:
        says = found.problems[0].says if found.problems else "The log that it was made of had no chain yet."
        raise BadInputError(
            f"{told} is nothing to compare with. {says}",
            code="audit.anchor",
            hint=f"See what is wrong with it: beforehand audit verify {told}",
        )
    return found.anchor


def _sentences(found: "LogFinding", where: str, anchors: int) -> list[str]:
    from beforehand.model.words import counted

    told = [f"The log {where} has {counted(found.events, 'event')}, from {found.first} to {found.last}."]
    if found.deleted:
        told.append(f"{counted(found.deleted, 'event')} were deleted with old archives; the links there were kept.")
    if found.unchained:
        told.append(f"{counted(found.unchained, 'event')} came before the chain, which says nothing of them.")
    told += [f"Behind event {mark.seq} another generation of it began: {mark.note}." for mark in found.generations]
    if not found.problems and found.anchor is not None:
        told.append(f"From event {found.begins} on each is as it was written, and none is missing.")
        told += ["It fits what it was compared with."] if anchors else []
        told.append(f"Keep this elsewhere, to compare with next time: {found.anchor}")
    return told


def _ended(problems: "list[Problem]") -> int:
    for problem in problems:
        print_err(problem.says)
    if problems:
        print_err(problems[0].try_next)
    return FAILED if problems else DONE
