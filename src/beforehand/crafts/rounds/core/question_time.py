"""Time phrases: `yesterday`, `last 3 hours`, `on Monday between 8 and 10`, `in November`, `since the last hold`.

All times are UTC. The clock comes in as an argument, and so do moments that only the log knows. A phrase that could
mean two things is not in the list; it is left over, and the question is refused.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from beforehand.crafts.rounds.core.question_shape import Span
from beforehand.crafts.rounds.core.question_words import Words

DAY = timedelta(days=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8}
_NUMBERS |= {"nine": 9, "ten": 10, "twelve": 12, "twenty-four": 24, "couple of": 2, "half": 0}
_COUNT = rf"(\d{{1,5}}|{'|'.join(name for name in _NUMBERS if name != 'half')})"
_UNIT = r"(minute|hour|day|week|month)s?"
_WEEKDAY = rf"({'|'.join(DAYS)})"
_MONTH = rf"({'|'.join(MONTHS)})"
_CLOCK = r"(\d{1,2}(?::\d{2})?(?:\s?(?:am|pm))?|noon|midnight)(?:\s?(?:o'?clock|h))?"
_LASTED = r"(?:took|take|taking|lasted|lasting|waited)\s+(?:between|from)\s+\d+\s?h?\s+(?:and|to)\s+\d+\s?h"
_DATE = r"(\d{4}-\d{2}-\d{2})"
_IN = r"(?:(?:in|on|during|over|for|within|of|from)\s+)?(?:the\s+)?"


class Moments(NamedTuple):
    """What a reading of time needs to know: the present, and when things last happened."""

    now_ms: int
    last: Mapping[str, int | None]
    """By word, such as `hold`: when it last happened; None where it never did."""

    @property
    def now(self) -> datetime:
        return _EPOCH + timedelta(milliseconds=self.now_ms)


class NoSuchMomentError(Exception):
    """`since the last hold`, and there was none."""


def take_span(words: Words, moments: Moments) -> Span | None:
    """The time a text speaks of, taken out of it; None where it speaks of none."""
    days = _take_days(words, moments)
    span = _take_since_clock(words, days, moments) or _take_hours(words, days, moments)
    if span is not None:
        words.take("utc")
    return span


def _take_hours(words: Words, days: Span | None, moments: Moments) -> Span | None:
    """The days, or the hours that are said of one."""
    clock = _take_clock(words) or _take_part_of_day(words, days)
    if clock is None:
        return days
    start = _at(days.start) if days else _midnight(moments.now)
    if days is not None and days.end - days.start > _ms(DAY):
        words.left_over(f"hours of the day together with {days.says}")
        return days
    begin, end = (start + timedelta(minutes=minutes) for minutes in clock)
    day = days.says if days else "today"
    return _span(begin, end, f"{day} between {begin:%H:%M} and {end:%H:%M}")


def last_moments(text: str, known: Mapping[str, object]) -> list[str]:
    """The words of moments that a text refers to, which somebody has to look up."""
    found = re.findall(r"\bsince\s+the\s+last\s+([\w-]+)", text.lower())
    return [word for word in found if word in known]


def _take_days(words: Words, moments: Moments) -> Span | None:
    found: list[Span] = []
    for pattern, read in _PHRASES:
        while (match := words.take(pattern)) is not None:
            try:
                found.append(read(match, moments))
            except (ValueError, OverflowError):
                words.left_over(match[0].strip())
    found.sort(key=lambda one: one.start)
    if len(found) == 2 and found[0].end == found[1].start and re.search(r"§\s+and\s+§", words.text):
        return Span(start=found[0].start, end=found[1].end, says=f"{found[0].says} and {found[1].says}")
    if len(found) > 1:
        words.left_over(" and ".join(one.says for one in found))
    return found[0] if found else None


_PARTS_OF_DAY = {"morning": (0, 12 * 60), "afternoon": (12 * 60, 18 * 60), "evening": (18 * 60, 24 * 60)}
"""The night is not here: it lies in two days."""


def _take_part_of_day(words: Words, days: Span | None) -> tuple[int, int] | None:
    """`this morning`, `on Friday afternoon`; of no day in particular it is not understood."""
    before = r"this\s+" if days is None else r"(?:in\s+the\s+)?"
    match = words.take(rf"{before}({'|'.join(_PARTS_OF_DAY)})")
    return None if match is None else _PARTS_OF_DAY[match[1]]


def _take_since_clock(words: Words, days: Span | None, moments: Moments) -> Span | None:
    """`since 6 am`, `since 14:00 yesterday`: from then to now."""
    match = words.take(rf"since\s+{_CLOCK}")
    if match is None:
        return None
    start, minutes = _at(days.start) if days else _midnight(moments.now), _begins(match[1])
    if minutes is None or start + timedelta(minutes=minutes) > moments.now:
        words.left_over(match[0])
        return None
    begin = start + timedelta(minutes=minutes)
    return _span(begin, moments.now + timedelta(milliseconds=1), f"since {begin:%Y-%m-%d %H:%M}")


def _take_clock(words: Words) -> tuple[int, int] | None:
    """The minutes of a day between which it was; None where no hours are said or they make no sense."""
    if lasting := words.take(_LASTED):
        words.left_over(lasting[0])  # a length, and no time of day
        return None
    limits: tuple[int | None, int | None]
    if match := words.take(rf"(?:between|from)\s+{_CLOCK}\s+(?:and|to|until|till)\s+{_CLOCK}"):
        limits = _between(match[1], match[2])
    elif match := words.take(rf"after\s+{_CLOCK}"):
        limits = _begins(match[1]), 24 * 60
    elif match := words.take(rf"(?:before|until)\s+{_CLOCK}"):
        limits = 0, _minutes(match[1])
    else:
        return None
    begin, end = limits
    if begin is None or end is None or begin >= end:
        words.left_over(match[0])
        return None
    return begin, end


def _between(first: str, last: str) -> tuple[int | None, int | None]:
    """`between 2 and 4 pm` is in the afternoon both times, `between 9 and 5 pm` is not."""
    begin, end = _begins(first), _minutes(last)
    half = re.search("am|pm", last)
    if half and re.fullmatch(r"[\d:]+", first):
        same = _minutes(f"{first} {half[0]}")
        begin = same if same is not None and end is not None and same < end else begin
    return begin, end


def _begins(text: str) -> int | None:
    """The minutes at which something begins: midnight is then the first moment of the day."""
    return 0 if text == "midnight" else _minutes(text)


def _minutes(text: str) -> int | None:
    if text in ("noon", "midnight"):
        return 12 * 60 if text == "noon" else 24 * 60
    match = re.fullmatch(r"(\d{1,2})(?::(\d{2}))?\s?(am|pm)?", text)
    assert match is not None
    hour, minute = int(match[1]), int(match[2] or 0)
    if match[3]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if match[3] == "pm" else 0)
    return hour * 60 + minute if hour * 60 + minute <= 24 * 60 and minute < 60 else None


def _ms(length: timedelta) -> int:
    return length // timedelta(milliseconds=1)


def _at(ms: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=ms)


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _span(start: datetime, end: datetime, says: str) -> Span:
    return Span(start=_ms(start - _EPOCH), end=_ms(end - _EPOCH), says=says)


def _day(start: datetime, says: str) -> Span:
    return _span(start, start + DAY, says)


def _number(text: str) -> int:
    return int(text) if text.isdigit() else _NUMBERS[text]


def _back(moment: datetime, number: int, unit: str) -> datetime:
    if unit == "month":
        months = moment.year * 12 + moment.month - 1 - number
        return moment.replace(year=months // 12, month=months % 12 + 1, day=min(moment.day, 28))
    return moment - number * timedelta(**{f"{unit}s": 1})


def _rolling(match: re.Match[str], moments: Moments) -> Span:
    number, unit = _number(match[1]), match[2]
    if number < 1:
        raise ValueError
    says = f"in the last {number} {unit}s" if number != 1 else f"in the last {unit}"
    # What happens at this very moment belongs to it.
    return _span(_back(moments.now, number, unit), moments.now + timedelta(milliseconds=1), says)


def _last_hour(match: re.Match[str], moments: Moments) -> Span:
    return _span(moments.now - timedelta(hours=1), moments.now + timedelta(milliseconds=1), "in the last hour")


def _start_of(unit: str, moment: datetime, back: int = 0) -> datetime:
    day = _midnight(moment)
    if unit == "week":
        return day - timedelta(days=day.weekday() + 7 * back)
    if unit == "month":
        months = day.year * 12 + day.month - 1 - back
        return day.replace(year=months // 12, month=months % 12 + 1, day=1)
    return day.replace(year=day.year - back, month=1, day=1)


def _calendar(match: re.Match[str], moments: Moments) -> Span:
    which, unit = match[1], match[2]
    back = 0 if which in ("this", "current") else 1
    return _span(_start_of(unit, moments.now, back), _start_of(unit, moments.now, back - 1), f"{which} {unit}")


def _relative_day(match: re.Match[str], moments: Moments) -> Span:
    back = {"today": 0, "yesterday": 1, "the day before yesterday": 2}[match[1]]
    return _day(_midnight(moments.now) - back * DAY, match[1])


def _days_ago(match: re.Match[str], moments: Moments) -> Span:
    day = _midnight(moments.now) - _number(match[1]) * DAY
    return _day(day, f"on {day:%Y-%m-%d}")


def _weekend(match: re.Match[str], moments: Moments) -> Span:
    """Saturday and Sunday of this week or of the week before."""
    saturday = _start_of("week", moments.now, 0 if match[1] == "this" else 1) + 5 * DAY
    return _span(saturday, saturday + 2 * DAY, f"{match[1]} weekend")


def _weekday(match: re.Match[str], moments: Moments) -> Span:
    """The last one that has begun; `last Monday` is never today."""
    today = _midnight(moments.now)
    back = (today.weekday() - DAYS.index(match[2])) % 7
    if match[1] and not back:
        back = 7
    return _day(today - back * DAY, f"on {match[2].capitalize()} {today - back * DAY:%Y-%m-%d}")


def _month(match: re.Match[str], moments: Moments) -> Span:
    month = MONTHS.index(match[1]) + 1
    year = int(match[2]) if match[2] else moments.now.year - (month > moments.now.month)
    start = datetime(year, month, 1, tzinfo=UTC)
    return _span(start, _start_of("month", start, -1), f"in {match[1].capitalize()} {year}")


def _date(match: re.Match[str], moments: Moments) -> Span:
    start = datetime.fromisoformat(match[1]).replace(tzinfo=UTC)
    return _day(start, f"on {match[1]}")


def _spoken_date(day: str, month: str, year: str | None, moments: Moments) -> Span:
    number = MONTHS.index(month) + 1
    start = datetime(int(year or moments.now.year), number, int(day), tzinfo=UTC)
    if year is None and start > moments.now:
        start = start.replace(year=start.year - 1)
    return _day(start, f"on {start:%Y-%m-%d}")


def _since(match: re.Match[str], moments: Moments) -> Span:
    """Since a day: from its beginning to now."""
    told = f"in {match[1]}" if match[1] in MONTHS else match[1]
    inner = next(
        read(found, moments)
        for pattern, read in _PHRASES
        if read is not _since and (found := re.fullmatch(pattern, told)) is not None
    )
    return _span(
        _at(inner.start),
        moments.now + timedelta(milliseconds=1),
        f"since {inner.says.removeprefix('on ').removeprefix('in ')}",
    )


def _since_last(match: re.Match[str], moments: Moments) -> Span:
    word = match[1]
    if word not in moments.last:
        raise ValueError
    at = moments.last[word]
    if at is None:
        raise NoSuchMomentError(word)
    says = f"since the last {word} ({_at(at):%Y-%m-%d %H:%M} UTC)"
    return _span(_at(at), moments.now + timedelta(milliseconds=1), says)


def _dates(match: re.Match[str], moments: Moments) -> Span:
    first = datetime.fromisoformat(match[1]).replace(tzinfo=UTC)
    last = datetime.fromisoformat(match[2]).replace(tzinfo=UTC)
    if first > last:
        raise ValueError
    return _span(first, last + DAY, f"from {match[1]} to {match[2]}")


_ORDINAL = r"(\d{1,2})(?:st|nd|rd|th)?"
_PHRASES: tuple[tuple[str, Callable[[re.Match[str], Moments], Span]], ...] = (
    (r"since\s+the\s+last\s+([\w-]+)", _since_last),
    (rf"since\s+(yesterday|{_WEEKDAY[1:-1]}|{_DATE[1:-1]}|{_MONTH[1:-1]})", _since),
    (rf"(?:between|from)\s+{_DATE}\s+(?:and|to|until)\s+{_DATE}", _dates),
    (r"(the day before yesterday)", _relative_day),
    (rf"{_COUNT}\s+days?\s+ago", _days_ago),
    (rf"{_IN}(this|last)\s+weekend", _weekend),
    (rf"{_IN}(today|yesterday)(?:'s)?", _relative_day),
    (rf"{_IN}(?:last|past|previous)\s+{_COUNT}\s+{_UNIT}", _rolling),
    (rf"{_IN}(?:last|past)\s+hour", _last_hour),
    (rf"{_IN}(this|current|last|previous)\s+(week|month|year)(?:'s)?", _calendar),
    (rf"{_IN}{_DATE}", _date),
    (
        rf"{_IN}{_ORDINAL}\s+(?:of\s+)?{_MONTH}(?:\s+(\d{{4}}))?",
        lambda match, moments: _spoken_date(match[1], match[2], match[3], moments),
    ),
    (
        rf"{_IN}{_MONTH}\s+{_ORDINAL}(?!\d)(?:,?\s+(\d{{4}}))?",
        lambda match, moments: _spoken_date(match[2], match[1], match[3], moments),
    ),
    (rf"(?:in|during|of|for|over)\s+{_MONTH}(?:\s+(\d{{4}}))?", _month),
    (rf"{_IN}(last\s+|this past\s+)?{_WEEKDAY}(?:'s)?", _weekday),
)
