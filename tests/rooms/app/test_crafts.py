"""What holds for any craft: its planner is checked like anybody, and its decisions come back to it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from beforehand.app.craft import Answering, Craft, Owner, Parts, Planner, PlanRequest, Scenes
from beforehand.app.crafts import Crafts
from beforehand.app.decisions import close_decision, open_decision
from beforehand.app.inbox import answer_decision, list_decisions, show_decision
from beforehand.app.intake import PlanInput
from beforehand.app.plan_changes import regenerate_plan
from beforehand.app.plans import create_plan, get_plan
from beforehand.app.runtime import Runtime, open_runtime
from beforehand.app.scenes import save_scene
from beforehand.app.settings import load_settings
from beforehand.app.state import state_view
from beforehand.model.decision import Decision
from beforehand.model.errors import BadInputError, ConflictError
from beforehand.model.plan import Origin, Plan, Step
from beforehand.testing import MemoryStore


class Garden:
    """A craft whose planner waters by a tool of the test's choice, and that asks a question of its own."""

    def __init__(self) -> None:
        self.tool = "wait"
        self.answers: list[tuple[str, Any, str]] = []

    def open(self, runtime: Runtime) -> Parts:
        async def plan(request: PlanRequest, correlation_id: str) -> Plan:
            step = Step.model_validate({"id": "water", "tool": self.tool, "args": {"seconds": 0}, "order": 1})
            return Plan(scene=request.scene, steps=(step,), origin=Origin(planner="garden", text=request.text))

        async def answer(decision: Decision, given: Answering) -> None:
            self.answers.append((decision.owner, given.value, given.verb))
            await close_decision(runtime, decision, given)

        async def activate(name: str, document: Any) -> None: ...

        return Parts(
            service=self,
            scenes=Scenes("garden", check=dict, activate=activate, lists=("beds",)),
            planner=Planner("garden", plan),
            owners={"garden": Owner(answer)},
        )


@asynccontextmanager
async def opened(folder: Path, *crafts: Craft) -> AsyncIterator[Runtime]:
    known = Crafts({craft.name: craft for craft in crafts})
    settings = load_settings({"home": str(folder / "home"), "workspace": str(folder)}, {}, folder / "none.toml")
    store = MemoryStore(known.projection())
    async with open_runtime(settings, store=store, with_servers=False, crafts=known) as runtime:
        await save_scene(runtime, None, {"kind": "garden", "name": "north"})
        yield runtime


@pytest.fixture
def garden() -> Garden:
    return Garden()


WATER = PlanInput(scene="north", text="water it")


async def test_a_planner_that_names_an_unknown_tool_opens_no_review(tmp_path: Path, garden: Garden) -> None:
    async with opened(tmp_path, Craft("garden", garden.open)) as runtime:
        garden.tool = "hose"
        with pytest.raises(BadInputError, match="hose") as refused:
            await create_plan(runtime, WATER)
        assert [problem.code for problem in refused.value.problems] == ["step.unknown_tool"]
        assert await list_decisions(runtime) == []


async def test_a_plan_made_anew_is_checked_again(tmp_path: Path, garden: Garden) -> None:
    async with opened(tmp_path, Craft("garden", garden.open)) as runtime:
        plan, _ = await create_plan(runtime, WATER)
        garden.tool = "hose"
        with pytest.raises(BadInputError, match="hose"):
            await regenerate_plan(runtime, plan.id)
        assert (await get_plan(runtime, plan.id)).version == 1


async def test_a_question_that_no_run_asked_is_answered_by_its_owner(tmp_path: Path, garden: Garden) -> None:
    async with opened(tmp_path, Craft("garden", garden.open)) as runtime:
        asked = Decision(
            id="north-q1",
            kind="question",
            owner="garden:north",
            title="How many litres?",
            about={"scene": "north"},
            verbs=("answer",),
            opened_at="2030-01-01T00:00:00.000Z",
        )
        await open_decision(runtime, asked)
        await answer_decision(runtime, "north-q1", "answer", value=7, by="Ada")
        assert garden.answers == [("garden:north", 7, "answer")]
        closed = await show_decision(runtime, "north-q1")
        assert (closed["status"], closed["answer"]["by"]) == ("answered", "Ada")
        with pytest.raises(ConflictError, match="already"):
            await answer_decision(runtime, "north-q1", "answer", value=8)


async def test_a_decision_whose_craft_is_gone_says_so(tmp_path: Path, garden: Garden) -> None:
    async with opened(tmp_path, Craft("garden", garden.open)) as runtime:
        asked = Decision(id="q", kind="odd", owner="pond:1", title="?", about={}, verbs=("yes",), opened_at="")
        await open_decision(runtime, asked)
        with pytest.raises(ConflictError, match="No running process"):
            await answer_decision(runtime, "q", "yes")
        assert [row["id"] for row in await list_decisions(runtime)] == ["q"]


async def test_the_state_always_has_the_lists_that_crafts_bring(tmp_path: Path, garden: Garden) -> None:
    async with opened(tmp_path, Craft("garden", garden.open)) as runtime:
        assert (await state_view(runtime))["beds"] == []
