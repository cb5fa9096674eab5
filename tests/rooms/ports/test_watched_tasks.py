"""Tasks that somebody watches: what breaks off is told and begins again, and what is stopped is not."""

import asyncio

import pytest

from beforehand.model.errors import NotLeadingError, UnavailableError
from beforehand.ports import tasks
from beforehand.ports.tasks import EndedError, TaskOwner, Watched, job, lasting, part, pause_s, stop

HALL = TaskOwner("fleet:hall", "The fleet hall")


class Listener:
    def __init__(self) -> None:
        self.failures: list[tuple[str, str, str, int]] = []
        self.well_again: list[str] = []
        self.heard = asyncio.Event()

    def failed(self, watched: Watched) -> None:
        self.failures.append((watched.owner_id, watched.name, watched.error, watched.failures))
        self.heard.set()

    def note(self, owner: TaskOwner, name: str, error: Exception) -> None: ...

    def well(self, watched: Watched) -> None:
        self.well_again.append(watched.name)
        self.heard.set()


@pytest.fixture
def listener(monkeypatch: pytest.MonkeyPatch) -> Listener:
    monkeypatch.setattr(tasks, "FIRST_PAUSE_S", 0.0)
    found = Listener()
    monkeypatch.setattr(tasks, "watchers", [found])
    return found


async def forever() -> None:
    await asyncio.Event().wait()


async def test_what_lasts_begins_again_after_it_broke_off_and_its_owner_is_told(listener: Listener) -> None:
    begun, errors = asyncio.Event(), [ValueError("seven"), SystemExit(0), UnavailableError("The broker is away.")]

    async def work() -> None:
        if errors:
            raise errors.pop(0)
        begun.set()
        await forever()

    task = lasting(work, "the line", HALL)
    await begun.wait()
    assert listener.failures == [
        ("fleet:hall", "the line", "ValueError: seven", 1),
        ("fleet:hall", "the line", "SystemExit: 0", 2),
        ("fleet:hall", "the line", "The broker is away.", 3),
    ]
    assert [(one.name, one.owner) for one in tasks.register if one.task is task] == [("the line", HALL)]
    await stop([task])
    assert not [one for one in tasks.register if one.task is task]


async def test_what_ends_by_itself_though_it_was_to_last_is_told(listener: Listener) -> None:
    async def work() -> None: ...

    task = lasting(work, "the watch", HALL)
    await listener.heard.wait()
    await stop([task])
    assert listener.failures[0][2] == "It ended, although nobody had stopped it."
    over = lasting(work, "the search", may_end=True)
    await over
    assert len([one for one in listener.failures if one[1] == "the search"]) == 0


async def test_a_job_is_done_once_and_its_failure_is_told(listener: Listener) -> None:
    async def work() -> None:
        raise KeyError("x")

    await job(work(), "closing the line", HALL)
    assert listener.failures == [("fleet:hall", "closing the line", "KeyError: 'x'", 1)]


async def test_what_a_task_begins_belongs_to_its_owner(listener: Listener) -> None:
    async def inner() -> None:
        raise ValueError("deep")

    async def outer() -> None:
        await job(inner(), "the inner part")

    await job(outer(), "the outer part", HALL)
    assert [(owner, name) for owner, name, _, _ in listener.failures] == [("fleet:hall", "the inner part")]


async def test_a_lead_that_is_lost_is_no_failure(listener: Listener) -> None:
    async def work() -> None:
        raise NotLeadingError("Another process leads.")

    await lasting(work, "the line", HALL)
    assert listener.failures == []


async def test_what_has_worked_for_a_while_is_well_again(listener: Listener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "WELL_S", 0.01)
    first = [ValueError("once")]

    async def work() -> None:
        if first:
            raise first.pop()
        await forever()

    task = lasting(work, "the line", HALL)
    while not listener.well_again:
        listener.heard.clear()
        await listener.heard.wait()
    [entry] = [one for one in tasks.register if one.task is task]
    assert (entry.failures, entry.error) == (0, "")
    await stop([task])


async def test_a_task_that_loses_its_cancellation_does_not_begin_again(listener: Listener) -> None:
    begun = []

    async def deaf() -> None:
        begun.append(1)
        try:
            await forever()
        except asyncio.CancelledError:
            raise ValueError("cut off") from None

    task = lasting(deaf, "the line", HALL)
    await asyncio.sleep(0)
    await stop([task])
    assert (task.done(), begun, listener.failures) == (True, [1], [])


def test_the_pause_doubles_up_to_a_minute() -> None:
    assert [pause_s(failures) for failures in (1, 2, 3, 7, 8, 10_000)] == [1, 2, 4, 60, 60, 60]


async def test_code_that_tries_to_end_the_process_ends_its_part_only() -> None:
    async def work() -> None:
        raise SystemExit(0)

    with pytest.raises(EndedError, match="end this whole process"):
        await part(work())


async def test_a_part_that_is_stopped_before_it_began_leaves_nothing_behind(
    recwarn: pytest.WarningsRecorder,
) -> None:
    task = part(forever())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not [one for one in recwarn if "never awaited" in str(one.message)]
