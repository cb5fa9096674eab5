"""`beforehand` as a real process without the half second that loading it takes.

One process loads the package once and forks a child for each call. A child has its own pipes, folder, environment,
session and exit code, answers signals and can be killed, as if it had been started from the shell. What depends on the
start itself (terminals, signals at start-up, what is imported) is tested with the installed command.
"""

import asyncio
import atexit
import functools
import gc
import importlib
import inspect
import json
import os
import pkgutil
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[1]
NOT_LOADED = ("beforehand.__main__", "beforehand.adapters.temporal", "beforehand.adapters.otel", "beforehand.testing")
"""Native threads do not survive a fork, so what starts some is loaded by the child that needs it."""
MOST_BYTES = 1 << 20
THREADS_END_S = 30


class Forked(subprocess.Popen[Any]):
    """A child of the fork server with the face of a `Popen`: `Forked(["run", "plan.yaml"], cwd=folder, …)`.

    The words are those behind `beforehand`, or `-c`, a program and its words as behind `python`. Pipes, text, `cwd`,
    `env` and `start_new_session` are as `Popen` has them.
    """

    _status: socket.socket

    def _execute_child(self, *given: Any) -> None:
        asked = inspect.signature(subprocess.Popen._execute_child).bind(self, *given).arguments  # type: ignore[attr-defined]
        request = {
            "words": [os.fsdecode(word) for word in asked["args"]],
            "folder": os.fspath(asked["cwd"] or Path.cwd()),
            "environment": dict(os.environ if asked["env"] is None else asked["env"]),
            "session": asked["start_new_session"],
        }
        pipes = [asked["p2cread"], asked["c2pwrite"], asked["errwrite"]]
        self._status = _connect()
        files = [standard if pipe == -1 else pipe for standard, pipe in enumerate(pipes)]
        socket.send_fds(self._status, [json.dumps(request).encode()], files)
        self.pid = int(self._status.recv(32))
        self._child_created = True
        ends = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
        self._close_pipe_fds(*(asked[end] for end in ends))  # type: ignore[attr-defined]

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        if self._status.fileno() < 0:  # nobody held this any more, and its line to the server went first
            return self.pid, signal.SIGKILL
        with selectors.DefaultSelector() as told:
            told.register(self._status, selectors.EVENT_READ)
            if not told.select(0 if wait_flags & os.WNOHANG else None):
                return 0, 0
        with self._status:
            return self.pid, int(self._status.recv(32) or signal.SIGKILL)

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        with self._waitpid_lock:  # type: ignore[attr-defined]
            if self.returncode is None:
                pid, status = self._try_wait(os.WNOHANG)
                if pid:
                    self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


def run_forked(words: Sequence[str], **options: Any) -> "subprocess.CompletedProcess[Any]":
    """`subprocess.run` for a command of Beforehand; its output is captured."""
    given, timeout = options.pop("input", None), options.pop("timeout", None)
    streams = {"stdin": subprocess.DEVNULL if given is None else subprocess.PIPE}
    streams |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with Forked(list(words), **streams, **options) as process:
        try:
            out, err = process.communicate(given, timeout=timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def forked_command() -> list[str]:
    """The same as a command that another program can start; the words of `beforehand` go behind it."""
    return [sys.executable, "-I", "-S", str(Path(__file__).with_name("fork_client.py")), _address()]


def _connect() -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect(f"\0{_address()}")
    return connection


@functools.cache
def _address() -> str:
    """Where this test process has its fork server, which is started when it is first asked for."""
    address = f"beforehand-tests-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(f"\0{address}")
        listener.listen(64)
        server = subprocess.Popen(
            [sys.executable, "-m", "tests.fork_server", str(listener.fileno())],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=[listener.fileno()],
        )
    assert server.stdin is not None
    atexit.register(lambda: (server.stdin.close(), server.wait()))  # type: ignore[union-attr]
    return address


# -- the server --------------------------------------------------------------------------------------------------------


def main(descriptor: int) -> None:
    _load()
    selector = selectors.DefaultSelector()
    listener = socket.socket(fileno=descriptor)
    selector.register(listener, selectors.EVENT_READ)
    selector.register(0, selectors.EVENT_READ)  # the tests' end of this pipe closes when they are over
    children: dict[int, tuple[int, socket.socket]] = {}
    while True:
        for ready, _ in selector.select():
            if ready.fileobj == 0:
                return _end(pid for pid, _ in children.values())
            if ready.fileobj is listener:
                _start(listener, selector, children)
                continue
            selector.unregister(ready.fd)
            pid, connection = children.pop(ready.fd)
            os.close(ready.fd)
            _, status = os.waitpid(pid, 0)
            with connection, suppress(OSError):  # whoever asked may be gone
                connection.send(str(status).encode())


def _end(children: Iterable[int]) -> None:
    """A test that was cut off leaves nothing behind."""
    for pid in children:
        os.kill(pid, signal.SIGKILL)


def _load() -> None:
    import beforehand

    for module in pkgutil.walk_packages(beforehand.__path__, "beforehand."):
        if not module.name.startswith(NOT_LOADED):
            importlib.import_module(module.name)
    from beforehand.crafts.fleet import driver

    driver.spare_the_collector = lambda: None  # it would walk all that is loaded here, in every child anew
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_serve_once(Path(folder)))
    _wait_for_threads()
    gc.collect()
    gc.freeze()


def _wait_for_threads() -> None:
    """Nobody waits for the threads in which files are read once their loop is over; a fork has none of them."""
    others = [thread for thread in threading.enumerate() if thread is not threading.current_thread()]
    for thread in others:
        thread.join(THREADS_END_S)
    left = [thread.name for thread in others if thread.is_alive()]
    assert not left, f"a fork would not have these threads: {', '.join(left)}"


async def _serve_once(folder: Path) -> None:
    """Have a server answer once: much of it is built with the first request, half a second each time."""
    import httpx2

    from beforehand.app.examples import find_document
    from beforehand.app.runtime import open_runtime
    from beforehand.app.scenes import save_scene
    from beforehand.app.settings import load_settings
    from beforehand.server.app import create_app

    settings = load_settings({"home": str(folder / "home"), "workspace": str(folder)}, {}, folder / "none")
    async with open_runtime(settings) as runtime:
        door = httpx2.ASGITransport(create_app(runtime, host="127.0.0.1"))
        async with httpx2.AsyncClient(transport=door, base_url="http://127.0.0.1") as client:
            for name in ("weld_star", "cross_dock"):
                await save_scene(runtime, None, find_document(name), activate=True)
            plan = {"scene": "weld_star", "text": "weld 1"}
            (await client.post("/api/v1/plans", json=plan)).raise_for_status()
            for path in ("health", "state", "inbox", "runs", "scenes", "doctor", "openapi.json"):
                (await client.get(f"/api/v1/{path}")).raise_for_status()


def _start(
    listener: socket.socket, selector: selectors.BaseSelector, children: dict[int, tuple[int, socket.socket]]
) -> None:
    connection, _ = listener.accept()
    request, files, _, _ = socket.recv_fds(connection, MOST_BYTES, 3)
    if not request:
        connection.close()
        return
    pid = os.fork()
    if not pid:
        _become(json.loads(request), files)
    for file in files:
        os.close(file)
    ended = os.pidfd_open(pid)
    children[ended] = pid, connection
    selector.register(ended, selectors.EVENT_READ)
    connection.send(str(pid).encode())


def _become(request: Mapping[str, Any], files: list[int]) -> NoReturn:
    """Be the command that was asked for, and end as an interpreter does."""
    code = 1
    try:
        if request["session"]:
            os.setsid()
        for number, file in enumerate(files):
            os.dup2(file, number)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        _open_streams()
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["environment"])
        time.tzset()
        code = _call(request["words"])
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
    finally:
        os._exit(code)


def _open_streams() -> None:
    """Fresh ones, as an interpreter opens them: those of the server remember what kind of file each was."""
    sys.stdin = open(0, closefd=False)  # noqa: SIM115  they stay open as long as the process
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, errors="backslashreplace", closefd=False)  # noqa: SIM115


def _call(words: list[str]) -> int:
    from beforehand.cli.main import main as command

    try:
        if words[:1] == ["-c"]:
            sys.argv = ["-c", *words[2:]]
            exec(words[1], {"__name__": "__main__"})
        else:
            sys.argv = ["beforehand", *words]
            command()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
    except BaseException:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        return 1
    return 0


if __name__ == "__main__":
    main(int(sys.argv[1]))
