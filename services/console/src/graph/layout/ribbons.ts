import type { Edges } from "./adjacency.js";
import type { Layers } from "./layers.js";
import type { LayerOrder } from "./order-layers.js";
import type { Places, Sizes } from "./place.js";

/** Edges between parts of layers, bundled. */
export interface Ribbons {
  /** Six numbers each: right, top and bottom of one part; left, top and bottom of the other. */
  readonly shape: Float64Array<ArrayBuffer>;
  /** Number of edges of each. */
  readonly count: Int32Array<ArrayBuffer>;
}

/** Parts that a layer is divided into, at most. */
const PARTS = 8;

export interface RibbonOptions extends Sizes {
  readonly edges: Edges;
  readonly layers: Layers;
  readonly order: LayerOrder;
  readonly places: Places;
}

/** Bundles the edges that lead from one part of a layer to one part of another. */
export function bundleEdges({ edges, layers, order, places, width, height }: RibbonOptions): Ribbons {
  const partOf = partsOf(layers, order);
  const boxes = boxesOf(partOf, layers.count * PARTS, { places, width, height });
  const bundles = new Map<number, number>();
  const parts = layers.count * PARTS;
  for (let edge = 0; edge < edges.from.length; edge++) {
    const key = (partOf[edges.from[edge] as number] as number) * parts + (partOf[edges.to[edge] as number] as number);
    bundles.set(key, (bundles.get(key) ?? 0) + 1);
  }
  const shape = new Float64Array(bundles.size * 6);
  const count = new Int32Array(bundles.size);
  let at = 0;
  for (const [key, edgesOfBundle] of bundles) {
    const [from, to] = [Math.floor(key / parts) * 4, (key % parts) * 4];
    for (let side = 0; side < 3; side++) {
      shape[at * 6 + side] = boxes[from + side + 1] as number;
      shape[at * 6 + 3 + side] = boxes[to + (side === 0 ? 0 : side + 1)] as number;
    }
    count[at++] = edgesOfBundle;
  }
  return { shape, count };
}

/** Part of each node: nodes of a layer that follow each other. */
function partsOf({ layerOf }: Layers, { nodes, start }: LayerOrder): Int32Array {
  const partOf = new Int32Array(layerOf.length);
  for (let layer = 0; layer + 1 < start.length; layer++) {
    const [from, to] = [start[layer] as number, start[layer + 1] as number];
    for (let index = from; index < to; index++)
      partOf[nodes[index] as number] = layer * PARTS + Math.floor(((index - from) * PARTS) / (to - from));
  }
  return partOf;
}

/** Left, right, top and bottom of each part. */
function boxesOf(
  partOf: Int32Array,
  parts: number,
  { places: { x, y }, width, height }: Sizes & { readonly places: Places },
): Float64Array {
  const boxes = new Float64Array(parts * 4);
  for (let at = 0; at < boxes.length; at++) boxes[at] = at % 2 === 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  for (let node = 0; node < partOf.length; node++) {
    const at = (partOf[node] as number) * 4;
    boxes[at] = Math.min(boxes[at] as number, x[node] as number);
    boxes[at + 1] = Math.max(boxes[at + 1] as number, (x[node] as number) + (width[node] as number));
    boxes[at + 2] = Math.min(boxes[at + 2] as number, y[node] as number);
    boxes[at + 3] = Math.max(boxes[at + 3] as number, (y[node] as number) + (height[node] as number));
  }
  return boxes;
}
