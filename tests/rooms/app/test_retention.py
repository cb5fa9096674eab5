"""The setting `retention`, and dates as people write them."""

import pytest

from beforehand.app.retention import Retention, moment, retention_of
from beforehand.app.settings import load_settings
from beforehand.model.errors import BadInputError

DAY = 86_400_000


def read(told: str | None) -> Retention | None:
    return retention_of(load_settings({"retention": told}, {}))


def test_nothing_is_kept_to_unless_it_is_set() -> None:
    assert read(None) is None


@pytest.mark.parametrize(
    ("told", "meant"),
    [
        ("90d archive", Retention(90)),
        ("12 weeks archive", Retention(84)),
        ("90d archive, 2y delete", Retention(90, 730)),
        ("1y delete, 6m archive", Retention(180, 365)),
    ],
)
def test_ages_and_what_is_done_then(told: str, meant: Retention) -> None:
    assert read(told) == meant


@pytest.mark.parametrize("told", ["90d", "archive", "2y delete", "90d archive, 30d delete", "90d burn", "-1d archive"])
def test_what_cannot_be_read_is_refused_with_an_example(told: str) -> None:
    with pytest.raises(BadInputError, match="it is written `90d archive`"):
        read(told)


def test_it_says_what_it_does() -> None:
    assert Retention(90).says == "Events of what has ended are archived after 90 days; nothing is deleted."
    assert "deleted after 730 days" in Retention(90, 730).says


def test_dates_times_and_ages() -> None:
    assert moment("1970-01-02", 0) == DAY
    assert moment("1970-01-01T01:00:00+01:00", 5) == 0
    assert moment("2d", 5 * DAY) == 3 * DAY
    assert moment("99999y", 0) == 0
    for wrong in ("soon", "", "2026-13-01", "90", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00"):
        with pytest.raises(BadInputError, match="is no date"):
            moment(wrong, 0)
