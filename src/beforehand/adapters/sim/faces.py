"""What only simulated machines can do: be told to go wrong, and learn what a person's hands did in the hall.

No port has these verbs. Whoever wants one asks whether the machine has this face; a real one has not.
"""

from typing import Protocol, runtime_checkable

from beforehand.adapters.sim.cell_faults import CellFault
from beforehand.adapters.sim.faults import FaultSpec
from beforehand.model.fleet import Occupancy


@runtime_checkable
class SimulatedRobots(Protocol):
    def set_occupancy(self, worksite_id: str, occupancy: Occupancy) -> None:
        """A person brought a pallet or took one away."""

    def set_load(self, robot_id: str, loaded: bool) -> None:
        """A person put a pallet on a fork or took it off."""

    def inject(self, fault: FaultSpec, key: str = "") -> None:
        """Let a fault happen, `at_s` seconds from now; one with a key once, however often it is asked for."""


@runtime_checkable
class SimulatedCell(Protocol):
    def inject(self, fault: CellFault, key: str = "") -> None:
        """Have the next command that fits go wrong; with a key once, however often it is asked for."""
