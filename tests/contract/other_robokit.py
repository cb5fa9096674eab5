"""A Robokit robot that shares no code with ours: blocking sockets and a thread for each connection.

It was written from the protocol's description alone, so that the link is not tried against our own reading of it only.
What it does not know, and how it differs from the next maker's, is in its `Habits`.
"""

import json
import socket
import struct
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

HEADER = struct.Struct("!BBHLH6s")
GROUPS = {"status": 1, "control": 2, "task": 3, "config": 4, "other": 6, "push": 9}
WRONG_PORT, UNKNOWN, BAD_JSON = 60_000, 60_001, 60_002
RUNNING, SUSPENDED, DONE, CANCELLED = 2, 3, 4, 6
Answer = dict[str, Any]


@dataclass(frozen=True)
class Habits:
    unknown: Sequence[int] = (1110,)
    needs_control: bool = False
    one_caller: bool = False
    """Whether every port but the status port serves one connection after the other."""
    says_ret_code: bool = True
    tail: bool = False
    """Whether bytes that are no JSON follow it, with its true length in the header."""
    dribbles: bool = False
    sensor: str = ""
    ends_with: int = DONE
    begins_after_s: float = 0.05
    takes_s: float = 1.5
    """Long enough that a slow machine still sees it run."""


class OtherRobot:
    def __init__(self, node: str, nodes: Sequence[str], habits: Habits) -> None:
        self.done: list[tuple[str, str | None]] = []
        self.holder = ""
        self.ports: dict[str, int] = {}
        self._habits, self._nodes = habits, nodes
        self._node, self._status, self._loaded, self._height = node, 0, False, 0.1
        self._order: Answer = {}
        self._due_s = float("inf")
        self._lock = threading.Lock()
        self._closed = False
        self._listening: list[socket.socket] = []
        for kind in GROUPS:
            self._listen(kind)
        threading.Thread(target=self._drive, daemon=True).start()

    def close(self) -> None:
        self._closed = True
        for bound in self._listening:
            bound.close()

    # -- the wire

    def _listen(self, kind: str) -> None:
        bound = socket.create_server(("127.0.0.1", 0))
        self._listening.append(bound)
        self.ports[kind] = bound.getsockname()[1]
        threading.Thread(target=self._accept, args=(kind, bound), daemon=True).start()

    def _accept(self, kind: str, bound: socket.socket) -> None:
        while not self._closed:
            try:
                line, _ = bound.accept()
            except OSError:
                return
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._habits.one_caller and kind != "status":
                self._talk(kind, line)
            else:
                threading.Thread(target=self._talk, args=(kind, line), daemon=True).start()

    def _talk(self, kind: str, line: socket.socket) -> None:
        try:
            with line:
                while True:
                    sync, version, number, length, api, _ = HEADER.unpack(_exactly(line, HEADER.size))
                    if sync != 0x5A:
                        return
                    api, answer = self._answered(kind, api, _exactly(line, length))
                    self._send(line, version, number, api, answer)
        except (EOFError, OSError):
            return

    def _answered(self, kind: str, api: int, body: bytes) -> tuple[int, Answer | None]:
        try:
            asked = json.loads(body) if body else {}
        except ValueError:
            return BAD_JSON, None
        if api // 1000 != GROUPS[kind]:
            return WRONG_PORT, None
        with self._lock:
            answer = None if api in self._habits.unknown else self._answer(api, asked)
        if answer is None:
            return UNKNOWN, None
        if self._habits.says_ret_code:
            answer = {"ret_code": 0, "create_on": "2026-01-01T00:00:00.000Z", **answer}
        return api + 10_000, answer

    def _send(self, line: socket.socket, version: int, number: int, api: int, answer: Answer | None) -> None:
        body, reserved = b"" if answer is None else json.dumps(answer).encode(), bytes(6)
        if self._habits.tail and body:
            reserved, body = struct.pack("!2xH2x", len(body)), body + b"\0\xff\x5a\x01 no JSON"
        frame = HEADER.pack(0x5A, version, number, len(body), api, reserved) + body
        step = 7 if self._habits.dribbles else len(frame)
        for start in range(0, len(frame), step):
            line.sendall(frame[start : start + step])

    # -- the robot

    def _answer(self, api: int, asked: Answer) -> Answer | None:
        if api in (1000, 1004, 1006, 1007, 1012, 1020, 1028, 1050, 1060, 1100, 1101, 1102, 1301):
            return self._told(api)
        if api in (4005, 4006):
            self.holder = str(asked.get("nick_name", "")) if api == 4005 else ""
            return {}
        if api in (3001, 3002, 3003, 3051):
            if self._habits.needs_control and not self.holder:
                return {"ret_code": 40_020, "err_msg": "control is not locked"}
            return self._ordered(api, asked)
        return {} if api in (4009, 6041) else None

    def _told(self, api: int) -> Answer:
        under_way = self._status in (RUNNING, SUSPENDED)
        task = {
            "task_status": self._status,
            "task_type": 3 if self._order else 0,
            "target_id": self._order.get("id", ""),
            "finished_path": [self._node],
            "unfinished_path": [self._order["id"]] if under_way else [],
        }
        place = {
            "x": 0.0,
            "y": 0.0,
            "angle": 0.0,
            "confidence": 0.9,
            "current_station": "" if under_way else self._node,
        }
        alarms: Answer = {"fatals": [], "errors": [], "warnings": [], "notices": []}
        fork = {"fork_height": self._height, "fork_height_in_place": True}
        battery = {"battery_level": 0.83, "charging": False}
        stops = {"blocked": False, "emergency": False, "soft_emc": False}
        sensors: Answer = {
            "goods_region": {"name": "pallet" if self._loaded else "", "point": [{"x": 1, "y": 1}] * self._loaded},
            "fork_pressure_actual": 300 if self._loaded else 0,
            "roller_isFull": self._loaded,
        }
        load = {name: value for name, value in sensors.items() if name == self._habits.sensor}
        single: dict[int, Answer] = {
            1000: {"id": "X-77", "version": "v3.4.6", "model": "other", "current_map": "hall"},
            1004: place,
            1006: {"blocked": False},
            1007: battery,
            1012: stops,
            1020: task,
            1028: fork,
            1050: alarms,
            1060: {"locked": bool(self.holder), "nick_name": self.holder},
            1301: {"stations": [{"id": node, "x": 0, "y": 0, "r": 0} for node in self._nodes]},
        }
        return single.get(api, {**task, **place, **alarms, **fork, **battery, **stops, **load})

    def _ordered(self, api: int, asked: Answer) -> Answer:
        if api == 3051:
            if asked.get("id") not in self._nodes:
                return {"ret_code": 50_101, "err_msg": "target not found"}
            self._order, self._due_s = asked, time.monotonic() + self._habits.begins_after_s
        elif api == 3003 and self._status in (RUNNING, SUSPENDED):
            self._status, self._due_s = CANCELLED, float("inf")
        elif api == 3001 and self._status == RUNNING:
            self._status = SUSPENDED
        elif api == 3002 and self._status == SUSPENDED:
            self._status, self._due_s = RUNNING, time.monotonic() + self._habits.takes_s
        return {}

    def _drive(self) -> None:
        while not self._closed:
            time.sleep(0.01)
            with self._lock:
                if time.monotonic() < self._due_s or self._status == SUSPENDED:
                    continue
                if self._status != RUNNING:
                    self._status, self._due_s = RUNNING, time.monotonic() + self._habits.takes_s
                else:
                    self._arrive()

    def _arrive(self) -> None:
        operation = self._order.get("operation")
        self._node, self._height = self._order["id"], self._order.get("end_height", self._height)
        self._loaded = {"ForkLoad": True, "ForkUnload": False}.get(str(operation), self._loaded)
        self._status, self._due_s = self._habits.ends_with, float("inf")
        self.done.append((self._node, operation))


def _exactly(line: socket.socket, count: int) -> bytes:
    read = b""
    while len(read) < count:
        part = line.recv(count - len(read))
        if not part:
            raise EOFError
        read += part
    return read
