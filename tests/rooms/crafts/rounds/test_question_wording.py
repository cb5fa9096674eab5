"""What questions are read as where names are words or numbers, too, and where hours of a day are said."""

import pytest

from beforehand.app.crafts import load_crafts
from beforehand.app.search import searched
from beforehand.crafts.rounds.core.question_parts import Knowledge
from beforehand.crafts.rounds.core.question_query import summary_of
from beforehand.crafts.rounds.core.question_shape import Question
from beforehand.crafts.rounds.core.question_text import understand
from beforehand.crafts.rounds.core.question_time import Moments
from beforehand.model.errors import NotUnderstoodError
from beforehand.model.event import from_iso

CRAFTS = load_crafts(built_in_only=True)
INDEXES = searched(CRAFTS)
NOW = from_iso("2026-11-16T10:00:00.000Z")
PLACES = {"worksite": ("A", "B", "C", "IN", "OUT"), "robot": ("RB-01", "RB-02"), "scene": ("hall",)}
NUMBERS = {"robot": ("1", "2", "3"), "worksite": ("10", "20"), "scene": ("hall",)}


def read(text: str, names: dict[str, tuple[str, ...]] = PLACES, previous: Question | None = None) -> Question:
    return understand(text, Knowledge(INDEXES, names, Moments(NOW, {})), previous)


def named(question: Question) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    return [(one.fields, one.values) for one in question.filters if one.source.startswith("name:")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("how many tasks in the last hour", []),
        ("was there a failed task yesterday", []),
        ("HOW MANY TASKS FAILED IN THE LAST HOUR", []),
        ("how many picks in hall", [(("scene",), ("hall",))]),
        ("how many picks at IN in the last hour", [(("worksiteId",), ("IN",))]),
        ("how many picks at a yesterday", [(("worksiteId",), ("A",))]),
        ("tasks from in to out", [(("sourceId",), ("IN",)), (("targetId",), ("OUT",))]),
        ("how many tasks from worksite A to worksite B", [(("sourceId",), ("A",)), (("targetId",), ("B",))]),
        ("tasks from A to B or C", [(("sourceId",), ("A",)), (("targetId",), ("B", "C"))]),
        ("tasks to A, B and C yesterday", [(("targetId",), ("A", "B", "C"))]),
        ("tasks from A by RB-01 and RB-02", [(("sourceId",), ("A",)), (("robotId",), ("RB-01", "RB-02"))]),
    ],
)
def test_a_name_that_is_a_word_is_read_where_it_is_meant(text: str, expected: object) -> None:
    assert named(read(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("list the last 10 tasks", []),
        ("how many tasks between 10 and 20 yesterday", []),
        ("how many tasks took over 10 minutes", []),
        ("show 10 tasks of robot 2", [(("robotId",), ("2",))]),
        ("how many tasks did robot 2 complete in the last 3 hours", [(("robotId",), ("2",))]),
        ("picks at 10", [(("worksiteId",), ("10",))]),
        ("tasks of robots 1 and 2", [(("robotId",), ("1", "2"))]),
    ],
)
def test_a_number_is_a_name_only_where_a_word_says_so(text: str, expected: object) -> None:
    assert named(read(text, NUMBERS)) == expected


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("tasks between 2 and 4 pm yesterday", "2026-11-15T14:00", "2026-11-15T16:00"),
        ("tasks from 10:30 to 11 pm yesterday", "2026-11-15T22:30", "2026-11-15T23:00"),
        ("tasks between 9 and 5 pm yesterday", "2026-11-15T09:00", "2026-11-15T17:00"),
        ("tasks between 8 and 12 pm yesterday", "2026-11-15T08:00", "2026-11-15T12:00"),
        ("tasks between 12 and 1 am yesterday", "2026-11-15T00:00", "2026-11-15T01:00"),
        ("tasks after midnight today", "2026-11-16T00:00", "2026-11-17T00:00"),
        ("tasks between midnight and 6 yesterday", "2026-11-15T00:00", "2026-11-15T06:00"),
        ("tasks between 18:00 and midnight yesterday", "2026-11-15T18:00", "2026-11-16T00:00"),
        ("tasks since 6 am", "2026-11-16T06:00", "2026-11-16T10:00"),
        ("tasks since 14:00 yesterday", "2026-11-15T14:00", "2026-11-16T10:00"),
        ("tasks yesterday between 6 and 14 UTC", "2026-11-15T06:00", "2026-11-15T14:00"),
        ("how long did tasks take between 8 and 10 yesterday", "2026-11-15T08:00", "2026-11-15T10:00"),
    ],
)
def test_hours_are_those_that_were_said(text: str, start: str, end: str) -> None:
    assert f"({start} to {end} UTC)" in summary_of(read(text))


@pytest.mark.parametrize(
    "text",
    [
        "how many tasks took between 1 and 2 h",
        "how many tasks lasted from 1h to 2h",
        "how many tasks before 0:00",
        "how many tasks since 22:00",
        "how many tasks yesterday between 6 and 14 CET",
    ],
)
def test_hours_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(NotUnderstoodError, match="was not understood"):
        read(text)


def test_a_time_is_near_no_name() -> None:
    with pytest.raises(NotUnderstoodError) as refused:
        read("what happened yesterday at 14:00")
    assert refused.value.nearest == ()


def test_what_is_open_is_asked_for_by_when_it_began_whatever_was_asked_before() -> None:
    failed = read("how many tasks failed today?")
    assert failed.time == "endedAt"
    assert read("and open?", previous=failed).time == "createdAt"


@pytest.mark.parametrize(
    ("text", "act"),
    [("what share of tasks failed yesterday?", "share"), ("how many different robots completed tasks?", "distinct")],
)
def test_what_is_split_is_what_was_asked(text: str, act: str) -> None:
    split = read("and per hour?", previous=read(text))
    assert (split.act, split.interval) == (act, "hour")


def test_what_cannot_be_averaged_is_told_in_a_whole_sentence() -> None:
    with pytest.raises(NotUnderstoodError, match="Drops have nothing that could be averaged or summed"):
        read("average?", previous=read("how many drops yesterday?"))
