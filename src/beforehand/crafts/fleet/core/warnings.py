"""What is legal in a fleet scene and yet worth a look before robots work in it."""

from beforehand.crafts.fleet.core.streams import KINDS
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
    return found + _unknown_places(scene)


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


def _odd(path: str, says: str) -> Problem:
    return Problem(code="scene.odd", about=path, path=path, says=says)
