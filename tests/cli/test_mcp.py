"""`beforehand mcp` with the official client over standard input and output: looking, planning, handing in."""

import asyncio
import json
import subprocess
from typing import Any

import httpx2
import pytest
from mcp.shared.exceptions import MCPError
from tests.cli.conftest import BEFOREHAND, PATIENCE_S, Cli
from tests.cli.mcp_clients import WAIT, Caller, over_stdio

MOVING = ("start", "answer", "approve", "deny", "pause", "resume", "cancel", "skip", "retry", "command", "activate")


async def api(url: str, method: str, path: str, body: Any = None) -> Any:
    async with httpx2.AsyncClient(base_url=f"{url}/api/v1", trust_env=False, timeout=PATIENCE_S) as http:
        answer = await http.request(method, path, json=body)
        assert answer.is_success, answer.text
        return answer.json()


# -- what is offered -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_tools_say_what_they_take_and_that_they_only_look(cli: Cli, mode: str) -> None:
    async with over_stdio(cli, mode=mode) as caller:
        tools = {tool.name: tool for tool in (await caller.client.list_tools()).tools}
    assert {"list_scenes", "plan", "check_plan", "preview_plan", "submit_plan", "follow_plan", "ask"} <= tools.keys()
    assert [name for name, tool in tools.items() if not tool.annotations.read_only_hint] == ["submit_plan"]
    for name, tool in tools.items():
        assert not any(word in name for word in MOVING)
        assert tool.annotations.destructive_hint is False
        assert tool.description.endswith(".")
        assert tool.input_schema["additionalProperties"] is False
        assert all(taken.get("description") for taken in tool.input_schema["properties"].values())


async def test_looking_and_planning_make_no_home(cli: Cli) -> None:
    async with over_stdio(cli) as caller:
        scenes = await caller("list_scenes")
        assert {"name": "weld_star", "kind": "cell", "active": False, "from": "examples"} in scenes["scenes"]
        assert (await caller("show_scene", scene="weld_star"))["document"]["name"] == "weld_star"
        assert (await caller("show_state"))["served"] is False
        for tool in ("list_plans", "list_runs", "list_decisions", "recent_events", "list_templates"):
            assert all(value == [] for name, value in (await caller(tool)).items() if name != "words")
        made = await caller("plan", scene="weld_star", text="weld 1 and 2")
        assert len(made["plan"]["steps"]) == 12
        assert (await caller("check_plan", plan=made["plan"]))["valid"] is True
        shown = await caller("preview_plan", plan=made["plan"])
        assert shown["moves"] > 0
        assert shown["problems"] == []
    assert not (cli.folder / ".beforehand").exists()


async def test_what_is_not_understood_is_refused_with_names_to_choose_from(cli: Cli) -> None:
    async with over_stdio(cli) as caller:
        told = await caller.refused("plan", scene="weld_sta", text="weld 1")
        assert told["nearest"][0] == "weld_star"
        told = await caller.refused("plan", scene="weld_star", text="dance a little")
        assert told["code"] == "intent.not_understood"
        told = await caller("ask", text="How many unicorns?")
        assert told["question"]["status"] == "failed"
        assert "unicorns" in told["question"]["reason"]
        told = await caller("ask", text="How do I add a token?")
        assert "beforehand token add" in told["question"]["answer"]
        told = await caller("ask", text="average duration per robot")
        assert told["question"]["waitsFor"], "what is unclear is asked back, and nobody waits here for the answer"
        told = await caller.refused("show_run", runId="run_nobody")
        assert told["code"] == "run.unknown"
        told = await caller.refused("preview_plan", plan={"steps": [{"id": "a", "tool": "wrte_file"}]})
        assert told["problems"][0]["path"] == "steps[0].tool"


async def test_a_plan_with_problems_is_told_all_of_them(cli: Cli) -> None:
    steps = [
        {"id": "a", "tool": "wrte_file"},
        {"id": "a", "tool": "wait", "args": {"seconds": "x"}, "dependsOn": ["b"]},
    ]
    async with over_stdio(cli) as caller:
        found = await caller("check_plan", plan={"steps": steps})
    assert found["valid"] is False
    assert len(found["problems"]) >= 3
    unknown = next(one for one in found["problems"] if one["code"] == "step.unknown_tool")
    assert unknown["nearest"][0] == "write_file"
    assert "wrte_file" in found["words"]


async def test_scenes_are_checked_as_objects_and_as_text(cli: Cli) -> None:
    async with over_stdio(cli) as caller:
        document = (await caller("show_scene", scene="weld_star"))["document"]
        assert (await caller("check_scene", document=document))["ok"] is True
        broken = {**document, "moves": [*document["moves"], {"from": "Home", "to": "Nowhere"}]}
        found = await caller("check_scene", document=broken)
        assert found["ok"] is False
        assert "Nowhere" in found["words"]
        assert (await caller("check_scene", document="kind: cell\nname: [\n"))["ok"] is False


async def test_pages_and_prompts_can_be_read(cli: Cli) -> None:
    async with over_stdio(cli) as caller:
        pages = {str(page.uri) for page in (await caller.client.list_resources()).resources}
        assert {"beforehand://docs/plans", "beforehand://scenes/weld_star"} <= pages
        (page,) = (await caller.client.read_resource("beforehand://docs/plans")).contents
        assert page.text.startswith("# ")
        (scene,) = (await caller.client.read_resource("beforehand://scenes/weld_star")).contents
        assert json.loads(scene.text)["kind"] == "cell"
        for hostile in ("beforehand://docs/../README", "beforehand://scenes/%2Fetc%2Fpasswd", "file:///etc/passwd"):
            with pytest.raises(MCPError, match="Unknown"):
                await caller.client.read_resource(hostile)
        prompt = await caller.client.get_prompt("plan_this", {"scene": "weld_star", "wish": "weld 1"})
        assert "submit_plan" in prompt.messages[0].content.text
        with pytest.raises(MCPError, match="needs wish"):
            await caller.client.get_prompt("plan_this", {"scene": "weld_star"})


# -- handing in ----------------------------------------------------------------------------------------------------


async def test_without_a_server_a_plan_is_kept_for_review(cli: Cli) -> None:
    async with over_stdio(cli) as caller:
        handed = await caller("submit_plan", plan={"steps": [WAIT]})
        assert handed["approveAt"]["show"] == f"beforehand inbox show {handed['decisionId']}"
        assert "beforehand up" in handed["words"]
        (decision,) = (await caller("list_decisions"))["decisions"]
        assert decision["id"] == handed["decisionId"]
        followed = await caller("follow_plan", planId=handed["planId"], waitS=30)
        assert followed["status"] == "review open"
        cli("inbox", "answer", handed["decisionId"], "start", code=0)
        followed = await caller("follow_plan", planId=handed["planId"])
        assert followed["status"] == "completed"
        assert (await caller("show_plan", planId=handed["planId"]))["plan"]["steps"][0]["tool"] == "wait"
        assert (await caller("show_decision", decisionId=handed["decisionId"]))["decision"]["status"] == "answered"
        assert any("started" in event["says"] for event in (await caller("recent_events"))["events"])
    assert [event["kind"] for event in cli.events()].count("runStarted") == 1


async def test_with_a_server_a_person_approves_and_the_run_is_followed_to_its_end(cli: Cli) -> None:
    url = cli.up("--scene", "weld_star", "--speed", "100")
    async with over_stdio(cli) as caller:
        assert (await caller("show_state", scene="weld_star"))["served"] is True
        made = await caller("plan", scene="weld_star", text="weld 1")
        handed = await caller("submit_plan", plan=made["plan"])
        assert handed["approveAt"]["page"] == url
        followed = await caller("follow_plan", planId=handed["planId"], waitS=0)
        assert followed["status"] == "review open"
        assert (await api(url, "GET", "/runs")) == []
        waiting = asyncio.create_task(caller("follow_plan", planId=handed["planId"], waitS=60))
        await api(url, "POST", f"/inbox/{handed['decisionId']}", {"verb": "start"})
        followed = await waiting
        assert followed["status"] == "completed"
        assert {step["status"] for step in followed["run"]["steps"]} == {"completed"}
        (run,) = (await caller("list_runs"))["runs"]
        assert (await caller("show_run", runId=run["runId"]))["run"]["status"] == "completed"


async def test_a_discarded_plan_is_followed_to_that_end(cli: Cli) -> None:
    url = cli.up()
    async with over_stdio(cli) as caller:
        handed = await caller("submit_plan", plan={"steps": [WAIT]})
        await api(url, "POST", f"/inbox/{handed['decisionId']}", {"verb": "cancel"})
        followed = await caller("follow_plan", planId=handed["planId"], waitS=60)
        assert followed["status"] == "review answered"
        assert "cancel" in followed["words"]


@pytest.mark.parametrize("with_server", [False, True])
async def test_handing_in_makes_no_scene_live(cli: Cli, with_server: bool) -> None:
    if with_server:
        cli.up()
    async with over_stdio(cli) as caller:
        await caller("submit_plan", scene="weld_star", text="weld 1")
        scenes = {scene["name"]: scene for scene in (await caller("list_scenes"))["scenes"]}
    assert scenes["weld_star"] == {"name": "weld_star", "kind": "cell", "active": False, "live": False, "from": "home"}
    kinds = {event["kind"] for event in cli.events()}
    assert "planCreated" in kinds
    assert not kinds & {"sceneActivated", "runStarted"}


async def test_a_template_is_filled_in_and_handed_in(cli: Cli) -> None:
    plan = cli.plan({"id": "a", "tool": "wait", "args": {"seconds": "$params.pause"}}, parameters={"pause": "number"})
    cli("template", "save", plan, "--name", "rest", code=0)
    async with over_stdio(cli) as caller:
        assert [one["name"] for one in (await caller("list_templates"))["templates"]] == ["rest"]
        handed = await caller("submit_plan", template="rest", parameters={"pause": 0})
        shown = await caller("show_plan", planId=handed["planId"])
        assert shown["plan"]["steps"][0]["args"] == {"seconds": 0}
        told = await caller.refused("submit_plan", template="rst", parameters={})
        assert told["nearest"] == ["rest"]


async def test_two_clients_at_once(cli: Cli) -> None:
    async def hand_in(caller: Caller) -> list[str]:
        return [(await caller("submit_plan", plan={"steps": [WAIT]}))["planId"] for _ in range(3)]

    cli.up()
    async with over_stdio(cli) as first, over_stdio(cli) as second:
        mine, theirs = await asyncio.gather(hand_in(first), hand_in(second))
        decisions = await first("list_decisions")
    assert len({*mine, *theirs}) == 6
    assert len(decisions["decisions"]) == 6


# -- hostile input -------------------------------------------------------------------------------------------------


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


HOSTILE: list[tuple[str, dict[str, Any]]] = [
    ("plan", {"scene": "/etc/passwd", "text": "weld 1"}),
    ("plan", {"scene": "../../etc/passwd", "text": "weld 1"}),
    ("plan", {"scene": "weld_star", "text": "weld 1", "sudo": True}),
    ("plan", {"scene": "weld_star"}),
    ("plan", {"scene": ["weld_star"], "text": None}),
    ("plan", {"scene": "weld_star", "text": "x" * 20_001}),
    ("check_plan", {"plan": {"scene": "/etc/passwd", "steps": [WAIT]}}),
    ("check_plan", {"plan": "a: &a [*a]"}),
    ("check_plan", {"plan": {"steps": deep(100)}}),
    ("submit_plan", {"plan": {"steps": [WAIT]}, "text": "weld 1"}),
    ("submit_plan", {"plan": {"steps": []}}),
    ("submit_plan", {"plan": {"scene": "/etc/passwd", "steps": [WAIT]}}),
    ("submit_plan", {"template": "../plans", "parameters": {}}),
    ("show_run", {"runId": "../plans"}),
    ("show_run", {"runId": "a?b=c#d"}),
    ("show_decision", {"decisionId": "\x00"}),
    ("recent_events", {"limit": 10**9}),
    ("recent_events", {"kinds": ["a,b&before=1"]}),
    ("follow_plan", {"planId": "plan_x", "waitS": 10**6}),
    ("follow_plan", {"planId": "plan_x"}),
]


@pytest.mark.parametrize("with_server", [False, True])
async def test_hostile_calls_are_refused_in_sentences(cli: Cli, with_server: bool) -> None:
    if with_server:
        cli.up()
    async with over_stdio(cli) as caller:
        for tool, arguments in HOSTILE:
            told = await caller.refused(tool, **arguments)
            assert told["code"] != "bug", (tool, arguments)
            assert "root:" not in json.dumps(told)
        assert (await caller("list_plans"))["plans"] == []


async def test_an_unknown_tool_or_argument_is_told_with_the_nearest(cli: Cli) -> None:
    async with over_stdio(cli) as caller:
        with pytest.raises(MCPError, match="list_scenes"):
            await caller.client.call_tool("list_scene", {})
        told = await caller.refused("plan", scenes="weld_star", text="weld 1")
        unknown = next(problem for problem in told["problems"] if problem["code"] == "argument.unknown")
        assert unknown["about"] == "scenes"
        assert "scene" in unknown["nearest"]


async def test_a_server_that_wants_another_token_is_told_plainly(cli: Cli) -> None:
    cli("token", "add", "ada", "--role", "admin", code=0)
    cli.up()
    async with over_stdio(cli, BEFOREHAND_TOKEN="wrong") as caller:
        told = await caller.refused("list_runs")
    assert told["code"] == "auth.unknown"
    assert "BEFOREHAND_TOKEN" in told["hint"]


async def test_a_big_answer_says_what_it_left_off(cli: Cli) -> None:
    steps = [{"id": f"s{at}", "tool": "wait", "args": {"seconds": 0}, "description": "x" * 200} for at in range(2_000)]
    async with over_stdio(cli) as caller:
        handed = await caller("submit_plan", plan={"steps": steps})
        shown = await caller("show_plan", planId=handed["planId"])
    assert shown["leftOff"]["plan.steps"] + len(shown["plan"]["steps"]) == 2_000
    assert len(json.dumps(shown)) < 200_000


# -- the streams ---------------------------------------------------------------------------------------------------


def over_pipes(cli: Cli, *words: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [str(BEFOREHAND), "mcp", *words],
        cwd=cli.folder,
        env=cli.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_standard_output_carries_the_protocol_and_nothing_else(cli: Cli) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "by hand", "version": "1"}}
    lines: list[Any] = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        "this is no JSON",
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "list_scenes"}},
        {
            "jsonrpc": "2.0",
            "id": 3,
            "method": "tools/call",
            "params": {"name": "check_plan", "arguments": {"plan": []}},
        },
    ]
    cli.write("beforehand.toml", '[mcp.other]\ncommand = "true"\n')
    process = over_pipes(cli, "--debug")
    assert process.stdin is not None
    assert process.stdout is not None
    for line in lines:
        process.stdin.write((line if isinstance(line, str) else json.dumps(line)) + "\n")
    process.stdin.flush()
    answers: dict[Any, Any] = {}
    while not {1, 2, 3} <= answers.keys():
        answer = json.loads(process.stdout.readline())
        assert answer["jsonrpc"] == "2.0"
        answers[answer.get("id")] = answer
    rest, told = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
    assert rest == ""
    assert "beforehand config trust" in told
    assert answers[1]["result"]["serverInfo"]["name"] == "beforehand"


def test_where_to_listen_needs_http(cli: Cli) -> None:
    assert "--http" in cli("mcp", "--port", "8799", code=2).err


def test_a_client_that_goes_before_its_answer_is_no_error(cli: Cli) -> None:
    process = over_pipes(cli)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    asked = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    process.stdout.close()
    process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": asked}) + "\n")
    process.stdin.close()
    told = process.stderr.read()
    process.wait(timeout=PATIENCE_S)
    assert "made an error" not in told
