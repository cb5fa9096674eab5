"""What a scene says of a Robokit robot: `{kind: robokit, host, ports?, loadSensors?, loadedPressure?, answerLimitS?}`.

A machine is known by its host and the ports that commands go to.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import Any

from beforehand.adapters.robokit.loads import SENSORS
from beforehand.adapters.robokit.numbers import ANSWER_LIMIT_S, PORTS
from beforehand.model.machine import spelled
from beforehand.model.reason import Problem, name_list, unknown

_KEYS = ("host", "ports", "loadSensors", "loadedPressure", "answerLimitS")
_SECRETS = ("password", "token", "secret", "key", "user", "username")


@dataclass(frozen=True, slots=True)
class RobokitOptions:
    host: str
    ports: Mapping[str, int]
    sensors: tuple[str, ...] = SENSORS
    """The load sensors that are believed, the best first."""
    loaded_pressure: float | None = None
    """The fork's pressure from which on it carries something; without it a guess of low confidence is made."""

    answer_limit_s: float = ANSWER_LIMIT_S
    """How long an answer may take before the connection is made anew."""

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> "RobokitOptions":
        """From a checked scene."""
        options = spelled(options, _KEYS)
        sensors = options.get("loadSensors")
        return cls(
            str(options["host"]).strip(),
            PORTS | {name: int(port) for name, port in (options.get("ports") or {}).items()},
            SENSORS if sensors is None else tuple(sensors),
            options.get("loadedPressure"),
            options.get("answerLimitS", ANSWER_LIMIT_S),
        )


def check_robokit(options: Mapping[str, Any]) -> list[Problem]:
    """Everything that is wrong with what stands beside the kind."""
    options = spelled(options, _KEYS)
    problems = [_unknown_key(key) for key in options if key not in _KEYS]
    problems += _host(options)
    problems += _ports(options.get("ports"))
    problems += _sensors(options.get("loadSensors"))
    pressure = options.get("loadedPressure")
    if pressure is not None and not (_is_number(pressure) and pressure > 0):
        problems.append(_problem("scene.bad_value", "loadedPressure", "loadedPressure is a number above 0."))
    limit_s = options.get("answerLimitS")
    if limit_s is not None and not (_is_number(limit_s) and 0.05 <= limit_s <= 60):
        problems.append(_problem("scene.bad_value", "answerLimitS", "answerLimitS is a number from 0.05 to 60."))
    return problems


def robokit_address(options: Mapping[str, Any]) -> str:
    """The same robot by any spelling: the task port tells robots on one host apart."""
    chosen = RobokitOptions.of(options)
    return f"host {chosen.host.rstrip('.').lower()} {chosen.ports['task']}"


def link_entry(host: str, ports: Mapping[str, int]) -> dict[str, Any]:
    """What a scene says of a robot there; only unusual ports are named."""
    other = {name: port for name, port in ports.items() if port != PORTS[name]}
    return {"kind": "robokit", "host": host} | ({"ports": other} if other else {})


def _host(options: Mapping[str, Any]) -> list[Problem]:
    host = options.get("host")
    if host is None:
        return [_problem("scene.missing", "host", "host is missing: the robot's name or address in the network.")]
    if not isinstance(host, str) or not _can_be_host(host.strip()):
        says = "host is a name or an address such as 192.168.4.21, without ports and without a user."
        return [_problem("scene.bad_value", "host", says)]
    return []


def _can_be_host(host: str) -> bool:
    """A name or an address; colons stand only in addresses of IPv6, where a port would be another thing."""
    return bool(re.fullmatch(r"[A-Za-z0-9_.:%-]{1,253}", host)) and (":" not in host or _is_ipv6(host))


def _is_ipv6(host: str) -> bool:
    try:
        return IPv6Address(host) is not None
    except ValueError:
        return False


def _ports(ports: Any) -> list[Problem]:
    if ports is None:
        return []
    if not isinstance(ports, Mapping):
        return [_problem("scene.bad_value", "ports", f"ports names some of {name_list(list(PORTS))}, a number each.")]
    problems = []
    for name, port in ports.items():
        if name not in PORTS:
            problems.append(_named(f"ports.{name}", "port", name, PORTS))
        elif isinstance(port, bool) or not isinstance(port, int) or not 1 <= port <= 65535:
            problems.append(_problem("scene.bad_value", f"ports.{name}", "A port is a whole number from 1 to 65535."))
    if not problems and len(set((PORTS | dict(ports)).values())) < len(PORTS):
        problems.append(_problem("scene.bad_value", "ports", "Each port has a number of its own."))
    return problems


def _sensors(sensors: Any) -> list[Problem]:
    if sensors is None:
        return []
    if not isinstance(sensors, list | tuple):
        says = f"loadSensors lists those of {name_list(list(SENSORS))} that are to be believed; [] is none."
        return [_problem("scene.bad_value", "loadSensors", says)]
    return [
        _named(f"loadSensors[{at}]", "load sensor", one, SENSORS)
        for at, one in enumerate(sensors)
        if one not in SENSORS
    ]


def _unknown_key(key: str) -> Problem:
    if key.lower() in _SECRETS:
        return _problem("scene.secret", key, "No credentials in scenes: Robokit has none.")
    return _named(key, "key", key, _KEYS)


def _named(path: str, what: str, given: Any, known: Any) -> Problem:
    told = unknown(what, given, known)
    return Problem(
        code="scene.unknown_key",
        about=str(given)[:60],
        says=told.says,
        path=path,
        nearest=told.nearest,
        fixable_by="user",
    )


def _problem(code: str, path: str, says: str) -> Problem:
    return Problem(code=code, about=path, says=says, path=path, fixable_by="user")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
