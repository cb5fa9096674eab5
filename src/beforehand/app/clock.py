"""The clock of a process: it shows the time of the wall, and never jumps.

It begins at the wall's time and goes on by the machine's ticks, which nobody can set. When the machine's clock is set,
this one follows it slowly, a second in twenty, so that waits, leases and ages stay what they are; `take_steps` tells
that it happened. The ticks count on while the machine sleeps: what is an hour old after that is an hour old.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from beforehand.ports.clock import Clock
from beforehand.ports.store import Store
from beforehand.ports.ticks import ticks_ns

SLEW = 0.05
"""By how much faster or slower it goes while it follows."""
STEP_MS = 1_000
"""A machine's clock that moves by less against its ticks is being adjusted, not set."""
LONGEST_SLEEP_MS = 5_000
"""How long one sleeps without a look: the loop's own timers stand still while the machine sleeps."""
_MS = 1_000_000
_LOOK_NS = 1_000 * _MS
_NEAR_NS = 20_000 * _MS
"""Nearer than a second it follows more slowly, so that it does not swing."""
_SAME_INSTANT_NS, _LOOKS = 50 * _MS, 20


def wall_ms() -> int:
    """What the machine's clock shows now: for what people agree on by the clock, such as when a token ends."""
    return time.time_ns() // _MS


@dataclass(frozen=True, slots=True)
class Step:
    """The machine's clock was set, or was found to be behind the log."""

    by_ms: int
    """Positive where it was set forward."""
    ahead_ms: int
    """How far it is ahead of what this clock shows."""
    at_start: bool = False


@dataclass(frozen=True, slots=True)
class _Course:
    """What the clock showed at some tick, and how it goes on from there."""

    shown_ns: int
    since_ns: int
    ahead_ns: int
    """How far the machine's clock was ahead then: so much is caught up, and no more."""

    def shows(self, ticks: int) -> int:
        passed = ticks - self.since_ns
        share = min(SLEW, abs(self.ahead_ns) / _NEAR_NS)
        gained = min(int(passed * share), abs(self.ahead_ns))
        return self.shown_ns + passed + (gained if self.ahead_ns > 0 else -gained)


class WallClock:
    """`wall` and `ticks` are the machine's two clocks, in nanoseconds."""

    def __init__(self, wall: Callable[[], int] = time.time_ns, ticks: Callable[[], int] = ticks_ns) -> None:
        self._wall, self._ticks, self._turn = wall, ticks, Lock()
        self._seen = self._look()
        """What the wall showed at which tick when they were last compared."""
        self._course = _Course(self._seen[0], self._seen[1], 0)
        self._steps: list[Step] = []

    def now_ms(self) -> int:
        ticks = self._ticks()
        if ticks - self._seen[1] >= _LOOK_NS:
            self._compare()
        return self._course.shows(ticks) // _MS

    async def sleep_until(self, ts_ms: int) -> None:
        await asyncio.sleep(0)
        while (left_ms := ts_ms - self.now_ms()) > 0:  # noqa: ASYNC110  how long depends on how this clock goes
            await asyncio.sleep(min(left_ms, LONGEST_SLEEP_MS) / 1000)

    def ahead_ms(self) -> int:
        """How far the machine's clock is ahead of what this one shows."""
        self._compare()
        return self._course.ahead_ns // _MS

    def not_before(self, ts_ms: int) -> None:
        """Whatever the machine's clock says, it is later than `ts_ms`: what is written follows what was written."""
        missing_ms = ts_ms - self.now_ms()
        if missing_ms <= 0:
            return
        wall, ticks = self._seen = self._look()
        self._course = _Course(ts_ms * _MS, ticks, wall - ts_ms * _MS)
        ahead_ms = wall // _MS - ts_ms
        if missing_ms >= STEP_MS and ahead_ms <= -STEP_MS:
            self._steps.append(Step(ahead_ms, ahead_ms, at_start=True))

    def take_steps(self) -> list[Step]:
        """What has happened to the machine's clock since this was last asked."""
        self._compare()
        steps, self._steps = self._steps, []
        return steps

    def _compare(self) -> None:
        """Look how the machine's clock has gone since the last time, and follow it from here."""
        with self._turn:
            wall_before, ticks_before = self._seen
            wall, ticks = self._seen = self._look()
            shown = self._course.shows(ticks)
            self._course = _Course(shown, ticks, wall - shown)
            by_ms = ((wall - wall_before) - (ticks - ticks_before)) // _MS
            if abs(by_ms) >= STEP_MS:
                self._steps.append(Step(by_ms, (wall - shown) // _MS))

    def _look(self) -> tuple[int, int]:
        """Both clocks at one instant; a process that was held up between the two looks again."""
        before, wall, ticks = self._ticks(), self._wall(), self._ticks()
        for _ in range(_LOOKS):
            if ticks - before < _SAME_INSTANT_NS:
                break
            before, wall, ticks = self._ticks(), self._wall(), self._ticks()
        return wall, ticks


async def follow_the_log(clock: Clock, store: Store) -> None:
    """From now on it is later than the newest event, by whatever clock: time in a log never goes back."""
    if isinstance(clock, WallClock) and (last := await store.last_seq()):
        for event in await store.events(last - 1, 1):
            clock.not_before(event.ts)


def ahead_of(clock: Clock) -> int:
    """How far the machine's clock is ahead of this one, for whoever goes by that; 0 where nobody can set it."""
    return clock.ahead_ms() if isinstance(clock, WallClock) else 0
