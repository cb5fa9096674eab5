"""A real Bolt server for the whole session, an empty database for each test, and a line to it that can break.

And packages from npm, installed once.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.contract.vda5050_rig import Mosquitto

PASSWORD = "sesame-open"
START_S = 120
STOP_S = 60


@dataclass(frozen=True)
class BoltServer:
    port: int
    database: str
    password: str = PASSWORD

    def url(self, *, port: int | None = None, database: str | None = None, scene: str | None = None) -> str:
        tail = f"?scene={scene}" if scene else ""
        where = f"127.0.0.1:{port or self.port}/{database or self.database}{tail}"
        return f"bolt://root:{self.password}@{where}"

    def run(self, query: str, **parameters: object) -> list[dict[str, object]]:
        """Cypher straight to the database, as somebody else's program would send it."""
        from neo4j import GraphDatabase

        url, auth = f"bolt://127.0.0.1:{self.port}", ("root", self.password)
        with (
            GraphDatabase.driver(url, auth=auth, notifications_min_severity="OFF") as line,
            line.session(database=self.database) as session,
        ):
            return [record.data() for record in session.run(query, parameters)]


@pytest.fixture(scope="session")
def arcadedb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BoltServer]:
    folder = tmp_path_factory.mktemp("arcadedb")
    script = Path(__file__).parent / "bolt_server.py"
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, str(script), str(folder / "data"), PASSWORD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            cwd=folder,
            text=True,
        )
        assert process.stdin is not None
        # Reading its first line cannot wait for ever: a server that does not come up is ended.
        patience = threading.Timer(START_S, process.kill)
        patience.start()
        try:
            ready = _ready(process)
            patience.cancel()
            if ready is None:
                pytest.fail(f"ArcadeDB did not start:\n{(folder / 'server.log').read_text()[-2000:]}")
            yield BoltServer(**ready)
        finally:
            patience.cancel()
            process.stdin.close()
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _ready(process: "subprocess.Popen[str]") -> dict[str, object] | None:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("{"):
            ready: dict[str, object] = json.loads(line)
            return ready
    return None


@pytest.fixture
def server(arcadedb: BoltServer) -> BoltServer:
    """The server with nothing in its database."""
    arcadedb.run("MATCH (n) DETACH DELETE n")
    return arcadedb


@dataclass
class Line:
    """A relay to the server that misbehaves when bytes it watches for pass from the client."""

    target: int
    port: int = 0
    break_at: bytes | None = None
    """Gone before the server sees them."""
    lose_answer_to: bytes | None = None
    """The server gets them and answers; the answer never arrives."""
    silent_at: bytes | None = None
    """From here on nothing is passed on, and the line stays open."""
    hold_at: bytes | None = None
    """Kept back, the first time, until `let_go` is set; `held` is set when they came."""
    held: asyncio.Event = field(default_factory=asyncio.Event)
    let_go: asyncio.Event = field(default_factory=asyncio.Event)
    asked: bytearray = field(default_factory=bytearray)
    """Everything that was passed on to the server."""
    _server: asyncio.Server | None = None
    _writers: list[asyncio.StreamWriter] = field(default_factory=list)

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """As a server that was stopped: nobody listens, and what was open is gone."""
        if self._server is not None:
            self._server.close()
        for writer in self._writers:
            writer.close()
        self._writers.clear()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self.target)
        self._writers += [writer, back]
        lost = asyncio.Event()
        await asyncio.gather(self._ask(reader, back, lost), self._answer(there, writer, lost))
        writer.close()

    async def _ask(self, reader: asyncio.StreamReader, back: asyncio.StreamWriter, lost: asyncio.Event) -> None:
        silent = False
        with suppress(ConnectionError):
            while chunk := await reader.read(65536):
                if _in(self.break_at, chunk):
                    break
                if _in(self.lose_answer_to, chunk):
                    lost.set()
                if _in(self.hold_at, chunk) and not self.held.is_set():
                    self.held.set()
                    await self.let_go.wait()
                silent = silent or _in(self.silent_at, chunk)
                if not silent:
                    self.asked += chunk
                    back.write(chunk)
                    await back.drain()
        back.close()

    async def _answer(self, there: asyncio.StreamReader, writer: asyncio.StreamWriter, lost: asyncio.Event) -> None:
        with suppress(ConnectionError):
            while (chunk := await there.read(65536)) and not lost.is_set():
                writer.write(chunk)
                await writer.drain()
        writer.close()


def _in(watched: bytes | None, chunk: bytes) -> bool:
    return watched is not None and watched in chunk


@pytest.fixture
async def line(server: BoltServer) -> AsyncIterator[Line]:
    relay = Line(server.port)
    await relay.open()
    yield relay
    await relay.close()


@pytest.fixture(scope="session")
def npm_package(executable: Callable[[str], Path]) -> Callable[[str, str], Path]:
    """`npm_package(name, version)`: the folder of a package, installed once beside the environment's own packages."""

    def installed(name: str, version: str) -> Path:
        home = Path(sys.prefix) / "share" / "beforehand-tests" / f"{name.rpartition('/')[2]}-{version}"
        if not (home / "node_modules" / name).exists():
            _install(executable, f"{name}@{version}", home)
        return home / "node_modules" / name

    return installed


def _install(executable: Callable[[str], Path], package: str, home: Path) -> None:
    home.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(dir=home.parent))
    path = os.pathsep.join([str(executable("node").parent), os.environ.get("PATH", os.defpath)])
    options = ["--no-audit", "--no-fund", "--ignore-scripts"]
    done = subprocess.run(
        [executable("npm"), "install", "--prefix", fresh, *options, package],
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        shutil.rmtree(fresh)
        missing = f"npm could not install {package}: {done.stderr[-500:]}"
        pytest.fail(missing) if os.environ.get("CI", "").lower() == "true" else pytest.skip(missing)
    try:
        fresh.rename(home)
    except OSError:  # another test process was quicker
        shutil.rmtree(fresh)


@pytest.fixture
def start_broker(tmp_path: Path, executable: Callable[[str], Path]) -> Iterator[Callable[[], Mosquitto]]:
    """`start_broker()`: a broker of the test's own, started when it is first asked for."""
    made: list[Mosquitto] = []

    def one() -> Mosquitto:
        if not made:
            made.append(Mosquitto(str(executable("mosquitto")), tmp_path))
            made[0].start()
        return made[0]

    yield one
    for mosquitto in made:
        mosquitto.stop()
