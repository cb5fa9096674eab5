"""The same plans with the local engine and on Temporal: what is seen over HTTP is the same, step for step."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from tests.api.conftest import Server, serving

from beforehand.app.clock import WallClock
from beforehand.app.tool_worker import work
from beforehand.model.errors import InDoubtError
from beforehand.ports.tool import Judgement, ProbeAnswer, Tool, ToolContext
from beforehand.testing.temporal_server import TemporalServer
from beforehand.testing.tools import Outcome, ScriptedTool, breaks, echoes, fails, gives, hangs, takes

pytestmark = pytest.mark.needs("temporal", "temporalio")
Scenario = Callable[[Server], Awaitable[str]]


class Lathe(ScriptedTool):
    """A machine that comes to rest by itself when it is told to."""

    def __init__(self) -> None:
        super().__init__("lathe", effect="physical")
        self._told = asyncio.Event()

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> Any:
        self.calls.append((context.key, args))
        await self._told.wait()
        return "half a turn"

    async def stop(self, args: Mapping[str, Any], context: ToolContext) -> bool:
        self._told.set()
        return True


def tools() -> list[Tool]:
    """One for each scenario that needs its own script."""
    clock = WallClock()
    doubt = Outcome(fault=InDoubtError("The line broke while it moved."))
    return [
        ScriptedTool("echo", echoes()),
        ScriptedTool("slow", takes(0.1, "done"), clock=clock),
        ScriptedTool("broken", fails("It is jammed.")),
        ScriptedTool("buggy", breaks(RuntimeError("a bug of the tool"))),
        ScriptedTool("shaky", fails("Busy.", transient=True), gives("at last")),
        ScriptedTool("mends", fails("Not yet."), gives("mended", logs=("a line",))),
        ScriptedTool("inserts", fails("Not yet."), gives("mended")),
        ScriptedTool("press", doubt, effect="physical"),
        ScriptedTool("drill", hangs(), effect="physical", probes=(ProbeAnswer("happened", "a hole"),)),
        ScriptedTool("saw", hangs(acts=False), effect="physical"),
        Lathe(),
        ScriptedTool("hangs", hangs()),
        ScriptedTool("hangs2", hangs()),
        ScriptedTool("late", hangs()),
        ScriptedTool("shred", gives("gone"), destructive="judged", judgements=(Judgement(True, "It destroys."),)),
    ]


async def chain(server: Server) -> str:
    steps = [server.step(f"s{at}", "echo", {"value": at}, dependsOn=[f"s{at - 1}"] if at else []) for at in range(5)]
    return str((await server.start(*steps, name="Chain"))["runId"])


async def parallel(server: Server) -> str:
    wide = [server.step(f"w{at}", "slow", dependsOn=["a"]) for at in range(5)]
    join = server.step("z", "echo", {"value": "$w1"}, dependsOn=[one["id"] for one in wide])
    return str((await server.start(server.step("a", "echo", {"value": 1}), *wide, join))["runId"])


async def built_in(server: Server) -> str:
    write = server.step("write", "write_file", {"path": "a.txt", "content": "hello"})
    read = server.step("read", "read_file", {"path": "a.txt"}, dependsOn=["write"])
    wait = server.step("wait", "wait", {"seconds": 0.05}, dependsOn=["read"])
    return str((await server.start(write, read, wait))["runId"])


async def each_and_when(server: Server) -> str:
    first = server.step("list", "echo", {"value": [1, 2, 3]})
    each = server.step("each", "echo", {"value": "$item"}, forEach="$list")
    never = server.step("never", "echo", when="$list[0] == 7", dependsOn=["each"])
    return str((await server.start(first, each, never))["runId"])


async def failing_goes_on(server: Server) -> str:
    broken, after = server.step("a", "broken"), server.step("b", "echo", dependsOn=["a"])
    return str((await server.start(broken, after))["runId"])


async def a_bug_of_the_tool(server: Server) -> str:
    return str((await server.start(server.step("a", "buggy", onFailure="stop"), server.step("b", "buggy")))["runId"])


async def failing_stops(server: Server) -> str:
    broken = server.step("a", "broken", onFailure="stop")
    after = [server.step("b", "echo", dependsOn=["a"]), server.step("c", "echo", dependsOn=["b"])]
    return str((await server.start(broken, *after))["runId"])


async def failing_asks(server: Server) -> str:
    run = await server.start(server.step("a", "mends", onFailure="ask"), server.step("b", "echo", dependsOn=["a"]))
    return await answered(server, run, "retry")


async def failing_asks_and_is_aborted(server: Server) -> str:
    run = await server.start(server.step("a", "broken", onFailure="ask"), server.step("b", "echo", dependsOn=["a"]))
    return await answered(server, run, "abort")


async def steps_are_inserted(server: Server) -> str:
    run = await server.start(server.step("a", "inserts", onFailure="ask"), server.step("b", "echo", dependsOn=["a"]))
    step = {"id": "new", "tool": "slow", "args": {}}
    return await answered(server, run, "insert", {"steps": [step]})


async def retried(server: Server) -> str:
    return str((await server.start(server.step("a", "shaky", retryDelayS=0.05)))["runId"])


async def approved(server: Server) -> str:
    run = await server.start(server.step("a", "shred", {"value": 1}), server.step("b", "echo", dependsOn=["a"]))
    return await answered(server, run, "approve", note="Do it.")


async def denied(server: Server) -> str:
    step = server.step("a", "echo", requiresApproval=True)
    run = await server.start(step, server.step("b", "echo", dependsOn=["a"]))
    return await answered(server, run, "deny")


async def a_question(server: Server) -> str:
    ask = server.step("a", "ask_person", {"question": "Which one?"})
    run = await server.start(ask, server.step("b", "echo", {"value": "$a"}))
    return await answered(server, run, "answer", ["this", "one"])


async def skipped(server: Server) -> str:
    run = await server.start(server.step("a", "hangs"), server.step("b", "echo", dependsOn=["a"]))
    await begun(server, run, "a")
    await server.call("POST", f"/runs/{run['runId']}/steps/a/skip")
    return str(run["runId"])


async def paused_and_resumed(server: Server) -> str:
    steps = [server.step("a", "ask_person", {"question": "?"}), server.step("b", "echo", dependsOn=["a"])]
    run = await server.start(*steps)
    path = f"/runs/{run['runId']}"
    asked = await server.asked(runId=run["runId"])
    await server.call("POST", f"{path}/pause")
    await server.call("POST", f"/inbox/{asked['id']}", {"verb": "answer", "value": 5})
    await server.call("POST", f"{path}/resume")
    return str(run["runId"])


async def cancelled(server: Server) -> str:
    steps = [server.step("a", "hangs2"), server.step("b", "echo", dependsOn=["a"])]
    run = await server.start(*steps)
    await begun(server, run, "a")
    await server.call("POST", f"/runs/{run['runId']}/cancel")
    return str(run["runId"])


async def stopped_and_probed(server: Server) -> str:
    run = await server.start(server.step("a", "drill"))
    await at_work(server, run, "a", "drill")  # what was handed to nobody yet would not be asked about
    await server.call("POST", f"/runs/{run['runId']}/cancel")
    return str(run["runId"])


async def stopped_in_the_middle(server: Server) -> str:
    run = await server.start(server.step("a", "saw"))
    await at_work(server, run, "a", "saw")
    await server.call("POST", f"/runs/{run['runId']}/steps/a/skip")
    return await answered(server, run, "happened", {"value": "sawn"})


async def told_to_stop(server: Server) -> str:
    run = await server.start(server.step("a", "lathe"))
    await at_work(server, run, "a", "lathe")
    await server.call("POST", f"/runs/{run['runId']}/cancel")
    return str(run["runId"])


async def in_doubt(server: Server) -> str:
    run = await server.start(server.step("a", "press"), server.step("b", "echo", {"value": "$a"}))
    return await answered(server, run, "happened", {"value": 3})


async def too_slow(server: Server) -> str:
    return str((await server.start(server.step("a", "late", timeoutS=0.1, retries=0)))["runId"])


async def run_again_from(server: Server) -> str:
    run = await server.start(server.step("a", "echo", {"value": 1}), server.step("b", "echo", {"value": "$a"}))
    await server.ended(run["runId"])
    await server.call("POST", f"/runs/{run['runId']}/steps/b/rerun")
    return str(run["runId"])


async def edited_while_it_runs(server: Server) -> str:
    ask, after = server.step("a", "ask_person", {"question": "?"}), server.step("b", "echo", dependsOn=["a"])
    run = await server.start(ask, after)
    asked = await server.asked(runId=run["runId"])
    added = {"op": "add", "step": {"id": "c", "tool": "echo", "args": {"value": "$b"}}, "after": "b"}
    await server.call("PATCH", f"/plans/{run['planId']}", {"edits": [added]}, If_Match="1")
    await server.call("POST", f"/runs/{run['runId']}/adopt", {"version": 2})
    await server.call("POST", f"/inbox/{asked['id']}", {"verb": "answer", "value": 1})
    return str(run["runId"])


SCENARIOS: tuple[Scenario, ...] = (
    chain,
    parallel,
    built_in,
    each_and_when,
    failing_goes_on,
    a_bug_of_the_tool,
    failing_stops,
    failing_asks,
    failing_asks_and_is_aborted,
    steps_are_inserted,
    retried,
    approved,
    denied,
    a_question,
    skipped,
    paused_and_resumed,
    cancelled,
    stopped_and_probed,
    stopped_in_the_middle,
    told_to_stop,
    in_doubt,
    too_slow,
    run_again_from,
    edited_while_it_runs,
)
BESIDE = (parallel, each_and_when, a_bug_of_the_tool)
"""Steps that run side by side end in any order; of these the events of each step are compared."""


async def answered(server: Server, run: Any, verb: str, value: Any = None, note: str = "") -> str:
    asked = await server.asked(runId=run["runId"])
    await server.call("POST", f"/inbox/{asked['id']}", {"verb": verb, "value": value, "note": note})
    return str(run["runId"])


async def begun(server: Server, run: Any, step: str) -> None:
    async for event in server.events(run=run["runId"], kinds="stepUpdated"):
        if event["data"]["stepId"] == step and event["data"]["status"] == "running":
            return


async def at_work(server: Server, run: Any, step: str, tool: str) -> None:
    """Wait until the machine has the step, and not only the log."""
    await begun(server, run, step)
    machine = cast(ScriptedTool, server.runtime.extensions.tools.get(tool))
    async with asyncio.timeout(60):
        while not machine.calls:  # noqa: ASYNC110  the machine tells nobody
            await asyncio.sleep(0.02)


TIMES = {"ts", "timestamp", "duration", "startedAt", "finishedAt", "durationMs", "openedAt", "retryAt", "at"}
HASHES = {"covers", "correlationId", "seq"}


def plain(value: Any) -> Any:
    """What stays the same from one run to another: no times, no ids, no hashes over them."""
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items() if name not in TIMES | HASHES}
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, str):
        named = re.sub(r"(run|plan|task|req|dec)_[0-9a-z]+", r"\1", value)
        return re.sub(r"\b[0-9a-z]{8}\.[0-9a-z]{8}-run/", "run/", named)
    return value


def by_step(events: list[Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for event in events:
        found.setdefault(str(event["about"].get("stepId", event["kind"])), []).append(event)
    return found


async def seen(server: Server, scenario: Scenario) -> Any:
    run_id = await scenario(server)
    head = await server.ended(run_id)
    while head["status"] not in ("completed", "failed", "partial", "cancelled"):  # a run that was taken up again
        head = await server.call("GET", f"/runs/{run_id}")
        await asyncio.sleep(0.05)
    events = plain(await server.call("GET", f"/events?limit=1000&run={run_id}"))
    return plain(head), by_step(events) if scenario in BESIDE else events


async def all_seen(server: Server) -> dict[str, Any]:
    found = await asyncio.gather(*(seen(server, scenario) for scenario in SCENARIOS))
    return {scenario.__name__: one for scenario, one in zip(SCENARIOS, found, strict=True)}


async def test_both_engines_show_the_same(tmp_path: Path, temporal: TemporalServer) -> None:
    for name in ("local", "temporal"):
        (tmp_path / name).mkdir()
    async with serving(tmp_path / "local", tools=tools()) as server:
        expected = await all_seen(server)
    on_temporal = {"engine": "temporal", "temporal": temporal.address, "temporal_prefix": tmp_path.name}
    async with (
        serving(tmp_path / "temporal", tools=tools(), **on_temporal) as server,
        work(server.runtime.settings),
    ):
        found = await all_seen(server)
        assert server.runtime.runs.driven <= len(SCENARIOS)
    assert [name for name, shown in expected.items() if found[name] != shown] == [], differences(expected, found)


def differences(expected: dict[str, Any], found: dict[str, Any]) -> str:
    """Where each scenario first differs."""
    told = []
    for name, shown in expected.items():
        if found[name] != shown:
            lines = [str(one).replace("}, {", "},\n{").split("\n") for one in (shown, found[name])]
            told += [name, *next((f"- {a}\n+ {b}" for a, b in zip(*lines, strict=False) if a != b), "").split("\n")]
    return "\n".join(told)
