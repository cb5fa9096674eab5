// The ways of a scene: where its nodes are, and the shortest way from any of them to any other. Robots find their own
// way; this is the one they are expected to take, for lines on the map and for gliding between two frames.

const KEPT = 256;

export class Ways {
  constructor(scene) {
    this.nodes = new Map(scene.nodes.map((node) => [node.id, node]));
    this.edges = scene.edges.filter((edge) => this.nodes.has(edge.from) && this.nodes.has(edge.to));
    this.into = new Map(scene.nodes.map((node) => [node.id, []]));
    for (const edge of this.edges) {
      const length = edge.lengthM ?? this.#far(edge.from, edge.to);
      this.into.get(edge.to).push([edge.from, length]);
      if (!edge.oneWay) this.into.get(edge.from).push([edge.to, length]);
    }
    this.trees = new Map();
  }

  #far(a, b) {
    const [one, two] = [this.nodes.get(a), this.nodes.get(b)];
    return Math.hypot(one.x - two.x, one.y - two.y);
  }

  // For every node the next one on the way to `target`.
  #towards(target) {
    if (this.trees.has(target)) return this.trees.get(target);
    const next = new Map();
    const far = new Map([[target, 0]]);
    const open = new Set([target]);
    while (open.size) {
      let here = null;
      for (const node of open) if (here === null || far.get(node) < far.get(here)) here = node;
      open.delete(here);
      for (const [before, length] of this.into.get(here) ?? []) {
        const total = far.get(here) + length;
        if (total < (far.get(before) ?? Infinity)) {
          far.set(before, total);
          next.set(before, here);
          open.add(before);
        }
      }
    }
    if (this.trees.size >= KEPT) this.trees.clear();
    this.trees.set(target, next);
    return next;
  }

  // The points from a node to another, both included; null when there is no way.
  between(start, target) {
    if (!this.nodes.has(start) || !this.nodes.has(target)) return null;
    const next = this.#towards(target);
    const points = [this.nodes.get(start)];
    for (let here = start; here !== target; ) {
      here = next.get(here);
      if (here === undefined) return null;
      points.push(this.nodes.get(here));
    }
    return points;
  }

  // What lies before a robot on its way to `target`, beginning where it is.
  ahead(robot, target) {
    const rest = this.between(robot.nextNodeId ?? robot.nodeId, target);
    return rest && [{ x: robot.x, y: robot.y }, ...rest];
  }

  // How a robot came from one frame's place to the next one's: along the edges if it can have, else straight.
  came(before, after) {
    const start = { x: before.x, y: before.y };
    const end = { x: after.x, y: after.y };
    if (Math.hypot(start.x - end.x, start.y - end.y) < 0.01) return [end];
    if (before.nodeId === after.nodeId && before.nextNodeId === after.nextNodeId) return [start, end];
    const through = this.between(before.nextNodeId ?? before.nodeId, after.nodeId);
    if (!through || through.length > 12) return [start, end];
    return [start, ...through, end];
  }
}

// The point and the direction at a share of a line's length.
export function along(points, share) {
  const lengths = points.slice(1).map((point, at) => Math.hypot(point.x - points[at].x, point.y - points[at].y));
  let left = Math.min(1, Math.max(0, share)) * lengths.reduce((sum, length) => sum + length, 0);
  for (let at = 0; at < lengths.length; at += 1) {
    const [a, b] = [points[at], points[at + 1]];
    if (left <= lengths[at] && lengths[at] > 0) {
      const part = left / lengths[at];
      return { x: a.x + (b.x - a.x) * part, y: a.y + (b.y - a.y) * part, heading: Math.atan2(b.y - a.y, b.x - a.x) };
    }
    left -= lengths[at];
  }
  return { ...points.at(-1), heading: null };
}
