/** Neighbours of each node: those of `node` are `nodes[offset[node]]` up to `offset[node + 1]`. */
export interface Neighbours {
  readonly offset: Int32Array<ArrayBuffer>;
  readonly nodes: Int32Array<ArrayBuffer>;
}

/** Edges in both directions. */
export interface Adjacency {
  readonly down: Neighbours;
  readonly up: Neighbours;
}

/** Edges as columns. */
export interface Edges {
  readonly from: ArrayLike<number>;
  readonly to: ArrayLike<number>;
}

/** Lists the neighbours of `length` nodes in both directions. */
export function adjacencyOf(length: number, { from, to }: Edges): Adjacency {
  return { down: neighboursOf(length, from, to), up: neighboursOf(length, to, from) };
}

function neighboursOf(length: number, from: ArrayLike<number>, to: ArrayLike<number>): Neighbours {
  const offset = new Int32Array(length + 1);
  for (let edge = 0; edge < from.length; edge++) (offset[(from[edge] as number) + 1] as number)++;
  for (let node = 0; node < length; node++) (offset[node + 1] as number) += offset[node] as number;
  const next = offset.slice(0, length);
  const nodes = new Int32Array(from.length);
  for (let edge = 0; edge < from.length; edge++) nodes[(next[from[edge] as number] as number)++] = to[edge] as number;
  return { offset, nodes };
}
