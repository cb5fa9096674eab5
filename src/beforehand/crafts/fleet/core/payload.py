"""The payload of a pick or a drop, as the robot gets it.

It is `{id, ...params}`: the spec's defaults, overlaid by the stream's parameters, overlaid by the worksite's own.
Parameters the core does not know are passed on untouched; `id` is always the worksite's.
"""

from collections.abc import Mapping
from typing import Any

from beforehand.crafts.fleet.core.board import Board
from beforehand.crafts.fleet.core.carrying import pallet_at
from beforehand.model.fleet import Settings, Task, WorksiteSpec

FORK_DRIVE_S = 3.0
FORK_MPS = 0.5
"""No fork drives in and out, and up or down, faster than this."""


def payload_of(board: Board, task: Task) -> dict[str, Any]:
    """The goTarget payload of the task's present step."""
    state = board.state
    params = state.params.get(task.stream_id) if task.stream_id is not None else None
    source, target = state.specs[task.source_id], state.specs[task.target_id]
    pick = pick_payload(board.settings, getattr(params, "pick_params", None), source)
    pallet = pallet_at(state, task.source_id)
    if pick.get("recognize") and not pick.get("recfile") and pallet is not None and pallet.recfile is not None:
        pick["recfile"] = pallet.recfile
    if task.step == "pick":
        return pick
    return drop_payload(board.settings, getattr(params, "drop_params", None), target, pick.get("end_height"))


def commit_distance(board: Board, task: Task) -> float:
    """How near the robot must have come to its drop before that can no longer change; 0 on the way to a pick."""
    params = board.state.params.get(task.stream_id) if task.stream_id and task.step == "drop" else None
    policy = getattr(params, "drop_policy", None)
    return policy.commit_distance_m if policy is not None else 0.0


def least_fork_s(payload: Mapping[str, Any]) -> float:
    """The least time that the fork work of a payload takes."""
    heights = [payload.get("start_height"), payload.get("end_height")]
    low, high = sorted(float(one) if isinstance(one, int | float) else 0.0 for one in heights)
    return FORK_DRIVE_S + (high - low) / FORK_MPS


def pick_payload(settings: Settings, stream: Mapping[str, Any] | None, site: WorksiteSpec) -> dict[str, Any]:
    defaults = {
        "operation": "ForkLoad",
        "start_height": 0.1,
        "end_height": settings.pick_height_m,
        "recognize": False,
    }
    return _payload(site, defaults, stream, site.pick_params)


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
    return _payload(site, defaults, stream, site.drop_params)


def _payload(site: WorksiteSpec, *params: Mapping[str, Any] | None) -> dict[str, Any]:
    payload: dict[str, Any] = {"id": site.node_id}
    for given in params:
        payload |= given or {}
    return payload | {"id": site.node_id}
