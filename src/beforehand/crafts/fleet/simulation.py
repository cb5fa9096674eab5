"""A shift of a fleet in virtual time, from documents to a result and a log of JSON lines."""

import json
import math
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from beforehand.adapters.sim.faults import read_faults
from beforehand.adapters.sim.fleet import SimFleet
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.core.simulate import Watch, simulate
from beforehand.model.errors import BadInputError

LONGEST_S = 30 * 24 * 3600.0
"""The longest time `--for` takes: a month."""


def refuse_bad_time(until: str | None, for_s: float | None) -> None:
    """How long a shift may be asked to last."""
    if until is not None and for_s is not None:
        raise BadInputError("Give either --until idle or --for SECONDS, not both.", code="usage")
    if until not in (None, "idle"):
        raise BadInputError(f"--until takes idle, not {until!r}.", code="usage", nearest=("idle",))
    if for_s is not None and not (math.isfinite(for_s) and 0 <= for_s <= LONGEST_S):
        raise BadInputError(f"--for takes seconds from 0 to {LONGEST_S:.0f}, not {for_s:g}.", code="usage")


def play(
    document: Any, faults: Any, for_s: float | None, lines: TextIO | None, watch: Watch | None = None
) -> dict[str, Any]:
    """Play a scene's document to its end and give the result; the events go to `lines`, one a line."""
    if isinstance(document, Mapping) and document.get("kind", "fleet") != "fleet":
        raise BadInputError(
            f"Only scenes of kind fleet can be simulated here, and this one is of kind {document['kind']!r}.",
            code="scene.kind",
            hint="For a cell use `beforehand plan` and `beforehand preview`.",
        )
    scene = read_fleet(document)
    script = [] if faults is None else read_faults(faults, [robot.robot_id for robot in scene.robots])
    result = simulate(scene, SimFleet(scene, script), for_s=for_s, keep_events=lines is not None, watch=watch)
    if lines is not None:
        for event in result.events:
            lines.write(json.dumps(event.wire(), ensure_ascii=False, separators=(",", ":")) + "\n")
    waits = [{"title": asked.title, "verbs": list(asked.verbs)} for asked in result.state.decisions.values()]
    return result.wire() | ({"decisions": waits} if waits else {})


@contextmanager
def events_file(path: str | None) -> Iterator[TextIO | None]:
    """Where the events go; opened before the shift begins, so that a path that cannot be written is told at once."""
    if path is None:
        yield None
    elif path == "-":
        yield sys.stdout
    else:
        try:
            file = Path(path).open("w", encoding="utf-8", newline="\n")  # noqa: SIM115  closed below
        except (OSError, ValueError) as error:
            raise BadInputError(f"The events cannot be written to {path!r}: {error}.", code="file.unwritable") from None
        with file:
            yield file
