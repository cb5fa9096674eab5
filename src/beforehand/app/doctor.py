"""Is everything there and well? What `beforehand doctor` and `GET /doctor` say, by one row of checks.

Each looks at one thing and says how it stands; none changes anything.
"""

import asyncio
import os
import shutil
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from beforehand.app.clock import STEP_MS, wall_ms
from beforehand.app.high_water import read_mark
from beforehand.app.private_files import refuse_half_restored
from beforehand.app.settings import Settings
from beforehand.app.stores import check_store, open_reading, read_leader, read_servers, store_exists
from beforehand.app.tokens import Tokens
from beforehand.model.errors import BeforehandError
from beforehand.model.finding import Finding
from beforehand.model.log_identity import UNNAMED
from beforehand.model.words import counted, duration, in_bytes
from beforehand.ports.foreign import is_ours, started, why
from beforehand.ports.store import Server, Store
from beforehand.ports.tasks import SERVER, register

OLDEST_PYTHON = (3, 11)
LOOK_S = 30.0
"""How long somebody else's craft may look at its machines."""
_DAY_MS = 24 * 3_600_000


async def diagnosis(settings: Settings, brought: Mapping[str, Any]) -> dict[str, Any]:
    """Everything, in the order a person would look; `brought` is what `installed` tells."""
    findings = [python()]
    findings += [Finding("settings", "missing", warning, "") for warning in settings.warnings]
    for check in (home, store, leader, tokens, tls):
        findings += await asyncio.to_thread(_guarded, check, settings)
    findings += await log(settings)
    findings += await age(settings)
    findings += tools(brought)
    findings += _guarded(model, settings)
    findings += _guarded(otel, settings)
    findings += await engine(settings, brought)
    findings += await scenes(settings)
    findings += await machines(settings)
    findings += failing_tasks()
    findings += await asyncio.to_thread(programs)
    broken = any(finding.state == "broken" for finding in findings)
    return {"ok": not broken, "checks": [finding.wire() for finding in findings]}


def failing_tasks() -> list[Finding]:
    """What breaks off again and again in this process: only a server at work has such tasks."""
    failing = sorted((one for one in register if one.failures), key=lambda one: (one.owner_id, one.name))
    hint = "It is begun again by itself; `beforehand inbox` has the decision, the server's log lines the error."
    return [
        Finding("task", "missing", f"{(one.owner or SERVER).title}: {one.name} broke off: {one.error}", hint)
        for one in failing
    ]


def programs() -> list[Finding]:
    return [
        scipy(),
        program("node"),
        program("npm"),
        program("chromium", "chromium-browser", "chromium-headless-shell"),
    ]


def scipy() -> Finding:
    """What only very big maps need."""
    from beforehand.ports.compiled import has_scipy

    if has_scipy():
        return Finding("scipy", "ok", "Big maps are searched by compiled code.")
    return Finding(
        "scipy", "missing", "Not installed; only very big maps need it.", "In the checkout: pip install '.[fast]'"
    )


def _guarded(check: Callable[[Settings], list[Finding]], settings: Settings) -> list[Finding]:
    """A check that itself fails is a finding, not the end."""
    try:
        return check(settings)
    except BeforehandError as error:
        return [Finding(check.__name__, "broken", error.says, error.hint)]
    except OSError as error:
        return [Finding(check.__name__, "broken", f"{error}.", "Correct that, or name another home with --home.")]


def python() -> Finding:
    have = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < OLDEST_PYTHON:
        return Finding("python", "broken", f"Python {have}.", "Install Python 3.11 or newer.")
    return Finding("python", "ok", f"Python {have}.")


def home(settings: Settings) -> list[Finding]:
    """Whether the home can be written; a folder that is not there yet counts by its nearest parent."""
    folder = settings.home
    refuse_half_restored(folder)
    nearest = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if not nearest.is_dir():
        return [Finding("home", "broken", f"{nearest} is not a folder.", "Name another home with --home.")]
    if not os.access(nearest, os.R_OK | os.X_OK):
        says = f"{nearest} may not be read by this process."
        return [Finding("home", "broken", says, "Allow it, or name another home with --home.")]
    if not os.access(nearest, os.W_OK):
        says = f"{nearest} is read-only for this process: what is there can be read, exported and backed up only."
        return [Finding("home", "broken", says, "Make it writable, or name another home with --home.")]
    return [Finding("home", "ok", f"{folder}{'' if folder.exists() else ' (made when first needed)'}")]


def store(settings: Settings) -> list[Finding]:
    """What the kind of store that is set needs."""
    return check_store(settings.database)


def leader(settings: Settings) -> list[Finding]:
    """Who leads, and who stands by."""
    found, servers = read_leader(settings.database), read_servers(settings.database)
    if found is None or not found.alive:
        return [Finding("leader", "ok", f"No process leads this home now{_standing_by(servers)}.")]
    where = f" at {found.url}" if found.url else ""
    others = [one for one in servers if (one.host, one.pid) != (found.host, found.pid)]
    told = _standing_by(others) if others or not servers else "; no other server stands by"
    return [Finding("leader", "ok", f"Process {found.pid} on {found.host} leads this home{where}{told}.")]


def _standing_by(servers: Sequence[Server]) -> str:
    names = [one.url or f"process {one.pid} on {one.host}" for one in servers]
    return f"; {', '.join(names)} {'stands' if len(names) == 1 else 'stand'} by" if names else ""


async def log(settings: Settings) -> list[Finding]:
    """Whether the home's log can be read, opened the way every other command opens it."""
    try:
        if not await asyncio.to_thread(store_exists, settings.database):
            return [Finding("log", "ok", "Nothing is remembered yet.")]
        async with open_reading(settings.database) as store:
            marked = read_mark(store.mark_file) if store.mark_file is not None else None
            count, known = await store.last_seq(), await store.identity()
            newest = await store.events(count - 1, 1) if count else []
    except BeforehandError as error:
        return [Finding("log", "broken", error.says, error.hint or "Put a backup in its place, or use another home.")]
    found = Finding("log", "ok", f"{counted(count, 'event')}.")
    if marked is not None and marked.identity == str(known) and marked.seq > count:
        says = f"The log ends with event {count}, and it had come to event {marked.seq}: its last events are lost."
        remedy = "Put its files back, or a backup; `beforehand up` else goes on from there, and asks about machines."
        found = Finding("log", "broken", says, remedy)
    return [found, _clock(newest[0].ts if newest else 0)]


def _clock(newest_ms: int) -> Finding:
    """Whether this machine's clock can be right, by the newest event there is."""
    late_ms = newest_ms - wall_ms()
    if late_ms < STEP_MS:
        return Finding("clock", "ok", "No event is later than this machine's clock.")
    told = f"The newest event is {duration(late_ms)} later than this machine's clock"
    try_next = "Keep the machine's clock with NTP."
    if late_ms > _DAY_MS:
        try_next += " If the log was written with a wrong clock, restore a backup from before, or begin another home."
    return Finding("clock", "missing", f"{told}; the log's clock waits for it.", try_next)


async def age(settings: Settings) -> list[Finding]:
    """How big the log and its archive are, how old, and what becomes of old events."""
    from beforehand.app.archiving import holdings
    from beforehand.app.retention import retention_of

    try:
        retention = retention_of(settings)
        if not await asyncio.to_thread(store_exists, settings.database):
            return []
        async with open_reading(settings.database) as store:
            held = await holdings(store)
    except BeforehandError as error:
        return [Finding("retention", "broken", error.says, error.hint)]
    archive = held["archive"]
    says = f"The log takes {in_bytes(held['bytes'])}, its archive {in_bytes(archive['bytes'])}"
    says += f" for {counted(archive['events'], 'event')} ({in_bytes(archive['rawBytes'])} before)."
    says += f" The oldest event is {held['oldest']} of {held['oldestAt']}." if "oldest" in held else ""
    says += f" {counted(held['deletedEvents'], 'event')} were deleted." if held["deletedEvents"] else ""
    kept = "Not set: nothing is archived or deleted by itself." if retention is None else retention.says
    return [Finding("size", "ok", says), Finding("retention", "ok", kept)]


def tokens(settings: Settings) -> list[Finding]:
    kept = Tokens(settings)
    count = len(kept.list()) + bool(settings["token"])
    if count or settings["host"] in ("127.0.0.1", "localhost", "::1"):
        says = f"{counted(count, 'token')}."
        return [Finding("tokens", "ok", says if count else "None; on loopback none is needed.")]
    says = f"None, and `up` would listen on {settings['host']}, which it refuses."
    remedy = "Make one with `beforehand token add NAME --role admin`, or set BEFOREHAND_TOKEN."
    return [Finding("tokens", "broken", says, remedy)]


def tls(settings: Settings) -> list[Finding]:
    """The certificate that `up` shows, where it has one."""
    from beforehand.app.tls import check_tls

    return check_tls(settings)


def tools(brought: Mapping[str, Any]) -> list[Finding]:
    """The tools there are, and those that are missing."""
    sources = sorted({tool["source"] for tool in brought["tools"]})
    found = (
        [Finding("tools", "ok", f"{counted(len(brought['tools']), 'tool')} from {', '.join(sources)}.")]
        if sources
        else []
    )
    for reason in brought["missing"]:
        found.append(Finding(f"tools: {reason['about']}", "broken", reason["says"], reason["tryNext"]))
    return found


def model(settings: "Settings") -> list[Finding]:
    """Whether a language model is configured; it is not asked."""
    from beforehand.app.models import check_model

    return [check_model(settings)]


def otel(settings: "Settings") -> list[Finding]:
    """Whether spans are kept; the collector is not asked."""
    from beforehand.app.tracing import check_tracing

    return [check_tracing(settings)]


async def engine(settings: "Settings", brought: Mapping[str, Any]) -> list[Finding]:
    """Where runs are decided and, on Temporal, who works for them."""
    from beforehand.app.engines import check_engine, engine_of

    try:
        log = None
        if engine_of(settings) != "local" and await asyncio.to_thread(store_exists, settings.database):
            async with open_reading(settings.database) as store:
                log = await store.identity()
        return await check_engine(settings, brought["tools"], log or UNNAMED)
    except BeforehandError as error:
        return [Finding("engine", "broken", error.says, error.hint)]


async def scenes(settings: Settings) -> list[Finding]:
    """The scenes that should be live and are not."""
    from beforehand.app.not_live import reasons

    try:
        if not await asyncio.to_thread(store_exists, settings.database):
            return []
        async with open_reading(settings.database) as store:
            told = await reasons(store)
    except BeforehandError:
        return []  # a log that cannot be read is told above
    return [Finding(f"scene {name}", "broken", reason.says, reason.try_next) for name, reason in told.items()]


async def machines(settings: Settings) -> list[Finding]:
    """How the machines of active scenes are, as far as the crafts that know them can tell."""
    from beforehand.app.crafts import load_crafts

    looks = [craft.findings for craft in load_crafts().by_name.values() if craft.findings is not None]
    try:
        if not looks or not await asyncio.to_thread(store_exists, settings.database):
            return []
        async with open_reading(settings.database) as store:
            return [finding for look in looks for finding in await _looked(look, settings, store)]
    except BeforehandError:
        return []  # a log that cannot be read is told above


async def _looked(
    look: Callable[[Settings, Store], Awaitable[Sequence[Finding]]], settings: Settings, store: Store
) -> Sequence[Finding]:
    ours = is_ours(look)
    try:
        return await started(look(settings, store), ours=ours, within_s=LOOK_S)
    except Exception as error:
        if ours:
            raise
        return [Finding("machines", "broken", f"A craft could not look at its machines: {why(error)}", "Correct it.")]


def program(*names: str) -> Finding:
    """A program that only the console's build and the browser tests need."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)])
    found = next((place for name in names if (place := shutil.which(name, path=path))), None)
    if found is None:
        return Finding(names[0], "missing", "Not found.", "Only building the console and browser tests need it.")
    return Finding(names[0], "ok", found)
