"""The Cypher the house uses: plain reads with ORDER BY, batched writes; no paths, no procedures, no extensions.

Reads come in two kinds: of the nodes of one scene, and of nodes that carry no `scene` at all, as graphs made by others
do. Relations count only between nodes of the same kind, so no scene reaches into another.
"""

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
ABOUT = """
MATCH (s:Scene) WHERE s.name = $scene
RETURN s.current_position AS current_position, s.current_tool AS current_tool, s.speed_mps AS speed_mps
ORDER BY current_position, current_tool, speed_mps
"""
POSITIONS = """
MATCH (p:Position) WHERE {p}
RETURN p.name AS name, p.x AS x, p.y AS y, p.role AS role, p.rank AS rank ORDER BY rank, name
"""
MOVES = """
MATCH (p:Position)-[m:ONLY_ALLOWED_MOVE_TO]->(q:Position) WHERE {p} AND {q}
RETURN p.name AS source, q.name AS target, m.one_way AS one_way, m.cost AS cost, m.rank AS rank
ORDER BY rank, source, target
"""
TOOLS = """
MATCH (t:Tool) WHERE {t}
RETURN t.name AS name, t.rank AS rank ORDER BY rank, name
"""
STANDS = """
MATCH (t:Tool)-[:LOCATED_AT]->(p:Position) WHERE {t} AND {p}
RETURN t.name AS name, p.name AS stand ORDER BY name, stand
"""
ROUTINES = """
MATCH (r:Routine) WHERE {r}
RETURN r.name AS name, r.required_tool AS required_tool, r.words AS words, r.duration_s AS duration_s, r.rank AS rank
ORDER BY rank, name
"""
SUPPORTS = """
MATCH (r:Routine)-[s:SUPPORTED_AT]->(p:Position) WHERE {r} AND {p}
RETURN r.name AS routine, p.name AS position, s.stabilize AS stabilize, s.verify AS verify,
       s.action_after AS action_after, s.rank AS rank
ORDER BY routine, rank, position
"""

CLAIM = "MERGE (s:Scene {name: $scene}) SET s = $about"
"""First of all writes: whoever else pushes this scene waits for this node."""

FORGET = "MATCH (n:{label}) WHERE n.scene = $scene WITH n LIMIT $most DETACH DELETE n RETURN count(*) AS gone"
CREATE = "UNWIND $rows AS row CREATE (n:{label}) SET n = row RETURN row.name AS name, elementId(n) AS id"
RELATE = """
UNWIND $rows AS row
MATCH (a) WHERE elementId(a) = row.a
MATCH (b) WHERE elementId(b) = row.b
CREATE (a)-[r:{kind}]->(b) SET r = row.about
"""


def of_scene(query: str, *, named: bool) -> str:
    """The query for the nodes of `$scene`, or for those that belong to none."""
    rule = "= $scene" if named else "IS NULL"
    return query.format(**{node: f"{node}.scene {rule}" for node in "pqrt"})
