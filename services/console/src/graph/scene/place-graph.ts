import { NodeFlag } from "../../node-table/table/node-state.js";
import { layOut, type Layout } from "../layout/layout.js";
import { BLOCK, CARD, FRAME } from "../layout/metrics.js";
import { innerGraph, type KnownGraph, knownGraph } from "./graph-set.js";
import type { LiveNode, LiveNodes } from "./live-nodes.js";
import type { GraphMessage } from "../wire/node-graph.js";

/** A graph with its places, and the graphs of its nodes that are open. */
export interface PlacedGraph {
  readonly known: KnownGraph;
  /** Key of the node that it runs in, 0 for the execution, −1 before it has begun. */
  readonly key: number;
  /** Ids of the nodes around it, from the outermost. */
  readonly path: string;
  readonly layout: Layout;
  readonly sizes: { readonly width: Float64Array; readonly height: Float64Array };
  readonly inner: ReadonlyMap<number, PlacedGraph>;
}

/** State that decides which nodes are open, and how large the closed ones are. */
export interface OpenState {
  readonly live: LiveNodes;
  /** Paths of nodes that a person has opened or closed. */
  readonly open: ReadonlyMap<string, boolean>;
  /** Graphs that dynamic nodes have made, by the ids of the nodes in the execution. */
  readonly made: ReadonlyMap<string, GraphMessage>;
}

/** Graphs with at most as many nodes show branches open from the beginning. */
const MAX_OPEN_BRANCHES = 200;

/** Path of a node in a graph. */
export function pathIn(path: string, id: string): string {
  return path === "" ? id : `${path}/${id}`;
}

/** Graph that a node contains: of a workflow, a branch, or what it has made. */
export function containedGraph(known: KnownGraph, row: number, live: LiveNode | undefined, { made }: OpenState): KnownGraph | undefined {
  const message = live && made.get(live.id);
  return message === undefined ? innerGraph(known, row) : knownGraph(message, 0);
}

/** Places a graph and all that is open in it. */
export function placeGraph(
  known: KnownGraph,
  { key, path }: { readonly key: number; readonly path: string },
  state: OpenState,
): PlacedGraph {
  const { graph, ranking } = known;
  const inner = new Map<number, PlacedGraph>();
  const width = new Float64Array(graph.length).fill(CARD.width);
  const height = new Float64Array(graph.length).fill(CARD.height);
  const nodes = state.live.childrenOf(key);
  for (let row = 0; row < graph.length; row++) {
    const id = graph.ids[row] as string;
    const live = nodes.get(id);
    const contained = containedGraph(known, row, live, state);
    const isDynamic = live !== undefined && (live.flags & NodeFlag.dynamic) !== 0;
    if (contained === undefined && !isDynamic) continue;
    [width[row], height[row]] = [BLOCK.width, BLOCK.height];
    if (contained === undefined || !isOpen(known, row, pathIn(path, id), state)) continue;
    const placed = placeGraph(contained, { key: live?.key ?? -1, path: pathIn(path, id) }, state);
    inner.set(row, placed);
    width[row] = Math.max(placed.layout.places.totalWidth + 2 * FRAME.side, BLOCK.width);
    height[row] = placed.layout.places.totalHeight + FRAME.head + FRAME.bottom;
  }
  const sizes = { width, height };
  return { known, key, path, layout: layOut(ranking, sizes), sizes, inner };
}

function isOpen({ graph, message }: KnownGraph, row: number, path: string, { open }: OpenState): boolean {
  const chosen = open.get(path);
  if (chosen !== undefined) return chosen;
  // Alternatives of a branch are few, and say what may run.
  const inner = message.graphs[graph.subGraph[row] as number];
  return inner !== undefined && (graph.entity[row] as number) === 0 && graph.length + inner.length <= MAX_OPEN_BRANCHES;
}
