"""A Robokit robot of our own over real TCP: every port, pushes, the control lock, both versions of the header.

It drives like the simulated forklift. Its manners can be set: real robots differ in what they know and how they refuse.
Whoever talks nonsense to it is hung up on, as real ones do.
"""

import asyncio
import itertools
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from beforehand.adapters.robokit import numbers as no
from beforehand.adapters.robokit.frame import Frame, FrameParser, encode
from beforehand.adapters.robokit.hall import Hall
from beforehand.model.robot import CancelTarget, GoTarget, PauseRobot, ResumeRobot, RobotCommand, Telemetry
from beforehand.ports.tasks import part, stop

_PIECE = 65536
_AT_ONCE = {"status": range(1000, 2000), "control": range(2000, 3000), "task": range(3000, 4000)}
_AT_ONCE |= {"config": range(4000, 5000), "other": range(6000, 7000), "push": range(9000, 10000)}
_FIRST_ALARM = 52200
_LEG_MS = 100


@dataclass(frozen=True, slots=True)
class Manners:
    versions: tuple[int, ...] = (1, 2)
    """The headers it understands."""
    unknown: frozenset[int] = frozenset()
    """Questions it has never heard of."""
    mute: frozenset[int] = frozenset()
    """Questions to which it says nothing at all."""
    composite: bool = True
    """Whether it takes orders that drive and lift in one."""
    needs_control: bool = True
    bare_errors: bool = False
    """Whether it refuses by `err_msg` alone, without `ret_code`."""
    sensor: str | None = "goods_region"
    """The load sensor it has."""


class WireRobot:
    """One robot of a hall, at ports of its own once it is opened."""

    def __init__(self, hall: Hall, robot_id: str, manners: Manners | None = None, holder: str = "") -> None:
        self.robot_id = robot_id
        self.ports: dict[str, int] = {}
        self.holder = holder
        """Who has control; empty where nobody has."""
        self.heard: list[tuple[int, Mapping[str, Any]]] = []
        """Every command it was given, refused or not: its number and what came with it."""
        self._hall = hall
        self._manners = manners or Manners()
        self._servers: list[asyncio.Server] = []
        self._talking: set[asyncio.Task[None]] = set()
        self._boot = 1
        self._born_ms = hall.clock.now_ms()
        self._keys = itertools.count(1)
        self._legs: dict[str, GoTarget] = {}
        """What it is still to drive of the lists it was given, in order."""
        self._left_out: set[str] = set()
        """Legs that were cancelled before it came to them."""
        self._driving: asyncio.Task[None] | None = None

    async def open(self, host: str, ports: Mapping[str, int]) -> None:
        """Listen on these ports; 0 takes any that is free. OSError where one is taken."""
        for name in no.PORTS:
            server = await asyncio.start_server(self._talk_at(name), host, ports.get(name, 0))
            self._servers.append(server)
            self.ports[name] = server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """As if the cable were pulled: every connection ends."""
        if self._driving is not None:
            self._driving.cancel()
        for server in self._servers:
            server.close()
        self._servers = []
        await self.hang_up()

    async def hang_up(self) -> None:
        """End every connection; new ones are taken."""
        mine = asyncio.current_task()
        await stop([task for task in self._talking if task is not mine])

    # -- the wire

    def _talk_at(self, port: str) -> Any:
        async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            self._talking.add(task)
            try:
                with suppress(OSError, asyncio.CancelledError):
                    await self._talk(port, reader, writer)
            finally:
                self._talking.discard(task)
                writer.transport.abort()

        return talk

    async def _talk(self, port: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        parser = FrameParser()
        pushing: asyncio.Task[None] | None = None
        try:
            while data := await reader.read(_PIECE):
                for frame in parser.feed(data):
                    answer = await self.answer(port, frame)
                    if answer is None:
                        continue
                    writer.write(encode(answer))
                    if frame.number == no.SET_PUSH and answer.body.get("ret_code") == 0 and pushing is None:
                        pushing = part(self._push(frame, writer))
                if parser.passed_over:
                    return
                await writer.drain()
        finally:
            if pushing is not None:
                pushing.cancel()

    async def _push(self, asked: Frame, writer: asyncio.StreamWriter) -> None:
        interval_ms, fields = int(asked.body.get("interval", 1000)), asked.body.get("included_fields")
        while True:
            status = await self._status()
            if status is not None:
                body = {name: status[name] for name in fields if name in status} if fields else status
                writer.write(encode(Frame(no.PUSHED, 0, body, asked.version)))
            await self._hall.clock.sleep_until(self._hall.clock.now_ms() + max(10, interval_ms))

    # -- answers

    async def answer(self, port: str, frame: Frame) -> Frame | None:
        """What it says to this; None where it is silent."""
        if frame.version not in self._manners.versions:
            return Frame(no.BAD_VERSION, frame.sequence, {}, self._manners.versions[0])
        if frame.number not in _AT_ONCE[port]:
            known = any(frame.number in numbers for numbers in _AT_ONCE.values())
            return Frame(no.WRONG_PORT if known else no.UNKNOWN_NUMBER, frame.sequence, {}, frame.version)
        report = await self._hall.look(self.robot_id)
        if report is None or frame.number in self._manners.mute:
            return None
        await self._notice_restart(report)
        body = None if frame.number in self._manners.unknown else await self._body(frame.number, frame.body, report)
        if body is None:
            return Frame(no.UNKNOWN_NUMBER, frame.sequence, {}, frame.version)
        return Frame(frame.number + no.ANSWER, frame.sequence, body, frame.version)

    async def _notice_restart(self, report: Telemetry) -> None:
        if report.boot != self._boot:
            self._boot, self._born_ms, self.holder = report.boot, self._hall.clock.now_ms(), ""
            self._legs.clear()
            await self.hang_up()

    async def _body(self, number: int, asked: Mapping[str, Any], report: Telemetry) -> dict[str, Any] | None:
        match number:
            case no.INFO:
                name = {"id": self.robot_id, "vehicle_id": self.robot_id, "model": "beforehand-forklift"}
                return {**name, "version": "1.0", "ret_code": 0}
            case no.TASK_BY_ID:
                ids = [one for one in asked.get("task_ids") or () if isinstance(one, str)]
                return {"task_status_package": {"task_status_list": [self._listed(one) for one in ids]}, "ret_code": 0}
            case no.CONTROL:
                return {"locked": bool(self.holder), "nick_name": self.holder, "ret_code": 0}
            case no.STATIONS:
                nodes = self._hall.scene.nodes
                return {"stations": [{"id": node.id, "x": node.x, "y": node.y} for node in nodes], "ret_code": 0}
            case _ if number in (no.ALL, no.ALL_2, no.ALL_3, no.TASK, *_PARTS):
                status = self._as_status(report)
                return {name: status[name] for name in _PARTS.get(number, status) if name in status} | {"ret_code": 0}
            case no.SET_PUSH:
                return {"ret_code": 0}
            case no.TAKE_CONTROL | no.GIVE_CONTROL:
                self.heard.append((number, asked))
                return self._control(number, str(asked.get("nick_name") or "somebody"))
            case _ if number in _COMMANDS:
                self.heard.append((number, asked))
                return await self._command(number, asked)
            case _:
                return None

    def _listed(self, task_id: str) -> dict[str, Any]:
        status = self._hall.status_of(self.robot_id, task_id)
        if status is None and task_id in self._legs:
            status = no.WAITING
        elif status is None and task_id in self._left_out:
            status = no.CANCELLED
        return {"task_id": task_id, "status": status or 404, "type": 3}

    def _control(self, number: int, nick_name: str) -> dict[str, Any]:
        if number == no.GIVE_CONTROL:
            self.holder = ""
        elif self.holder not in ("", nick_name):
            return self._no(no.CONTROL_HELD, f"control is held by {self.holder}")
        else:
            self.holder = nick_name
        return {"ret_code": 0}

    async def _command(self, number: int, asked: Mapping[str, Any]) -> dict[str, Any] | None:
        if self._manners.needs_control and not self.holder:
            return self._no(no.CONTROL_HELD, "nobody has taken control")
        if number in (no.FORK_HEIGHT, no.FORK_STOP):
            return self._fork(number, asked.get("height"))
        listed = asked.get("move_task_list") if number == no.GO_TARGET_LIST else [asked]
        moves = [move for move in listed if isinstance(move, Mapping)] if isinstance(listed, list) else []
        if any("operation" in move for move in moves) and not self._manners.composite:
            return self._no(40003, "operation is not supported")
        if number == no.GO_TARGET_LIST:
            return self._take_legs(moves)
        if number in (no.CANCEL, no.GO_TARGET):
            self._leave_out_legs()
        answer = await self._hall.told(self._as_command(number, asked))
        return {"ret_code": 0} if answer.ok else self._no(40003, answer.says)

    def _as_command(self, number: int, asked: Mapping[str, Any]) -> RobotCommand:
        own = f"{self.robot_id}-{next(self._keys)}"
        match number:
            case no.PAUSE:
                return PauseRobot(own, self.robot_id)
            case no.RESUME:
                return ResumeRobot(own, self.robot_id)
            case no.CANCEL:
                return CancelTarget(own, self.robot_id)
            case _:
                pass
        task_id = asked.get("task_id")
        payload = {name: value for name, value in asked.items() if name not in ("task_id", "source_id")}
        source, target = asked.get("source_id"), asked.get("id")
        way = (source,) if source == target else (source, target)
        named = source == target or self._hall.has_edge(source, target)
        key = task_id if isinstance(task_id, str) and task_id else own
        return GoTarget(key, self.robot_id, payload, way=way if named else None)  # type: ignore[arg-type]

    def _take_legs(self, moves: list[Mapping[str, Any]]) -> dict[str, Any]:
        """A list of edges to drive after those it has; one that knows no such edge refuses all of it."""
        nodes = {node.id for node in self._hall.scene.nodes}
        for move in moves:
            if move.get("id") not in nodes:
                return self._no(40003, f"there is no station {move.get('id')}")
        for move in moves:
            command = self._as_command(no.GO_TARGET_LIST, move)
            assert isinstance(command, GoTarget)
            self._legs[command.key] = command
        if self._driving is None or self._driving.done():
            self._driving = part(self._drive_legs())
        return {"ret_code": 0}

    def _leave_out_legs(self) -> None:
        self._left_out.update(self._legs)
        self._legs.clear()

    async def _drive_legs(self) -> None:
        while self._legs:
            key = next(iter(self._legs))
            answer = await self._hall.told(self._legs.pop(key))
            while answer.ok and self._hall.status_of(self.robot_id, key) not in (4, 5, 6):
                await self._hall.clock.sleep_until(self._hall.clock.now_ms() + _LEG_MS)
            if not answer.ok or self._hall.status_of(self.robot_id, key) == no.FAILED:
                self._leave_out_legs()

    def _fork(self, number: int, height: Any) -> dict[str, Any]:
        if number == no.FORK_HEIGHT:
            if not isinstance(height, int | float) or isinstance(height, bool) or not 0 <= height <= 20:
                return self._no(40001, "height is a number from 0 to 20")
            self._hall.send_fork(self.robot_id, float(height))
        else:
            self._hall.stop_fork(self.robot_id)
        return {"ret_code": 0}

    def _no(self, number: int, says: str) -> dict[str, Any]:
        return {"err_msg": says} if self._manners.bare_errors else {"ret_code": number, "err_msg": says}

    # -- status

    async def _status(self) -> dict[str, Any] | None:
        report = await self._hall.look(self.robot_id)
        return None if report is None else self._as_status(report)

    def _as_status(self, report: Telemetry) -> dict[str, Any]:
        now_ms = self._hall.clock.now_ms()
        standing = report.next_node_id is None
        height_m, there, loaded = self._hall.fork(report)
        return {
            "x": report.x,
            "y": report.y,
            "angle": report.heading,
            "reloc_status": 2 if report.node_id is None else 1,
            "current_station": (report.node_id or "") if standing else "",
            "last_station": report.node_id or "",
            "finished_path": [report.node_id] if report.node_id else [],
            "unfinished_path": [report.next_node_id] if report.next_node_id else [],
            "task_status": report.task_status,
            "target_id": report.target or "",
            "battery_level": report.battery,
            "charging": report.charging,
            "blocked": report.blocked,
            "emergency": False,
            "fork_height": height_m,
            "fork_height_in_place": there,
            "fatals": [],
            "errors": [{"code": _FIRST_ALARM, "desc": report.error}] if report.error else [],
            "warnings": [],
            "notices": [],
            "time": now_ms - self._born_ms,
            "create_on": datetime.fromtimestamp(now_ms / 1000, UTC).isoformat(timespec="milliseconds"),
            **_sensed(self._manners.sensor, loaded),
        }


_PARTS = {
    no.RUN: ("time",),
    no.LOCATION: ("x", "y", "angle", "reloc_status", "current_station", "last_station"),
    no.BLOCKED: ("blocked",),
    no.BATTERY: ("battery_level", "charging"),
    no.EMERGENCY: ("emergency",),
    no.TASK: ("task_status", "target_id", "finished_path", "unfinished_path"),
    no.FORK: ("fork_height", "fork_height_in_place", "fork_pressure_actual"),
    no.ALARMS: ("fatals", "errors", "warnings", "notices"),
}
_COMMANDS = (no.PAUSE, no.RESUME, no.CANCEL, no.GO_TARGET, no.GO_TARGET_LIST, no.FORK_HEIGHT, no.FORK_STOP)


def _sensed(sensor: str | None, loaded: bool) -> dict[str, Any]:
    corners = [[-0.6, -0.4], [0.6, -0.4], [0.6, 0.4], [-0.6, 0.4]] if loaded else []
    said: dict[str, Any] = {
        "goods_region": {"name": "goods", "point": corners},
        "roller_isFull": [loaded],
        "hook_isFull": loaded,
        "fork_pressure_actual": 410.0 if loaded else 3.0,
    }
    return {sensor: said[sensor]} if sensor is not None else {}
