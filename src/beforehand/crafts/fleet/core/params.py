"""What a stream's parameters mean: groups, policies, and the payload of a pick or a drop.

A goTarget payload is `{id, ...params}`: the spec's defaults, overlaid by the stream's parameters, overlaid by the
worksite's own. Parameters the core does not know are passed on untouched.
"""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from beforehand.model.base import WireModel
from beforehand.model.fleet import Amount, Count, Settings, WorksiteSpec


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


OPERATIONS = ("ForkLoad", "ForkUnload")


def pick_payload(
    settings: Settings, stream: Mapping[str, Any] | None, site: WorksiteSpec, node_id: str | None = None
) -> dict[str, Any]:
    defaults = {
        "operation": "ForkLoad",
        "start_height": 0.1,
        "end_height": settings.pick_height_m,
        "recognize": False,
    }
    return {"id": node_id or site.node_id, **defaults, **(stream or {}), **(site.pick_params or {})}


def drop_payload(
    settings: Settings, stream: Mapping[str, Any] | None, site: WorksiteSpec, picked_at: Any
) -> dict[str, Any]:
    """`picked_at` is the height the pick ended at: the pallet is carried so."""
    defaults = {
        "operation": "ForkUnload",
        "start_height": picked_at,
        "end_height": settings.drop_height_m,
        "recognize": False,
    }
    return {"id": site.node_id, **defaults, **(stream or {}), **(site.drop_params or {})}
