"""How a scene names the machine behind a robot or a cell: by its kind, or by its kind and what that kind needs.

    link: sim
    controller: {kind: opcua, url: "opc.tcp://cell-3:4840"}

What may stand beside the kind is known to whoever makes machines of that kind; `ports/machines.py` asks them.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import PlainValidator
from pydantic_core import PydanticCustomError

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


def options_of(machine: str | Mapping[str, Any] | None) -> dict[str, Any]:
    """What stands beside the kind; nothing where the kind stands alone, or where nothing is said at all."""
    return {key: value for key, value in machine.items() if key != "kind"} if isinstance(machine, Mapping) else {}
