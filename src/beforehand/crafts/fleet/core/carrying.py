"""Which robot may carry which pallets: how many at once, of which types, how heavy.

A pallet is of the type its place names; of one whose place names none nobody knows, and any robot may carry it.
"""

from collections.abc import Sequence

from beforehand.crafts.fleet.core.batches import Pair
from beforehand.crafts.fleet.core.state import FleetState
from beforehand.model.fleet import PalletSpec, RobotSpec
from beforehand.model.reason import Reason, name_list
from beforehand.model.words import counted


def cannot_carry(state: FleetState, robot_id: str, pairs: Sequence[Pair]) -> Reason | None:
    """The first rule by which these pallets are not for this robot, wherever it is; None where it may carry them."""
    robot = state.robot_specs[robot_id]
    if len(pairs) > robot.capacity:
        says = (
            f"It carries {counted(robot.capacity, 'pallet')} at once, and {pairs[0][0]} is one of {len(pairs)} "
            "that go together."
        )
        try_next = "Let a robot with more capacity do it, or make the batch smaller."
        return Reason(code="robot.capacity", about=robot_id, says=says, try_next=try_next)
    return _wrong_type(state, robot, pairs) or _too_heavy(state, robot, pairs)


def _wrong_type(state: FleetState, robot: RobotSpec, pairs: Sequence[Pair]) -> Reason | None:
    if robot.pallet_types is None:
        return None
    for source, _ in pairs:
        kind = state.specs[source].pallet_type
        if kind is not None and kind not in robot.pallet_types:
            may = name_list(robot.pallet_types) or "none"
            says = f"{source} holds pallets of type {kind}, and it may carry {may}."
            try_next = f"Add {kind} to its palletTypes, or let another robot do it."
            return Reason(code="robot.pallet_type", about=robot.robot_id, says=says, try_next=try_next)
    return None


def _too_heavy(state: FleetState, robot: RobotSpec, pairs: Sequence[Pair]) -> Reason | None:
    if robot.max_load_kg is None:
        return None
    weight = sum(_weight(state, source) for source, _ in pairs)
    if weight <= robot.max_load_kg:
        return None
    says = f"{pairs[0][0]} comes to {weight:g} kg, and it carries at most {robot.max_load_kg:g} kg."
    return Reason(code="robot.too_heavy", about=robot.robot_id, says=says, try_next="Let a stronger robot do it.")


def _weight(state: FleetState, source: str) -> float:
    pallet = pallet_at(state, source)
    return 0.0 if pallet is None or pallet.weight_kg is None else pallet.weight_kg


def pallet_at(state: FleetState, site_id: str) -> PalletSpec | None:
    """The type of the pallets that stand at this place, as the catalogue has it."""
    return state.pallets.get(state.specs[site_id].pallet_type or "")


def does_not_fit(state: FleetState, source_id: str, target_id: str) -> Reason | None:
    """Why a pallet from here has no place there; None where it has, as far as anybody knows."""
    has, takes = state.specs[source_id].pallet_type, state.specs[target_id].pallet_type
    if has is None or takes is None or has == takes:
        return None
    says = f"{source_id} holds pallets of type {has}, and {target_id} takes {takes}."
    return Reason(code="worksite.pallet_type", about=target_id, says=says, try_next=f"Choose a place for {has}.")
