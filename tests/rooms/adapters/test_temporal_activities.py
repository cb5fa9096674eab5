"""What workers and whoever leads do for a run on Temporal, without a server: tools called, events appended once."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from beforehand.engine.inputs import StartStep
from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.loop.rows import projection
from beforehand.model.errors import NotFoundError, NotLeadingError
from beforehand.model.event import Event
from beforehand.model.log_identity import UNNAMED
from beforehand.ports.tool import Judgement, ProbeAnswer, Tool, ToolSpec
from beforehand.testing import MemoryStore, MemoryWorkspace, ScriptedTool, VirtualClock, fails, gives, hangs

pytestmark = pytest.mark.needs("temporalio")
RUN = {"runId": "r1", "correlationId": "c1", "workspace": None}


class Source:
    def __init__(self, *tools: Tool) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}

    def get(self, name: str) -> Tool:
        return self._tools[name]


def calls(*tools: Tool, **more: Any) -> Any:
    from beforehand.adapters.temporal.calls import Calls, Toolbox

    around = {"workspace": lambda folder: MemoryWorkspace(), **more}
    return Calls(Toolbox(Source(*tools), ToolCatalog(tool.spec for tool in tools), VirtualClock(), **around))


def order(tool: str, **args: Any) -> dict[str, Any]:
    from beforehand.adapters.temporal.wire import document_of

    return document_of(StartStep("r1/a/1", "a", 1, tool, args))


def probe_order(tool: str) -> dict[str, Any]:
    return {"key": "r1/a/1", "step_id": "a", "attempt": 1, "tool": tool, "args": {}}


class Server:
    """The server as a worker that claims a call sees it: it notes signs of life, or answers with an error."""

    def __init__(self, answers: Exception | None = None) -> None:
        self.answers = answers
        self.marks: list[tuple[Any, ...]] = []
        self.marked = asyncio.Event()

    def get_async_activity_handle(self, *, task_token: bytes) -> "Server":
        return self

    async def heartbeat(self, *details: Any) -> None:
        self.marks.append(details)
        self.marked.set()
        if self.answers is not None:
            raise self.answers


def environment_with(server: Server | None = None, patience_s: float | None = None) -> Any:
    from temporalio.testing import ActivityEnvironment

    environment = ActivityEnvironment(client=server or Server())  # type: ignore[arg-type]
    patience = None if patience_s is None else timedelta(seconds=patience_s)
    environment.info = replace(environment.info, heartbeat_timeout=patience)
    return environment


async def carried_out(activity: Callable[..., Any], *args: Any) -> Any:
    return await environment_with().run(activity, *args)


async def test_a_call_comes_to_what_its_tool_gives_with_what_it_said() -> None:
    drill = ScriptedTool("drill", gives({"hole": 1}, logs=("at it",)), fails("Jammed.", transient=True))
    worker = calls(drill)
    ended = await carried_out(worker.call, RUN, order("drill", depth=3))
    assert (ended["ok"], ended["value"], ended["step_id"], ended["attempt"]) == (True, {"hole": 1}, "a", 1)
    assert [line["line"] for line in ended["logs"]] == ["at it"]
    assert drill.calls == [("r1/a/1", {"depth": 3})]
    failed = await carried_out(worker.call, RUN, order("drill"))
    assert (failed["ok"], failed["error"], failed["transient"]) == (False, "Jammed.", True)


async def test_a_step_whose_workspace_is_not_on_this_machine_fails_and_touches_nothing() -> None:
    def missing(folder: str | None) -> Any:
        raise ValueError("There is no such folder here.")

    ended = await carried_out(calls(ScriptedTool("drill"), workspace=missing).call, RUN, order("drill"))
    assert (ended["ok"], ended["error"], ended["untouched"]) == (False, "There is no such folder here.", True)


@pytest.mark.parametrize("effect", ["pure", "physical"])
async def test_a_value_that_temporal_does_not_take_fails_the_step_and_one_that_moved_something_is_asked_about(
    monkeypatch: pytest.MonkeyPatch, effect: Any
) -> None:
    from beforehand.adapters.temporal import calls as module

    monkeypatch.setattr(module, "MOST_BYTES", 1_000)
    noise = random.Random(1).randbytes(4_000).hex()
    worker = calls(ScriptedTool("scan", gives("x" * 5_000), gives(noise), effect=effect))
    assert (await carried_out(worker.call, RUN, order("scan")))["ok"], "compressed it is small"
    ended = await carried_out(worker.call, RUN, order("scan"))
    assert (ended["ok"], ended["value"], ended["in_doubt"]) == (False, None, effect == "physical")
    assert "0.0 MB" in ended["error"]
    assert "scan" in ended["error"]


async def test_tools_are_asked_what_they_would_do_and_what_became_of_it() -> None:
    shred = ScriptedTool("shred", judgements=(Judgement(True, "It destroys."),), probes=(ProbeAnswer("running"),))
    worker = calls(shred)
    asked = {"key": "r1/a", "step_id": "a", "tool": "shred", "covers": "h", "args": {}}
    assert (await carried_out(worker.judge, RUN, asked))["says"] == "It destroys."
    assert (await carried_out(worker.probe, RUN, probe_order("shred")))["state"] == "running"
    assert await carried_out(worker.stop, RUN, probe_order("shred")) == {"told": False}


async def test_progress_goes_out_with_the_signs_of_life() -> None:
    beaten, seen = asyncio.Event(), []

    class Reporting(ScriptedTool):
        async def run(self, args: Any, context: Any) -> Any:
            context.progress(40)
            await beaten.wait()

    def beat(*details: Any) -> None:
        seen.append(details)
        beaten.set()

    environment = environment_with(patience_s=0.1)
    environment.on_heartbeat = beat
    shown: list[Any] = []
    worker = calls(Reporting("drill"), on_progress=lambda *told: shown.append(told))
    await environment.run(worker.call, RUN, order("drill"))
    assert seen[0] == ("a", 40)
    assert shown == [("r1", "a", 40)]


async def test_a_call_that_is_told_to_stop_ends_as_stopped_and_one_whose_worker_ends_is_lost() -> None:
    from temporalio.activity import ActivityCancellationDetails
    from temporalio.exceptions import ApplicationError

    class Saw(ScriptedTool):
        async def run(self, args: Any, context: Any) -> Any:
            begun.set()
            return await super().run(args, context)

    for asked in (True, False):
        environment, tool, begun = environment_with(), Saw("saw", hangs()), asyncio.Event()
        running = asyncio.ensure_future(environment.run(calls(tool).call, RUN, order("saw")))
        await begun.wait()
        environment.cancel(ActivityCancellationDetails(cancel_requested=asked, worker_shutdown=not asked))
        if asked:
            ended = await running
            assert (ended["ok"], ended["stopped"], ended["untouched"]) == (False, True, True)
        else:
            with pytest.raises(ApplicationError) as caught:
                await running
            assert caught.value.type == "lost"
        assert tool.stopped == ["r1/a/1"]


async def test_a_physical_call_is_claimed_at_the_server_before_anything_moves() -> None:
    class Drill(ScriptedTool):
        async def run(self, args: Any, context: Any) -> Any:
            assert server.marks[-1] == ("a", 0.0)
            return await super().run(args, context)

    may_begin, server = asyncio.Event(), Server()

    async def until_let(spec: ToolSpec) -> None:
        await may_begin.wait()

    tool = Drill("drill", gives(1), effect="physical")
    environment = environment_with(server, patience_s=0.01)
    running = asyncio.ensure_future(environment.run(calls(tool, until_let=until_let).call, RUN, order("drill")))
    await server.marked.wait()
    assert server.marks[0] == (), "while it waits it gives signs of life that claim nothing"
    assert not tool.calls
    may_begin.set()
    assert (await running)["ok"]
    assert server.marks[1:].count(("a", 0.0)) == 1


async def test_a_call_that_cannot_be_claimed_is_not_begun() -> None:
    from temporalio.activity import ActivityCancellationDetails
    from temporalio.client import AsyncActivityCancelledError
    from temporalio.exceptions import ApplicationError
    from temporalio.service import RPCError, RPCStatusCode

    tool = ScriptedTool("drill", effect="physical")
    told = Server(AsyncActivityCancelledError())
    stopped = await environment_with(told).run(calls(tool).call, RUN, order("drill"))
    assert (stopped["ok"], stopped["stopped"], stopped["untouched"]) == (False, True, True)
    away = Server(RPCError("away", RPCStatusCode.UNAVAILABLE, b""))
    ended = await environment_with(away).run(calls(tool).call, RUN, order("drill"))
    assert (ended["stopped"], ended["untouched"], ended["transient"]) == (False, True, True)
    assert "away" in ended["error"]
    environment, waiting = environment_with(), asyncio.Event()

    async def until_let(spec: ToolSpec) -> None:
        waiting.set()
        await asyncio.Event().wait()

    running = asyncio.ensure_future(environment.run(calls(tool, until_let=until_let).call, RUN, order("drill")))
    await waiting.wait()
    environment.cancel(ActivityCancellationDetails(worker_shutdown=True))
    with pytest.raises(ApplicationError) as caught:
        await running
    assert caught.value.type == "notBegun"
    assert not tool.calls


async def test_a_worker_that_may_tell_machines_nothing_tells_them_nothing() -> None:
    from beforehand.model.errors import Fault

    def not_any_more() -> None:
        raise Fault("Another process leads.", untouched=True)

    class Careful(ScriptedTool):
        async def run(self, args: Any, context: Any) -> Any:
            context.before_effect()
            return await super().run(args, context)

    tool = Careful("drill")
    ended = await carried_out(calls(tool, before_effect=not_any_more).call, RUN, order("drill"))
    assert (ended["ok"], ended["untouched"]) == (False, True)
    assert not tool.calls
    assert (await carried_out(calls(tool).call, RUN, order("drill")))["ok"]


# -- whoever leads


PLAN = {"id": "p1", "version": 1, "name": "drill", "steps": [{"id": "a", "tool": "drill"}, {"id": "b", "tool": "gone"}]}


def event(kind: str, run_id: str = "r1", **data: Any) -> Event:
    return Event(kind, {"runId": run_id}, data, 5, None, "c1", f"run:{run_id}")


async def log_with_a_run() -> MemoryStore:
    store = MemoryStore(projection())
    started = event("runStarted", runId="r1", planId="p1", status="running", version=1)
    await store.append([Event("planCreated", {"planId": "p1"}, PLAN, 5, owner="plan:p1"), started])
    await store.append([event("runStarted", "r2", runId="r2", planId="p1", status="running", version=1)])
    return store


def led(store: MemoryStore, leased: list[Any] | None = None) -> Any:
    from beforehand.adapters.temporal.led import Led

    async def lease(run_id: str, command: Any) -> None:
        if leased is not None:
            leased.append((run_id, command.machine))

    spec = ToolSpec("drill", "Drills.", {"type": "object"}, "physical")
    return Led(store, lambda: ToolCatalog([spec]), lambda tool: f"b.tool.{tool}", lease, UNNAMED)


def written(*events: Event) -> bytes:
    from beforehand.adapters.temporal.wire import write_events

    return write_events(events)


async def fetched(leading: Any, version: int | None, upto: int = 0) -> Any:
    from beforehand.adapters.temporal.known import read_known

    part: bytes = await leading.fetch("r1", version, 0, upto)
    head, _, body = part.partition(b"\n")
    return head, read_known(body)


async def test_a_workflow_reads_its_run_from_the_log() -> None:
    store = await log_with_a_run()
    leading = led(store)
    head, known = await fetched(leading, None)
    assert head == b".3"
    assert [(one.kind, one.seq) for one in known.events] == [("runStarted", 2)]
    assert list(known.plans) == [1]
    assert known.queues == {"drill": "b.tool.drill"}
    await store.append([event("runUpdated", runId="r1", planId="p1", status="paused")])
    assert len((await fetched(leading, None))[1].events) == 2, "what was written since is read, too"
    assert len((await fetched(leading, None, upto=3))[1].events) == 1, "but not behind the event that was named"
    head, only_the_plan = await fetched(leading, 1)
    assert (list(only_the_plan.events), list(only_the_plan.plans)) == ([], [1])
    with pytest.raises(NotFoundError, match="another installation"):
        await leading.fetch("r9", None, 0, 0)


async def test_events_are_appended_once_and_only_behind_those_that_are_known() -> None:
    store = await log_with_a_run()
    leading, more = led(store), written(event("runUpdated", runId="r1", planId="p1", status="paused"))
    assert not await leading.append("r1", 0, more), "the log holds one event of the run"
    assert await leading.append("r1", 1, more)
    assert not await leading.append("r1", 1, more), "the same append again writes nothing"
    assert len(store.log) == 4
    assert await leading.append("r1", 2, written())
    assert not await leading.append("r1", 3, written())
    await store.append([event("runUpdated", runId="r1", planId="p1", status="running")])
    assert await leading.append("r1", 3, written()), "what others write to the run counts"
    leading.forget("r1")
    assert await leading.append("r1", 3, written()), "and is counted anew"
    leading.close()
    await store.append([event("runUpdated", runId="r1", planId="p1", status="paused")])
    assert await leading.append("r1", 3, written()), "once it is closed it hears of nothing"


async def test_a_process_that_lost_the_lead_hands_the_decision_back() -> None:
    from temporalio.exceptions import ApplicationError

    store = await log_with_a_run()

    async def refuse(events: Any) -> Any:
        raise NotLeadingError("Another process leads.")

    leading = led(store)
    store.append = refuse  # type: ignore[method-assign]
    with pytest.raises(ApplicationError) as caught:
        await leading.append("r1", 1, written(event("runUpdated", runId="r1", planId="p1", status="paused")))
    assert caught.value.type == "notLeading"
    assert caught.value.non_retryable


async def test_a_log_that_cannot_be_written_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from beforehand.adapters.temporal import led as module

    monkeypatch.setattr(module, "STORE_RETRY_S", 0)
    store = await log_with_a_run()
    leading = led(store)
    store.break_down()
    paused = written(event("runUpdated", runId="r1", planId="p1", status="paused"))
    appending = asyncio.ensure_future(leading.append("r1", 1, paused))
    for _ in range(20):
        await asyncio.sleep(0)
    assert not appending.done()
    store.mend()
    async with asyncio.timeout(10):
        assert await appending
    assert len(store.log) == 4


async def test_a_machine_is_asked_for_where_the_lead_is() -> None:
    leased: list[Any] = []
    leading = led(await log_with_a_run(), leased)
    await carried_out(leading.lease, "r1", {"key": "k", "step_id": "a", "machine": "press:1"})
    assert leased == [("r1", "press:1")]


@pytest.mark.parametrize(("patience_s", "every_s"), [(10, 0.5), (5, 0.5), (1, 0.1)])
def test_a_worker_gives_several_signs_of_life_before_it_is_given_up(patience_s: float, every_s: float) -> None:
    from beforehand.adapters.temporal.heartbeats import beat_s

    assert beat_s(patience_s) == every_s
