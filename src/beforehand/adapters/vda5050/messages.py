"""The messages of VDA 5050 as one model: order, instantActions, state, connection, factsheet and visualization.

What comes in is read kindly: what is absent or null is as if it were left out, and what is not known is passed over.
But a message in which something that is there cannot be read is no message, and nothing is concluded from it.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

LARGEST_B = 4_000_000

Finite = Annotated[float, Field(allow_inf_nan=False, ge=-1e9, le=1e9)]
Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
Upper = Annotated[str, BeforeValidator(lambda value: value.upper() if isinstance(value, str) else "")]
ItemT = TypeVar("ItemT")
Items = Annotated[tuple[ItemT, ...], BeforeValidator(lambda value: () if value is None else value)]


class Vda(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="ignore", alias_generator=to_camel, validate_by_name=True, coerce_numbers_to_str=True
    )

    def wire(self) -> dict[str, Any]:
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class Parameter(Vda):
    key: str
    value: Any = None


class Action(Vda):
    action_type: str
    action_id: str
    blocking_type: Literal["NONE", "SOFT", "HARD"] = "HARD"
    action_parameters: Items[Parameter] = ()


class NodePosition(Vda):
    x: Finite
    y: Finite
    map_id: Text = ""
    theta: Finite | None = None
    allowed_deviation_x_y: Finite | None = None


class Node(Vda):
    node_id: str
    sequence_id: int
    released: bool = True
    node_position: NodePosition | None = None
    actions: Items[Action] = ()


class Edge(Vda):
    edge_id: str
    sequence_id: int
    released: bool = True
    start_node_id: str
    end_node_id: str
    length: Finite | None = None
    max_speed: Finite | None = None
    actions: Items[Action] = ()


class Header(Vda):
    """What every message begins with."""

    header_id: int | None = None
    timestamp: Text = ""
    version: Text = ""
    manufacturer: Text = ""
    serial_number: Text = ""


class Order(Header):
    order_id: str
    order_update_id: int = 0
    nodes: Items[Node] = ()
    edges: Items[Edge] = ()


class InstantActions(Header):
    actions: Items[Action] = ()


class NodeState(Vda):
    node_id: str
    sequence_id: int | None = None
    released: bool = True


class EdgeState(Vda):
    edge_id: Text = ""
    sequence_id: int | None = None
    released: bool = True


class ActionState(Vda):
    action_id: str
    action_type: Text = ""
    action_status: Upper = ""
    result_description: Text = ""


class ErrorReference(Vda):
    reference_key: Text = ""
    reference_value: Any = None


class VehicleError(Vda):
    error_type: Text = ""
    error_level: Upper = ""
    error_description: Text = ""
    error_references: Items[ErrorReference] = ()

    def refers_to(self, key: str, value: str) -> bool:
        return any(one.reference_key == key and one.reference_value == value for one in self.error_references)

    def names(self, key: str) -> bool:
        return any(one.reference_key == key for one in self.error_references)


class AgvPosition(Vda):
    x: Finite
    y: Finite
    theta: Finite = 0.0
    map_id: Text = ""
    position_initialized: bool = True


class BatteryState(Vda):
    battery_charge: Finite | None = None
    charging: bool = False


class SafetyState(Vda):
    e_stop: Upper = "NONE"
    field_violation: bool = False


class State(Header):
    order_id: str
    """Required: a vehicle that leaves it out has not said that it has no order."""
    order_update_id: int | None = None
    last_node_id: Text = ""
    last_node_sequence_id: int | None = None
    node_states: Items[NodeState] = ()
    edge_states: Items[EdgeState] = ()
    action_states: Items[ActionState] = ()
    driving: bool = False
    paused: bool | None = None
    new_base_request: bool | None = None
    distance_since_last_node: Finite | None = None
    agv_position: AgvPosition | None = None
    battery_state: BatteryState | None = None
    loads: tuple[Any, ...] | None = None
    """Absent where the vehicle does not know; empty where it knows that it carries nothing."""
    errors: Items[VehicleError] = ()
    operating_mode: Upper = ""
    safety_state: SafetyState | None = None


class Connection(Header):
    connection_state: Literal["ONLINE", "OFFLINE", "CONNECTIONBROKEN"]


class Visualization(Header):
    agv_position: AgvPosition | None = None


class AgvAction(Vda):
    action_type: Text = ""


class ProtocolFeatures(Vda):
    agv_actions: Items[AgvAction] = ()


class TypeSpecification(Vda):
    series_name: Text = ""
    agv_class: Text = ""


class Factsheet(Header):
    type_specification: TypeSpecification | None = None
    protocol_features: ProtocolFeatures | None = None

    @property
    def actions(self) -> Sequence[str]:
        """The types of actions it names; none where it says nothing of them."""
        return [one.action_type for one in self.protocol_features.agv_actions] if self.protocol_features else []


MessageT = TypeVar("MessageT", bound=Vda)


def decoded(model: type[MessageT], payload: object) -> MessageT | str:
    """The message, or a sentence that says why it is none. Never an exception, whatever the bytes are."""
    if not isinstance(payload, bytes | bytearray) or len(payload) > LARGEST_B:
        return "It is empty or too big."
    try:
        document = json.loads(payload)
        return model.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(str(part) for part in first['loc']) or 'the message'}: {first['msg']}."
    except (ValueError, RecursionError) as error:
        return f"It is not JSON ({type(error).__name__})."


def timestamp(now_ms: int) -> str:
    return datetime.fromtimestamp(now_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{now_ms % 1000:03d}Z"


def moment_ms(text: str) -> int | None:
    """A time stamp in milliseconds, read as UTC where it names no zone; None where it is none."""
    try:
        moment = datetime.fromisoformat(text)
        return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
