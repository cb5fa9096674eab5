"""Who may write: one process at a time.

An advisory lock keeps others out for as long as the session that took it lives, however the process ends. All writes go
over that very session, so what it writes is written under the lock. An epoch in the database, raised by each new leader
and looked at in every commit, stops a process that lost its session and found another leader when it came back.
A lead is held for a time only (`lease.py`): the session of a leader that has been still for that long is ended.
"""

import asyncio
import os
import socket
from typing import TYPE_CHECKING, Any

from beforehand.adapters.log.refusals import led_by_another
from beforehand.adapters.postgres.address import Address
from beforehand.adapters.postgres.connecting import connect
from beforehand.adapters.postgres.faults import gone
from beforehand.adapters.postgres.lease import Lease, Stillness, lease_in, this_machine
from beforehand.ports.store import Leader

if TYPE_CHECKING:
    from beforehand.adapters.postgres.connecting import Line

LOCK = 0x42464F48
# The session of a process that was killed ends a moment later.
_TRIES = 10
_PAUSE_S = 0.05

_HELD = (
    f"EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = 0 AND objid = {LOCK} AND objsubid = 1"
    " AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))"
)
LEADER = f"SELECT epoch, pid, host, url, since, note, {_HELD} FROM lead"
_TAKE = (
    "INSERT INTO lead (one, epoch, pid, host, url, since, note, machine, session, beat, released)"
    " VALUES (1, 1, %s, %s, %s, %s, %s, %s, pg_backend_pid(), 0, 0) ON CONFLICT (one)"
    " DO UPDATE SET epoch = lead.epoch + 1, pid = excluded.pid, host = excluded.host, url = excluded.url,"
    " since = excluded.since, note = excluded.note, machine = excluded.machine, session = excluded.session,"
    " beat = 0, released = 0 WHERE lead.epoch = %s AND lead.beat = %s RETURNING epoch"
)
_END_SESSION = (
    "SELECT pg_terminate_backend(lead.session) FROM lead JOIN pg_locks ON pg_locks.pid = lead.session"
    f" AND locktype = 'advisory' AND classid = 0 AND objid = {LOCK} AND objsubid = 1 AND granted"
    " WHERE epoch = %s AND beat = %s AND session = %s"
)
_LOOK_S = 0.1


async def is_locked(line: "Line") -> bool:
    """Whether a session leads the log or changes its tables."""
    found = await (await line.execute(f"SELECT {_HELD}")).fetchone()
    return bool(found and found[0])


async def lock(line: "Line") -> bool:
    """Take the lock and keep it with this session; false while another session has it."""
    for tried in range(1, _TRIES + 1):
        found = await (await line.execute("SELECT pg_try_advisory_lock(%s)", (LOCK,))).fetchone()
        if found and found[0]:
            return True
        if tried < _TRIES:
            await asyncio.sleep(_PAUSE_S)
    return False


async def leader_in(line: "Line") -> Leader | None:
    """Who led last, and whether they still do."""
    there = await (await line.execute("SELECT to_regclass('lead') IS NOT NULL")).fetchone()
    if not there or not there[0]:
        return None
    return leader_of(await (await line.execute(LEADER)).fetchone())


def leader_of(found: "tuple[Any, ...] | None") -> Leader | None:
    return Leader(*found) if found else None


async def end_session(line: "Line", over: Lease) -> None:
    """End the session of a leader whose lead is over, unless it has moved since; what it was writing is not kept.

    Whoever holds the lock without leading, such as an upgrade of the tables, is left alone.
    """
    await line.execute(_END_SESSION, (over.epoch, over.beat, over.session))


async def waited_out(line: "Line") -> Lease | None:
    """The last lead, once it is over; None when its leader still lives, or there was none that counts."""
    still, first = Stillness(), await lease_in(line)
    lease = first
    while lease is not None and not still.look(lease):
        await asyncio.sleep(_LOOK_S)
        lease = await lease_in(line)
        if lease is None or not lease.same_beat(first):
            return None
    return lease


async def take_lead(line: "Line", over: Lease | None, *, since: int, url: str | None, note: str) -> int | None:
    """Raise the epoch and sign it; from here on no earlier leader can commit. None when the last lead was not over."""
    signed = (os.getpid(), socket.gethostname(), url, since, note, this_machine())
    last = (over.epoch, over.beat) if over is not None else (0, 0)
    found = await (await line.execute(_TAKE, (*signed, *last))).fetchone()
    return int(found[0]) if found else None


async def give_back(line: "Line", epoch: int) -> None:
    """Say that nobody acts on this lead any more, so that the next one need not wait.

    The lock is let go here: the server notices only a moment later that a session was closed.
    """
    await line.execute("UPDATE lead SET released = 1, url = NULL WHERE epoch = %s", (epoch,))
    await line.execute("SELECT pg_advisory_unlock(%s)", (LOCK,))


async def check_lead(line: "Line", epoch: int, where: str) -> None:
    """Stop a process that no longer leads."""
    leader = await leader_in(line)
    if leader is None or leader.epoch != epoch:
        raise led_by_another(where, leader)


async def regain(address: Address, epoch: int) -> "Line":
    """A new session in place of a lost one, under the same epoch; NotLeadingError where another has led since."""
    line = await connect(address)
    try:
        locked = await lock(line)
        await check_lead(line, epoch, address.where)
        if not locked:  # the server has not noticed yet that the old session is gone
            raise gone(address.where, "it still holds the session that was lost")
        await line.execute("UPDATE lead SET session = pg_backend_pid() WHERE epoch = %s", (epoch,))
    except BaseException:
        await line.close()
        raise
    return line
