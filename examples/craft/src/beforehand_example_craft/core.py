"""What is decided about greenhouses, in pure functions: is a scene right, what do words mean, is a plan possible.

Nothing here opens a file, asks for the time or waits, so all of it can be tested with plain values.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, ValidationError

from beforehand.model.base import WireModel
from beforehand.model.errors import BadInputError
from beforehand.model.plan import Plan, Step
from beforehand.model.reason import Problem, unknown

KIND = "greenhouse"
WATER = "greenhouse.water"
Litres = Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)]


class Bed(WireModel):
    number: Annotated[int, Field(ge=1, strict=True)]
    plants: Annotated[str, Field(max_length=100)] = ""


class Greenhouse(WireModel):
    """A scene: beds that one tank waters. At `low_l` a person is asked to refill it."""

    kind: Literal["greenhouse"]
    name: Annotated[str, Field(min_length=1, max_length=100)]
    tank_l: Litres
    low_l: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    litres_per_s: Litres = 1.0
    beds: tuple[Bed, ...]

    @property
    def numbers(self) -> list[str]:
        return [str(bed.number) for bed in self.beds]


def read_greenhouse(document: Any) -> Greenhouse:
    """The scene in a document; BadInputError with every problem and its place."""
    try:
        scene = Greenhouse.model_validate(document)
    except ValidationError as error:
        raise _wrong([(_path(item["loc"]), item["msg"]) for item in error.errors()]) from None
    numbers = scene.numbers
    twice = [(f"beds[{at}].number", f"Bed {n} is there already") for at, n in enumerate(numbers) if n in numbers[:at]]
    if twice:
        raise _wrong(twice)
    return scene


def _path(parts: tuple[int | str, ...]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts).lstrip(".")


def _wrong(found: list[tuple[str, str]]) -> BadInputError:
    code = "greenhouse.scene"
    problems = [Problem(code=code, about=path, path=path, says=f"{path}: {says}.") for path, says in found]
    return BadInputError(" ".join(one.says for one in problems), code=code, problems=problems)


@dataclass(frozen=True, slots=True)
class Levels:
    """What the tank holds, and what each bed got so far, by its number."""

    tank_l: float
    watered_l: Mapping[str, float] = field(default_factory=dict)

    def after(self, bed: int, litres: float) -> "Levels":
        got = round(self.watered_l.get(str(bed), 0.0) + litres, 3)
        return Levels(round(self.tank_l - litres, 3), {**self.watered_l, str(bed): got})

    def wire(self) -> dict[str, Any]:
        return {"tankL": self.tank_l, "wateredL": dict(self.watered_l)}


def read_levels(kept: Mapping[str, Any] | None, scene: Greenhouse) -> Levels:
    """The levels as they were written down; a greenhouse begins with a full tank."""
    return Levels(scene.tank_l) if kept is None else Levels(kept["tankL"], kept["wateredL"])


class Words(NamedTuple):
    waterings: list[tuple[int, float]]
    """What was understood: beds and seconds."""
    strange: list[str]
    """The parts that were not."""


_PART = re.compile(r"(?:water )?(?:the )?bed (\d{1,6}) for (\d{1,6}(?:\.\d{1,3})?) ?(?:s|seconds?)", re.IGNORECASE)
_BETWEEN = re.compile(r"\s*(?:[,;]|\.(?!\d)|\b(?:and|then)\b)\s*", re.IGNORECASE)


def read_words(text: str) -> Words:
    """`water bed 3 for 10 seconds, then bed 1 for 5 s`; nothing else is understood, and nothing is guessed."""
    read = [(part, _PART.fullmatch(part)) for part in _BETWEEN.split(" ".join(text.split())) if part]
    return Words([(int(m[1]), float(m[2])) for _, m in read if m], [part for part, m in read if not m])


def watering_steps(waterings: list[tuple[int, float]]) -> tuple[Step, ...]:
    """One step a bed, one after the other, as they were said."""
    return tuple(
        Step(
            id=f"water_{at}",
            order=at,
            description=f"Water bed {bed} for {seconds:g} s",
            tool=WATER,
            args={"bed": bed, "seconds": seconds},
            depends_on=(f"water_{at - 1}",) if at > 1 else (),
        )
        for at, (bed, seconds) in enumerate(waterings, start=1)
    )


def unknown_names(plan: Plan, greenhouses: Mapping[str, Greenhouse]) -> tuple[Problem, ...]:
    """Greenhouses and beds in a plan's steps that do not exist; what a reference will fill in is not known yet."""
    found = []
    for at, step in enumerate(plan.steps):
        name, bed = step.args.get("scene", plan.scene), step.args.get("bed")
        scene = greenhouses.get(str(name))
        if step.tool == WATER and scene is None:
            found.append(_unknown("greenhouse", name, greenhouses, step.id, f"steps[{at}].args.scene"))
        elif step.tool == WATER and scene and isinstance(bed, int) and str(bed) not in scene.numbers:
            found.append(_unknown("bed", bed, scene.numbers, step.id, f"steps[{at}].args.bed"))
    return tuple(found)


def _unknown(kind: str, name: Any, known: Collection[str], step_id: str, path: str) -> Problem:
    says, nearest = unknown(kind, name, known)
    code = f"greenhouse.unknown_{kind}"
    return Problem(code=code, about=step_id, path=path, says=f"{step_id}: {says}", nearest=nearest)
