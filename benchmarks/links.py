"""Commands to many robots over the wire: how many a second, and how long until each is answered.

    python benchmarks/links.py [--smallest] [--robots 50,200] [--commands 20] [--wire robokit,vda5050]

The links run as in a live fleet, on one core: they look at every robot, keep their files in a home and report. Beside
them, as the limit, a bare loop that only sends the same bytes and reads the answers: asyncio sockets for Robokit, one
aiomqtt client and the same broker for VDA 5050. The robots answer at once, from a process of their own on another core.
`at once` gives every robot its next command as soon as the last is answered; `as in life` one every `--life` seconds.
A command counts when it is answered: by the robot's frame, or by the state that shows the order.
"""

import asyncio
import json
import logging
import multiprocessing
import os
import resource
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from _options import Options
from _parts import can_run

from beforehand.adapters.robokit import numbers as no
from beforehand.adapters.robokit.frame import HEADER, Frame, FrameParser, encode
from beforehand.adapters.robokit.options import link_entry
from beforehand.app.clock import WallClock
from beforehand.crafts.fleet.links import open_links
from beforehand.model.fleet import FleetScene
from beforehand.model.robot import Ack, GoTarget

HOST = "127.0.0.1"
CORES = sorted(os.sched_getaffinity(0))
Tell = Callable[[int, int], Awaitable[None]]
"""Give the robot of this number its command of this number, and return when it is answered."""


def on_core(number: int) -> None:
    os.sched_setaffinity(0, {CORES[number % len(CORES)]})


# -- the robots, in a process of their own ---------------------------------------------------------------------------

STATUS = {"x": 1.0, "y": 2.0, "angle": 0.5, "reloc_status": 1, "current_station": "A", "last_station": "A",
          "finished_path": ["A"], "unfinished_path": [], "task_status": 4, "battery_level": 0.8, "charging": False,
          "blocked": False, "emergency": False, "fork_height": 0.1, "fork_height_in_place": True, "fatals": [],
          "errors": [], "warnings": [], "notices": [], "goods_region": {"name": "goods", "point": []}}  # fmt: skip


def robokit_answer(frame: Frame) -> dict[str, Any]:
    match frame.number:
        case no.TASK_BY_ID:
            listed = [{"task_id": one, "status": 4, "type": 3} for one in frame.body.get("task_ids", ())]
            return {"task_status_package": {"task_status_list": listed}, "ret_code": 0}
        case no.ALL | no.TASK:
            return {**STATUS, "ret_code": 0}
    return {"ret_code": 0}


class RobokitRobot(asyncio.Protocol):
    def connection_made(self, transport: Any) -> None:
        self.transport, self.parser = transport, FrameParser()

    def data_received(self, data: bytes) -> None:
        for frame in self.parser.feed(data):
            answer = Frame(frame.number + no.ANSWER, frame.sequence, robokit_answer(frame), frame.version)
            self.transport.write(encode(answer))


async def robokit_robots(pipe: Connection) -> None:
    """All robots share six ports: what they answer is the same."""
    loop = asyncio.get_running_loop()
    ports = {}
    for name in no.PORTS:
        server = await loop.create_server(RobokitRobot, HOST, 0, backlog=1000)
        ports[name] = server.sockets[0].getsockname()[1]
    pipe.send(ports)
    await loop.run_in_executor(None, pipe.recv)


async def vda_robots(pipe: Connection) -> None:
    """All robots on one line to the broker: an order is shown as taken and done, at once."""
    from aiomqtt import Client

    port = await asyncio.get_running_loop().run_in_executor(None, pipe.recv)
    async with Client(HOST, port) as client:
        await client.subscribe([(f"uagv/v2/acme/+/{name}", 0) for name in ("order", "instantActions")])
        pipe.send("ready")
        last: dict[str, tuple[str, str]] = {}
        number = 0
        async for message in client.messages:
            topic, _, name = str(message.topic).rpartition("/")
            said = json.loads(message.payload)
            if name == "order":
                last[topic] = (said["orderId"], said["nodes"][-1]["nodeId"])
            number += 1
            serial = topic.rpartition("/")[2]
            order, node = last.get(topic, ("", f"A{serial}"))
            state = vda_state(serial, number, order, node)
            await client.publish(f"{topic}/state", json.dumps(state))


def vda_state(serial: str, number: int, order: str, node: str) -> dict[str, Any]:
    at = {"x": 0.0 if node[0] == "A" else 5.0, "y": 3.0 * int(serial), "theta": 0.0, "mapId": "hall"}
    return {"headerId": number, "timestamp": "2026-01-01T00:00:00.000Z", "version": "2.0.0", "manufacturer": "acme",
            "serialNumber": serial, "orderId": order, "orderUpdateId": 0, "lastNodeId": node, "lastNodeSequenceId": 2,
            "nodeStates": [], "edgeStates": [], "actionStates": [], "driving": False, "paused": False,
            "newBaseRequest": False, "agvPosition": {**at, "positionInitialized": True},
            "batteryState": {"batteryCharge": 80.0, "charging": False}, "loads": [], "errors": [],
            "operatingMode": "AUTOMATIC", "safetyState": {"eStop": "NONE", "fieldViolation": False}}  # fmt: skip


def robots_process(wire: str, pipe: Connection) -> None:
    on_core(1)
    asyncio.run(robokit_robots(pipe) if wire == "robokit" else vda_robots(pipe))


# -- giving commands -------------------------------------------------------------------------------------------------


@dataclass
class Figures:
    rate: float
    p50_ms: float
    p99_ms: float
    cpu_us: float
    """Of this process, for each command."""


async def measured(tell: Tell, robots: int, commands: int, every_s: float) -> Figures:
    """Every robot gets its commands one after the other; the first of each is not counted."""
    await asyncio.gather(*(tell(robot, 0) for robot in range(robots)))
    took: list[float] = []

    async def one(robot: int) -> None:
        due = time.perf_counter() + every_s * robot / robots
        for number in range(1, commands + 1):
            if every_s:
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                due += every_s
            began = time.perf_counter()
            await tell(robot, number)
            took.append(time.perf_counter() - began)

    began, used = time.perf_counter(), time.process_time()
    await asyncio.gather(*(one(robot) for robot in range(robots)))
    seconds, used = time.perf_counter() - began, time.process_time() - used
    took.sort()
    return Figures(
        len(took) / seconds,
        1000 * took[len(took) // 2],
        1000 * took[min(len(took) - 1, len(took) * 99 // 100)],
        1e6 * used / len(took),
    )


def hall(robots: int, link: Callable[[int], dict[str, Any]], broker: str | None = None) -> FleetScene:
    """Two nodes for each robot, which it is sent to in turn."""
    document = {
        "name": "links",
        "nodes": [{"id": f"{end}{n}", "x": x, "y": 3.0 * n} for n in range(robots) for end, x in (("A", 0), ("B", 5))],
        "edges": [{"from": f"A{n}", "to": f"B{n}"} for n in range(robots)],
        "robots": [{"robotId": f"R{n}", "nodeId": f"A{n}", "link": link(n)} for n in range(robots)],
        "settings": {"broker": broker} if broker else {},
    }
    return FleetScene.model_validate(document)


@dataclass
class ThroughLink:
    """Commands through the links of a scene, as a live fleet gives them."""

    scene: FleetScene
    home: Path
    waiting: dict[str, "asyncio.Future[None]"] = field(default_factory=dict)

    async def __aenter__(self) -> Tell:
        self.links = open_links(self.scene, clock=WallClock(), speed=1.0, keep_in=self.home)
        self.listening = asyncio.create_task(self.listen())
        for robot in self.scene.robots:
            await self.links.read(robot.robot_id)
        return self.tell

    async def __aexit__(self, *raised: object) -> None:
        await self.links.close()
        await asyncio.gather(self.listening, return_exceptions=True)

    async def listen(self) -> None:
        async for report in self.links.reports():
            if isinstance(report, Ack) and report.key in self.waiting:
                assert report.ok, report.says
                self.waiting.pop(report.key).set_result(None)

    async def tell(self, robot: int, number: int) -> None:
        key = f"links-{robot}:{number}"
        self.waiting[key] = answered = asyncio.get_running_loop().create_future()
        await self.links.send(GoTarget(key, f"R{robot}", {"id": f"{'BA'[number % 2]}{robot}"}))
        await answered


class BareSockets:
    """One stream to each robot: the frame of the order out, the frame of the answer in."""

    def __init__(self, robots: int, port: int) -> None:
        self.robots, self.port = robots, port

    async def __aenter__(self) -> Tell:
        self.lines = [await asyncio.open_connection(HOST, self.port) for _ in range(self.robots)]
        return self.tell

    async def __aexit__(self, *raised: object) -> None:
        for _, writer in self.lines:
            writer.close()

    async def tell(self, robot: int, number: int) -> None:
        reader, writer = self.lines[robot]
        order = {"id": f"{'BA'[number % 2]}{robot}", "task_id": f"links-{robot}:{number}"}
        writer.write(encode(Frame(no.GO_TARGET, number + 1, order)))
        length = HEADER.unpack(await reader.readexactly(HEADER.size))[3]
        assert json.loads(await reader.readexactly(length))["ret_code"] == 0


class BareMqtt:
    """One client: the order out, the state that shows it in."""

    def __init__(self, robots: int, port: int) -> None:
        self.robots, self.port = robots, port
        self.waiting: dict[str, asyncio.Future[None]] = {}

    async def __aenter__(self) -> Tell:
        from aiomqtt import Client

        self.client = await Client(HOST, self.port).__aenter__()
        await self.client.subscribe([(f"uagv/v2/acme/{n}/state", 0) for n in range(self.robots)])
        self.listening = asyncio.create_task(self.listen())
        return self.tell

    async def __aexit__(self, *raised: object) -> None:
        self.listening.cancel()
        await asyncio.gather(self.listening, return_exceptions=True)
        await self.client.__aexit__(None, None, None)

    async def listen(self) -> None:
        async for message in self.client.messages:
            answered = self.waiting.pop(json.loads(message.payload)["orderId"], None)
            if answered is not None:
                answered.set_result(None)

    async def tell(self, robot: int, number: int) -> None:
        key = f"links-{robot}:{number}"
        self.waiting[key] = answered = asyncio.get_running_loop().create_future()
        await self.client.publish(f"uagv/v2/acme/{robot}/order", json.dumps(vda_order(key, robot, number)), qos=0)
        await answered


def vda_order(key: str, robot: int, number: int) -> dict[str, Any]:
    """An order of the size of ours."""
    ends = ("A", "B") if number % 2 == 0 else ("B", "A")
    at = {"x": 0.0, "y": 3.0 * robot, "mapId": "hall", "allowedDeviationXY": 0.5, "allowedDeviationXy": 0.5}
    nodes = [
        {"nodeId": f"{end}{robot}", "sequenceId": 2 * n, "released": True, "nodePosition": at, "actions": []}
        for n, end in enumerate(ends)
    ]
    edge = {"edgeId": f"{ends[0]}-{ends[1]}", "sequenceId": 1, "released": True, "startNodeId": nodes[0]["nodeId"],
            "endNodeId": nodes[1]["nodeId"], "length": 5.0, "actions": []}  # fmt: skip
    header = {"headerId": number, "timestamp": "2026-01-01T00:00:00.000Z", "version": "2.0.0",
              "manufacturer": "acme", "serialNumber": str(robot)}  # fmt: skip
    return {**header, "orderId": key, "orderUpdateId": 0, "nodes": nodes, "edges": [edge]}


# -- the table -------------------------------------------------------------------------------------------------------


async def robokit_rows(ports: dict[str, int], robots: int, given: Any) -> None:
    scene = hall(robots, lambda n: {})
    links = tuple(robot.model_copy(update={"link": link_entry(HOST, ports)}) for robot in scene.robots)
    with tempfile.TemporaryDirectory() as home:
        ours = ThroughLink(scene.model_copy(update={"robots": links}), Path(home))
        await rows("robokit", robots, given, ours, BareSockets(robots, ports["task"]))


async def vda_rows(port: int, robots: int, given: Any) -> None:
    scene = hall(
        robots, lambda n: {"kind": "vda5050", "manufacturer": "acme", "serial": str(n)}, f"mqtt://{HOST}:{port}"
    )
    with tempfile.TemporaryDirectory() as home:
        await rows("vda5050", robots, given, ThroughLink(scene, Path(home)), BareMqtt(robots, port))


async def rows(wire: str, robots: int, given: Any, ours: Any, bare: Any) -> None:
    for pace, every_s, commands in (
        ("at once", 0.0, given.commands),
        ("as in life", given.life, min(3, given.commands)),
    ):
        figures = []
        for contestant in (bare, ours):
            async with contestant as tell:
                figures.append(await measured(tell, robots, commands, every_s))
        for name, one in zip(("bare", "link"), figures, strict=True):
            print(
                f"{wire:8} {robots:>6} {pace:10} {name:5} {one.rate:>10,.0f} {one.p50_ms:>8.1f} {one.p99_ms:>8.1f}"
                f" {one.cpu_us:>8,.0f} {one.cpu_us / figures[0].cpu_us:>6.1f}",
                flush=True,
            )


def with_robots(wire: str, measure: Callable[[Connection], None]) -> None:
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=robots_process, args=(wire, theirs), daemon=True)
    process.start()
    try:
        measure(ours)
    finally:
        process.kill()
        process.join()


def robokit(given: Any) -> None:
    for robots in given.robots:

        def measure(pipe: Connection, robots: int = robots) -> None:
            asyncio.run(robokit_rows(pipe.recv(), robots, given))

        with_robots("robokit", measure)


def vda5050(given: Any) -> None:
    program = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin")
    if not can_run("vda5050", "aiomqtt", program=program):
        return
    for robots in given.robots:
        with tempfile.TemporaryDirectory() as folder, socket.socket() as taken:
            taken.bind((HOST, 0))
            port = taken.getsockname()[1]
            taken.close()
            config = Path(folder) / "mosquitto.conf"
            config.write_text(f"listener {port} {HOST}\nallow_anonymous true\npersistence false\n")
            broker = subprocess.Popen(
                [program, "-c", str(config)], stderr=subprocess.DEVNULL, preexec_fn=lambda: on_core(1)
            )
            try:
                _wait_for(port)

                def measure(pipe: Connection, robots: int = robots, port: int = port) -> None:
                    pipe.send(port)
                    pipe.recv()
                    asyncio.run(vda_rows(port, robots, given))

                with_robots("vda5050", measure)
            finally:
                broker.kill()
                broker.wait()


def _wait_for(port: int) -> None:
    for _ in range(500):
        try:
            socket.create_connection((HOST, port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise SystemExit("mosquitto did not start")


def main() -> None:
    options = Options(__doc__)
    options.add_size("--robots", (50, 200), (2,))
    options.add_size("--commands", 20, 2, "for each robot")
    options.add_size("--life", 2.0, 0.1, "seconds between two commands as in life")
    options.add_argument("--wire", type=lambda text: text.split(","), default=["robokit", "vda5050"])
    given = options.read()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 16 * max(given.robots))), hard))
    logging.disable(logging.WARNING)
    named = ("wire", "robots", "pace", "", "commands/s", "p50 ms", "p99 ms", "CPU µs", "ratio")
    print("{:8} {:>6} {:10} {:5} {:>10} {:>8} {:>8} {:>8} {:>6}".format(*named))
    on_core(0)
    for name, measure in (("robokit", robokit), ("vda5050", vda5050)):
        if name in given.wire:
            measure(given)


if __name__ == "__main__":
    main()
