"""Whether a robot was started again, by how long it says that it runs."""

from beforehand.adapters.robokit.uptime import Uptime

DAY_MS = 24 * 3600 * 1000


def seen(born_ms: int | None = None) -> Uptime:
    """A robot that was started at 0 and seen a minute later."""
    uptime = Uptime(born_ms)
    assert not uptime.has_restarted(60_000, 60_001, 60_000)
    return uptime


def test_a_robot_that_runs_on_was_not_started_again() -> None:
    uptime = seen()
    assert not uptime.has_restarted(61_000, 61_001, 61_000)
    assert uptime.born_ms == 1


def test_a_robot_that_runs_for_a_shorter_time_than_before_was() -> None:
    assert seen().has_restarted(61_000, 61_001, 500)


def test_a_robot_that_was_away_for_longer_than_it_runs_was() -> None:
    uptime = seen()
    assert uptime.has_restarted(300_000, 300_001, 70_000)
    assert not uptime.has_restarted(301_000, 301_001, 71_000)


def test_an_answer_that_is_read_late_is_no_restart() -> None:
    uptime = seen()
    assert not uptime.has_restarted(61_000, 91_000, 61_000)
    assert not uptime.has_restarted(91_000, 91_001, 91_000)


def test_a_robot_whose_clock_is_slow_is_not_started_again_day_after_day() -> None:
    uptime = seen()
    for day in range(1, 30):
        assert not uptime.has_restarted(day * DAY_MS, day * DAY_MS, round(day * DAY_MS * 0.99995))


def test_a_process_after_another_knows_when_the_robot_was_started() -> None:
    assert not Uptime(0).has_restarted(DAY_MS, DAY_MS, DAY_MS)
    assert Uptime(0).has_restarted(DAY_MS, DAY_MS, 60_000)
    assert not Uptime(None).has_restarted(DAY_MS, DAY_MS, 60_000)


NEW_YEAR_MS = 1_767_225_600_000
HOUR_MS = 3_600_000


def seen_with_its_clock() -> Uptime:
    """A robot that was started at 0 of our clock, at New Year of its own, and seen ten minutes later."""
    uptime = Uptime(None)
    assert not uptime.has_restarted(600_000, 600_001, 600_000, NEW_YEAR_MS + 600_000)
    return uptime


def test_a_clock_of_ours_that_was_set_between_two_processes_is_no_restart_of_the_robot() -> None:
    for by_ms in (HOUR_MS, 30 * DAY_MS):
        after = Uptime.taken_up(seen_with_its_clock().kept())
        now_ms = 605_000 + by_ms
        assert not after.has_restarted(now_ms, now_ms, 605_000, NEW_YEAR_MS + 605_000)
        assert not after.has_restarted(now_ms + 1_000, now_ms + 1_000, 606_000, NEW_YEAR_MS + 606_000)


def test_a_robot_that_was_started_while_no_process_looked_was_whatever_clocks_say() -> None:
    after = Uptime.taken_up(seen_with_its_clock().kept())
    now_ms = 600_000 + 2 * HOUR_MS
    assert after.has_restarted(now_ms, now_ms, HOUR_MS, NEW_YEAR_MS + now_ms)


def test_a_robot_that_does_not_tell_the_time_runs_on_where_it_runs_for_longer_than_nobody_looked() -> None:
    after = Uptime(0, DAY_MS)
    assert not after.has_restarted(DAY_MS + HOUR_MS, DAY_MS + HOUR_MS, DAY_MS + 5_000)
    assert Uptime(0, 600_000).has_restarted(600_000 + 2 * HOUR_MS, 600_000 + 2 * HOUR_MS, HOUR_MS)


def test_a_robot_without_a_clock_that_goes_on_while_it_is_off_is_no_witness() -> None:
    uptime = Uptime(None)
    assert not uptime.has_restarted(600_000, 600_000, 600_000, 600_000)
    assert uptime.has_restarted(600_000 + 2 * HOUR_MS, 600_000 + 2 * HOUR_MS, HOUR_MS, HOUR_MS)


def test_a_robot_whose_own_clock_is_set_was_not_started_again() -> None:
    uptime = seen_with_its_clock()
    assert not uptime.has_restarted(601_000, 601_000, 601_000, NEW_YEAR_MS + 601_000 - HOUR_MS)
    assert not uptime.has_restarted(602_000, 602_000, 602_000, NEW_YEAR_MS + 602_000 + 30 * DAY_MS)
