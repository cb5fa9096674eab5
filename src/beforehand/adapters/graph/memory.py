"""A cell's graph in this process: scenes by name, kept as they were read from their documents."""

import hashlib
import json
from collections.abc import Iterable

from beforehand.adapters.graph.faults import unknown_scene
from beforehand.model.cell import CellScene


class MemoryGraph:
    def __init__(self, scenes: Iterable[CellScene] = ()) -> None:
        self._scenes = {scene.name: scene for scene in scenes}

    async def read(self, name: str) -> CellScene:
        if name not in self._scenes:
            raise unknown_scene(name, self._scenes, "the graph in this process")
        return self._scenes[name]

    async def write(self, scene: CellScene) -> None:
        self._scenes[scene.name] = scene

    async def fingerprint(self, name: str) -> str:
        text = json.dumps((await self.read(name)).wire(), ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    async def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._scenes))

    async def close(self) -> None: ...
