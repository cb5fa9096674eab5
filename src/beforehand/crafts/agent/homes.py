"""The homes of a runtime: their scenes live, the world as the last session left it, and a body put back to the start.

A world that was left is of use to the scene it was left in: in a home that was edited since, it begins as described.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from beforehand.app.holds import everything_held, held
from beforehand.app.leases import LOCK, refuse_held
from beforehand.app.runtime import Runtime
from beforehand.app.scenes import activate_scene, no_scene_of
from beforehand.crafts.agent.core.scene import read_home
from beforehand.crafts.agent.core.verbs import Verbs
from beforehand.crafts.agent.core.words import HomeScene
from beforehand.crafts.agent.worlds import open_world, refuse_not_simulated
from beforehand.loop.asked import preparing
from beforehand.model.decision import content_hash
from beforehand.model.errors import NotFoundError
from beforehand.ports.body import Body

KIND = "home"
WORLD_ROW = "homeWorld"
RESET = "homeReset"
EDITED = "The home was edited since the last session, so its world begins as the scene describes it."


def machine_of(scene: str) -> str:
    """The name under which a home's body is held."""
    return f"home:{scene}"


def hash_of(scene: HomeScene) -> str:
    return content_hash(scene.wire())


@dataclass(slots=True)
class Homes:
    runtime: Runtime
    verbs: Verbs
    in_use: Callable[[str], bool]
    """Whether a session goes on in a home."""
    live: dict[str, HomeScene] = field(default_factory=dict)

    async def scene(self, name: str) -> HomeScene:
        """A home as the next session will find it; NotFoundError with the homes there are."""
        row = await self.runtime.store.row("scene", name)
        if name in self.live and (row is None or not row.get("changed") or self.in_use(name)):
            return self.live[name]
        if row is None or row["kind"] != KIND:
            told = await no_scene_of(self.runtime, KIND, name)
            raise NotFoundError(told.says, code="scene.unknown", nearest=told.nearest)
        return read_home(row["document"])

    async def home(self, name: str) -> HomeScene:
        """A home that is live, made so where it is not or was edited; NotFoundError with the homes there are."""
        await self.scene(name)
        row = await self.runtime.store.row("scene", name)
        if name not in self.live or (row is not None and row.get("changed") and not self.in_use(name)):
            with preparing():
                await activate_scene(self.runtime, name)
        return self.live[name]

    async def world_of(self, name: str, scene: HomeScene) -> tuple[Mapping[str, Any] | None, str]:
        """The world as the last session left it, None where it is as its scene describes it; and what to know of that.

        Worlds of other people begin anew with every session.
        """
        row = None if scene.world is not None else await self.runtime.store.row(WORLD_ROW, name)
        if row is None or row["world"] is None:
            return None, ""
        if row.get("sceneHash", "") not in ("", hash_of(scene)):
            return None, EDITED
        return row["world"], ""

    async def body(self, name: str, goal: str | None, world: Mapping[str, Any] | None) -> Body:
        """A body in this world, else in the one that was left."""
        scene = await self.scene(name)
        left = world or (await self.world_of(name, scene))[0]
        return open_world(scene, world=left, goal=goal, verbs=self.verbs)

    async def reset(self, name: str, by: str) -> dict[str, Any]:
        """Put a simulated body and its world back to where the scene begins.

        ConflictError while somebody holds the body or everything, and where nobody says that the world is simulated.
        """
        scene = await self.scene(name)
        refuse_not_simulated(scene)
        async with self.runtime.turns[LOCK]:
            if (everything := await held(self.runtime)) is not None:
                raise everything_held(everything)
            await refuse_held(self.runtime, [machine_of(name)])
            body = open_world(scene, verbs=self.verbs)
            data = {"scene": name, "by": by, "state": body.state_text()}
            await self.runtime.log(RESET, data, owner=f"home:{name}", scene=name)
        return data
