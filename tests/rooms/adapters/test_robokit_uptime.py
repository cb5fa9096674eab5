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
