"""How a plan came about: what a document says of it is kept where a planner here made it, and dropped where not."""

from typing import Any

import pytest

from beforehand.app.intake import PlanInput
from beforehand.app.plan_changes import regenerate_plan
from beforehand.app.plans import create_plan, get_plan
from beforehand.app.runtime import Runtime
from beforehand.model.plan import Plan


async def handed_in(runtime: Runtime, **changes: Any) -> Plan:
    """A plan that was made here and comes back as a document."""
    made, _ = await create_plan(runtime, PlanInput(scene="weld_star", text="weld 1 and 2"))
    document = {**made.wire(), **changes}
    plan, _ = await create_plan(runtime, PlanInput(document, scene="weld_star"))
    assert plan.id != made.id
    return await get_plan(runtime, plan.id)


async def test_the_origin_of_a_plan_that_was_made_here_is_kept(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        plan = await handed_in(runtime)
        assert (plan.origin.planner, plan.origin.text) == ("cell", "weld 1 and 2")
        again, _ = await regenerate_plan(runtime, plan.id)
        assert [step.args for step in again.steps] == [step.args for step in plan.steps]


async def test_that_a_model_wrote_it_is_only_what_a_document_says(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        plan = await handed_in(runtime, origin={"planner": "cell", "text": "weld 1", "model": "openai:trusted"})
        assert (plan.origin.text, plan.origin.model) == ("weld 1", None)
        assert "The document says that openai:trusted wrote it." in plan.notes
        steps = [{"id": "a", "tool": "wait", "args": {"seconds": 0}}]
        origin = {"planner": "draft", "text": "Wait.", "model": "openai:trusted"}
        plan, review = await create_plan(runtime, PlanInput({"steps": steps, "origin": origin}))
        assert plan.origin.text == "Wait."
        assert "origin" not in review.evidence
        assert review.evidence["notes"] == ["The document says that openai:trusted wrote it."]


@pytest.mark.parametrize("origin", [{"planner": "nobody", "text": "weld 1"}, {"planner": "cell", "text": 5}, "cell"])
async def test_an_origin_that_nobody_here_can_have_made_is_dropped(homestead: Any, origin: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        plan = await handed_in(runtime, origin=origin)
        assert plan.origin.planner not in ("cell", "nobody")
        assert plan.origin.text is None


async def test_the_state_a_plan_was_made_from_is_kept(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        world = {"current_position": "Safe_Pos_1", "current_tool": "none"}
        document = {"scene": "weld_star", "steps": [_move("Pos_1")], "world": world}
        plan, _ = await create_plan(runtime, PlanInput(document))
        assert plan.world == world


def _move(target: str) -> dict[str, Any]:
    return {"id": "step_1", "tool": "cell.move", "args": {"scene": "weld_star", "target": target}}
