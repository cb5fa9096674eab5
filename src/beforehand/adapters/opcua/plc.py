"""A simulated PLC: the information model of a cell over real TCP, with the simulated cell behind it.

It does what is asked of a real one: one client controls it at a time, a command is taken once, with an id that it
remembers and not after its deadline, and it goes on by itself whoever listens. `keep` is its battery-backed memory;
without it a restart forgets every command, and the cell begins anew where its scene says.
"""

import asyncio
import json
import secrets
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

from beforehand.adapters.opcua.link import library
from beforehand.adapters.opcua.model import (
    CELL,
    COMMAND,
    COMMAND_TYPES,
    CONTROL,
    DONE,
    EXPIRED,
    FAILED,
    FLAG,
    KNOWN_ID,
    LOST,
    METHODS,
    NAMESPACES,
    NEEDS_TYPES,
    NEVER,
    NUMBER,
    OPTIONAL,
    RUNNING,
    STATE,
    STATE_TYPES,
    TEXT,
    WHOLE,
    command_values,
    read_command,
)
from beforehand.adapters.sim.cell import SimCell
from beforehand.adapters.sim.cell_faults import CellFault
from beforehand.model.cell import CellScene
from beforehand.model.errors import Fault
from beforehand.ports.cell import CellCommand
from beforehand.ports.clock import Clock
from beforehand.ports.tasks import part, stop

CONTROL_S = 5.0
"""How long control lasts after the last sign of life of who has it."""
TICK_S = 0.05
_STATUS = {"happened": DONE, "running": RUNNING, "failed": FAILED, "unknown": LOST, "not_begun": NEVER}
_EMPTY: dict[str, Any] = {TEXT: "", FLAG: False, NUMBER: 0.0, WHOLE: 0}


class SimulatedPlc:
    """One server with one cell. Its cell's seconds pass by `clock`, `speed` times as fast."""

    def __init__(
        self,
        scene: CellScene,
        clock: Clock,
        *,
        speed: float = 1.0,
        keep: Path | None = None,
        holds: bool = True,
        version: int = 2,
    ) -> None:
        self._scene = scene
        self._version = version
        self._command_types = COMMAND_TYPES if version == 1 else {**COMMAND_TYPES, **NEEDS_TYPES}
        execute = replace(METHODS["Execute"], takes={"client": TEXT, **self._command_types})
        self._methods = {**METHODS, "Execute": execute, **(OPTIONAL if holds else {})}
        self._clock = clock
        self._keep = keep
        self._cell = SimCell(scene, clock, file=keep and keep.with_suffix(".cell.json"), speed=speed)
        kept = json.loads(keep.read_text(encoding="utf-8")) if keep is not None and keep.exists() else {}
        self._memory: str = kept.get("memory") or secrets.token_hex(8)
        self._command: dict[str, Any] = kept.get("command") or {}
        self._progress = 0.0
        self._controlled_by, self._control_until = "", 0.0
        self._work: asyncio.Task[None] | None = None
        self._ticking: asyncio.Task[None] | None = None
        self._nodes: dict[str, Any] = {}
        self._shown: dict[str, Any] = {}
        self._server: Any = None
        self.url = ""
        self.taken: list[str] = []
        """The ids of the commands that this process has begun."""

    def inject(self, fault: CellFault) -> None:
        self._cell.inject(fault)

    # -- the server ----------------------------------------------------------------------------------------------

    async def start(
        self, host: str = "127.0.0.1", port: int = 0, *, users: Any = None, secured: tuple[Path, Path] | None = None
    ) -> None:
        """Listen; `users` is asyncua's user manager, where not everybody may come.

        With `secured`, a certificate and its key, only who signs and encrypts is let in.
        """
        server_class = library().Server
        self._save()
        port = port or _free_port(host)
        self.url = f"opc.tcp://{host}:{port}"
        self._server = server_class(user_manager=users)
        await self._server.init()
        self._server.set_endpoint(self.url)
        self._server.set_server_name(f"Simulated cell {self._scene.name}")
        if secured is not None:
            from asyncua import ua

            await self._server.load_certificate(secured[0])
            await self._server.load_private_key(secured[1])
            self._server.set_security_policy([ua.SecurityPolicyType.Basic256Sha256_SignAndEncrypt])
        await self._lay_out(await self._server.register_namespace(NAMESPACES[self._version]))
        await self.publish()
        await self._server.start()
        self._ticking = part(self._tick())

    async def _lay_out(self, at: int) -> None:
        from asyncua import ua

        cell = await self._server.nodes.objects.add_object(ua.NodeId(CELL, at), f"{at}:{CELL}")
        for group, types in ((STATE, STATE_TYPES), (COMMAND, self._command_types)):
            folder = await cell.add_object(ua.NodeId(f"{CELL}.{group}", at), f"{at}:{group}")
            for name, kind in types.items():
                node_id, value = ua.NodeId(f"{CELL}.{group}.{name}", at), ua.Variant(_EMPTY[kind], _type(kind))
                self._nodes[f"{group}.{name}"] = await folder.add_variable(node_id, f"{at}:{name}", value)
        for name, method in self._methods.items():
            await cell.add_method(
                ua.NodeId(f"{CELL}.{name}", at),
                f"{at}:{name}",
                self._answering(name),
                [_argument(*one) for one in method.takes.items()],
                [_argument(*one) for one in method.gives.items()],
            )

    def _answering(self, name: str) -> Any:
        from asyncua import ua

        handler = getattr(self, f"_{name.lower()}")
        method = self._methods[name]
        types = list(method.gives.values())

        async def answer(parent: Any, *given: Any) -> Any:
            if len(given) != len(method.takes):
                return ua.StatusCode(ua.StatusCodes.BadArgumentsMissing)
            values = await handler(*(one.Value for one in given))
            await self.publish()
            return [ua.Variant(value, _type(kind)) for value, kind in zip(values, types, strict=True)]

        return answer

    async def stop(self) -> None:
        """The process ends; what the robot is at goes on, as far as its memory is kept."""
        await stop(task for task in (self._ticking, self._work) if task is not None)
        if self._server is not None:
            await self._server.stop()

    # -- the methods ---------------------------------------------------------------------------------------------

    async def _heartbeat(self, client: str) -> tuple[Any, ...]:
        granted = self._grant(client)
        return granted, self._controlled_by, self._clock.now_ms(), self._memory

    def _grant(self, client: str) -> bool:
        """Whether control is this client's now: it goes to the first who asks, and lapses in silence."""
        now = asyncio.get_running_loop().time()
        if not client or (self._controlled_by not in ("", client) and now < self._control_until):
            return False
        self._controlled_by, self._control_until = client, now + CONTROL_S
        return True

    async def _release(self, client: str) -> tuple[Any, ...]:
        if client == self._controlled_by:
            self._controlled_by = ""
        return ()

    async def _execute(self, client: str, *values: Any) -> tuple[Any, ...]:
        try:
            command, deadline = read_command(values)
            await self._refuse(client, command, deadline)
            await self._begin(command)
        except Fault as refused:
            return False, refused.code, refused.says
        shown = command_values(command, deadline)
        self._command = {name: shown[name] for name in self._command_types}
        self._save()
        self.taken.append(command.key)
        return True, "", ""

    async def _refuse(self, client: str, command: CellCommand, deadline: int) -> None:
        if not self._grant(client):
            raise Fault(f"{self._controlled_by} controls this cell now.", code=CONTROL, untouched=True)
        if (await self._cell.did(command.key)).state != "not_begun":
            raise Fault(f"{command.key} was taken before; it is not done again.", code=KNOWN_ID, untouched=True)
        if self._clock.now_ms() > deadline:
            raise Fault(f"{command.key} came after its deadline.", code=EXPIRED, untouched=True)

    async def _begin(self, command: CellCommand) -> None:
        """The cell is at it once its first step is taken without a refusal."""
        self._progress = 0.0
        work = part(self._carry_out(command))
        await asyncio.sleep(0)
        if work.done():
            await work
        else:
            self._work = work

    async def _carry_out(self, command: CellCommand) -> None:
        begun = False

        def progress(percent: float) -> None:
            nonlocal begun
            begun, self._progress = True, percent

        try:
            await self._cell.do(command, progress)
        except Fault as fault:
            if fault.untouched and not begun:
                raise
        await self.publish()

    async def _stop(self, id: str) -> tuple[Any, ...]:
        await self._cell.stop(id)
        return ()

    async def _probe(self, id: str) -> tuple[Any, ...]:
        answer = await self._cell.did(id)
        value = answer.value or {}
        place, tool = value.get("current_position") or "", value.get("current_tool") or ""
        return _STATUS[answer.state], place, tool, answer.says, self._memory, self._clock.now_ms()

    async def _hold(self) -> tuple[Any, ...]:
        await self._cell.hold()
        return ()

    async def _goon(self, client: str) -> tuple[Any, ...]:
        if not self._grant(client):
            return False, CONTROL, f"{self._controlled_by} controls this cell now."
        await self._cell.go_on()
        return True, "", ""

    async def _place(self, client: str, position: str, tool: str) -> tuple[Any, ...]:
        if not self._grant(client):
            return False, CONTROL, f"{self._controlled_by} controls this cell now."
        if position not in {place.name for place in self._scene.positions}:
            return False, "cell.unknown_position", f"There is no position {position} here."
        await self._cell.place(position, tool)
        return True, "", ""

    # -- what it shows -------------------------------------------------------------------------------------------

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            if self._controlled_by and asyncio.get_running_loop().time() > self._control_until:
                self._controlled_by = ""
            await self.publish()

    async def publish(self) -> None:
        """Write what has changed, as it does every tick anyway; whoever subscribed is told."""
        from asyncua import ua

        values = {f"{STATE}.{name}": value for name, value in (await self._state()).items()}
        values |= {f"{COMMAND}.{name}": value for name, value in self._command.items()}
        for name, value in values.items():
            if self._shown.get(name) != value and name in self._nodes:
                self._shown[name] = value
                kind = {**STATE_TYPES, **self._command_types}[name.partition(".")[2]]
                await self._nodes[name].write_value(ua.Variant(value, _type(kind)))

    async def _state(self) -> dict[str, Any]:
        report = await self._cell.report()
        last = str(self._command.get("id", ""))
        answer = await self._cell.did(last) if last else None
        result = _STATUS[answer.state] if answer is not None else ""
        return {
            "position": report.position or "",
            "tool": report.tool,
            "busy": result == RUNNING,
            "commandId": last,
            "result": result,
            "error": answer.says if answer is not None and result in (FAILED, LOST) else "",
            "progress": 100.0 if result == DONE else self._progress,
            "memory": self._memory,
            "controlledBy": self._controlled_by,
        }

    def _save(self) -> None:
        if self._keep is None:
            return
        self._keep.parent.mkdir(parents=True, exist_ok=True)
        draft = self._keep.with_suffix(".new")
        draft.write_text(json.dumps({"memory": self._memory, "command": self._command}), encoding="utf-8")
        draft.replace(self._keep)


def _type(kind: str) -> Any:
    from asyncua import ua

    return getattr(ua.VariantType, kind)


def _argument(name: str, kind: str) -> Any:
    from asyncua import ua

    return ua.Argument(Name=name, DataType=ua.NodeId(getattr(ua.ObjectIds, kind)))


def _free_port(host: str) -> int:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])
