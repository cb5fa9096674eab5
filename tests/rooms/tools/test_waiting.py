"""wait and ask_person."""

from pathlib import Path
from typing import Any

import pytest

from beforehand.adapters.files import DiskWorkspace
from beforehand.adapters.tools.waiting import AskPerson, Wait
from beforehand.model.errors import Fault
from beforehand.ports.tool import ToolContext, Unknown


@pytest.fixture
def slept() -> list[float]:
    return []


@pytest.fixture
def wait(slept: list[float]) -> Wait:
    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    return Wait(sleep)


@pytest.mark.parametrize("seconds", [0, 0.1, 3, 86_400])
async def test_waiting_reports_progress_up_to_the_end(
    wait: Wait, slept: list[float], tmp_path: Path, seconds: float
) -> None:
    seen: list[float] = []
    value = await wait.run({"seconds": seconds}, ToolContext("k", DiskWorkspace(tmp_path), progress=seen.append))
    assert value == {"seconds": seconds}
    assert sum(slept) == pytest.approx(seconds)
    assert len(slept) <= 100
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0, 100)


@pytest.mark.parametrize("seconds", [-1, 86_401, float("nan"), float("inf"), "5", None, True, [1]])
async def test_waits_that_cannot_be(wait: Wait, slept: list[float], tmp_path: Path, seconds: Any) -> None:
    with pytest.raises(Fault, match="wait needs a number of seconds from 0 to 86400"):
        await wait.run({"seconds": seconds}, ToolContext("k", DiskWorkspace(tmp_path)))
    assert slept == []


async def test_previews_take_the_time_they_would(wait: Wait, tmp_path: Path) -> None:
    context = ToolContext("k", DiskWorkspace(tmp_path))
    assert (await wait.preview({"seconds": 90}, context)).seconds == 90
    asked = await AskPerson().preview({"question": "Which colour?"}, context)
    assert asked.says == "Asks: Which colour?"
    assert isinstance(asked.value, Unknown)


async def test_a_question_is_never_run(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="answered by a person"):
        await AskPerson().run({"question": "?"}, ToolContext("k", DiskWorkspace(tmp_path)))
