/** Where things of a fleet's scene lie, for a drawing with y upwards. */

export interface Spot {
  x: number;
  y: number;
}

interface Document {
  nodes?: { id: string; x: number; y: number }[];
  edges?: { from: string; to: string }[];
  worksites?: { worksiteId: string; entryNodeId: string; actionNodeId?: string | null }[];
}

export interface Floor {
  edges: [Spot, Spot][];
  worksites: Map<string, Spot>;
  viewBox: string;
  /** The size of a worksite's mark. */
  unit: number;
}

const span = (values: readonly number[]): [number, number] =>
  values.length === 0 ? [0, 1] : [Math.min(...values), Math.max(...values)];

export function floorOf(given: Record<string, unknown>): Floor {
  const { nodes = [], edges = [], worksites = [] } = given as Document;
  const spots = new Map(nodes.map(({ id, x, y }) => [id, { x, y: -y }]));
  const [left, right] = span(nodes.map((node) => node.x));
  const [top, bottom] = span(nodes.map((node) => -node.y));
  const wide = Math.max(right - left, 1);
  const high = Math.max(bottom - top, 1);
  const unit = Math.min(Math.max(Math.max(wide, high) / 50, 0.2), 4);
  const pad = unit * 2;
  const lines = edges.flatMap(({ from, to }): [Spot, Spot][] => {
    const one = spots.get(from);
    const other = spots.get(to);
    return one && other ? [[one, other]] : [];
  });
  const places = worksites.flatMap((worksite): [string, Spot][] => {
    const at = spots.get(worksite.actionNodeId ?? "") ?? spots.get(worksite.entryNodeId);
    return at ? [[worksite.worksiteId, at]] : [];
  });
  const viewBox = `${left - pad} ${top - pad} ${wide + pad * 2} ${high + pad * 2}`;
  return { edges: lines, worksites: new Map(places), viewBox, unit };
}
