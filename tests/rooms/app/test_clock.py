"""The process's clock while the machine's is set: it never jumps, follows slowly, and says what happened."""

import asyncio

import pytest

from beforehand.app.clock import LONGEST_SLEEP_MS, WallClock, ahead_of, follow_the_log
from beforehand.app.sentences import clock_stepped
from beforehand.model.event import Event
from beforehand.testing import MemoryStore, VirtualClock

S, HOUR = 1_000, 3_600_000
JUMPS = [-HOUR, -15 * S, HOUR, 30 * 24 * HOUR]


class Machine:
    """A machine with a clock on the wall, which people set, and ticks, which nobody can."""

    def __init__(self) -> None:
        self.wall_ns = 1_767_268_800_000 * 1_000_000
        self.ticks_ns = 5 * 1_000_000
        self.clock = WallClock(lambda: self.wall_ns, lambda: self.ticks_ns)

    def passes(self, ms: int) -> None:
        self.wall_ns += ms * 1_000_000
        self.ticks_ns += ms * 1_000_000

    def is_set_by(self, ms: int) -> None:
        self.wall_ns += ms * 1_000_000

    @property
    def ahead_ms(self) -> int:
        return self.wall_ns // 1_000_000 - self.clock.now_ms()


def test_it_shows_the_time_of_the_wall() -> None:
    machine = Machine()
    for _ in range(1_000):
        machine.passes(777)
        assert machine.ahead_ms == 0
    assert machine.clock.take_steps() == []


@pytest.mark.parametrize("by_ms", JUMPS)
def test_whatever_the_machine_is_set_to_a_second_stays_a_second(by_ms: int) -> None:
    machine = Machine()
    machine.passes(10 * S)
    machine.is_set_by(by_ms)
    before = machine.clock.now_ms()
    for _ in range(100):
        machine.passes(100)
        now = machine.clock.now_ms()
        assert 95 <= now - before <= 105
        before = now


@pytest.mark.parametrize("by_ms", JUMPS)
def test_that_the_machine_was_set_is_told_once_and_by_how_much(by_ms: int) -> None:
    machine = Machine()
    machine.passes(10 * S)
    machine.is_set_by(by_ms)
    machine.passes(20)
    (step,) = machine.clock.take_steps()
    assert (step.by_ms, step.at_start) == (by_ms, False)
    assert abs(step.ahead_ms - by_ms) <= 1
    machine.passes(10 * S)
    assert machine.clock.take_steps() == []


def test_a_step_is_noticed_although_nobody_asks_for_it_at_once() -> None:
    machine = Machine()
    machine.is_set_by(HOUR)
    for _ in range(100):
        machine.passes(S)
        machine.clock.now_ms()
    assert [step.by_ms for step in machine.clock.take_steps()] == [HOUR]


@pytest.mark.parametrize("by_ms", [-15 * S, 15 * S])
def test_it_comes_to_agree_with_the_wall_again_and_stays_there(by_ms: int) -> None:
    machine = Machine()
    machine.is_set_by(by_ms)
    behind = []
    for _ in range(600):
        machine.passes(S)
        behind.append(abs(machine.ahead_ms))
    assert behind == sorted(behind, reverse=True)
    assert behind[-1] <= 1


def test_it_does_not_overshoot_where_it_was_not_asked_for_long() -> None:
    machine = Machine()
    machine.passes(S)
    machine.is_set_by(2 * S)
    machine.passes(S)
    machine.clock.now_ms()
    machine.passes(HOUR)
    assert 0 <= machine.ahead_ms <= 1


def test_a_clock_that_goes_back_and_forth_ends_where_it_was() -> None:
    machine = Machine()
    for by_ms in (HOUR, -HOUR):
        machine.is_set_by(by_ms)
        machine.clock.take_steps()
    machine.passes(HOUR)
    assert abs(machine.ahead_ms) <= 1


def test_small_corrections_of_the_machine_are_no_steps() -> None:
    machine = Machine()
    for _ in range(100):
        machine.passes(S)
        machine.is_set_by(5)
        machine.clock.now_ms()
    assert machine.clock.take_steps() == []
    assert machine.ahead_ms < 200


def test_a_machine_that_slept_has_the_right_time_after_it() -> None:
    machine = Machine()
    machine.passes(8 * HOUR)  # its ticks count on
    assert machine.ahead_ms == 0
    assert machine.clock.take_steps() == []


def test_time_in_a_log_never_goes_back() -> None:
    machine = Machine()
    newest = machine.clock.now_ms() + HOUR
    machine.clock.not_before(newest)
    assert machine.clock.now_ms() >= newest
    (step,) = machine.clock.take_steps()
    assert step.at_start
    assert "1 h behind the newest event" in clock_stepped({"byMs": 0, "aheadMs": step.ahead_ms, "atStart": True})
    machine.passes(20 * S)
    assert 18 * S <= machine.clock.now_ms() - newest <= 20 * S


def test_it_says_how_far_the_machine_is_ahead_for_those_who_go_by_that() -> None:
    machine = Machine()
    assert ahead_of(machine.clock) == 0
    machine.is_set_by(HOUR)
    assert abs(ahead_of(machine.clock) - HOUR) <= 1
    assert ahead_of(VirtualClock()) == 0


def test_a_process_that_is_held_up_while_it_looks_takes_that_for_no_step() -> None:
    machine, held_up = Machine(), iter([9 * S, 0, 9 * S, 0, 0, 0, 0, 0])

    def wall() -> int:
        shown = machine.wall_ns
        machine.passes(next(held_up, 0))
        return shown

    clock = WallClock(wall, lambda: machine.ticks_ns)
    machine.passes(2 * S)
    assert clock.take_steps() == []
    assert abs(machine.wall_ns // 1_000_000 - clock.now_ms()) <= 1


async def test_whoever_follows_a_log_that_is_written_by_a_clock_ahead_is_not_behind_it() -> None:
    machine, store = Machine(), MemoryStore()
    newest = machine.clock.now_ms() + HOUR
    await store.append([Event("noted", {}, {}, newest)])
    for later in range(3):
        await follow_the_log(machine.clock, store)
        assert machine.clock.now_ms() >= newest + later
        await store.append([Event("noted", {}, {}, newest + later + 1)])
    assert len(machine.clock.take_steps()) == 1, "that it was far behind is told once"


def test_an_event_of_earlier_changes_nothing() -> None:
    machine = Machine()
    machine.clock.not_before(machine.clock.now_ms() - HOUR)
    assert machine.ahead_ms == 0


@pytest.mark.parametrize("by_ms", JUMPS)
async def test_who_sleeps_is_woken_in_time_whatever_the_machine_is_set_to(
    by_ms: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine, slept = Machine(), []

    async def asleep(seconds: float) -> None:
        slept.append(seconds)
        machine.passes(max(1, round(seconds * 1_000)))
        if len(slept) == 2:
            machine.is_set_by(by_ms)

    monkeypatch.setattr(asyncio, "sleep", asleep)
    ticks = machine.ticks_ns
    await machine.clock.sleep_until(machine.clock.now_ms() + 20 * S)
    assert 18_900 <= (machine.ticks_ns - ticks) / 1_000_000 <= 21_200
    assert max(slept) <= LONGEST_SLEEP_MS / 1_000


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"byMs": HOUR, "aheadMs": HOUR, "atStart": False}, "was set forward by 1 h."),
        ({"byMs": -15_000, "aheadMs": -15_000, "atStart": False}, "was set back by 15 s."),
        ({"byMs": 30 * 24 * HOUR, "aheadMs": 30 * 24 * HOUR, "atStart": False}, "was set forward by 30 days."),
        ({"byMs": -HOUR, "aheadMs": 0, "atStart": False}, "It agrees with the log's clock again."),
    ],
)
def test_what_happened_is_a_sentence(data: dict[str, object], says: str) -> None:
    assert says in clock_stepped(data)
