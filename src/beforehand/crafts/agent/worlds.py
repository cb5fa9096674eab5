"""The worlds a body can live in: our own for a home, BabyAI missions, and whatever other packages bring.

A scene names its world in `world`; without that it is our own. A world of another kind brings its own walls and things.
"""

from collections.abc import Mapping
from typing import Any

from beforehand.app.entry_points import entry_points
from beforehand.crafts.agent.core.home_body import home_body
from beforehand.crafts.agent.core.scene import WORLD_KINDS
from beforehand.crafts.agent.core.verbs import VERBS, Verbs
from beforehand.crafts.agent.core.words import HomeScene
from beforehand.model.errors import ConflictError
from beforehand.model.machine import SIM, kind_of, options_of
from beforehand.model.reason import Problem, Reason
from beforehand.ports.agent_worlds import Policy, WorldKind, WorldRequest
from beforehand.ports.body import Body
from beforehand.ports.foreign import guarded, loaded, why

GROUP = "beforehand.agent_worlds"
_WORLDS: dict[str, WorldKind] = {}


def register_world(kind: str, world: WorldKind) -> None:
    """Let scenes name this kind of world. Raises BadInputError where the kind's name cannot be used."""
    WORLD_KINDS.add(kind, world.check)
    _WORLDS[kind] = world


def open_world(
    scene: HomeScene, *, world: Mapping[str, Any] | None = None, goal: str | None = None, verbs: Verbs = VERBS
) -> Body:
    """The body of a checked scene, in the world as it was left or at its beginning.

    Raises a BeforehandError where it cannot be opened; a package that is missing is named with how to install it.
    """
    kind = SIM if scene.world is None else kind_of(scene.world)
    if kind == SIM:
        return home_body(scene, world=world, goal=goal, verbs=verbs)
    with guarded(f"The world {kind} of {scene.name}"):
        return _WORLDS[kind].open(WorldRequest(scene.name, options_of(scene.world), world, goal))


def policy_of(scene: HomeScene) -> Policy | None:
    """The policy that the scene's world brings; None for homes, which have the built-in one.

    Raises ConflictError where a world of another kind brings none.
    """
    kind = SIM if scene.world is None else kind_of(scene.world)
    if kind == SIM:
        return None
    if _WORLDS[kind].policy is None:
        raise ConflictError(f"The world {kind} brings no policy, so somebody else has to steer.", code="policy.none")
    return _WORLDS[kind].policy


def refuse_not_simulated(scene: HomeScene) -> None:
    """ConflictError where nobody says that a scene's world is simulated: what is real cannot be put back."""
    kind = SIM if scene.world is None else kind_of(scene.world)
    if kind != SIM and not (kind in _WORLDS and _WORLDS[kind].simulated):
        raise ConflictError(
            f"The world {kind} of {scene.name} does not say that it is simulated, so its body cannot be put back.",
            code="agent.not_simulated",
            hint="Steer it there: `beforehand agent steer`.",
        )


def load_worlds() -> list[Reason]:
    """Add the worlds that installed packages bring; those that cannot be loaded are told and spare the rest."""
    missed = []
    for entry in entry_points(GROUP):
        try:
            found = loaded(entry.load)
            if not isinstance(found, WorldKind):
                raise TypeError(f"{entry.value} is not a WorldKind")
            register_world(entry.name, found)
        except Exception as error:  # somebody else's code: it may fail in any way, and the rest works on
            says = f"The world {entry.name} could not be loaded: {why(error)}"
            missed.append(
                Reason(code="plugin.unavailable", about=entry.name, says=says, try_next="Correct it and start again.")
            )
    return missed


def _open_mission(request: WorldRequest) -> Body:
    from beforehand.adapters.minigrid.body import minigrid_body

    return minigrid_body(request.options, world=request.world, goal=request.goal)


def _check_mission(options: Mapping[str, Any]) -> list[Problem]:
    from beforehand.adapters.minigrid.missions import check_options

    return list(check_options(options))


def _mission_policy(body: Body) -> str:
    from beforehand.adapters.minigrid.body import MiniGridBody
    from beforehand.adapters.minigrid.policy import next_command

    assert isinstance(body, MiniGridBody)
    return next_command(body)


register_world("minigrid", WorldKind(_open_mission, _check_mission, _mission_policy, simulated=True))
