import { type Adjacency, adjacencyOf, type Edges } from "./adjacency.js";
import { assignLayers, type Layers } from "./layers.js";
import { type LayerOrder, orderLayers } from "./order-layers.js";
import { type Places, placeNodes, type Sizes } from "./place.js";
import { bundleEdges, type Ribbons } from "./ribbons.js";

/** Layers of a graph and the order in them, which do not depend on the sizes of nodes. */
export interface Ranking {
  readonly edges: Edges;
  readonly adjacency: Adjacency;
  readonly layers: Layers;
  readonly order: LayerOrder;
}

/** Ranks `length` nodes; `last` is the node that runs after a failure, −1 for none. */
export function rankNodes(length: number, edges: Edges, last = -1): Ranking {
  const adjacency = adjacencyOf(length, edges);
  const layers = assignLayers(length, adjacency, last);
  return { edges, adjacency, layers, order: orderLayers(layers, adjacency) };
}

export interface Layout {
  readonly places: Places;
  readonly ribbons: Ribbons;
}

/** Places ranked nodes of these sizes. */
export function layOut({ edges, adjacency, layers, order }: Ranking, sizes: Sizes): Layout {
  const places = placeNodes({ order, adjacency, ...sizes });
  return { places, ribbons: bundleEdges({ edges, layers, order, places, ...sizes }) };
}
