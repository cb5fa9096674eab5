"""The Cypher that is used: plain reads with ORDER BY, batched writes; no paths, no procedures, no extensions.

Reads come in two kinds: of the nodes of one scene, and of nodes that carry no `scene` at all, as graphs made by others
do. Relations count only between nodes of the same kind, so no scene reaches into another.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

LABELS = ("Position", "Routine", "Tool")

NAMES = """
MATCH (p:Position) WHERE p.scene IS NOT NULL RETURN DISTINCT p.scene AS name ORDER BY name
"""
SCENES = """
MATCH (s:Scene) WHERE s.name IS NOT NULL RETURN DISTINCT s.name AS name ORDER BY name
"""
UNNAMED = """
MATCH (p:Position) WHERE p.scene IS NULL RETURN count(p) AS positions
"""


@dataclass(frozen=True, slots=True)
class Table:
    """Nodes or relations of one kind. They come as one list of lists, which the driver unpacks four times as fast."""

    match: str
    columns: Mapping[str, str]
    order: str

    def query(self, rule: str) -> str:
        """The query with `rule` for the `scene` of every node in it."""
        nodes = re.findall(r"\((\w+):", self.match)
        where = " AND ".join(f"{node}.{rule}" for node in nodes)
        things = ", ".join(re.findall(r"[(\[](\w+):", self.match))
        wanted = ", ".join(self.columns.values())
        return (
            f"MATCH {self.match} WHERE {where} WITH {things} ORDER BY {self.order} RETURN collect([{wanted}]) AS rows"
        )


OF_SCENE = "scene = $scene"
OF_NONE = "scene IS NULL"

ABOUT = Table(
    "(s:Scene)",
    {name: f"s.{name}" for name in ("current_position", "current_tool", "speed_mps", "controller")},
    "s.current_position, s.current_tool, s.speed_mps",
)
TABLES = {
    "positions": Table(
        "(p:Position)",
        {"name": "p.name", "x": "p.x", "y": "p.y", "role": "p.role", "rank": "p.rank"},
        "p.rank, p.name",
    ),
    "moves": Table(
        "(p:Position)-[m:ONLY_ALLOWED_MOVE_TO]->(q:Position)",
        {"source": "p.name", "target": "q.name", "one_way": "m.one_way", "cost": "m.cost", "rank": "m.rank"},
        "m.rank, p.name, q.name",
    ),
    "tools": Table("(t:Tool)", {"name": "t.name", "rank": "t.rank"}, "t.rank, t.name"),
    "stands": Table("(t:Tool)-[l:LOCATED_AT]->(p:Position)", {"name": "t.name", "stand": "p.name"}, "t.name, p.name"),
    "routines": Table(
        "(r:Routine)",
        {name: f"r.{name}" for name in ("name", "required_tool", "words", "duration_s", "rank")},
        "r.rank, r.name",
    ),
    "supports": Table(
        "(r:Routine)-[s:SUPPORTED_AT]->(p:Position)",
        {
            "routine": "r.name",
            "position": "p.name",
            **{name: f"s.{name}" for name in ("stabilize", "verify", "action_after", "rank")},
        },
        "r.name, s.rank, p.name",
    ),
}

ONE_EACH = "CREATE CONSTRAINT beforehand_scene IF NOT EXISTS FOR (s:Scene) REQUIRE s.name IS UNIQUE"
"""So that two first pushes at the same moment cannot both make the scene."""

CLAIM = "MERGE (s:Scene {name: $scene}) SET s = $about, s.push = $push"
"""First of all writes: whoever else pushes this scene waits for this node, or is refused when it commits.

`push` is a new value each time. A server without locks compares at the commit what was changed, and a node set to the
values it already has is not changed: of two pushes at the same moment, parts of both would be kept.
"""

FORGET = "MATCH (n:{label}) WHERE n.scene = $scene WITH n LIMIT $most DETACH DELETE n RETURN count(*) AS gone"
CREATE = "UNWIND $rows AS row CREATE (n:{label}) SET n = row RETURN row.name AS name, elementId(n) AS id"
RELATE = """
UNWIND $rows AS row
MATCH (a) WHERE elementId(a) = row.a
MATCH (b) WHERE elementId(b) = row.b
CREATE (a)-[r:{kind}]->(b) SET r = row.about
"""
