"""The body of a home, made for its scene: in our own world, or in another one behind the same port."""

from collections.abc import Mapping
from typing import Any

from beforehand.crafts.agent.core.home_body import home_body
from beforehand.crafts.agent.core.verbs import Verbs
from beforehand.crafts.agent.core.words import HomeScene
from beforehand.ports.body import Body


def open_body(
    scene: HomeScene, verbs: Verbs, *, world: Mapping[str, Any] | None = None, goal: str | None = None
) -> Body:
    """The body of a scene, in the world as it was left or as the scene describes it."""
    return home_body(scene, world=world, goal=goal, verbs=verbs)
