"""The single checks of `beforehand doctor`. Each looks at one thing and says how it stands; none changes anything."""

import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from beforehand.app.settings import Settings

OLDEST_PYTHON = (3, 11)
OLDEST_SQLITE = (3, 35)
LITTLE_ROOM_MB = 200


class Finding(NamedTuple):
    check: str
    state: Literal["ok", "missing", "broken"]
    says: str
    try_next: str = ""

    def wire(self) -> dict[str, Any]:
        return {"check": self.check, "state": self.state, "says": self.says, "tryNext": self.try_next}


async def examine(settings: "Settings") -> list[Finding]:
    """Everything, in the order a person would look."""
    findings = [python(), sqlite_version()]
    for check in (home, room, journal, leader, tokens):
        findings += _guarded(check, settings)
    findings.append(await log(settings))
    findings += [found async for found in tools(settings)]
    findings += [program("node"), program("npm"), program("chromium", "chromium-browser")]
    return findings


def _guarded(check: Callable[["Settings"], Finding], settings: "Settings") -> list[Finding]:
    """A check that itself fails is a finding, not the end."""
    from beforehand.model.errors import BeforehandError

    try:
        return [check(settings)]
    except BeforehandError as error:
        return [Finding(check.__name__, "broken", error.says, error.hint)]
    except (OSError, sqlite3.Error) as error:
        return [Finding(check.__name__, "broken", f"{error}.", "Mend that, or name another home with --home.")]


def python() -> Finding:
    have = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < OLDEST_PYTHON:
        return Finding("python", "broken", f"Python {have}.", "Install Python 3.11 or newer.")
    return Finding("python", "ok", f"Python {have}.")


def sqlite_version() -> Finding:
    says = f"SQLite {sqlite3.sqlite_version}."
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        return Finding("sqlite", "broken", says, "Install a Python with SQLite 3.35 or newer.")
    return Finding("sqlite", "ok", says)


def home(settings: "Settings") -> Finding:
    """Whether the log's folder can be written; a folder that is not there yet counts by its nearest parent."""
    folder = settings.database.parent
    nearest = _nearest(folder)
    if not nearest.is_dir():
        return Finding("home", "broken", f"{nearest} is no folder.", "Name another home with --home.")
    if not os.access(nearest, os.W_OK | os.X_OK):
        return Finding("home", "broken", f"{nearest} cannot be written.", "Allow it, or name another home with --home.")
    known = settings.database.exists()
    return Finding("home", "ok", f"{folder}{'' if known else ' (made when first needed)'}")


def _nearest(folder: Path) -> Path:
    while not folder.exists() and folder.parent != folder:
        folder = folder.parent
    return folder


def room(settings: "Settings") -> Finding:
    free_mb = shutil.disk_usage(_nearest(settings.database.parent)).free // 1024 // 1024
    if free_mb < LITTLE_ROOM_MB:
        return Finding("disk", "broken", f"{free_mb} MB free.", "Free some space on that disk.")
    return Finding("disk", "ok", f"{free_mb} MB free.")


def journal(settings: "Settings") -> Finding:
    """Whether this file system carries SQLite's write-ahead log, which needs shared memory and locks."""
    nearest = _nearest(settings.database.parent)
    with tempfile.TemporaryDirectory(prefix=".beforehand-doctor-", dir=nearest) as folder:
        connection = sqlite3.connect(Path(folder) / "try.db", isolation_level=None)
        try:
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
            connection.execute("CREATE TABLE one (n INTEGER)")
        finally:
            connection.close()
    if mode != "wal":
        return Finding(
            "journal", "broken", f"{nearest} does not take a write-ahead log.", "Put the home on a local disk."
        )
    return Finding("journal", "ok", "The file system takes a write-ahead log.")


def leader(settings: "Settings") -> Finding:
    from beforehand.adapters.sqlite.lead import read_leader

    found = read_leader(settings.database)
    if found is None or not found.alive:
        return Finding("leader", "ok", "No process leads this home now.")
    where = f" at {found.url}" if found.url else ""
    return Finding("leader", "ok", f"Process {found.pid} on {found.host} leads this home{where}.")


async def log(settings: "Settings") -> Finding:
    """Whether the home's log can be read, opened the way every other command opens it."""
    from beforehand.app.stores import open_reading, store_exists
    from beforehand.model.errors import BeforehandError

    if not store_exists(settings.store_url):
        return Finding("log", "ok", "Nothing is remembered yet.")
    try:
        async with open_reading(settings.store_url) as store:
            count = await store.last_seq()
    except BeforehandError as error:
        return Finding("log", "broken", error.says, error.hint or "Put a backup in its place, or use another home.")
    return Finding("log", "ok", f"{count} events.")


def tokens(settings: "Settings") -> Finding:
    from beforehand.app.tokens import Tokens

    kept = Tokens(settings)
    count = len(kept.list()) + bool(settings["token"])
    if count or settings["host"] in ("127.0.0.1", "localhost", "::1"):
        says = "1 token." if count == 1 else f"{count} tokens."
        return Finding("tokens", "ok", says if count else "None; on loopback none is needed.")
    return Finding(
        "tokens",
        "broken",
        f"None, and `up` would listen on {settings['host']}, which it refuses.",
        "Make one with `beforehand token add NAME --role admin`, or set BEFOREHAND_TOKEN.",
    )


async def tools(settings: "Settings") -> AsyncIterator[Finding]:
    from beforehand.cli.plugins import gather
    from beforehand.model.errors import BeforehandError

    try:
        found = await gather(settings)
    except BeforehandError as error:
        yield Finding("tools", "broken", error.says, error.hint)
        return
    sources = sorted({tool["source"] for tool in found["tools"]})
    yield Finding("tools", "ok", f"{len(found['tools'])} tools from {', '.join(sources)}.")
    for reason in found["missing"]:
        yield Finding(f"tools: {reason['about']}", "broken", reason["says"], reason["tryNext"])


def program(*names: str) -> Finding:
    """A program that only the console's build and the browser tests need."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)])
    found = next((place for name in names if (place := shutil.which(name, path=path))), None)
    if found is None:
        return Finding(names[0], "missing", "Not found.", "Only building the console and browser tests need it.")
    return Finding(names[0], "ok", found)
