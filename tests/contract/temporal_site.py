"""An installation of real processes: a Temporal server, the server that leads, and workers that may be killed."""

import asyncio
import json
import os
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
from tests.fork_server import Forked

from beforehand.adapters.temporal.names import Names
from beforehand.model.log_identity import LogIdentity
from beforehand.testing.temporal_server import TemporalServer

PATIENCE_S = 120
Document = dict[str, Any]


class Site:
    def __init__(self, folder: Path, temporal: TemporalServer, *, workers: int, lost_s: float = 4.0) -> None:
        self.folder = folder
        self.temporal = temporal
        self.doubts = 0
        """How often a person was asked whether something had happened."""
        self.left_alone: set[str] = set()
        """Runs whose questions nobody answers."""
        self._wanted = workers
        self._processes: list[Forked] = []
        self.workers: list[Forked] = []
        self.leader: Forked | None = None
        self.http: httpx2.AsyncClient
        (folder / "effects").mkdir()
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("BEFOREHAND_")}
        self.environment |= {
            "BEFOREHAND_ENGINE": "temporal",
            "BEFOREHAND_TEMPORAL": temporal.address,
            "BEFOREHAND_TEMPORAL_LOST_S": str(lost_s),
            "BEFOREHAND_TEMPORAL_PREFIX": folder.name,
        }

    async def __aenter__(self) -> "Site":
        started = await asyncio.gather(self.lead(), *(self.hire() for _ in range(self._wanted)))
        assert started[0] is None
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.http.aclose()
        for process in self._processes:
            if process.returncode is None:
                await self.kill(process)

    async def _start(self, *words: str) -> tuple[Forked, str]:
        """A process of the command, and the first line that it prints."""
        with (self.folder / "errors.log").open("ab") as errors:
            process = Forked(
                [*words], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        self._processes.append(process)
        assert process.stdout is not None
        return process, await asyncio.to_thread(process.stdout.readline)

    async def lead(self) -> None:
        """Start the server that leads."""
        self.leader, line = await self._start("up", "--no-open", "--port", "0")
        assert line.startswith("Beforehand is at"), self.errors()
        self.http = httpx2.AsyncClient(base_url=f"{line.split()[-1]}/api/v1", trust_env=False, timeout=PATIENCE_S)

    async def hire(self, *words: str) -> None:
        """Start a worker."""
        worker, line = await self._start("worker", *words)
        assert line.startswith("Working for Temporal"), self.errors()
        self.workers.append(worker)

    async def kill(self, process: Forked) -> None:
        process.kill()
        await asyncio.to_thread(process.communicate)

    async def kill_leader(self) -> None:
        assert self.leader is not None
        await self.kill(self.leader)
        await self.http.aclose()

    def errors(self) -> str:
        return (self.folder / "errors.log").read_text()[-4000:]

    # -- what is asked of it -----------------------------------------------------------------------------------------

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        answer = await self.http.request(method, path, json=body)
        assert answer.status_code < 300, answer.text
        return answer.json()

    async def begin(self, *steps: Document) -> str:
        plan = await self.call("POST", "/plans", {"plan": {"steps": list(steps)}})
        run = await self.call("POST", f"/plans/{plan['id']}/runs", {"version": 1})
        return str(run["runId"])

    async def until(self, holds: Callable[[], Any]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not holds():  # noqa: ASYNC110  what is on disk has no event to wait on
                await asyncio.sleep(0.05)

    async def run_until(self, run_id: str, holds: Callable[[Document], bool]) -> Document:
        async with asyncio.timeout(PATIENCE_S):
            while not holds(run := await self.call("GET", f"/runs/{run_id}")):  # noqa: ASYNC110  as above
                await asyncio.sleep(0.1)
        return dict(run)

    async def claimed(self, run_id: str, count: int) -> None:
        """Wait until Temporal's own record shows that workers have claimed so many calls of a run."""
        from temporalio.client import Client

        client = await Client.connect(self.temporal.address)
        told = (await self.call("GET", "/health"))["log"]
        log = LogIdentity(told["identity"], told["generation"])
        workflow = client.get_workflow_handle(Names(self.folder.name, log).run(run_id))
        async with asyncio.timeout(PATIENCE_S):
            while True:
                calls = (await workflow.describe()).raw_description.pending_activities
                if sum(bool(call.heartbeat_details.payloads) for call in calls) >= count:
                    return
                await asyncio.sleep(0.1)

    async def all_ended(self, run_ids: list[str]) -> list[Document]:
        """The runs once they have ended; a person approves, and looks at the machine for whatever is in doubt."""
        async with asyncio.timeout(PATIENCE_S * 12):
            while True:
                await self.answer_all()
                still = {run["runId"] for run in await self.call("GET", "/runs?open=true")}
                if not still & set(run_ids):
                    return [await self.call("GET", f"/runs/{run_id}") for run_id in run_ids]
                await asyncio.sleep(0.3)

    async def answer_all(self) -> None:
        for decision in await self.call("GET", "/inbox"):
            verb = "approve"
            if decision["about"].get("runId") in self.left_alone:
                continue
            if decision["kind"] == "inDoubt":
                self.doubts += 1
                verb = "happened" if self.effects(decision["evidence"]["args"]["path"]) else "run-again"
            await self.http.post(f"/inbox/{decision['id']}", json={"verb": verb})

    # -- what is on disk ---------------------------------------------------------------------------------------------

    def effects(self, path: str) -> int:
        """How often a physical step has happened; each has a file of its own."""
        file = self.folder / path
        return len(file.read_text().splitlines()) if file.exists() else 0

    def events(self) -> list[Document]:
        with sqlite3.connect(f"file:{self.folder}/.beforehand/log.db?mode=ro", uri=True) as log:
            found = [json.loads(line) for (line,) in log.execute("SELECT line FROM events ORDER BY seq")]
        log.close()
        return found

    def append(self, name: str, number: object, *needs: str, tool: str = "bench.append", **args: Any) -> Document:
        """A physical step, which writes a line into a file of its own."""
        call = {"path": f"effects/{number}-{name}", "line": name, **args}
        return {"id": name, "tool": tool, "args": call, "dependsOn": list(needs)}


def assert_sound(events: list[Document]) -> None:
    """Gap-free numbers; nothing happens to a step once it has completed, and every attempt starts once."""
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    completed: set[tuple[str, str]] = set()
    started: Counter[tuple[str, str, int]] = Counter()
    for event in events:
        if event["kind"] != "stepUpdated":
            continue
        step, data = (event["about"]["runId"], event["data"]["stepId"]), event["data"]
        assert step not in completed, f"{step} had completed"
        if data["status"] == "completed":
            completed.add(step)
        elif data["status"] == "running" and "stopping" not in data:
            started[*step, data["attempt"]] += 1
    assert set(started.values()) <= {1}
