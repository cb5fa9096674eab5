"""Tokens made and revoked while a server runs, and what was done to them in the log, where the token itself never is.

A token is made or revoked in the file first and written to the log then, so the log never says what is not so. What a
crash, or a command beside the server, left unwritten stands as a note in the file; what nobody noted, such as a file
put there by hand, shows when the file is compared with the log. The server that leads writes both.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

from beforehand.app.requests import KEPT_MS
from beforehand.app.runtime import Runtime
from beforehand.app.tokens import ADDED, NO_KEY, REVOKED, Kept, Note, Tokens, WriteKey, id_of
from beforehand.app.trust_record import record_trust
from beforehand.loop.asked import MARK, asked_here, preparing
from beforehand.model.errors import BeforehandError
from beforehand.model.event import Event, iso
from beforehand.ports.log import Log
from beforehand.ports.store import EventFilter, Store

log = Log("beforehand.tokens")
TURN = "tokens"
OWNER = "tokens"
FOUND = "found by the server"
"""Who did what nobody noted."""
LOOK_S = 0.5
_PAGE = 1000
_KINDS = EventFilter(kinds=frozenset({ADDED, REVOKED}))


async def add_token(runtime: Runtime, tokens: Tokens, name: str, role: str, *, by: str = "") -> dict[str, Any]:
    """Make a token; the answer is the only place where it ever stands. Raises as `Tokens.add` does.

    Where it cannot be written to the log it is taken back. A write that was done before gives no `token`.
    """
    async with runtime.turns[TURN]:
        if (done := await _done_meanwhile(runtime)) is not None:
            return token_of(tokens, done)
        _be_in_time(runtime)
        token = await asyncio.to_thread(tokens.add, name, role, runtime.now(), by, _key_here())
        try:
            await _record(runtime, tokens)
        except BaseException:
            await asyncio.to_thread(tokens.take_back, token)
            raise
        made = next(entry for entry in tokens.list() if entry["name"] == name)
    return {**made, "token": token}


async def revoke_token(runtime: Runtime, tokens: Tokens, name: str, *, by: str = "") -> str:
    """Forget a token; whoever uses it is refused from now on. NotFoundError with the names there are.

    Gives what to know now, if anything. A log that cannot be written takes nothing back: it is written there later.
    """
    async with runtime.turns[TURN]:
        if await _done_meanwhile(runtime) is not None:
            return ""
        _be_in_time(runtime)
        says = await asyncio.to_thread(tokens.revoke, name, runtime.now(), by, _key_here())
        try:
            await _record(runtime, tokens)
        except BeforehandError as error:
            late = f"It is revoked; the log could not be written ({error.says}), and is when it can be."
            return f"{late} {says}".strip()
    return says


def token_of(tokens: Tokens, event: Event) -> dict[str, Any]:
    """The token that an event says was made, without its secret; also where it was revoked since."""
    data = event.data
    entry = tokens.kept().entries.get(data["name"])
    is_it = entry is not None and data.get("tokenId") in (None, id_of(entry))
    created = entry["createdAt"] if entry is not None and is_it else data.get("at", iso(event.ts))
    return {"name": data["name"], "role": data["role"], "createdAt": created}


def _key_here() -> WriteKey:
    asked = asked_here()
    return NO_KEY if asked is None else WriteKey(asked.request_id, asked.content)


async def _done_meanwhile(runtime: Runtime) -> Event | None:
    """The event of this very write, where another server did it and what it noted was written to the log just now."""
    asked = asked_here()
    if asked is None or not asked.request_id or asked.again:
        return None
    row = await runtime.store.row("request", asked.request_id)
    if row is None or row["at"] < runtime.now() - KEPT_MS:
        return None
    events = [event async for event in _logged(runtime.store) if event.about.get(MARK[0]) == asked.request_id]
    if events:
        asked.note(events[-1:])
    return events[-1] if events else None


def _be_in_time(runtime: Runtime) -> None:
    """The file is changed before the log, so the request's deadline counts here."""
    if (asked := asked_here()) is not None:
        asked.decide(runtime.now())


async def keep_recorded(runtime: Runtime, tokens: Tokens) -> None:
    """Write to the log what was done to tokens beside this server, and before it began; for as long as it leads.

    And which settings files were trusted before it began: that is done beside the log, too.
    """
    recorded, told, has_trust = object(), "", False
    while True:
        try:
            if not has_trust:
                await record_trust(runtime)
                has_trust = True
            if (stamp := tokens.stamp) != recorded:
                await record_tokens(runtime, tokens)
                recorded, told = stamp, ""
        except BeforehandError as error:
            if error.says != told:
                log.warning("what was done beside the log cannot be written to it yet", says=error.says)
            told = error.says
        await asyncio.sleep(LOOK_S)


async def record_tokens(runtime: Runtime, tokens: Tokens) -> None:
    """Write to the log what was done to tokens and is not in it."""
    async with runtime.turns[TURN]:
        await _record(runtime, tokens)


async def _record(runtime: Runtime, tokens: Tokens) -> None:
    # The log first: what is done meanwhile is noted in the file.
    logged = [event async for event in _logged(runtime.store)]
    kept = await asyncio.to_thread(tokens.kept)
    missing = list(unrecorded(logged, kept, iso(runtime.now())))
    if missing:
        events = [runtime.event(note.kind, _data(note), owner=OWNER, **_key_of(note)) for note in missing]
        with preparing():  # each names the write that it was done for, which is not always the present one
            await runtime.store.append(events)
        asked = asked_here()
        own = [one for one in events if asked is not None and one.about.get(MARK[0]) == asked.request_id]
        if asked is not None and own:
            asked.note(own)
    if kept.notes:
        await asyncio.to_thread(tokens.forget_notes, frozenset(kept.notes))


def _key_of(note: Note) -> dict[str, str]:
    return dict(zip(MARK, (note.request_id, note.request_hash), strict=True)) if note.request_id else {}


def _data(note: Note) -> dict[str, Any]:
    return {"name": note.name, "role": note.role, "by": note.by, "tokenId": note.token_id, "at": note.at}


async def _logged(store: Store) -> AsyncIterator[Event]:
    after = 0
    while events := await store.events(after=after, limit=_PAGE, only=_KINDS):
        for event in events:
            yield event
        after = events[-1].seq


def unrecorded(logged: Iterable[Event], kept: Kept, now: str) -> Iterator[Note]:
    """What the log lacks: the notes that are not in it, and then whatever still tells the file from it."""
    known: dict[str, tuple[str | None, str]] = {}
    written: set[tuple[str, str | None]] = set()
    for event in logged:
        token_id = event.data.get("tokenId")  # events of older code have none
        written.add((event.kind, token_id))
        _fold(known, event.kind, event.data["name"], token_id, str(event.data.get("role", "")))
    for note in kept.notes:
        if (note.kind, note.token_id) not in written:
            yield note
            _fold(known, note.kind, note.name, note.token_id, note.role)
    for name, (token_id, role) in list(known.items()):
        if name not in kept.entries or token_id not in (None, id_of(kept.entries[name])):
            yield Note(REVOKED, name, role, token_id or "", FOUND, now)
            del known[name]
    for name, entry in kept.entries.items():
        if name not in known:
            yield Note(ADDED, name, str(entry["role"]), id_of(entry), FOUND, now)


def _fold(known: dict[str, tuple[str | None, str]], kind: str, name: str, token_id: str | None, role: str) -> None:
    if kind == ADDED:
        known[name] = (token_id, role)
    elif name in known and known[name][0] in (None, token_id):
        del known[name]
