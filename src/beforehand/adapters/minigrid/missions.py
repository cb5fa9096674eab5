"""Which missions there are, and how one is set up: the same name and seed give the same grid every time.

The library is imported when the first mission is asked for. It talks while it makes grids; nobody hears it.
"""

import re
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Any

from beforehand.model.errors import BadInputError, UnavailableError
from beforehand.model.reason import Problem, unknown

FAMILY = "BabyAI-"
LARGEST_SEED = 2**31 - 1
_SHAPE = re.compile(r"BabyAI-[A-Za-z0-9]{1,40}-v\d{1,2}")


def is_installed() -> bool:
    """Whether MiniGrid can be imported; a mere folder of that name is not it."""
    spec = find_spec("minigrid")
    return spec is not None and spec.origin is not None


def known_missions() -> tuple[str, ...]:
    """The names a mission may have; UnavailableError where MiniGrid is not installed."""
    if not is_installed():
        raise UnavailableError(
            "MiniGrid, which makes the worlds of BabyAI missions, is not installed.",
            code="minigrid.not_installed",
            hint="Install it beside Beforehand: pip install 'minigrid>=3.2', or in its checkout: "
            "pip install '.[minigrid]'.",
        )
    import gymnasium
    import minigrid  # noqa: F401 - its missions are registered by the import

    return tuple(sorted(name for name in gymnasium.registry if name.startswith(FAMILY)))


def open_mission(mission: str, seed: int) -> Any:
    """The grid of a mission, ready for its first step."""
    known = known_missions()
    if mission not in known:
        raise BadInputError.unknown("mission", mission, known)
    import gymnasium
    from minigrid.envs.babyai.core import roomgrid_level

    vars(roomgrid_level)["print"] = _unsaid
    env = gymnasium.make(mission, render_mode="rgb_array", disable_env_checker=True).unwrapped
    env.reset(seed=seed)
    return env


def _unsaid(*words: object, **how: object) -> None:
    """In place of `print` where grids are made: our standard output is for answers."""


def check_options(options: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong with a scene's `world: {kind: minigrid, mission: …, seed: …}`.

    Where MiniGrid is not installed the mission's name is judged by its shape: the scene is as good as it was.
    """
    for key in options:
        if key not in ("mission", "seed"):
            told = unknown("key", key, ("mission", "seed"))
            yield Problem(code="scene.unknown_key", about=key, says=told.says, path=key, nearest=told.nearest)
    if "mission" not in options:
        says = "mission is missing: the name of a BabyAI mission, such as BabyAI-GoToLocal-v0."
        yield Problem(code="scene.missing", about="mission", says=says, path="mission")
    else:
        yield from _check_mission(options["mission"])
    seed = options.get("seed", 0)
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= LARGEST_SEED:
        says = f"seed must be a whole number from 0 to {LARGEST_SEED}."
        yield Problem(code="scene.bad_number", about="seed", says=says, path="seed")


def _check_mission(mission: Any) -> Iterator[Problem]:
    if not isinstance(mission, str):
        says = "mission must be the name of a BabyAI mission, such as BabyAI-GoToLocal-v0."
        yield Problem(code="scene.invalid", about="mission", says=says, path="mission")
    elif is_installed() and mission not in (known := known_missions()):
        told = unknown("mission", mission, known)
        yield Problem(
            code="scene.unknown_mission", about=mission[:60], says=told.says, path="mission", nearest=told.nearest
        )
    elif not _SHAPE.fullmatch(mission):
        says = f"{mission[:60]!r} is not the name of a BabyAI mission; such names are written like BabyAI-GoToLocal-v0."
        yield Problem(code="scene.unknown_mission", about=mission[:60], says=says, path="mission")
