"""Many followers of one log: what 500 server-sent-event clients get, and what that costs.

A server with its own home runs in a process of its own; the clients, bare sockets, in another; this one writes events
through the server's runtime at a steady pace and as fast as it can. Beside it, as the limit: a bare loop that writes
the same bytes to as many sockets and does nothing else.

    python benchmarks/sse.py [--smallest] [--clients 500] [--events 500]
"""

import asyncio
import json
import multiprocessing
import os
import resource
import socket
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from _options import Options

EVENT = {"taskId": "t1", "stepId": "step_1", "status": "running", "text": "x" * 120}
PACES = (("steady, 20 events/s", 20.0), ("as fast as the log", 0.0))


def memory_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


# -- the server ------------------------------------------------------------------------------------------------------


def server(pipe: Connection, bare: bool) -> None:
    asyncio.run(_bare(pipe) if bare else _beforehand(pipe))


async def _beforehand(pipe: Connection) -> None:
    import structlog

    from beforehand.app.runtime import open_runtime
    from beforehand.app.settings import load_settings
    from beforehand.server.app import create_app
    from beforehand.server.listening import Listener, bind

    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings({"home": folder, "workspace": folder}, {}, Path(folder) / "none")
        async with open_runtime(settings) as runtime:
            app = create_app(runtime)
            bound = bind("127.0.0.1", 0)

            async def started() -> None:
                pipe.send(bound.getsockname()[1])

            listener = Listener(app, started=started, stopping=runtime.feed.close)
            running = asyncio.create_task(listener.serve(sockets=[bound]))

            async def write() -> None:
                await runtime.log("stepUpdated", EVENT, owner="bench", runId="r1", stepId="step_1")

            await _obey(pipe, write, lambda: app.state.audience.following)
            listener.should_exit = True
            await running


async def _bare(pipe: Connection) -> None:
    """The limit: the same bytes to as many sockets, and nothing else."""
    writers: list[asyncio.StreamWriter] = []
    line = json.dumps({"seq": 1, "ts": "2026-01-01T00:00:00.000Z", "kind": "stepUpdated", "data": EVENT})
    frame = f"id: 1\ndata: {line}\n\n".encode()

    async def follow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        writers.append(writer)

    listening = await asyncio.start_server(follow, "127.0.0.1", 0)
    pipe.send(listening.sockets[0].getsockname()[1])

    async def write() -> None:
        for writer in writers:
            writer.write(frame)
        await asyncio.gather(*(writer.drain() for writer in writers))

    await _obey(pipe, write, lambda: len(writers))


async def _obey(pipe: Connection, write: Any, following: Any) -> None:
    loop = asyncio.get_running_loop()
    while (asked := await loop.run_in_executor(None, pipe.recv)) is not None:
        count, pace, clients = asked
        while following() < clients:  # noqa: ASYNC110  nothing tells when the last one has come
            await asyncio.sleep(0.01)
        began, used = time.perf_counter(), time.process_time()
        for number in range(count):
            await write()
            if pace:
                await asyncio.sleep(max(0.0, began + (number + 1) / pace - time.perf_counter()))
        await loop.run_in_executor(None, pipe.recv)
        pipe.send((time.perf_counter() - began, time.process_time() - used, memory_mb()))


# -- the clients -----------------------------------------------------------------------------------------------------


def clients(pipe: Connection, port: int, count: int) -> None:
    asyncio.run(_clients(pipe, port, count))


async def _clients(pipe: Connection, port: int, count: int) -> None:
    totals = [0] * count
    reached: asyncio.Queue[int] = asyncio.Queue()
    wanted = [0]
    waiting = await asyncio.gather(*(_connect(port) for _ in range(count)))
    tasks = [asyncio.create_task(_read(sock, totals, me, wanted, reached)) for me, sock in enumerate(waiting)]
    loop = asyncio.get_running_loop()
    while (more := await loop.run_in_executor(None, pipe.recv)) is not None:
        wanted[0] += more
        for me in range(count):
            if totals[me] >= wanted[0]:
                reached.put_nowait(me)
        for _ in range(count):
            await reached.get()
        pipe.send(sum(totals))
    for task in tasks:
        task.cancel()


async def _connect(port: int) -> socket.socket:
    sock = socket.socket()
    sock.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(sock, ("127.0.0.1", port))
    await loop.sock_sendall(sock, f"GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
    return sock


async def _read(sock: socket.socket, totals: list[int], me: int, wanted: list[int], reached: Any) -> None:
    loop = asyncio.get_running_loop()
    while part := await loop.sock_recv(sock, 1 << 18):
        before = totals[me]
        totals[me] += part.count(b"data: {")
        if before < wanted[0] <= totals[me]:
            reached.put_nowait(me)


# -- the figures -----------------------------------------------------------------------------------------------------


def measure(bare: bool, followers: int, events: int) -> list[tuple[str, float, float, float, int]]:
    ours, theirs = multiprocessing.Pipe()
    serving = multiprocessing.Process(target=server, args=(theirs, bare), daemon=True)
    serving.start()
    port = ours.recv()
    reader, writer = multiprocessing.Pipe()
    reading = multiprocessing.Process(target=clients, args=(writer, port, followers), daemon=True)
    reading.start()
    rows = []
    for name, pace in PACES:
        count = min(events, int(pace * 5)) if pace else events
        ours.send((count, pace, followers))
        reader.send(count)
        reader.recv()
        ours.send("all arrived")
        seconds, used, memory = ours.recv()
        rows.append((name, count * followers / seconds, used / seconds, memory, count))
    reader.send(None)
    ours.send(None)
    reading.join(10)
    serving.join(10)
    return rows


def main() -> None:
    options = Options(__doc__)
    options.add_size("--clients", 500, 3)
    options.add_size("--events", 500, 5)
    given = options.read()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4 * given.clients)), hard))
    print(f"{given.clients} followers of one log")
    print(f"{'':12} {'pace':22} {'events':>7} {'delivered/s':>12} {'CPU':>6} {'memory MB':>10}")
    for label, bare in (("beforehand", False), ("bare sockets", True)):
        for name, rate, share, memory, count in measure(bare, given.clients, given.events):
            print(f"{label:12} {name:22} {count:>7} {rate:>12,.0f} {share:>6.0%} {memory:>10.0f}")


if __name__ == "__main__":
    main()
