import type { Adjacency, Neighbours } from "./adjacency.js";
import type { Layers } from "./layers.js";

/** Nodes by layer, in the order from top to bottom. */
export interface LayerOrder {
  readonly nodes: Int32Array;
  /** Start of each layer in `nodes`; the entry after the last has the end. */
  readonly start: Int32Array;
}

/** Larger graphs are sorted less often: they are drawn without single edges. */
const MANY_NODES = 5_000;
const SWEEPS = 6;
const SWEEPS_OF_MANY = 2;
/** Positions are compared with this precision, and share a number with the index in the layer. */
const PRECISION = 2 ** 30;
const MAX_INDEX = 2 ** 20;

/** Orders the nodes of layers by the mean position of their neighbours, so that few edges cross. */
export function orderLayers({ layerOf, count }: Layers, { down, up }: Adjacency): LayerOrder {
  const order = byLayer(layerOf, count);
  const position = new Float64Array(layerOf.length);
  for (let layer = 0; layer < count; layer++) setPositions(order, layer, position);
  const sweeps = layerOf.length > MANY_NODES ? SWEEPS_OF_MANY : SWEEPS;
  for (let sweep = 0; sweep < sweeps; sweep++) {
    for (let step = 0; step < count; step++) {
      const isDown = sweep % 2 === 0;
      sortLayer(order, isDown ? step : count - 1 - step, { neighbours: isDown ? up : down, position });
    }
  }
  return order;
}

function byLayer(layerOf: Int32Array, count: number): LayerOrder {
  const start = new Int32Array(count + 1);
  for (const layer of layerOf) (start[layer + 1] as number)++;
  for (let layer = 0; layer < count; layer++) (start[layer + 1] as number) += start[layer] as number;
  const next = start.slice(0, count);
  const nodes = new Int32Array(layerOf.length);
  for (let node = 0; node < layerOf.length; node++) nodes[(next[layerOf[node] as number] as number)++] = node;
  return { nodes, start };
}

interface SortOptions {
  readonly neighbours: Neighbours;
  readonly position: Float64Array;
}

function sortLayer(order: LayerOrder, layer: number, { neighbours, position }: SortOptions): void {
  const [from, to] = [order.start[layer] as number, order.start[layer + 1] as number];
  if (to - from < 2) return;
  const keys = new Float64Array(to - from);
  for (let index = from; index < to; index++) {
    const node = order.nodes[index] as number;
    const [first, end] = [neighbours.offset[node] as number, neighbours.offset[node + 1] as number];
    let sum = 0;
    for (let at = first; at < end; at++) sum += position[neighbours.nodes[at] as number] as number;
    const mean = first === end ? (position[node] as number) : sum / (end - first);
    keys[index - from] = Math.floor(mean * PRECISION) * MAX_INDEX + (index - from);
  }
  keys.sort();
  const before = order.nodes.slice(from, to);
  for (let index = 0; index < keys.length; index++) order.nodes[from + index] = before[(keys[index] as number) % MAX_INDEX] as number;
  setPositions(order, layer, position);
}

/** Sets the position of each node of a layer, from 0 to 1. */
function setPositions({ nodes, start }: LayerOrder, layer: number, position: Float64Array): void {
  const [from, to] = [start[layer] as number, start[layer + 1] as number];
  for (let index = from; index < to; index++) position[nodes[index] as number] = (index - from + 0.5) / (to - from);
}
