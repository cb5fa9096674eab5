"""Private files in the database, so that all servers on it know the same ones.

A server looks for what others wrote a few times a second in a thread of its own; a command asks when it needs to know.
"""

import threading
from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from beforehand.adapters.postgres.address import Address
from beforehand.adapters.postgres.connecting import looking
from beforehand.model.errors import BeforehandError, UnavailableError

if TYPE_CHECKING:
    from psycopg import Connection

LOOK_S = 0.25
_STAMPS = "SELECT name, version FROM kept"
_READ = "SELECT body FROM kept WHERE name = %s"
_READ_ALL = "SELECT name, body FROM kept WHERE starts_with(name, %s) ORDER BY name"
_READ_VERSION = "SELECT body, version FROM kept WHERE name = %s"
_PUT = "INSERT INTO kept (name, body, version) VALUES (%s, %s, 1) ON CONFLICT (name) DO NOTHING RETURNING version"
_SWAP = "UPDATE kept SET body = %s, version = version + 1 WHERE name = %s AND version = %s RETURNING version"
_WRITE = (
    "INSERT INTO kept (name, body, version) VALUES (%s, %s, 1) ON CONFLICT (name)"
    " DO UPDATE SET body = excluded.body, version = kept.version + 1 RETURNING version"
)


class KeptFiles:
    """Satisfies `ports.private_files.PrivateFiles`."""

    are_shared = True

    def __init__(self, address: Address) -> None:
        self._address = address
        self._stamps: dict[str, int] | None = None
        self._over = threading.Event()
        self._soon: dict[str, bytes] = {}
        self._turn = threading.Lock()
        self._writer: threading.Thread | None = None

    def stamp(self, name: str) -> Hashable:
        known = self._stamps
        return (self._look() if known is None else known).get(name)

    def read(self, name: str) -> bytes:
        with looking(self._address) as line:
            found = line.execute(_READ, (name,)).fetchone() if _is_there(line) else None
        return bytes(found[0]) if found else b""

    def read_all(self, prefix: str) -> dict[str, bytes]:
        with looking(self._address) as line:
            found = line.execute(_READ_ALL, (prefix,)).fetchall() if _is_there(line) else []
        return {name: bytes(body) for name, body in found}

    def change(self, name: str, become: Callable[[bytes], bytes]) -> bytes:
        with looking(self._address) as line:
            self._refuse_missing(line)
            while True:  # whenever one fails another one has come through
                found = line.execute(_READ_VERSION, (name,)).fetchone()
                before = bytes(found[0]) if found else b""
                after = become(before)
                if after == before:
                    return after
                put = (_SWAP, (after, name, found[1])) if found else (_PUT, (name, after))
                if (written := line.execute(*put).fetchone()) is not None:
                    break
        self._note(name, written[0])
        return after

    def write(self, name: str, content: bytes) -> None:
        with looking(self._address) as line:
            self._refuse_missing(line)
            found = line.execute(_WRITE, (name, content)).fetchone()
        if found:
            self._note(name, found[0])

    def _refuse_missing(self, line: "Connection[Any]") -> None:
        if not _is_there(line):
            raise UnavailableError(
                f"{self._address.where} has no tables yet, or older ones, so nothing can be kept there.",
                code="store.missing",
                hint="Make them, while no server runs: beforehand db migrate",
            )

    def _note(self, name: str, version: int) -> None:
        """What was written here is known here at once."""
        if self._stamps is not None:
            self._stamps = {**self._stamps, name: version}

    def write_soon(self, name: str, content: bytes) -> None:
        with self._turn:
            self._soon[name] = content
            if self._writer is None:
                self._writer = threading.Thread(target=self._write_all, name="private files, written")
                self._writer.start()

    def _write_all(self) -> None:
        while True:
            with self._turn:
                if not self._soon:
                    self._writer = None
                    return
                name = next(iter(self._soon))
                content = self._soon.pop(name)
            with suppress(BeforehandError):  # a convenience; what must be kept is waited for
                self.write(name, content)

    def keep_up(self) -> None:
        self._stamps = self._look()
        threading.Thread(target=self._keep_looking, name="private files", daemon=True).start()

    def close(self) -> None:
        self._over.set()

    def _keep_looking(self) -> None:
        while not self._over.wait(LOOK_S):
            with suppress(BeforehandError), looking(self._address) as line:
                while not self._over.wait(LOOK_S):
                    self._stamps = dict(line.execute(_STAMPS).fetchall())

    def _look(self) -> dict[str, int]:
        with looking(self._address) as line:
            return dict(line.execute(_STAMPS).fetchall()) if _is_there(line) else {}


def _is_there(line: "Connection[Any]") -> bool:
    found = line.execute("SELECT to_regclass('kept') IS NOT NULL").fetchone()
    return bool(found and found[0])
