"""What a cell understands of a request, before anything is planned: the goals, and the names to choose from."""

from typing import Any

from beforehand.app.craft import PlanRequest, Wanted, WantedStep
from beforehand.crafts.cell.core.builder import refusal
from beforehand.crafts.cell.core.goals import resolve
from beforehand.crafts.cell.core.intent import parse_intent
from beforehand.crafts.cell.core.lookup import Lookup
from beforehand.crafts.cell.plans import read_words
from beforehand.model.cell import ATTACH, RELEASE, CellScene, Intent


def read_wanted(scene: CellScene, request: PlanRequest, *, model: str | None = None) -> Wanted:
    """The goals of words or of an intent, every name of theirs looked up.

    BadInputError with all problems, NotUnderstoodError rather than a guess. With both words and an intent, the intent
    is what `model` read in the words.
    """
    pieces: dict[int, str] = {}
    notes: tuple[str, ...] = ()
    wanted: Any = request.intent
    if wanted is None:
        read = read_words(scene, request.text or "")
        wanted, notes = read.intent, read.notes
        goals_of = (chip.text for chip in read.chips for _ in chip.goals)
        pieces = dict(enumerate(goals_of, 1))
    goals, problems = parse_intent(wanted)
    tasks, unknown = resolve(Lookup(scene), goals)
    if problems + unknown:
        raise refusal(problems + unknown)
    intent = Intent(steps=tuple(goal for goal in goals if goal is not None))
    steps = tuple(WantedStep(task.says, pieces.get(task.number, "")) for task in tasks)
    return Wanted(intent.wire(), steps, step_schema(scene), notes, model)


def step_schema(scene: CellScene) -> dict[str, Any]:
    """The JSON schema of a step: one of four actions, with the names of the scene."""
    positions = [place.name for place in scene.positions]
    tools = [tool.name for tool in scene.tools]
    routines = [one for one in scene.routines if one.name not in (ATTACH, RELEASE)]
    supported = {support.position for one in routines for support in one.supported_at}
    places = [name for name in positions if name in supported]
    names = [one.name for one in routines]
    return {
        "oneOf": [
            _action("Routine", "routine", {"routine": names, "position": places}, ["routine"]),
            _action("Move", "move", {"position": positions}, ["position"]),
            _action("Attach a tool", "attach_tool", {"tool": tools}, ["tool"]),
            _action("Release the tool", "release_tool", {"tool": tools}, []),
        ]
    }


def _action(title: str, action: str, names: dict[str, list[str]], required: list[str]) -> dict[str, Any]:
    chosen = {field: {"enum": list(dict.fromkeys(known))} for field, known in names.items() if known}
    return {
        "title": title,
        "type": "object",
        "properties": {"action": {"const": action}, **chosen},
        "required": ["action", *required],
    }
