"""Dates as the query DSL writes them: ISO 8601, milliseconds, and date math such as `now-1d/d` or `2026-11-01||+1M`.

Everything is UTC. Rounding goes down to the beginning of the unit, or up to its last millisecond, as the comparison
asks for it.
"""

import re
from calendar import monthrange
from datetime import UTC, datetime, timedelta

from beforehand.ports.search import SearchError

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "H": "hours", "d": "days", "w": "weeks"}
_STEP = re.compile(r"([+-])(\d{1,9})?([yMwdhHms])|/([yMwdhHms])")
_PARTIAL = re.compile(r"(\d{4})(?:-(\d{2}))?")
MS = timedelta(milliseconds=1)


def to_ms(moment: datetime) -> int:
    return (moment - _EPOCH) // MS


def of_ms(ms: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=ms)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read_date(given: object, now_ms: int, *, up: bool = False) -> int:
    """The milliseconds a date means; `up` takes the end of what is rounded, or of a day or month given alone."""
    try:
        if isinstance(given, bool) or not isinstance(given, int | float | str):
            raise ValueError
        if not isinstance(given, str):
            return to_ms(of_ms(int(given)))
        return _read(given.strip(), now_ms, up)
    except (ValueError, OverflowError):
        raise SearchError(
            f"{given!r} is not a date." if isinstance(given, str) else "A date is a text or milliseconds since 1970.",
            code="search.date",
            hint="Write 2026-11-15, 2026-11-15T08:00:00Z, milliseconds since 1970, or now-1d/d.",
        ) from None


def _read(text: str, now_ms: int, up: bool) -> int:
    if text.startswith("now"):
        return _math(of_ms(now_ms), text[3:], up)
    anchor, bars, rest = text.partition("||")
    if re.fullmatch(r"-?\d{6,16}", anchor):
        return _math(of_ms(int(anchor)), rest, up)
    moment, unit = _parsed(anchor)
    if not bars and up and unit:
        return to_ms(shifted(moment, 1, unit)) - 1
    return _math(moment, rest, up)


def _parsed(text: str) -> tuple[datetime, str]:
    """A moment, and the unit that it names as a whole, such as the day of `2026-11-15`."""
    if part := _PARTIAL.fullmatch(text):
        return datetime(int(part[1]), int(part[2] or 1), 1, tzinfo=UTC), "M" if part[2] else "y"
    moment = datetime.fromisoformat(text)
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return moment, "d" if len(text) == len("2026-11-15") else ""


def _math(moment: datetime, steps: str, up: bool) -> int:
    at = 0
    for step in _STEP.finditer(steps):
        if step.start() != at:
            raise ValueError
        at = step.end()
        if step[4]:
            moment = floor(moment, step[4])
            if up:
                moment = shifted(moment, 1, step[4]) - MS
        else:
            moment = shifted(moment, int(f"{step[1]}{step[2] or 1}"), step[3])
    if at != len(steps):
        raise ValueError
    return to_ms(moment)


def floor(moment: datetime, unit: str) -> datetime:
    """The beginning of the year, month, week (Monday), day, hour, minute or second that a moment is in."""
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    match unit:
        case "y":
            return day.replace(month=1, day=1)
        case "M":
            return day.replace(day=1)
        case "q":
            return day.replace(month=day.month - (day.month - 1) % 3, day=1)
        case "w":
            return day - timedelta(days=day.weekday())
        case "d":
            return day
        case "h" | "H":
            return moment.replace(minute=0, second=0, microsecond=0)
        case "m":
            return moment.replace(second=0, microsecond=0)
        case _:
            return moment.replace(microsecond=0)


def shifted(moment: datetime, number: int, unit: str) -> datetime:
    """So many units later; a day that a month does not have becomes its last."""
    if unit in _UNITS:
        return moment + timedelta(**{_UNITS[unit]: number})
    months = moment.month - 1 + number * {"y": 12, "q": 3, "M": 1}[unit]
    year, month = moment.year + months // 12, months % 12 + 1
    if not 1 <= year <= 9999:
        raise ValueError
    return moment.replace(year=year, month=month, day=min(moment.day, monthrange(year, month)[1]))
