import type { Adjacency } from "./adjacency.js";

/** Layers of a graph: each edge leads to a later one, unless it closes a circle. */
export interface Layers {
  /** Layer of each node, from 0. */
  readonly layerOf: Int32Array;
  readonly count: number;
}

/**
 * Assigns each node to the layer after the last of the nodes before it. A node without any before
 * it moves to the layer in front of the first that needs it. `last` is the node that runs after a
 * failure, −1 for none; it comes last.
 */
export function assignLayers(length: number, { down, up }: Adjacency, last = -1): Layers {
  const layerOf = new Int32Array(length);
  const waitsFor = new Int32Array(length);
  for (let node = 0; node < length; node++) waitsFor[node] = (up.offset[node + 1] as number) - (up.offset[node] as number);
  const queue = new Int32Array(length);
  let [head, tail] = [0, 0];
  for (let node = 0; node < length; node++) if (waitsFor[node] === 0) queue[tail++] = node;
  // Nodes on a circle wait for each other: the first of them does not wait.
  for (let unseen = 0; head < length; ) {
    if (head === tail) {
      while ((waitsFor[unseen] as number) <= 0) unseen++;
      waitsFor[unseen] = 0;
      queue[tail++] = unseen;
    }
    const node = queue[head++] as number;
    const layer = (layerOf[node] as number) + 1;
    for (let at = down.offset[node] as number; at < (down.offset[node + 1] as number); at++) {
      const next = down.nodes[at] as number;
      if ((waitsFor[next] as number) <= 0) continue;
      if ((layerOf[next] as number) < layer) layerOf[next] = layer;
      if (--(waitsFor[next] as number) === 0) queue[tail++] = next;
    }
  }
  moveSources(layerOf, { down, up });
  let greatest = 0;
  for (const layer of layerOf) if (layer > greatest) greatest = layer;
  if (last >= 0) layerOf[last] = greatest;
  return { layerOf, count: length === 0 ? 0 : greatest + 1 };
}

/** Moves nodes without upstream close to what needs them. */
function moveSources(layerOf: Int32Array, { down, up }: Adjacency): void {
  for (let node = 0; node < layerOf.length; node++) {
    if (up.offset[node] !== up.offset[node + 1] || down.offset[node] === down.offset[node + 1]) continue;
    let first = Number.POSITIVE_INFINITY;
    for (let at = down.offset[node] as number; at < (down.offset[node + 1] as number); at++)
      first = Math.min(first, layerOf[down.nodes[at] as number] as number);
    layerOf[node] = Math.max(first - 1, 0);
  }
}
