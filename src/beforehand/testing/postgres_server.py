"""A Postgres server of one's own in a temporary folder: for tests and benchmarks, never for work.

It listens on loopback and lets everybody in who asks there, except the user `locked`, who needs the password `sesame`.
Postgres refuses to run for root, so it then runs for another user.
"""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

PASSWORD = "sesame"
START_S = 60
_RULES = """\
host all locked 127.0.0.1/32 scram-sha-256
host all all 127.0.0.1/32 trust
local all all trust
"""


def find_programs() -> str | None:
    """The folder with the server's programs; Debian keeps them off the path."""
    places = [Path(shutil.which("initdb") or "/nowhere").parent, *sorted(Path("/usr/lib/postgresql").glob("*/bin"))]
    return next((str(place) for place in reversed(places) if (place / "initdb").exists()), None)


class PostgresServer:
    def __init__(self, programs: str, *, durable: bool) -> None:
        """Lay a cluster out and start it; `durable` false leaves out waiting for the disk."""
        self._programs = Path(programs)
        self._durable = durable
        self._as: dict[str, Any] = {}
        self._folder = Path(tempfile.mkdtemp(prefix="beforehand-postgres-"))
        if os.geteuid() == 0:
            self._give_away()
        self._data = self._folder / "data"
        self._process: subprocess.Popen[bytes] | None = None
        self._databases = 0
        self.port = _free_port()
        self._call("initdb", "-D", str(self._data), "-U", "beforehand", "--auth=trust", "-E", "UTF8", "--no-sync")
        (self._data / "pg_hba.conf").write_text(_RULES)
        self.start()
        self.tell(f"CREATE ROLE locked LOGIN PASSWORD '{PASSWORD}'")

    def _give_away(self) -> None:
        known = {entry.pw_name: entry for entry in pwd.getpwall()}
        user = known.get("postgres") or known["nobody"]
        os.chown(self._folder, user.pw_uid, user.pw_gid)
        self._as = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}

    def url(self, database: str, *, user: str = "beforehand", password: str = "", port: int | None = None) -> str:
        secret = f":{password}" if password else ""
        return f"postgresql://{user}{secret}@127.0.0.1:{port or self.port}/{database}"

    def new_database(self) -> str:
        """The URL of an empty database."""
        self._databases += 1
        name = f"log{self._databases}"
        self.tell(f"CREATE DATABASE {name} OWNER beforehand")
        return self.url(name)

    def tell(self, statement: str, database: str = "postgres") -> str:
        """One statement to the server, as its administrator would type it; what it answers."""
        words = ("-h", "127.0.0.1", "-p", str(self.port), "-U", "beforehand", "-d", database, "-qAtX")
        return self._call("psql", *words, "-v", "ON_ERROR_STOP=1", "-c", statement).strip()

    def encrypt(self, certificate: str, key: str) -> None:
        """Take encrypted connections from now on, with a certificate and its key as PEM texts."""
        for name, text in (("server.crt", certificate), ("server.key", key)):
            file = self._data / name
            file.write_text(text)
            file.chmod(0o600)
            if self._as:
                os.chown(file, self._as["user"], self._as["group"])
        self.tell("ALTER SYSTEM SET ssl = on")
        self.tell("SELECT pg_reload_conf()")

    def start(self) -> None:
        """Start it and wait until it takes connections."""
        options = {"listen_addresses": "127.0.0.1", "unix_socket_directories": str(self._folder)}
        if not self._durable:
            options |= {"fsync": "off", "full_page_writes": "off"}
        words = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        give_up = time.monotonic() + START_S
        while time.monotonic() < give_up:
            with (self._folder / "server.log").open("ab") as log:
                command = [str(self._programs / "postgres"), "-D", str(self._data), "-p", str(self.port), *words]
                self._process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self._folder, **self._as)
            if self._comes_up(give_up):
                return
        raise RuntimeError(f"Postgres did not start:\n{(self._folder / 'server.log').read_text()[-2000:]}")

    def _comes_up(self, give_up: float) -> bool:
        """False when it ended again, as it does while children of a killed one are still about."""
        assert self._process is not None
        asked = [str(self._programs / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        while time.monotonic() < give_up:
            if subprocess.run(asked, check=False).returncode == 0:
                return True
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(0.05)
                return False
        return False

    def kill(self) -> None:
        """kill -9 of the server and all its children, as a machine that fails."""
        assert self._process is not None
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
        self._process.kill()
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(int(child), signal.SIGKILL)
        self._process.wait()

    def close(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(START_S)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _call(self, program: str, *words: str) -> str:
        done = subprocess.run(
            [str(self._programs / program), *words],
            capture_output=True,
            text=True,
            check=False,
            cwd=self._folder,
            **self._as,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{program} failed: {done.stderr.strip()}")
        return str(done.stdout)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
