"""Which states of a vehicle count, whatever its own clock is set to."""

from datetime import UTC, datetime, timedelta

import pytest

from beforehand.adapters.vda5050.freshness import OLD_IN_A_ROW, Heard
from beforehand.adapters.vda5050.messages import State

BEGAN = datetime(2026, 1, 1, 12, tzinfo=UTC)
JUMPS = [timedelta(hours=-1), timedelta(hours=1), timedelta(days=30), timedelta(days=-30)]


def state(number: int, at: datetime) -> State:
    return State.model_validate({"headerId": number, "timestamp": at.isoformat(), "orderId": ""})


@pytest.mark.parametrize("by", JUMPS)
@pytest.mark.parametrize("counts", [True, False], ids=["numbered", "all numbered alike"])
def test_a_vehicle_whose_clock_is_set_is_heard_again_within_a_few_states(by: timedelta, counts: bool) -> None:
    heard, passed_over = Heard(), 0
    for second in range(20):
        at = BEGAN + timedelta(seconds=second) + (by if second >= 10 else timedelta())
        old = heard.is_old(state(second if counts else 7, at))
        assert not (old and second < 10)
        passed_over += old
    assert passed_over < OLD_IN_A_ROW
    assert not heard.is_old(state(20 if counts else 7, BEGAN + timedelta(seconds=20) + by))


def test_states_that_come_late_are_passed_over_where_all_have_one_number() -> None:
    heard = Heard()
    assert not heard.is_old(state(7, BEGAN))
    assert not heard.is_old(state(7, BEGAN + timedelta(seconds=2)))
    assert heard.is_old(state(7, BEGAN + timedelta(seconds=1)))
    assert not heard.is_old(state(7, BEGAN + timedelta(seconds=3)))
