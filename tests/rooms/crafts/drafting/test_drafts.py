"""Drafts on a runtime of their own, with a scripted model: what a bug and a restart come to, and what is kept."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from beforehand.app.inbox import answer_decision, list_decisions
from beforehand.app.plan_changes import begin_again
from beforehand.app.plans import get_plan
from beforehand.crafts.drafting import drafts as module
from beforehand.crafts.drafting.drafts import Asked, Drafts
from beforehand.testing import ScriptedModel


def answer(*steps: tuple[str, str, dict[str, Any]]) -> dict[str, Any]:
    made = [
        {
            "id": name,
            "description": f"Call {tool}.",
            "tool": tool,
            "args": [{"name": key, "json_value": json.dumps(value)} for key, value in args.items()],
            "depends_on": [],
            "requires_approval": False,
            "when": "",
            "on_failure": "continue",
        }
        for name, tool, args in steps
    ]
    return {"name": "Wait a little", "steps": made, "edge_cases": [], "cannot": ""}


WAIT = answer(("pause", "wait", {"seconds": 3}))
MOVE = answer(("go", "cell.move", {"target": "Safe_Pos_1"}))
FAR = answer(("go", "cell.move", {"target": "Pos_2"}))


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Callable[..., ScriptedModel]:
    def script(*outcomes: Any) -> ScriptedModel:
        model = ScriptedModel(*outcomes, name="scripted")
        monkeypatch.setattr(module, "open_model", lambda settings, name=None: model)
        return model

    return script


async def drafted(runtime: Any, asked: Asked) -> Any:
    drafts = runtime.service(Drafts)
    head = await drafts.start(asked)
    return await drafts.until_over(head["draftId"])


async def test_a_draft_for_a_scene_is_held_to_its_judge(homestead: Any, scripted: Any) -> None:
    model = scripted(FAR, MOVE)
    async with homestead.open("weld_star") as runtime:
        head = await drafted(runtime, Asked("Go to the safe place.", scene="weld_star"))
        assert head["status"] == "finished"
        assert head["tries"][0]["problems"], "the cell's judge knows that no move leads there"
        plan = await get_plan(runtime, head["planId"])
        assert (plan.scene, plan.steps[0].args["scene"]) == ("weld_star", "weld_star")
        assert "Moves a machine: go." in plan.notes
        assert "Safe_Pos_1" in model.asks[0].messages[0].text


async def test_a_bug_stops_that_draft_only_and_a_person_may_start_it_again(homestead: Any, scripted: Any) -> None:
    scripted(RuntimeError("a bug"))
    async with homestead.open() as runtime:
        head = await drafted(runtime, Asked("Wait."))
        assert (head["status"], head["reason"]["code"]) == ("failed", "draft.bug")
        [decision] = await list_decisions(runtime)
        assert decision["kind"] == "bug"
        scripted(WAIT)
        await answer_decision(runtime, decision["id"], "restart")
        second, _ = await runtime.service(Drafts).listed()
        assert (await runtime.service(Drafts).until_over(second["draftId"]))["status"] == "finished"


async def test_every_note_so_far_is_told_and_kept(homestead: Any, scripted: Any) -> None:
    model = scripted(WAIT)
    async with homestead.open() as runtime:
        head = await drafted(runtime, Asked("Wait a little."))
        for note in ("Longer.", "Still longer."):
            plan = await get_plan(runtime, head["planId"])
            begun = await begin_again(runtime, plan.id, note)
            assert begun is not None
            await runtime.service(Drafts).until_over(begun.follow.rpartition("/")[2])
        plan = await get_plan(runtime, head["planId"])
        assert (plan.version, plan.origin.options) == (3, {"notes": ["Longer.", "Still longer."]})
        assert model.asks[2].messages[0].text.endswith("- Longer.\n- Still longer.")
        assert plan.estimated_duration == 3.0


async def test_the_rows_come_out_of_the_log_alone(homestead: Any, scripted: Any) -> None:
    scripted(answer(), WAIT)
    async with homestead.open() as runtime:
        head = await drafted(runtime, Asked("Wait."))
    async with homestead.open() as runtime:
        assert await runtime.service(Drafts).show(head["draftId"]) == head
        kinds = [event.kind for event in homestead.store.log if event.kind.startswith("draft")]
        assert kinds == ["draftStarted", "draftTried", "draftTried", "draftFinished"]
        says = [runtime.sentences.of(e.kind, e.about, e.data) for e in homestead.events("draftTried")]
        assert says[0].startswith("Draft 1 of scripted has 1 problem: ")
