"""`beforehand db`: the store itself: its tables, its archive, backups, and copying it into another."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beforehand.cli.exits import DONE
from beforehand.cli.options import DbOption, HomeOption, OutputOption, settings_from
from beforehand.cli.screen import Output, print_err, print_json, print_out

if TYPE_CHECKING:
    from beforehand.app.settings import Settings

app = typer.Typer(help="The store: its tables, its archive, backups, and copying it.", no_args_is_help=True)
_PLACE = "A home's folder, a log's file or a URL such as postgresql://user@host/database."


@app.command()
def migrate(output: OutputOption = Output.TABLE, home: HomeOption = None, db: DbOption = None) -> int:
    """Make the store's tables, or bring older ones to this version; no server may use it meanwhile."""
    from beforehand.app.stores import migrate_store, store_location
    from beforehand.cli.run_async import run_async

    url = settings_from(home=home, db=db).database
    before, now = run_async(migrate_store(url))
    where = store_location(url)
    if output is Output.JSON:
        print_json({"store": where, "before": before, "version": now})
    elif before == now:
        print_out(f"The tables in {where} are of version {now} already.")
    else:
        done = "upgraded to" if before else "made, in"
        print_out(f"The tables in {where} were {done} version {now}.")
    return DONE


@app.command()
def archive(
    before: Annotated[
        str,
        typer.Option("--before", metavar="DATE", help="Events older than this: 2026-01-31, a time, or an age: 90d."),
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would move and how small it gets.")] = False,
    output: OutputOption = Output.TABLE,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Move old events of what has ended into compressed files; everything that reads events still finds them.

    Beside a server it is the server that does it.
    """
    from beforehand.cli.archiving import archive_before
    from beforehand.cli.run_async import run_async

    settings = settings_from(home=home, db=db)
    done = run_async(archive_before(settings, before, dry_run))
    if output is Output.JSON:
        print_json(done)
    else:
        print_out(_archived(done))
    return DONE


def _archived(done: dict[str, Any]) -> str:
    from beforehand.model.words import counted, in_bytes

    would = "would move" if done["dryRun"] else "moved"
    stays = sum(done["stays"].values())
    says = f"{counted(done['events'], 'event')} {would} into {counted(done['parts'], 'file')}"
    if done["events"]:
        says += f": {in_bytes(done['rawBytes'])} become {in_bytes(done['bytes'])}"
    says += f". {counted(stays, 'event')} older than {done['before']} stay: {done['stays']['open']} belong to"
    return f"{says} something that goes on, {done['stays']['newest']} are the newest word on something."


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it, such as backup.tar.gz.")],
    with_secrets: Annotated[
        bool, typer.Option("--with-secrets", help="Put secrets in it, too; keep the file as safe as them.")
    ] = False,
    output: OutputOption = Output.TABLE,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Write the log, its archive and the files of the home into one file, while a server runs or not."""
    from beforehand.app.backup import back_up
    from beforehand.cli.run_async import run_async
    from beforehand.model.words import counted, in_bytes

    settings = settings_from(home=home, db=db)
    done = run_async(back_up(settings, file.expanduser().absolute(), with_secrets=with_secrets))
    if output is Output.JSON:
        print_json({name: value for name, value in done.items() if name != "files"})
        return DONE
    print_out(f"Backed up {counted(done['lastSeq'], 'event')} into {file}, {in_bytes(done['size'])}.")
    if done["leftOut"]:
        print_err(f"Left out, because it is secret: {', '.join(done['leftOut'])}. --with-secrets takes it in.")
    return DONE


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that `beforehand db backup` wrote.")],
    output: OutputOption = Output.TABLE,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Make an empty home, or an empty database, what it was when the backup was made.

    If it is cut off, do it again; until then the home is not used.
    """
    from beforehand.app.restore import restore as restore_backup
    from beforehand.app.stores import store_location
    from beforehand.cli.run_async import run_async
    from beforehand.model.words import counted

    settings = settings_from(home=home, db=db)
    done = run_async(restore_backup(settings, file.expanduser().absolute()))
    where = store_location(settings.database)
    if output is Output.JSON:
        told = {name: value for name, value in done.items() if name != "files"}
        print_json({**told, "home": str(settings.home), "store": where})
        return DONE
    print_out(f"Restored {counted(done['lastSeq'], 'event')} of {done['createdAt']} into {where}.")
    if done["leftOut"]:
        print_err(f"Not in the backup, so put it back yourself: {', '.join(done['leftOut'])}.")
    if any(name.startswith("settings/") for name in done["files"]):
        print_err(
            f"The settings file of then is {settings.home / 'beforehand.toml'}; put it where you start the server."
        )
    return DONE


@app.command()
def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help=_PLACE)],
    target: Annotated[str, typer.Argument(metavar="TO", help=f"The same, empty. {_PLACE}")],
    output: OutputOption = Output.TABLE,
    home: HomeOption = None,
) -> int:
    """Copy a whole log into an empty store of any kind; no server may use either of them meanwhile."""
    from beforehand.app.stores import copy_store, store_location
    from beforehand.cli.run_async import run_async
    from beforehand.model.words import counted

    settings = settings_from(home=home)
    given, wanted = _store(settings, source), _store(settings, target)
    copied = run_async(copy_store(given, wanted))
    if output is Output.JSON:
        print_json({"from": store_location(given), "to": store_location(wanted), "copied": copied})
    else:
        events, rows = counted(copied["events"], "event"), counted(copied["rows"], "document")
        archived = f", with {counted(copied['archive'], 'part')} of the archive" if copied["archive"] else ""
        print_out(f"Copied {events} and {rows} from {store_location(given)} to {store_location(wanted)}{archived}.")
    return DONE


def _store(settings: "Settings", given: str) -> str:
    """The URL of a store: given as such, as its file, or as the home it lies in."""
    given = str(settings.with_secrets(given))
    path = Path(given).expanduser()
    if "://" in given or given.startswith(("memory:", "sqlite:")) or path.is_file() or path.suffix == ".db":
        return given
    return f"sqlite:///{path.absolute() / 'log.db'}"
