"""What goes with the verbs of a held task: which step was done by hand, and where else a pallet may be dropped."""

from typing import Any

from beforehand.crafts.fleet.core.board import Board
from beforehand.crafts.fleet.core.rules import is_loaded
from beforehand.engine.verb_values import one_of_its_own
from beforehand.model.fleet import Task

NO_PALLETS = ("charger", "park")
MOST_CHOICES = 200
"""A bigger hall does not list its places in every question; the fleet knows them all the same."""


def task_values(board: Board, task: Task) -> dict[str, dict[str, Any]]:
    """The JSON schema of what each verb takes, by verb; a robot without a pallet needs no other place to drop it."""
    step = {"type": "string", "enum": ["pick", "drop"]}
    values = {"done-by-hand": one_of_its_own("step", step, "The step that was done; the present one when left out.")}
    if is_loaded(board, task):
        place: dict[str, Any] = {"type": "string"}
        sites = [name for name, site in board.state.worksites.items() if site.worksite_type not in NO_PALLETS]
        if len(sites) <= MOST_CHOICES:
            place["enum"] = sites
        says = "Another worksite to drop the pallet at; it stays on the fork when left out."
        values["abort"] = one_of_its_own("targetId", place, says)
    return values
