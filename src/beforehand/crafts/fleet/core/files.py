"""The files that fleets' scenes name: what a recognition file and a fork profile must look like.

A recognition file (`plt/NAME.plt`) tells a robot how to see a pallet. What is in it is its maker's business; it is a
JSON object with something in it. A fork profile (`fork/NAME.json`) says what a fork can do, and a scene that asks more
of it is refused.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from beforehand.crafts.fleet.core.shape import Problems, read_shape
from beforehand.model.base import WireModel
from beforehand.model.fleet import Amount, Length, Name

RECOGNITION, FORKS = "plt", "fork"
"""The folders that the names of the two begin with."""


class ForkProfile(WireModel):
    name: Name | None = None
    length_m: Length | None = None
    """How long the tines are."""
    min_height_m: Amount = 0
    max_height_m: Amount
    max_load_kg: Amount | None = None
    note: str = Field(default="", max_length=2000)


def check_recognition_file(document: Any) -> Problems:
    problems = Problems()
    if not isinstance(document, Mapping) or not document:
        problems.add("file.form", "", "A recognition file is a JSON object with what the robot needs to see a pallet.")
        return problems
    for key in ("length", "width", "height"):
        value = document.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or value <= 0):
            problems.add("file.bad_value", key, f"{str(value)[:60]} is impossible: a {key} is a number above 0.")
    return problems


def check_fork_profile(document: Any) -> Problems:
    problems = Problems()
    profile = read_shape(ForkProfile, document, "", problems)
    if not problems and profile is not None and profile.min_height_m > profile.max_height_m:
        says = f"{profile.min_height_m:g} is above maxHeightM ({profile.max_height_m:g})."
        problems.add("file.bad_value", "minHeightM", says)
    return problems
