"""Reads a fleet scene and checks it: every problem at once, each with its path in the file and what to do.

A part that is wrong is reported and left out, and the rest is still checked against everything else, so that one
reading of the file shows the whole list. Only a scene without any problem is returned.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from beforehand.crafts.fleet.core.catalogue import Files, check_files
from beforehand.crafts.fleet.core.check import check_broker, check_names, check_numbers, check_ways
from beforehand.crafts.fleet.core.shape import Problems, is_text, read_shape
from beforehand.crafts.fleet.core.traffic.checking import check_starts
from beforehand.model.errors import BadInputError
from beforehand.model.fleet import Edge, FleetScene, Node, PalletSpec, RobotSpec, Settings, StreamSpec, WorksiteSpec
from beforehand.model.words import counted

SECTIONS: dict[str, type[Any]] = {
    "nodes": Node,
    "edges": Edge,
    "pallets": PalletSpec,
    "worksites": WorksiteSpec,
    "robots": RobotSpec,
    "streams": StreamSpec,
}
KEYS = ("kind", "name", *SECTIONS, "settings")
REQUIRED = ("nodes",)


def read_fleet(document: Any, files: Files | None = None) -> FleetScene:
    """The scene, or a BadInputError that lists every problem; `files` are those the home keeps, where they count."""
    problems = Problems()
    parts = _parts(document, problems)
    if parts is not None:
        check_names(parts, problems)
        check_numbers(parts, problems)
        check_broker(parts, problems)
        check_ways(parts, problems)
        check_starts(parts, problems)
        check_files(parts, files or {}, problems)
    if problems or parts is None:
        raise BadInputError(
            f"The fleet scene has {counted(len(problems.found), 'problem')}.",
            hint="Correct what is listed and read it again.",
            problems=problems.in_order(),
        )
    return FleetScene(
        name=document["name"],
        nodes=parts["nodes"],
        edges=parts["edges"],
        pallets=parts["pallets"],
        worksites=parts["worksites"],
        robots=parts["robots"],
        streams=parts["streams"],
        settings=parts["settings"],
    )


def _parts(document: Any, problems: Problems) -> dict[str, Any] | None:
    """Each section as what could be read of it; items keep their place so that paths stay true."""
    if not isinstance(document, Mapping):
        problems.add("scene.not_a_mapping", "", "A scene is a mapping with keys such as name, nodes and worksites.")
        return None
    for key in document:
        if key not in KEYS:
            problems.unknown_key(str(key), "", KEYS)
    _head(document, problems)
    parts: dict[str, Any] = {name: _items(document, name, model, problems) for name, model in SECTIONS.items()}
    given = document.get("settings")
    read = read_shape(Settings, {} if given is None else given, "settings", problems)
    parts["settings"] = Settings() if read is None else read
    return parts


def _head(document: Mapping[str, Any], problems: Problems) -> None:
    if document.get("kind", "fleet") != "fleet":
        problems.add("scene.kind", "kind", f"This is not a fleet scene: kind is {document.get('kind')!r}, not 'fleet'.")
    name = document.get("name")
    if not isinstance(name, str) or not name.strip() or len(name) > 200 or not is_text(name):
        problems.add("scene.name", "name", "A scene needs a name: some text of at most 200 characters.")


def _items(document: Mapping[str, Any], name: str, model: type[Any], problems: Problems) -> list[Any]:
    given = document.get(name)
    if given is None:
        if name in REQUIRED:
            problems.add("scene.missing", name, f"A fleet scene needs {name}: give a list of them.")
        return []
    if not isinstance(given, Sequence) or isinstance(given, str | bytes):
        problems.add("scene.not_a_list", name, f"{name} must be a list.")
        return []
    return [read_shape(model, item, f"{name}[{number}]", problems) for number, item in enumerate(given)]
