"""Which kinds of machine a scene may name, and what each kind accepts beside its name.

Robot links and cell controllers have one such list each. `sim` is on it from the start; whoever brings another kind
adds it together with a check, so that a scene is judged in full before anything is connected.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from beforehand.model.errors import BadInputError
from beforehand.model.machine import SIM, kind_of, options_of
from beforehand.model.reason import Problem, name_list, unknown
from beforehand.ports.foreign import contained, why

MachineCheck = Callable[[Mapping[str, Any]], Iterable[Problem]]
"""Given what stands beside the kind, everything that is wrong with it. The `path` of a problem is the key it is about
(`host`, `ports.status`); where the machine stands in the scene is put before it."""

MachineAddress = Callable[[Mapping[str, Any]], str]
"""Given the same, what tells one machine of this kind from every other."""

DEEPEST = 10


def no_options(options: Mapping[str, Any]) -> list[Problem]:
    """The check of a kind that needs nothing beside its name."""
    return [
        Problem(code="scene.unknown_key", about=key, says="This kind takes no options.", path=key) for key in options
    ]


def address_in(options: Mapping[str, Any]) -> str:
    """What most kinds know a machine by: its serial number, its URL, or its host and ports; else everything said."""
    if "serial" in options:
        return _joined("serial", options.get("manufacturer"), options["serial"])
    if "url" in options:
        return f"url {str(options['url']).strip().rstrip('/').lower()}"
    if "host" in options:
        ports = options.get("port", options.get("ports"))
        return _joined("host", str(options["host"]).strip().rstrip(".").lower(), ports)
    return _joined("machine", options)


def _joined(*parts: Any) -> str:
    texts = (part if isinstance(part, str) else json.dumps(part, sort_keys=True) for part in parts if part is not None)
    return " ".join(texts)


class MachineKinds:
    """The kinds of one sort of machine. `what` is its name in messages: link, controller."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._checks: dict[str, MachineCheck] = {SIM: no_options}
        self._addresses: dict[str, MachineAddress] = {}

    def add(self, kind: str, check: MachineCheck = no_options, address: MachineAddress = address_in) -> None:
        """Let scenes name this kind; added again, the newer one counts. BadInputError for an unusable name."""
        if not re.fullmatch(r"[a-z][a-z0-9_-]{0,39}", kind):
            raise BadInputError(
                f"{kind[:60]!r} cannot be the name of a {self._what} kind.",
                code="machine.kind_name",
                hint="Use up to 40 lower-case letters, digits, - and _, beginning with a letter.",
            )
        self._checks[kind] = check
        self._addresses[kind] = address

    def address(self, machine: str | Mapping[str, Any], otherwise: str) -> str:
        """What a machine of a checked scene is known by; `otherwise` where it is simulated or nothing is said of it."""
        options, kind = options_of(machine), kind_of(machine)
        if kind == SIM or not options:
            return f"{kind} {otherwise}"
        return self._addresses[kind](options)

    def known(self) -> tuple[str, ...]:
        """The kinds there are, in the order of their names."""
        return tuple(sorted(self._checks))

    def problems(self, machine: Any, path: str) -> list[Problem]:
        """Everything that is wrong with a machine that stands at `path` in a scene."""
        if not isinstance(machine, str | Mapping):
            return [_problem("scene.invalid", path, f"A {self._what} is a kind such as sim, or a mapping with kind.")]
        if isinstance(machine, Mapping) and "kind" not in machine:
            says = f"kind is missing. Known {self._what} kinds: {name_list(self.known())}."
            return [_problem("scene.missing", f"{path}.kind", says)]
        kind = machine if isinstance(machine, str) else machine["kind"]
        if not isinstance(kind, str) or kind not in self._checks:
            return [self._unknown(kind, path if isinstance(machine, str) else f"{path}.kind")]
        options = options_of(machine)
        if not _is_plain(options):
            says = "What stands here must be plain data: text, finite numbers, true, false, null, lists and mappings."
            return [_problem("scene.bad_value", path, says)]
        return [_placed(problem, path) for problem in self._judged(kind, options)]

    def _judged(self, kind: str, options: Mapping[str, Any]) -> list[Problem]:
        try:
            with contained():
                return list(self._checks[kind](options))
        except Exception as error:  # somebody else's code: a scene it cannot judge is not a good one
            says = f"The check of the {self._what} kind {kind} failed: {why(error)}"
            return [_problem("scene.check_failed", "", says)]

    def _unknown(self, kind: Any, path: str) -> Problem:
        shown = repr(kind) if isinstance(kind, str | int | float | None) else "a list or mapping"
        told = unknown(f"{self._what} kind", kind, self._checks)
        return Problem(
            code=f"scene.unknown_{self._what}",
            about=shown[:60],
            says=told.says,
            try_next="Use one of them, or install the plug-in that brings this kind.",
            path=path,
            nearest=told.nearest,
            fixable_by="user",
        )


def _problem(code: str, path: str, says: str) -> Problem:
    return Problem(code=code, about=path, says=says, path=path, fixable_by="user")


def _placed(problem: Problem, path: str) -> Problem:
    where = f"{path}.{problem.path}" if problem.path else path
    return problem.model_copy(update={"path": where, "about": problem.about or where})


def _is_plain(value: Any, depth: int = 0) -> bool:
    """Whether it can be kept in the log and read back unchanged."""
    if depth > DEEPEST:
        return False
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_plain(key) for key in value) and _is_plain([*value.values()], depth)
    if isinstance(value, list | tuple):
        return all(_is_plain(inner, depth + 1) for inner in value)
    if isinstance(value, str):
        return not any("\ud800" <= letter <= "\udfff" for letter in value)  # half a surrogate pair cannot be written
    return value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value))
