from typing import Any

from beforehand.adapters.tools.registry import ToolRegistry
from beforehand.engine.preview import preview_plan
from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.engine.validate import plan_from
from beforehand.ports.tool import Judgement, Preview, ToolContext, Unknown
from beforehand.testing import MemoryWorkspace, ScriptedTool, echoes, fails, gives, takes


class Writer(ScriptedTool):
    async def preview(self, args: Any, context: ToolContext) -> Preview:
        return Preview("Writes a file.", 1, None, diff=f"+{args['content']}")


class Mystery(ScriptedTool):
    async def preview(self, args: Any, context: ToolContext) -> Preview:
        return Preview("Only the run can tell.", 2, Unknown("what mystery gives"))


class Broken(ScriptedTool):
    async def preview(self, args: Any, context: ToolContext) -> Preview:
        raise KeyError("x")


async def preview(*steps: dict[str, Any]) -> tuple[dict[str, Any], dict[str, ScriptedTool]]:
    tools = [
        ScriptedTool("echo", echoes()),
        ScriptedTool("slow", takes(10, "slow")),
        ScriptedTool("list", gives([1, 2, 3])),
        ScriptedTool("fail", fails("There is no such file.")),
        ScriptedTool("ask", asks_person=True),
        ScriptedTool("delete", takes(1), destructive="always", effect="idempotent"),
        ScriptedTool("strict", schema={"type": "object", "properties": {"n": {"type": "integer"}}}),
        ScriptedTool("arm", takes(3), effect="physical", judgements=(Judgement(False),)),
        Writer("write", destructive="judged", effect="idempotent", judgements=(Judgement(True),)),
        Mystery("mystery"),
        Broken("broken"),
    ]
    box = ToolRegistry(tools)
    plan = plan_from({"steps": list(steps)}, ToolCatalog(box.specs()))
    return await preview_plan(plan, ToolCatalog(box.specs()), box, MemoryWorkspace()), {
        tool.spec.name: tool for tool in tools
    }


def times(shown: dict[str, Any]) -> dict[str, tuple[float, float]]:
    return {line["stepId"]: (line["startS"], line["endS"]) for line in shown["timeline"]}


async def test_a_preview_tells_order_parallelism_and_time_and_calls_nothing() -> None:
    shown, tools = await preview(
        {"id": "a", "tool": "slow"},
        {"id": "b", "tool": "arm"},
        {"id": "c", "tool": "arm", "dependsOn": ["a", "b"]},
    )
    assert times(shown) == {"b": (0, 3), "a": (0, 10), "c": (10, 13)}
    assert (shown["durationS"], shown["mostAtOnce"], shown["problems"]) == (13, 2, [])
    assert not any(tool.calls for tool in tools.values())
    assert shown["end"]["steps"] == {"a": "completed", "b": "completed", "c": "completed"}


async def test_what_a_person_would_be_asked_is_shown_and_taken_as_approved() -> None:
    shown, _ = await preview(
        {"id": "d", "tool": "delete"},
        {"id": "w", "tool": "write", "args": {"content": "new"}},
        {"id": "q", "tool": "ask", "args": {"question": "Sure?"}},
        {"id": "e", "tool": "echo", "args": {"value": "$q"}, "requiresApproval": True},
    )
    assert shown["approvals"] == ["d", "e", "w"]
    assert shown["diffs"] == [{"stepId": "w", "diff": "+new"}]
    assert set(shown["end"]["steps"].values()) == {"completed"}
    assert next(line["says"] for line in shown["timeline"] if line["stepId"] == "q") == "Asks a person: Sure?"


async def test_a_question_takes_no_time_and_what_follows_begins_when_it_was_asked() -> None:
    shown, _ = await preview(
        {"id": "a", "tool": "slow"},
        {"id": "q", "tool": "ask", "args": {"question": "Sure?"}, "dependsOn": ["a"]},
        {"id": "b", "tool": "arm", "dependsOn": ["q"]},
        {"id": "c", "tool": "slow", "dependsOn": ["q"], "requiresApproval": True},
        {"id": "d", "tool": "delete", "dependsOn": ["b"]},
    )
    assert times(shown) == {"a": (0, 10), "q": (10, 10), "b": (10, 13), "c": (10, 20), "d": (13, 14)}
    assert (shown["durationS"], shown["mostAtOnce"]) == (20, 2)


async def test_what_only_the_run_can_know_stays_unknown() -> None:
    shown, _ = await preview(
        {"id": "m", "tool": "mystery"},
        {"id": "s", "tool": "strict", "args": {"n": "$m.count"}},
        {"id": "w", "tool": "echo", "when": "$m.ok == true"},
        {"id": "each", "tool": "echo", "forEach": "$m.files"},
        {"id": "end", "tool": "delete", "args": {"x": "$m"}, "dependsOn": ["each", "w"]},
    )
    assert shown["problems"] == []
    assert set(shown["end"]["steps"].values()) == {"completed"}


async def test_what_would_go_wrong_is_a_problem_and_blocks_what_follows() -> None:
    shown, _ = await preview(
        {"id": "f", "tool": "fail", "onFailure": "ask", "retries": 3},
        {"id": "g", "tool": "echo", "dependsOn": ["f"]},
        {"id": "b", "tool": "broken"},
        {"id": "l", "tool": "list"},
        {"id": "m", "tool": "echo", "args": {"value": "$l.x"}},
    )
    problems = {problem["about"]: problem["says"] for problem in shown["problems"]}
    assert problems["f"] == "There is no such file."
    assert problems["b"] == "The tool broken could not say what it would do: KeyError: 'x'"
    assert problems["m"] == "$l.x is not there: $l is a list of 3."
    assert shown["end"]["steps"]["g"] == "blocked"


async def test_items_are_shown_one_by_one() -> None:
    shown, _ = await preview(
        {"id": "l", "tool": "list"}, {"id": "each", "tool": "echo", "forEach": "$l", "args": {"value": "$item"}}
    )
    assert [line["stepId"] for line in shown["timeline"]] == ["l", "each[0]", "each[1]", "each[2]"]


async def test_thousands_of_approvals_are_previewed() -> None:
    shown, _ = await preview(*({"id": f"d{n}", "tool": "delete"} for n in range(3000)))
    assert len(shown["approvals"]) == 3000
