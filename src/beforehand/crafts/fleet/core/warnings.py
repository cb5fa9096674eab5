"""What is legal in a fleet scene and yet worth a look before robots work in it."""

from beforehand.crafts.fleet.core.params import BatchParams
from beforehand.crafts.fleet.core.streams import KINDS, sources_of
from beforehand.crafts.fleet.core.task_values import NO_PALLETS
from beforehand.crafts.fleet.core.traffic.checking import oddities
from beforehand.model.fleet import FleetScene
from beforehand.model.reason import Problem


def warnings(scene: FleetScene) -> list[Problem]:
    """Every oddity with its path in the file."""
    found = []
    if not scene.robots:
        found.append(_odd("robots", "The scene has no robots, so nothing will be moved."))
    if not scene.streams:
        found.append(_odd("streams", "The scene has no streams, so only transport on request will be done."))
    for at, stream in enumerate(scene.streams):
        if not stream.enabled:
            found.append(_odd(f"streams[{at}].enabled", f"The stream {stream.stream_id} is switched off."))
    crowded = [_odd(path, says) for path, says in oddities(scene)]
    return found + _unknown_places(scene) + _no_pallets(scene) + _nobody_carries(scene) + crowded


def _nobody_carries(scene: FleetScene) -> list[Problem]:
    """Work that is for none of the scene's robots, whatever happens."""
    found = []
    most = max((robot.capacity for robot in scene.robots), default=0)
    types = {site.worksite_id: site.pallet_type for site in scene.worksites}
    for at, stream in enumerate(scene.streams if scene.robots else ()):
        handler = KINDS[stream.kind]
        params = handler.params.model_validate(dict(stream.params))
        if isinstance(params, BatchParams) and params.batch_size > most and not params.partial:
            says = f"No robot carries {params.batch_size} pallets at once, so {stream.stream_id} never starts a task."
            found.append(_odd(f"streams[{at}].params.batchSize", f"{says} Give one a capacity."))
        left = next((site for site in sources_of(handler, params) if not _is_carried(scene, types[site])), None)
        if left is not None:
            says = f"No robot may carry pallets of type {types[left]}, so {stream.stream_id} leaves those of {left}."
            found.append(_odd(f"streams[{at}].params", says))
    return found


def _is_carried(scene: FleetScene, pallet_type: str | None) -> bool:
    return any(
        pallet_type is None or robot.pallet_types is None or pallet_type in robot.pallet_types for robot in scene.robots
    )


def _unknown_places(scene: FleetScene) -> list[Problem]:
    """Nothing is picked from or dropped on a place nobody knows about."""
    used: set[str] = set()
    for stream in scene.streams:
        handler = KINDS[stream.kind]
        for group in handler.groups(handler.params.model_validate(dict(stream.params))).values():
            used.update(group)
    found = []
    for at, site in enumerate(scene.worksites):
        if site.worksite_id in used and site.initial_occupancy == "unknown":
            says = f"It is not known what is on {site.worksite_id}, so it is not used until its occupancy is set."
            found.append(_odd(f"worksites[{at}].occupancy", says))
    return found


def _no_pallets(scene: FleetScene) -> list[Problem]:
    """Chargers and park places are for robots."""
    return [
        _odd(
            f"worksites[{at}].occupancy",
            f"{site.worksite_id} is a {site.worksite_type} place; pallets do not stand there, so filled means nothing.",
        )
        for at, site in enumerate(scene.worksites)
        if site.worksite_type in NO_PALLETS and site.occupancy == "filled"
    ]


def _odd(path: str, says: str) -> Problem:
    return Problem(code="scene.odd", about=path, path=path, says=says)
