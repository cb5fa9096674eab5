"""Forklifts on the wire for the console's tests: `beforehand robot robokit`, a process of its own, and small halls."""

import asyncio
import json
import re
import subprocess
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml
from tests.fork_server import Forked

ROBOT = "RB-01"
SPEED = 12
PATIENCE_S = 90
RECOGNISES = {"operation": "ForkLoad", "recognize": True, "recfile": "plt/p0001.plt", "end_height": 0.2}
PLACES = {"PICK_1": 2.0, "PICK_2": 5.0, "BUFFER": 20.0, "DROP_1": 44.0, "DROP_2": 47.0}
"""Where each place is along the one way of the hall, in metres; the robot begins at 0."""


def small_hall(kind: str, **params: Any) -> dict[str, Any]:
    """One way with places beside it, all empty, one robot that carries two pallets, and one stream of a kind."""
    nodes: list[dict[str, Any]] = [{"id": "LM_0", "x": 0.0, "y": 0.0}]
    edges: list[dict[str, Any]] = []
    for name, x in PLACES.items():
        nodes += [{"id": f"LM_{name}", "x": x, "y": 0.0}, {"id": f"AP_{name}", "x": x, "y": 2.0}]
        edges += [{"from": nodes[-2]["id"], "to": nodes[-1]["id"]}]
    ways = [node["id"] for node in nodes if node["y"] == 0]
    edges += [{"from": one, "to": other} for one, other in pairwise(ways)]
    groups = {"pickGroup": ["PICK_1", "PICK_2"], "dropGroup": ["DROP_1", "DROP_2"], "pickParams": RECOGNISES}
    return {
        "kind": "fleet",
        "name": "wired",
        "nodes": nodes,
        "edges": edges,
        "worksites": [
            {
                "worksiteId": name,
                "worksiteType": "buffer",
                "entryNodeId": f"LM_{name}",
                "actionNodeId": f"AP_{name}",
                "occupancy": "empty",
            }
            for name in PLACES
        ],
        "robots": [{"robotId": ROBOT, "nodeId": "LM_0", "loadState": "empty", "capacity": 2}],
        "streams": [{"streamId": kind, "kind": kind, "params": {**groups, **params}}],
        "settings": {"tickS": 0.1},
    }


class Wired:
    """The robots of a scene behind real ports, in a process of their own, each with its link once they listen."""

    def __init__(self, folder: Path, scene: dict[str, Any], faults: Sequence[dict[str, Any]] = ()) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.scene = scene
        self._scene, self._faults = folder / "scene.yaml", folder / "faults.yaml"
        self._scene.write_text(yaml.safe_dump(scene), encoding="utf-8")
        self._faults.write_text(yaml.safe_dump(list(faults)), encoding="utf-8")
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None

    async def start(self) -> dict[str, Any]:
        """Until they listen; the scene with the links that lead to them."""
        self._process = process = self._begin()
        assert process.stdout is not None
        await asyncio.to_thread(process.stdout.readline)
        links = {}
        for _ in self.scene["robots"]:
            told = await asyncio.to_thread(process.stdout.readline)
            found = re.search(r"robotId: (\S+), link: (\{.*\})\}$", told.strip())
            assert found is not None, told
            links[found[1]] = json.loads(found[2])
        robots = [{**robot, "link": links[robot["robotId"]]} for robot in self.scene["robots"]]
        return {**self.scene, "robots": robots}

    def _begin(self) -> "subprocess.Popen[str]":
        words = ["--scene", str(self._scene), "--faults", str(self._faults), "--speed", str(SPEED), "--port", "0"]
        command = ["robot", "robokit", *words, "--home", str(self._folder / "home")]
        return Forked(command, stdout=subprocess.PIPE, text=True, cwd=self._folder)

    async def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            await asyncio.to_thread(self._process.communicate, timeout=PATIENCE_S)
            self._process = None
