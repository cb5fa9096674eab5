"""What a stream's parameters mean: groups and policies, and what the robot is told at its places."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from beforehand.model.base import WireModel
from beforehand.model.fleet import Amount, Count, Flag


class PickPolicy(WireModel):
    selection: Literal["filled_only"] = "filled_only"


class DropPolicy(WireModel):
    selection: Literal["first_available_in_order", "last_available_in_order"] = "first_available_in_order"
    access_rule: Literal["preceding_empty"] | None = None
    commit_distance_m: Amount = 0


class PickDropParams(WireModel):
    pick_group: tuple[str, ...] = Field(min_length=1)
    drop_group: tuple[str, ...] = Field(min_length=1)
    pick_params: Mapping[str, Any] | None = None
    drop_params: Mapping[str, Any] | None = None
    pick_policy: PickPolicy = PickPolicy()
    drop_policy: DropPolicy = DropPolicy()


class RoundRobinParams(PickDropParams):
    pass


class ReplenishParams(PickDropParams):
    threshold: Count = 1
    """How many of the drop places shall be filled or on their way to be."""


class BufferedParams(PickDropParams):
    buffer_group: tuple[str, ...] = Field(min_length=1)


class BatchParams(PickDropParams):
    batch_size: Annotated[int, Field(strict=True, ge=2, le=20)]
    """How many pallets a robot picks before its first drop."""
    partial: Flag = False
    """Whether it also sets out for fewer, where there are not so many."""


class ShuttleParams(WireModel):
    pick_group: tuple[str, ...] = Field(min_length=1, max_length=1)
    """One end."""
    drop_group: tuple[str, ...] = Field(min_length=1, max_length=1)
    """The other end."""
    both_ways: Flag = True
    """Whether pallets that others put on the second end are brought back to the first."""
    pick_params: Mapping[str, Any] | None = None
    drop_params: Mapping[str, Any] | None = None
    pick_policy: PickPolicy = PickPolicy()
    drop_policy: DropPolicy = DropPolicy()


OPERATIONS = ("ForkLoad", "ForkUnload")
