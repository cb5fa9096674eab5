"""What a scene says of a VDA 5050 robot: `{kind: vda5050, manufacturer, serial, version?, interface?}`.

A machine is known by its maker and its serial number: no two scenes may name the same one.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from beforehand.adapters.vda5050.dialects import DEFAULT, DIALECTS, Dialect
from beforehand.model.reason import Problem, UnknownName, unknown

INTERFACE = "uagv"
_KEYS = ("manufacturer", "serial", "version", "interface")
_LEVEL = re.compile(r"[^/+#$\s\x00-\x1f][^/+#\x00-\x1f]{0,99}")
"""One level of a topic: no separators and no wildcards."""


@dataclass(frozen=True, slots=True)
class VdaOptions:
    manufacturer: str
    serial: str
    dialect: Dialect = DIALECTS[DEFAULT]
    interface: str = INTERFACE

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> "VdaOptions":
        """From a checked scene."""
        dialect = DIALECTS[str(options.get("version") or DEFAULT)]
        interface = str(options.get("interface") or INTERFACE)
        return cls(str(options["manufacturer"]), str(options["serial"]), dialect, interface)

    def header(self, number: int, timestamp: str) -> dict[str, Any]:
        """What every message to it begins with."""
        return {
            "headerId": number,
            "timestamp": timestamp,
            "version": self.dialect.version,
            "manufacturer": self.manufacturer,
            "serialNumber": self.serial,
        }

    def topic(self, name: str) -> str:
        return self.dialect.topic(self.interface, self.manufacturer, self.serial, name)


def check_vda5050(options: Mapping[str, Any]) -> list[Problem]:
    """Everything that is wrong with what stands beside the kind."""
    problems = [_named(key, "key", key, _KEYS, "scene.unknown_key") for key in options if key not in _KEYS]
    for key in ("manufacturer", "serial"):
        if key not in options:
            problems.append(_problem("scene.missing", key, f"{key} is missing: it is a part of the robot's topics."))
    for key in ("manufacturer", "serial", "interface"):
        if key in options and not (isinstance(options[key], str) and _LEVEL.fullmatch(options[key])):
            says = f"{key} is text that can stand in a topic: up to 100 characters without /, + and #."
            problems.append(_problem("scene.bad_value", key, says))
    version = options.get("version", DEFAULT)
    if not isinstance(version, str) or version not in DIALECTS:
        told = unknown("version of VDA 5050", version, DIALECTS, plural="versions of VDA 5050")
        problems.append(_unknown("version", version, told, "scene.bad_value"))
    return problems


def vda5050_address(options: Mapping[str, Any]) -> str:
    return f"vda5050 {options['manufacturer']} {options['serial']}"


def _named(path: str, what: str, given: Any, known: Any, code: str) -> Problem:
    return _unknown(path, given, unknown(what, given, known), code)


def _unknown(path: str, given: Any, told: UnknownName, code: str) -> Problem:
    return Problem(code=code, about=str(given)[:60], says=told.says, path=path, nearest=told.nearest, fixable_by="user")


def _problem(code: str, path: str, says: str) -> Problem:
    return Problem(code=code, about=path, says=says, path=path, fixable_by="user")
