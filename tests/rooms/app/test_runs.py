"""Following a run as a script does, and tools of a script's own."""

from pathlib import Path
from typing import Any

import pytest

from beforehand import PlanInput, create_plan, follow_run, load_settings, open_runtime, start_run
from beforehand.app.runs import retry_step
from beforehand.model.errors import BadInputError, NotFoundError
from beforehand.testing import ScriptedTool, fails, gives


def settings(tmp_path: Path) -> Any:
    return load_settings({"db": "memory:", "home": str(tmp_path), "workspace": str(tmp_path)}, {}, tmp_path / "none")


async def test_a_run_that_was_taken_up_again_is_followed_to_its_last_end(tmp_path: Path) -> None:
    flaky = ScriptedTool("flaky", fails(), gives(1))
    async with open_runtime(settings(tmp_path), tools=[flaky]) as runtime:
        document = {"steps": [{"id": "a", "tool": "flaky", "onFailure": "stop"}]}
        plan, _ = await create_plan(runtime, PlanInput(document))
        run_id = (await start_run(runtime, plan.id, plan.version))["runId"]
        first = [event async for event in follow_run(runtime, run_id)]
        assert [event["data"]["status"] for event in first if event["kind"] == "runFinished"] == ["failed"]

        await retry_step(runtime, run_id, "a")
        await runtime.runs.wait(run_id)
        both = [event async for event in follow_run(runtime, run_id)]
        assert both[: len(first)] == first
        assert [e["data"]["status"] for e in both if e["kind"] == "runFinished"] == ["failed", "completed"]
        assert both[-1]["says"] == "The run is completed."


async def test_nobody_follows_a_run_that_is_not_there(tmp_path: Path) -> None:
    async with open_runtime(settings(tmp_path)) as runtime:
        with pytest.raises(NotFoundError, match="r9"):
            await anext(follow_run(runtime, "r9"))


async def test_a_tool_of_ones_own_cannot_take_a_name_that_is_taken(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="wait"):
        async with open_runtime(settings(tmp_path), tools=[ScriptedTool("wait")]):
            pass
