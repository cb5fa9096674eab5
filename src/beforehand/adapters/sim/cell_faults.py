"""What can be told to go wrong in a simulated cell."""

from typing import Literal

from beforehand.model.base import SnakeWireModel

FaultName = Literal["fail", "stall", "power", "tool_missing", "verify"]


class CellFault(SnakeWireModel):
    """`fail` an error before anything moves, `stall` no end, `power` lost half-way, `tool_missing` an empty stand,
    `verify` a check that is not passed. `target` limits it to one position or routine; else the next that fits."""

    fault: FaultName
    target: str | None = None

    def fits(self, action: str, target: str, position: str | None = None) -> bool:
        if self.target not in (None, target, position):
            return False
        if self.fault == "verify":
            return action == "routine" and target not in ("tool_attach", "tool_release")
        if self.fault == "tool_missing":
            return target == "tool_attach"
        if self.fault == "power":
            return action == "move"
        return True
