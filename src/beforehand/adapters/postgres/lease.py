"""How long a lead lasts: it is renewed with every beat of its leader's heart, and over when that has been still.

The leader may act for as long as its own clock says that the last beat is recent. Whoever would take over waits longer
than that, by a clock of their own, from the moment they first saw that beat; so the two never act at the same time,
whatever the clocks of their machines say. Two things spare the wait: a lead that was given back, and a leader whose
process is gone from the very machine of whoever looks.
"""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from beforehand.ports.ticks import ticks_ns

if TYPE_CHECKING:
    from beforehand.adapters.postgres.connecting import Line

LEASE_S = 2.5
"""How long a beat must have been the last one before somebody else may lead."""
BEAT_S = 0.5
MARGIN_S = 0.5
"""So much earlier the leader itself stops: a command takes a moment from the last look at the clock to the wire."""
_LEASE = "SELECT epoch, beat, released, session, machine, pid FROM lead"


class Lease(NamedTuple):
    """A lead as it stands in the database: whose, and which beat was its last."""

    epoch: int
    beat: int
    released: bool
    session: int
    machine: str
    pid: int

    @property
    def is_over(self) -> bool:
        """Whether it is certain, without waiting, that its leader acts no more."""
        return self.released or is_dead(self.machine, self.pid)

    def same_beat(self, other: "Lease | None") -> bool:
        return other is not None and (self.epoch, self.beat, self.session) == (other.epoch, other.beat, other.session)


async def lease_in(line: "Line") -> Lease | None:
    """The lead as it stands; None where nobody has led yet."""
    found = await (await line.execute(_LEASE)).fetchone()
    return Lease(*found) if found else None


class Stillness:
    """For how long one beat has been the last, by the clock of whoever looks."""

    def __init__(self) -> None:
        self._seen: Lease | None = None
        self._since_s = 0.0

    def look(self, lease: Lease) -> bool:
        """Take note of the lead as it stands now; whether it is over."""
        if not lease.same_beat(self._seen):
            self._seen, self._since_s = lease, now_s()
        return lease.is_over or now_s() - self._since_s >= LEASE_S


def now_s() -> float:
    """A clock that only goes forward and that also counts the time a machine slept."""
    return ticks_ns() / 1e9


def this_machine() -> str:
    """Tells the processes that one kernel numbers together from all others; empty where nothing does."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return ""


def is_dead(machine: str, pid: int) -> bool:
    """Whether that process is gone for certain: only of this machine's own can that be known."""
    if not machine or machine != this_machine():
        return False
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    except (OSError, IndexError):
        return False
    return state in ("Z", "X")
