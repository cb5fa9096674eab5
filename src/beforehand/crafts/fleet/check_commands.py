"""`beforehand robot check`: a look at a robot, a broker or a cell's controller before it is used.

What speaks there is known by the address: a host is a robot over Robokit, `mqtt://` a broker with VDA 5050 vehicles,
`opc.tcp://` the controller of a cell.
"""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beforehand.cli.exits import DONE, FAILED
from beforehand.cli.options import HomeOption, OutputOption, settings_from
from beforehand.cli.screen import Output, print_err, print_json, print_out, print_table
from beforehand.model.words import counted

if TYPE_CHECKING:
    from beforehand.adapters.robokit.checkup import Checkup as RobokitCheckup
    from beforehand.adapters.vda5050.checkup import Found
    from beforehand.app.settings import Settings

DETAILS = 3
"""Up to so many vehicles are shown one by one."""
Row = tuple[str, str]


def check(
    address: Annotated[
        str,
        typer.Argument(
            metavar="ADDRESS",
            help="A robot over Robokit: HOST[:PORT]; a broker: mqtt[s]://HOST[:PORT]; a cell: opc.tcp://HOST[:PORT].",
        ),
    ],
    listen_s: Annotated[
        float, typer.Option("--for", metavar="SECONDS", min=0.5, max=3600, help="How long to listen at a broker.")
    ] = 4.0,
    certificate: Annotated[
        str | None,
        typer.Option("--certificate", metavar="FILE", help="For OPC UA: our certificate, to sign and encrypt."),
    ] = None,
    private_key: Annotated[
        str | None, typer.Option("--private-key", metavar="FILE", help="For OPC UA: the key of the certificate.")
    ] = None,
    server_certificate: Annotated[
        str | None,
        typer.Option(
            "--server-certificate",
            metavar="FILE|sha256:HEX",
            help="For OPC UA: the server's certificate, or its fingerprint; no other server is believed.",
        ),
    ] = None,
    output: OutputOption = Output.TABLE,
    home: HomeOption = None,
) -> int:
    """What speaks there, and how it is. Only questions are asked: nothing moves and nothing is changed."""
    from beforehand.cli.run_async import run_async
    from beforehand.model.errors import BadInputError

    scheme = address.partition("://")[0] if "://" in address else ""
    if (certificate or private_key or server_certificate) and scheme != "opc.tcp":
        says = "--certificate, --private-key and --server-certificate are for opc.tcp:// addresses."
        raise BadInputError(says, code="usage")
    settings = settings_from(home=home)
    if scheme in ("mqtt", "mqtts"):
        found, rows = run_async(_broker(address, settings, listen_s))
    elif scheme == "opc.tcp":
        found, rows = run_async(_cell(address, settings, certificate, private_key, server_certificate))
    elif scheme:
        says = f"Nothing is known of {scheme}://; an address is HOST[:PORT], mqtt://, mqtts:// or opc.tcp://."
        raise BadInputError(says, code="usage")
    else:
        found, rows = run_async(_robot(address))
    return _shown(found, rows, output)


def _shown(found: dict[str, Any], rows: list[list[Row]], output: Output) -> int:
    if output is Output.JSON:
        print_json(found)
    else:
        for table in rows:
            print_table(("", "what was found"), table)
        if found["speaks"]:
            for note in found["notes"]:
                print_out(note)
    print_err(*found["troubles"])
    return FAILED if found["troubles"] else DONE


# -- Robokit


async def _robot(address: str) -> tuple[dict[str, Any], list[list[Row]]]:
    from beforehand.adapters.robokit.checkup import check_robot, ports_from
    from beforehand.app.clock import WallClock
    from beforehand.crafts.fleet.wire_robots import read_address

    host, port = read_address(address)
    found = await check_robot(host, ports_from(port), WallClock().now_ms)
    return found.wire(), [_robot_rows(found)] if found.reading is not None else []


def _robot_rows(found: "RobokitCheckup") -> list[Row]:
    told = found.wire()
    trips = sorted(found.round_trips_ms)
    named = [str(value) for value in found.info.values()]
    return [
        ("speaks", f"Robokit, header version {found.header}"),
        ("robot", ", ".join(dict.fromkeys(named)) or "does not say"),
        ("at", told["nodeId"] or "nowhere it knows"),
        ("stations", "does not say" if found.stations is None else str(found.stations)),
        ("battery", _share(told["battery"])),
        ("load sensors", ", ".join(found.sensors) or "none"),
        ("control", {None: "does not say", "": "nobody"}.get(found.holder, str(found.holder))),
        ("alarms", "; ".join((*found.alarms, *found.warnings)) or "none"),
        ("clock", _offset(told["clockOffsetMs"])),
        ("round trip", f"{trips[len(trips) // 2]:.1f} ms, at most {trips[-1]:.1f} ms"),
        ("ports", ", ".join(f"{name} {port}" for name, port in found.open_ports.items()) or "none"),
        ("closed", ", ".join(f"{name} {port}" for name, port in found.closed_ports.items()) or "none"),
        ("link", json.dumps(found.entry)),
    ]


# -- VDA 5050


async def _broker(address: str, settings: "Settings", listen_s: float) -> tuple[dict[str, Any], list[list[Row]]]:
    from beforehand.adapters.vda5050.checkup import check_broker
    from beforehand.adapters.vda5050.lines import broker_of
    from beforehand.app.clock import WallClock
    from beforehand.model.errors import BadInputError

    broker = broker_of(address, settings.with_secrets, settings.__getitem__)
    if broker is None:
        raise BadInputError("A broker is mqtt://host:port or mqtts://host:port.", code="usage")
    found = await check_broker(broker, WallClock().now_ms, listen_s)
    vehicles = found.vehicles
    if len(vehicles) > DETAILS:
        return found.wire(), [[(one.name, _in_short(one)) for one in vehicles]]
    return found.wire(), [_vehicle_rows(one) for one in vehicles]


def _in_short(vehicle: "Found") -> str:
    told = vehicle.wire()
    parts = [told["connection"] or "", told["operatingMode"] or "", f"at {told['nodeId']}" if told["nodeId"] else ""]
    return ", ".join(part for part in (*parts, f"battery {_share(told['battery'])}") if part)


def _vehicle_rows(vehicle: "Found") -> list[Row]:
    told = vehicle.wire()
    order = told["orderId"] or "none"
    errors = [f"{one.get('errorLevel', '')} {one.get('errorType', '')}".strip() for one in told["errors"]]
    every = "" if told["stateIntervalMs"] is None else f", {told['stateIntervalMs'] / 1000:.1f} s apart"
    trip = "does not answer requests" if told["roundTripMs"] is None else f"{told['roundTripMs']:.1f} ms"
    actions = "does not say" if told["actions"] is None else ", ".join(told["actions"]) or "none named"
    return [
        ("speaks", f"VDA 5050 {told['version'] or vehicle.major}, {vehicle.interface}"),
        ("vehicle", " ".join(part for part in (vehicle.name, told["series"]) if part)),
        ("connection", told["connection"] or "does not say"),
        ("mode", told["operatingMode"] or "does not say"),
        ("at", told["nodeId"] or "nowhere it knows"),
        ("battery", _share(told["battery"])),
        ("carries", "does not say" if told["loads"] is None else f"{told['loads']} loads"),
        ("order", f"{order}, {'under way' if told['orderActive'] else 'over'}" if told["orderId"] else order),
        ("errors", "; ".join(errors) or "none"),
        ("clock", _offset(told["clockOffsetMs"])),
        ("round trip", trip),
        ("states", f"{told['statesHeard']} heard{every}"),
        ("actions", actions),
        ("link", json.dumps(told["link"])),
    ]


# -- OPC UA


async def _cell(
    address: str,
    settings: "Settings",
    certificate: str | None,
    private_key: str | None,
    server_certificate: str | None,
) -> tuple[dict[str, Any], list[list[Row]]]:
    from beforehand.adapters.opcua.checkup import check_cell
    from beforehand.adapters.opcua.options import Access, access_of
    from beforehand.app.clock import WallClock

    entry: dict[str, Any] = access_of(address, certificate, private_key, server_certificate)
    found = await check_cell(Access(**settings.with_secrets({**entry})), {"kind": "opcua", **entry}, WallClock().now_ms)
    return found.wire(), [_cell_rows(found.wire())] if found.speaks else []


def _cell_rows(told: dict[str, Any]) -> list[Row]:
    there = sum(how == "there" for how in told["nodes"].values())
    trips = sorted(told["roundTripsMs"])
    return [
        ("speaks", "OPC UA"),
        ("server", ", ".join(told["server"].values()) or "does not say"),
        ("ways in", ", ".join(told["security"]) or "does not say"),
        ("certificate", told["serverCertificate"] or "none"),
        ("model", f"{there} of {counted(len(told['nodes']), 'node')} are there"),
        ("at", told["position"] or "nowhere it knows"),
        ("tool", told["tool"] or "does not say"),
        ("control", {None: "does not say", "": "nobody"}.get(told["controlledBy"], str(told["controlledBy"]))),
        ("command", f"{told['commandId'] or 'none'}{' under way' if told['busy'] else ''}"),
        ("clock", _offset(told["clockOffsetMs"])),
        ("round trip", f"{trips[len(trips) // 2]:.1f} ms, at most {trips[-1]:.1f} ms" if trips else "not measured"),
        ("controller", json.dumps(told["controller"])),
    ]


def _share(battery: float | None) -> str:
    return "does not say" if battery is None else f"{battery:.0%}"


def _offset(offset_ms: int | None) -> str:
    return "does not say" if offset_ms is None else f"{offset_ms / 1000:+.3f} s from ours"
