"""`beforehand up` as a process, told by HTTP and killed by SIGKILL; its log is read from its file."""

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
import yaml

Document = dict[str, Any]


class UpProcess:
    def __init__(self, folder: Path, **settings: str) -> None:
        """`settings` are those of the environment."""
        self.folder = folder
        self._settings = settings
        self._process: asyncio.subprocess.Process | None = None
        self._http: httpx2.AsyncClient

    async def start(self, scene: Mapping[str, Any], *more: str) -> None:
        """With this scene, and with `more` of those that come along."""
        (self.folder / "scene.yaml").write_text(yaml.safe_dump(dict(scene)))
        clean = {name: value for name, value in os.environ.items() if not name.startswith("BEFOREHAND_")}
        with (self.folder / "up.log").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(str(Path(sys.executable).parent / "beforehand"), "up", "--no-open", "--port", "0"),
                *("--scene", "scene.yaml"),
                *(word for name in more for word in ("--scene", name)),
                cwd=self.folder,
                env={**clean, **self._settings},
                stdout=subprocess.PIPE,
                stderr=log,
            )
        assert self._process.stdout is not None
        first = (await self._process.stdout.readline()).decode()
        assert first.startswith("Beforehand is at http://"), (self.folder / "up.log").read_text()[-2000:]
        self._http = httpx2.AsyncClient(base_url=f"{first.split()[-1]}/api/v1", trust_env=False, timeout=30)

    @property
    def pid(self) -> int | None:
        return self._process and self._process.pid

    async def kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(signal.SIGKILL)
            await self._process.wait()
            await self._http.aclose()

    async def call(self, method: str, path: str, body: Document | None = None, **headers: str) -> Any:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = await self._http.request(method, path, json=body, headers=named)
        if not answer.is_success:
            says = f"{method} {path}: {answer.status_code} {answer.text[:1000]}"
            raise httpx2.HTTPStatusError(says, request=answer.request, response=answer)
        return answer.json()

    def events(self) -> list[Document]:
        return [json.loads(line) for line in self._ask_log("SELECT line FROM events ORDER BY seq")]

    def length(self) -> int:
        """How many events its log has."""
        return sum(self._ask_log("SELECT COUNT(*) FROM events"))

    def _ask_log(self, question: str) -> list[Any]:
        file = sqlite3.connect(f"file:{self.folder}/.beforehand/log.db?mode=ro", uri=True)
        try:
            return [answer for (answer,) in file.execute(question)]
        finally:
            file.close()
