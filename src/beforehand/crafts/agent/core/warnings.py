"""What is legal in a home and yet worth a look: what nobody can reach, and what can be done with nothing.

Doors are taken to be open: a closed one can be opened, a way that is too narrow cannot.
"""

from collections.abc import Iterator
from dataclasses import replace

from beforehand.crafts.agent.core.approach import can_reach
from beforehand.crafts.agent.core.verbs import VERBS, Verbs
from beforehand.crafts.agent.core.words import HomeScene
from beforehand.crafts.agent.core.world import first_world
from beforehand.model.reason import Problem, unknown


def warnings(scene: HomeScene, verbs: Verbs = VERBS) -> list[Problem]:
    """Every oddity with its path in the file."""
    return [*_unreachable(scene), *_affordances(scene, verbs)]


def _unreachable(scene: HomeScene) -> Iterator[Problem]:
    first = first_world(scene)
    world = replace(first, open=dict.fromkeys(first.open, True))
    for at, thing in enumerate(scene.objects):
        if thing.at is not None and not can_reach(thing.name, world):
            yield _odd(f"objects[{at}].at", f"{thing.name} cannot be reached from where the agent starts.")


def _affordances(scene: HomeScene, verbs: Verbs) -> Iterator[Problem]:
    known = sorted(verbs.affordances)
    for at, thing in enumerate(scene.objects):
        if not thing.affords and not thing.door:
            yield _odd(f"objects[{at}].affords", f"{thing.name} affords nothing, so it is only in the way.")
        for number, word in enumerate(thing.affords):
            if word not in verbs.affordances:
                told = unknown("affordance", word, known)
                path = f"objects[{at}].affords[{number}]"
                yield Problem(code="scene.odd", about=path, path=path, says=told.says, nearest=told.nearest)


def _odd(path: str, says: str) -> Problem:
    return Problem(code="scene.odd", about=path, path=path, says=says)
