"""Looking at an OPC UA server before it is used: what it is, which nodes of a cell's model it has, how the cell is.

Only values are read: no method is called, nothing moves and nothing is changed.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from beforehand.adapters.opcua.link import close_client, new_client, secured
from beforehand.adapters.opcua.model import (
    ALL_METHODS,
    CANNOT_REFUSE,
    CELL,
    FLAG,
    NAMESPACES,
    NUMBER,
    OPTIONAL,
    STATE,
    STATE_TYPES,
    TEXT,
    WHOLE,
    Method,
    PlcState,
    read_state,
    tool_name,
)
from beforehand.adapters.opcua.nodes import Nodes, declared_arguments, find_nodes
from beforehand.adapters.opcua.options import Access
from beforehand.adapters.opcua.trust import fingerprint, first_of_chain
from beforehand.model.errors import BeforehandError, Fault
from beforehand.model.words import counted

ANSWER_S = 4.0
CONNECT_S = 6.0
TRIES = 5
CLOCK_SLACK_MS = 2000
_FIT = {
    TEXT: {"String", "LocalizedText"},
    FLAG: {"Boolean"},
    NUMBER: {"Double", "Float", "Int16", "Int32", "Int64", "UInt16", "UInt32", "UInt64"},
    WHOLE: {"Int64", "Int32", "UInt32", "UInt64"},
}


@dataclass(slots=True)
class Checkup:
    """What was found; `troubles` are sentences about what stands in the way of using it, `notes` about the rest."""

    url: str
    speaks: bool = False
    server: dict[str, str] = field(default_factory=dict)
    security: list[str] = field(default_factory=list)
    certificate: str | None = None
    """The fingerprint of the certificate that the server shows."""
    nodes: dict[str, str] = field(default_factory=dict)
    """Every node of the model: `there`, `missing`, `optional`, or of which other type it is."""
    state: PlcState | None = None
    clock_offset_ms: int | None = None
    round_trips_ms: list[float] = field(default_factory=list)
    entry: dict[str, Any] = field(default_factory=dict)
    version: int | None = None
    """Of the information model."""
    misfits: list[str] = field(default_factory=list)
    """Those of the troubles that are about the model."""
    limits: list[str] = field(default_factory=list)
    """Those of the notes that say what it cannot do."""
    troubles: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def wire(self) -> dict[str, Any]:
        """For programs."""
        state = self.state
        return {
            "url": self.url,
            "speaks": "opcua" if self.speaks else None,
            "server": self.server,
            "security": self.security,
            "serverCertificate": self.certificate,
            "modelVersion": self.version,
            "nodes": self.nodes,
            "position": (state.position or None) if state else None,
            "tool": tool_name(state.tool) if state else None,
            "busy": state.busy if state else None,
            "commandId": (state.command_id or None) if state else None,
            "error": (state.error or None) if state else None,
            "controlledBy": state.controlled_by if state else None,
            "clockOffsetMs": self.clock_offset_ms,
            "roundTripMs": round(median(self.round_trips_ms), 2) if self.round_trips_ms else None,
            "roundTripsMs": [round(one, 2) for one in self.round_trips_ms],
            "controller": self.entry,
            "troubles": self.troubles,
            "notes": self.notes,
        }


async def check_cell(access: Access, entry: dict[str, Any], now_ms: Callable[[], int]) -> Checkup:
    """Everything that can be learnt by reading; `entry` is what a scene would say of the controller."""
    found = Checkup(access.url, entry=entry)
    client = None
    try:
        client = new_client(access)
        found.security, found.certificate = await _security(client)
        async with asyncio.timeout(CONNECT_S):
            await secured(client, access)
            await client.connect()
        found.speaks = True
        _believe(access, found)
        await _look_at(client, found, now_ms)
    except BeforehandError as error:
        found.troubles.append(error.says)
    except Exception as error:
        found.troubles.append(_why(error, found))
    finally:
        if client is not None:
            await close_client(client)
    return found


def _believe(access: Access, found: Checkup) -> None:
    """Whoever signs and encrypts should know to whom: the entry for a scene names the certificate that was shown."""
    if access.certificate and not access.server_certificate and found.certificate:
        found.entry["server_certificate"] = found.certificate
        found.notes.append("Compare the fingerprint of its certificate with the one that the controller itself shows.")


async def _security(client: Any) -> tuple[list[str], str | None]:
    """The ways in that the server offers, the safest last, and the fingerprint of the certificate it shows there."""
    async with asyncio.timeout(CONNECT_S):
        offered = await client.connect_and_get_server_endpoints()
    named = {(one.SecurityLevel, one.SecurityPolicyUri.rpartition("#")[2], one.SecurityMode.name) for one in offered}
    ways = dict.fromkeys(policy if mode == "None_" else f"{policy} {mode}" for _, policy, mode in sorted(named))
    shown = next((one.ServerCertificate for one in offered if one.ServerCertificate), None)
    return list(ways), None if shown is None else fingerprint(first_of_chain(shown))


async def _look_at(client: Any, found: Checkup, now_ms: Callable[[], int]) -> None:
    async def ask(question: Awaitable[Any]) -> Any:
        from asyncua import ua

        try:
            async with asyncio.timeout(ANSWER_S):
                return await question
        except ua.UaStatusCodeError:
            return None

    await _read_server(client, found, now_ms, ask)
    nodes = await find_nodes(client, ask)
    if nodes is None:
        names = " or ".join(NAMESPACES.values())
        found.misfits.append(f"It does not have the namespace {names}, so there is no cell to be found.")
        found.troubles += found.misfits
        return
    found.version = nodes.version
    found.nodes = await _judged(nodes, ask)
    missing = [path for path, how in found.nodes.items() if how == "missing"]
    wrong = [f"{path} {how}" for path, how in found.nodes.items() if how not in ("there", "missing", "optional")]
    if missing:
        found.misfits.append(f"Nodes of a cell's information model are missing: {', '.join(missing)}.")
    if wrong:
        found.misfits.append(f"Nodes are of another type: {'; '.join(wrong)}.")
    found.troubles += found.misfits
    if not nodes.can_hold:
        found.limits.append("It has no Hold and GoOn: when everything is held, the command under way comes to its end.")
    if not nodes.can_refuse:
        found.limits.append(CANNOT_REFUSE)
    found.notes += found.limits
    if all(name in nodes.state for name in STATE_TYPES):
        await _read_cell(client, nodes, found)


async def _read_server(client: Any, found: Checkup, now_ms: Callable[[], int], ask: Any) -> None:
    from asyncua import ua

    began = now_ms()
    status = await ask(client.get_node(ua.NodeId(ua.ObjectIds.Server_ServerStatus)).read_value())
    if status is None:
        return
    build, told = status.BuildInfo, now_ms()
    named = {"product": build.ProductName, "manufacturer": build.ManufacturerName, "version": build.SoftwareVersion}
    found.server = {key: str(value) for key, value in named.items() if value}
    if status.CurrentTime is not None:
        found.clock_offset_ms = round(_utc_ms(status.CurrentTime) - (began + told) / 2)
    if abs(found.clock_offset_ms or 0) > CLOCK_SLACK_MS:
        off_s = (found.clock_offset_ms or 0) / 1000
        found.notes.append(
            f"Its clock is {off_s:+.1f} s off; deadlines are by its clock, but set it: logs will not fit."
        )
    if set(found.security) == {"None"}:
        found.notes.append("It offers no signed and encrypted line: whoever is in its network can command it.")


def _utc_ms(moment: Any) -> float:
    from datetime import UTC

    return float((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


async def _read_cell(client: Any, nodes: Nodes, found: Checkup) -> None:
    values: list[Any] = []
    for _ in range(TRIES):
        began = asyncio.get_running_loop().time()
        async with asyncio.timeout(ANSWER_S):
            values = await client.read_values([nodes.state[name] for name in STATE_TYPES])
        found.round_trips_ms.append(1000 * (asyncio.get_running_loop().time() - began))
    try:
        found.state = read_state(dict(zip(STATE_TYPES, values, strict=True)), found.url)
    except Fault as fault:
        found.troubles.append(fault.says)
        return
    if found.state.controlled_by:
        found.troubles.append(f"{found.state.controlled_by} has control of it; it must be given back there first.")
    if found.state.busy:
        found.troubles.append(f"It is at {found.state.command_id or 'something'} now.")
    if not found.state.position:
        found.troubles.append(f"It does not say where the robot stands. {found.state.error}".strip())


async def _judged(nodes: Nodes, ask: Any) -> dict[str, str]:
    """Every node of the model by its path, and how it is."""
    told = dict.fromkeys(nodes.missing, "missing")
    for name, kind in STATE_TYPES.items():
        if name in nodes.state:
            told[f"{CELL}.{STATE}.{name}"] = _fits(await _type(nodes.state[name], ask), kind)
    for name, method in ALL_METHODS.items():
        if name in nodes.methods:
            takes = nodes.execute if name == "Execute" else tuple(method.takes)
            told[f"{CELL}.{name}"] = await _method_fits(nodes.methods[name], takes, method, ask)
        elif name in OPTIONAL:
            told[f"{CELL}.{name}"] = "optional"
    return told


async def _type(node: Any, ask: Any) -> str | None:
    value = await ask(node.read_data_value(raise_on_bad_status=False))
    return None if value is None or value.Value is None else value.Value.VariantType.name


def _fits(found: str | None, wanted: str) -> str:
    if found is None:
        return "cannot be read"
    return "there" if found in _FIT[wanted] else f"is a {found}, not a {wanted}"


async def _method_fits(node: Any, takes: Sequence[str], method: Method, ask: Any) -> str:
    """By the numbers of its arguments, where it describes them."""
    from asyncua import ua

    kind = await ask(node.read_node_class())
    if kind not in (None, ua.NodeClass.Method):
        return f"is a {kind.name}, not a Method"
    for name, wanted in (("InputArguments", takes), ("OutputArguments", tuple(method.gives))):
        given = await declared_arguments(node, name, ask)
        if given is not None and len(given) != len(wanted):
            what = "takes" if name == "InputArguments" else "answers"
            return f"{what} {counted(len(given), 'value')}, not {len(wanted)} ({', '.join(wanted) or 'none'})"
    return "there"


def _why(error: Exception, found: Checkup) -> str:
    from asyncua import ua

    said = f"{type(error).__name__}: {error}"[:200].rstrip(". \n")
    if isinstance(error, ConnectionRefusedError):
        return f"{found.url} cannot be reached: nothing listens on this port."
    if isinstance(error, ua.UaStatusCodeError) and found.security:
        ways = ", ".join(found.security)
        return f"{found.url} does not let us in ({said}). It offers: {ways}. Look at user, password and certificates."
    if isinstance(error, TimeoutError | asyncio.CancelledError | ConnectionResetError):
        return f"{found.url} does not answer as an OPC UA server does."
    return f"{found.url} cannot be used: {said}."
