"""What must hold of the pallet catalogue: types that exist, places that take what is brought, files that are there.

Recognition files and fork profiles are the home's. As long as it keeps none of a kind, such a name means something to
the robot alone and is passed on as it is; once it keeps some, a name it does not know is a problem.
"""

from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise
from typing import Any

from beforehand.crafts.fleet.core.files import FORKS, RECOGNITION
from beforehand.crafts.fleet.core.shape import Problems
from beforehand.model.fleet import RobotSpec, WorksiteSpec

Files = Mapping[str, Mapping[str, Any]]
"""The files the home keeps, by name, each as its document."""
Parts = Mapping[str, Any]


def check_types(parts: Parts, types: Collection[str], problems: Problems) -> None:
    """Every type that a place or a robot names is in the catalogue."""
    for path, site in _read(parts, "worksites"):
        if site.pallet_type is not None and site.pallet_type not in types:
            problems.unknown_name(site.pallet_type, f"{path}.palletType", "pallet type", types)
    for path, robot in _read(parts, "robots"):
        for number, name in enumerate(robot.pallet_types or ()):
            if name not in types:
                problems.unknown_name(name, f"{path}.palletTypes[{number}]", "pallet type", types)


def check_fits(
    groups: Mapping[str, tuple[str, ...]], path: str, sites: Mapping[str, WorksiteSpec], problems: Problems
) -> None:
    """What a stream picks must be of the type that its drops take."""
    for (_, earlier), (key, later) in pairwise(groups.items()):
        held = {sites[name].pallet_type: name for name in reversed(earlier) if name in sites}
        held.pop(None, None)
        for number, name in enumerate(later):
            takes = sites[name].pallet_type if name in sites else None
            other = next((kind for kind in held if takes is not None and kind != takes), None)
            if other is not None:
                says = f"{name} takes pallets of type {takes}, and {held[other]} holds {other}."
                problems.add(
                    "scene.pallet_type",
                    f"{path}.params.{key}[{number}]",
                    says,
                    about=name,
                    try_next="Make a stream of its own for each type.",
                )


def check_files(parts: Parts, files: Files, problems: Problems) -> None:
    """Every file that the scene names is kept, and no fork is asked for more than its profile says it can do."""
    _check_named(parts, files, problems)
    profiles = [files.get(robot.fork_profile or "") for _, robot in _read(parts, "robots")]
    highest = max((_height(profile) for profile in profiles), default=float("inf"))
    for path, params in _fork_params(parts):
        for key in ("start_height", "end_height"):
            value = params.get(key)
            if isinstance(value, int | float) and value > highest:
                says = f"{value:g} m is higher than any fork of the scene reaches: {highest:g} m by its profile."
                problems.add("scene.too_high", f"{path}.{key}", says)
    for path, robot in _read(parts, "robots"):
        _check_load(robot, path, files.get(robot.fork_profile or ""), problems)


def _check_named(parts: Parts, files: Files, problems: Problems) -> None:
    known = {folder: [name for name in files if name.startswith(f"{folder}/")] for folder in (RECOGNITION, FORKS)}
    named = [(f"{path}.recfile", params.get("recfile"), RECOGNITION) for path, params in _fork_params(parts)]
    named += [(f"{path}.recfile", pallet.recfile, RECOGNITION) for path, pallet in _read(parts, "pallets")]
    named += [(f"{path}.forkProfile", robot.fork_profile, FORKS) for path, robot in _read(parts, "robots")]
    for path, name, folder in named:
        if isinstance(name, str) and name and known[folder] and name not in known[folder]:
            problems.unknown_name(name, path, "fork profile" if folder == FORKS else "recognition file", known[folder])


def _height(profile: Mapping[str, Any] | None) -> float:
    """How high a fork reaches; no limit where nobody knows."""
    value = None if profile is None else profile.get("maxHeightM")
    return float(value) if isinstance(value, int | float) else float("inf")


def _check_load(robot: RobotSpec, path: str, profile: Mapping[str, Any] | None, problems: Problems) -> None:
    most = None if profile is None else profile.get("maxLoadKg")
    if robot.max_load_kg is not None and isinstance(most, int | float) and robot.max_load_kg > most:
        says = f"{robot.max_load_kg:g} kg is more than its fork carries: {most:g} kg by {robot.fork_profile}."
        problems.add("scene.too_heavy", f"{path}.maxLoadKg", says)


def _fork_params(parts: Parts) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What is said to robots at their places, wherever the scene says it."""
    for path, stream in _read(parts, "streams"):
        for names in (("pickParams", "pick_params"), ("dropParams", "drop_params")):
            given = next((stream.params[name] for name in names if name in stream.params), None)
            if isinstance(given, Mapping):
                yield f"{path}.params.{names[0]}", given
    for path, site in _read(parts, "worksites"):
        for key, given in (("pickParams", site.pick_params), ("dropParams", site.drop_params)):
            if given is not None:
                yield f"{path}.{key}", given


def _read(parts: Parts, section: str) -> Iterator[tuple[str, Any]]:
    return ((f"{section}[{number}]", item) for number, item in enumerate(parts[section]) if item is not None)
