"""Looking at a broker before it is used: which vehicles are heard there, how each is, what a scene would say of it.

It listens for a while and asks every vehicle that it hears of for its state and its factsheet. Those are questions: no
vehicle moves by them, and nothing is changed.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from beforehand.adapters.vda5050.dialects import DEFAULT, DIALECTS
from beforehand.adapters.vda5050.lines import CANCEL_AGAIN_S, client_of, why_no_line
from beforehand.adapters.vda5050.messages import Connection, Factsheet, State, decoded, moment_ms, timestamp
from beforehand.adapters.vda5050.options import INTERFACE
from beforehand.adapters.vda5050.reading import is_active, trouble
from beforehand.model.broker import Broker
from beforehand.ports.tasks import part, stop

LISTEN_S = 4.0
CONNECT_S = 5.0
TRIES = 3
MOST = 1000
"""Vehicles that are listened to; whoever floods a broker with names is not followed."""
ASK_EVERY_S = 1.0
CLOCK_SLACK_MS = 2000
TOPICS = ("connection", "state", "factsheet")
WORK = ("pick", "drop")


@dataclass(slots=True)
class Found:
    """One vehicle, by its topics, and what it said."""

    interface: str
    major: str
    manufacturer: str
    serial: str
    connection: str | None = None
    state: State | None = None
    factsheet: Factsheet | None = None
    unread: str | None = None
    """Why a message of it could not be read."""
    heard_ms: list[int] = field(default_factory=list)
    asked: dict[str, float] = field(default_factory=dict)
    trips_ms: list[float] = field(default_factory=list)
    clock_offset_ms: int | None = None

    @property
    def name(self) -> str:
        return f"{self.manufacturer}/{self.serial}"

    @property
    def version(self) -> str:
        said = self.state or self.factsheet
        return said.version if said is not None else ""

    @property
    def entry(self) -> dict[str, Any]:
        """The `link` of a scene for it."""
        near = next((one for one in DIALECTS if one.split(".")[:2] == self.version.split(".")[:2]), DEFAULT)
        more = {"version": near} if near != DEFAULT else {}
        more |= {"interface": self.interface} if self.interface != INTERFACE else {}
        return {"kind": "vda5050", "manufacturer": self.manufacturer, "serial": self.serial, **more}

    @property
    def is_there(self) -> bool:
        return self.connection == "ONLINE" or (self.connection is None and self.state is not None)

    def hear(self, topic: str, payload: object, now_ms: int, at_s: float) -> None:
        kinds: dict[str, Any] = {"connection": Connection, "state": State, "factsheet": Factsheet}
        message = decoded(kinds[topic], payload)
        if isinstance(message, str):
            self.unread = f"its {topic} cannot be read: {message}"
        elif isinstance(message, Connection):
            self.connection = message.connection_state
        elif isinstance(message, Factsheet):
            self.factsheet = message
        elif isinstance(message, State):
            self._hear_state(message, now_ms, at_s)

    def _hear_state(self, state: State, now_ms: int, at_s: float) -> None:
        self.state = state
        self.heard_ms.append(now_ms)
        for one in state.action_states:
            if (asked_s := self.asked.pop(one.action_id, None)) is not None:
                self.trips_ms.append(1000 * (at_s - asked_s))
        made_ms = moment_ms(state.timestamp)
        if made_ms is not None:
            self.clock_offset_ms = made_ms - now_ms

    # -- what that means

    def troubles(self) -> list[str]:
        """What stands in the way of using it, in sentences."""
        if self.unread:
            return [f"{self.name}: {self.unread}"]
        told = [f"{self.name} speaks {self.major}, and Beforehand 2.0 and 2.1."] if self.major != "v2" else []
        if self.state is None:
            return [*told, f"{self.name} is online and did not say how it is."] if self.is_there else told
        state = self.state
        position = state.agv_position
        if said := trouble(state, None):
            told.append(f"{self.name}: {said}")
        if position is not None and not position.position_initialized:
            told.append(f"{self.name} does not know where it is: have it localised.")
        elif position is None and not state.last_node_id:
            told.append(f"{self.name} does not say where it is.")
        if is_active(state):
            told.append(f"{self.name} carries out the order {state.order_id[:100]}. Nobody else may give it orders.")
        known = self.factsheet.actions if self.factsheet else ()
        missing = [name for name in WORK if known and name not in known]
        if missing:
            told.append(f"{self.name} does not know the {' and '.join(missing)} that orders ask for.")
        return told

    def notes(self) -> list[str]:
        """What is good to know."""
        offset = self.clock_offset_ms
        told = []
        if not self.is_there:
            told.append(f"{self.name} is not there ({self.connection or 'nothing heard'}).")
            return told
        if offset is not None and abs(offset) > CLOCK_SLACK_MS:
            told.append(f"The clock of {self.name} is {offset / 1000:+.1f} s off; set it, or its logs will not fit.")
        if self.state is not None and offset is None:
            told.append(f"{self.name} gives no time that can be read: {self.state.timestamp[:40]!r}.")
        if self.state is not None and self.state.serial_number not in ("", self.serial):
            told.append(f"{self.name} calls itself {self.state.serial_number[:60]} in its messages; its topics count.")
        if self.state is not None and not self.trips_ms:
            told.append(f"{self.name} did not answer a request for its state: it is heard when it speaks by itself.")
        if self.state is not None and self.state.loads is None:
            told.append(f"{self.name} does not say what it carries: that follows from its work.")
        return told

    def wire(self) -> dict[str, Any]:
        state, sheet = self.state, self.factsheet
        battery = state.battery_state if state else None
        gaps = [later - sooner for sooner, later in zip(self.heard_ms, self.heard_ms[1:], strict=False)]
        return {
            "manufacturer": self.manufacturer,
            "serial": self.serial,
            "interface": self.interface,
            "version": self.version or None,
            "connection": self.connection,
            "operatingMode": (state.operating_mode or None) if state else None,
            "nodeId": (state.last_node_id or None) if state else None,
            "battery": None if battery is None or battery.battery_charge is None else battery.battery_charge / 100,
            "charging": None if battery is None else battery.charging,
            "loads": None if state is None or state.loads is None else len(state.loads),
            "orderId": (state.order_id or None) if state else None,
            "orderActive": None if state is None else is_active(state),
            "errors": [one.wire() for one in state.errors] if state else [],
            "clockOffsetMs": self.clock_offset_ms,
            "roundTripMs": round(median(self.trips_ms), 2) if self.trips_ms else None,
            "statesHeard": len(self.heard_ms),
            "stateIntervalMs": round(median(gaps)) if gaps else None,
            "series": sheet.type_specification.series_name if sheet and sheet.type_specification else None,
            "actions": list(sheet.actions) if sheet else None,
            "link": self.entry,
        }


@dataclass(frozen=True, slots=True)
class Checkup:
    """What was found at a broker."""

    broker: Broker
    speaks: bool = False
    vehicles: tuple[Found, ...] = ()
    troubles: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def wire(self) -> dict[str, Any]:
        """For programs."""
        return {
            "broker": str(self.broker),
            "speaks": "mqtt" if self.speaks else None,
            "vehicles": [one.wire() for one in self.vehicles],
            "troubles": list(self.troubles),
            "notes": list(self.notes),
        }


async def check_broker(broker: Broker, now_ms: Callable[[], int], listen_s: float = LISTEN_S) -> Checkup:
    """Who is heard at the broker within so many seconds."""
    try:
        async with client_of(broker, timeout=CONNECT_S) as client:
            for topic in TOPICS:
                await client.subscribe(f"+/+/+/+/{topic}", qos=1 if topic == "connection" else 0)
            found: dict[tuple[str, ...], Found] = {}
            await _listen(client, found, now_ms, listen_s)
    except Exception as error:
        return Checkup(broker, troubles=(why_no_line(error, broker),))
    vehicles = tuple(sorted(found.values(), key=lambda one: one.name))
    troubles = [said for one in vehicles for said in one.troubles()]
    if not any(one.is_there for one in vehicles):
        troubles.insert(
            0, f"No vehicle was heard at {broker} within {listen_s:g} s: is one switched on, with this broker?"
        )
    return Checkup(broker, True, vehicles, tuple(troubles), tuple(said for one in vehicles for said in one.notes()))


async def _listen(client: Any, found: dict[tuple[str, ...], Found], now_ms: Callable[[], int], listen_s: float) -> None:
    asking: set[asyncio.Task[None]] = set()
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(listen_s):
            async for message in client.messages:
                *named, topic = str(message.topic).split("/")
                key = tuple(named)
                if key not in found and len(found) == MOST:
                    continue
                if key not in found:
                    found[key] = Found(named[0], named[1], named[2], named[3])
                    asking.add(part(_ask(client, found[key], now_ms)))
                found[key].hear(topic, message.payload, now_ms(), loop.time())
    except TimeoutError:
        pass
    finally:
        await stop(asking, again_s=CANCEL_AGAIN_S)


async def _ask(client: Any, vehicle: Found, now_ms: Callable[[], int]) -> None:
    for number in range(TRIES):
        kinds = ("stateRequest", "factsheetRequest") if number == 0 else ("stateRequest",)
        for kind in kinds:
            action_id = f"check-{vehicle.serial}-{kind}-{now_ms()}-{number}"
            if kind == "stateRequest":
                vehicle.asked[action_id] = asyncio.get_running_loop().time()
            await client.publish(
                f"{vehicle.interface}/{vehicle.major}/{vehicle.name}/instantActions",
                _request(vehicle, kind, action_id, now_ms()),
            )
        await asyncio.sleep(ASK_EVERY_S)


def _request(vehicle: Found, kind: str, action_id: str, now: int) -> bytes:
    action: Mapping[str, Any] = {
        "actionType": kind,
        "actionId": action_id,
        "blockingType": "NONE",
        "actionParameters": [],
    }
    document = {
        "headerId": 0,
        "timestamp": timestamp(now),
        "version": vehicle.version or DEFAULT,
        "manufacturer": vehicle.manufacturer,
        "serialNumber": vehicle.serial,
        "actions": [action],
    }
    dialect = DIALECTS.get(vehicle.version, DIALECTS[DEFAULT])
    return json.dumps(dialect.outgoing("instantActions", document)).encode()
