"""How a scene names the machine behind a robot or a cell: by its kind, or by its kind and what that kind needs.

    link: sim
    controller: {kind: opcua, url: "opc.tcp://cell-3:4840"}

What may stand beside the kind is known to whoever makes machines of that kind; `ports/machines.py` asks them.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import PlainValidator
from pydantic_core import PydanticCustomError

from beforehand.model.paper import camel

SIM = "sim"
"""The simulator: the kind that is always there."""


def _one_of_two_forms(value: Any) -> str | Mapping[str, Any]:
    if isinstance(value, str | Mapping):
        return value
    raise PydanticCustomError("machine", "write a kind such as sim, or a mapping with kind and what it needs")


Machine = Annotated[str | Mapping[str, Any], PlainValidator(_one_of_two_forms)]


def kind_of(machine: str | Mapping[str, Any]) -> str:
    """The kind, from either form, of a machine in a checked scene."""
    return machine if isinstance(machine, str) else str(machine["kind"])


def spelled(options: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    """The same with the keys that a kind knows written its way: documents may say camelCase or snake_case. What is
    given in both spellings stays, so that the second one is told as unknown."""
    known = {camel(key): key for key in keys}
    names = {key: known.get(camel(str(key)), key) for key in options}
    return {key if names[key] in options else names[key]: value for key, value in options.items()}


def options_of(machine: str | Mapping[str, Any] | None) -> dict[str, Any]:
    """What stands beside the kind; nothing where the kind stands alone, or where nothing is said at all."""
    return {key: value for key, value in machine.items() if key != "kind"} if isinstance(machine, Mapping) else {}
