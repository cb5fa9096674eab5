"""A real `beforehand up` on loopback over an empty folder, which can be stopped, killed and started again."""

import asyncio
import json
import os
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
from tests.fork_server import Forked

from beforehand.app.settings import load_settings
from beforehand.app.tokens import Tokens

PATIENCE_S = 60


class Up:
    """`tokens` are people's roles by name; where there are none, everybody on this machine may do everything."""

    def __init__(
        self,
        folder: Path,
        *scenes: str,
        speed: float | None = None,
        tokens: Mapping[str, str] | None = None,
        flags: tuple[str, ...] = (),
        **environment: str,
    ) -> None:
        self.home, self.workspace, self.log = folder / "home", folder / "workspace", folder / "server.log"
        self.home.mkdir(parents=True, exist_ok=True)
        self.workspace.mkdir(exist_ok=True)
        kept = Tokens(load_settings({"home": str(self.home)}, {}))
        wanted = dict(tokens or {})
        if wanted and "admin" not in wanted.values():
            wanted["the first"] = "admin"
        by_role = sorted(wanted.items(), key=lambda one: one[1] != "admin")  # the first is an admin's
        self.tokens = {name: kept.add(name, role, 0) for name, role in by_role}
        named = [part for scene in scenes for part in ("--scene", scene)]
        quick = [] if speed is None else ["--speed", str(speed)]
        self.command = ["up", "--no-open", "--home", str(self.home)]
        self.command += [*named, *quick, *flags]
        self.environment = environment
        self.port = 0
        self.url = ""
        self.process: subprocess.Popen[str] | None = None

    async def start(self) -> "Up":
        """Until it listens; a second time on the port of the first."""
        self.process = self._begin()
        assert self.process.stdout is not None
        line = await asyncio.to_thread(self.process.stdout.readline)
        assert "Beforehand is at " in line, line + self.log.read_text(encoding="utf-8")
        self.url = line.rpartition(" ")[2].strip()
        self.port = int(self.url.rpartition(":")[2])
        return self

    def _begin(self) -> "subprocess.Popen[str]":
        clean = {key: value for key, value in os.environ.items() if not key.startswith("BEFOREHAND_")}
        with self.log.open("a", encoding="utf-8") as log:
            return Forked(
                [*self.command, "--port", str(self.port)],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=self.workspace,
                env=clean | self.environment,
            )

    async def stop(self) -> None:
        """As Ctrl-C does."""
        if self.process is not None:
            self.process.terminate()
            await self._gone()

    async def kill(self) -> None:
        """As a power cut does."""
        if self.process is not None:
            self.process.kill()
            await self._gone()

    async def _gone(self) -> None:
        assert self.process is not None
        process, self.process = self.process, None
        try:
            await asyncio.to_thread(process.communicate, timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            await asyncio.to_thread(process.communicate)
            raise

    async def call(self, method: str, path: str, body: Any = None, *, who: str | None = None) -> Any:
        """A call's answer; AssertionError where it is refused."""
        headers = {"Authorization": f"Bearer {self.tokens[who]}"} if who else {}
        async with httpx2.AsyncClient(trust_env=False, timeout=PATIENCE_S) as http:
            answer = await http.request(method, f"{self.url}/api/v1{path}", json=body, headers=headers)
        assert answer.status_code < 400, answer.text
        return answer.json() if answer.content else None

    async def heard(self, kind: str, *, after: int = 0, who: str | None = None, **about: Any) -> Any:
        """The first event of a kind after a place in the log, and about these ids, once it comes."""
        headers = {"Authorization": f"Bearer {self.tokens[who]}"} if who else {}
        query = {"after": after, "kinds": kind}
        async with (
            asyncio.timeout(PATIENCE_S),
            httpx2.AsyncClient(trust_env=False, timeout=PATIENCE_S) as http,
            http.stream("GET", f"{self.url}/api/v1/events", params=query, headers=headers) as answer,
        ):
            async for line in answer.aiter_lines():
                event = json.loads(line[6:]) if line.startswith("data: ") else None
                if event and about.items() <= event["about"].items():
                    return event
        raise AssertionError(f"The stream ended before {kind} came.")


async def stop_all(servers: list[Up]) -> None:
    for server in servers:
        with suppress(ProcessLookupError):
            await server.stop()
