"""JSON schemas of the arguments that several tools take, and what they hold when left out."""

from collections.abc import Mapping
from typing import Any

FEW = 20
MOST = 200


def text(says: str, most: int = 200) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "maxLength": most, "description": says}


def whole(says: str, least: int, most: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": least, "maximum": most, "description": says}


SCENE = text("The scene's name, as list_scenes gives it.")
LIMIT = whole(f"How many at most, the newest first; {FEW} when left out.", 1, MOST)
TEXT = text("What is wanted, in words.", 20_000)
INTENT = {"type": "object", "description": "What is wanted, as an intent: an object with `goal` and `steps`."}
PLAN = {
    "type": ["object", "array", "string"],
    "description": "A plan's document: an object with `steps`, each with `id`, `tool`, `args` and `dependsOn`; or the "
    "list of a scene's own steps; or either as YAML or JSON text. The page beforehand://docs/plans says all of it.",
}
START = {
    "order": {"type": "string", "enum": ["given", "free"], "description": "Keep the goals' order, or find a shorter."},
    "position": text("Where the machine stands at the start, if not where the log says."),
    "tool": text("The tool it holds at the start, or none."),
}


def limit_of(given: Mapping[str, Any]) -> int:
    return int(given.get("limit", FEW))


def plan_of(given: Mapping[str, Any]) -> Any:
    """The plan's document; one that came as text is read, hostile or not."""
    from beforehand.app.documents import parse, plain

    document = given["plan"]
    return parse(document, "The plan") if isinstance(document, str) else plain(document, "The plan")
