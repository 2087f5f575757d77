import { NodeFlag } from "../../node-table/table/node-state.js";
import { FRAME } from "../layout/metrics.js";
import { NodeKind } from "../wire/node-graph.js";
import { buildGrid } from "./build-grid.js";
import { nameOf } from "./graph-set.js";
import { containedGraph, type OpenState, type PlacedGraph } from "./place-graph.js";
import { type Scene, SceneFlag } from "./scene.js";

/** A graph in a scene: its nodes have the indexes from `first` on. */
export interface SceneGraph {
  readonly placed: PlacedGraph;
  readonly first: number;
}

export interface BuiltScene {
  readonly scene: Scene;
  readonly graphs: readonly SceneGraph[];
}

/** Room around a scene. */
const MARGIN = 24;

/** Puts a placed graph and those that are open in it into one scene. */
export function buildScene(root: PlacedGraph, version: number, state: OpenState): BuiltScene {
  const builder = new SceneBuilder(sizeOf(root), state);
  builder.add(root, { left: MARGIN, top: MARGIN, parent: -1 });
  const { totalWidth, totalHeight } = root.layout.places;
  return builder.finish(version, totalWidth + 2 * MARGIN, totalHeight + 2 * MARGIN);
}

/** Numbers of nodes, edges and ribbons of a graph with all that is open in it. */
interface Size {
  readonly nodes: number;
  readonly edges: number;
  readonly ribbons: number;
}

function sizeOf({ known: { graph }, layout, inner }: PlacedGraph): Size {
  let size = { nodes: graph.length, edges: graph.from.length, ribbons: layout.ribbons.count.length };
  for (const placed of inner.values()) {
    const { nodes, edges, ribbons } = sizeOf(placed);
    size = { nodes: size.nodes + nodes, edges: size.edges + edges, ribbons: size.ribbons + ribbons };
  }
  return size;
}

interface Corner {
  readonly left: number;
  readonly top: number;
  readonly parent: number;
}

class SceneBuilder {
  readonly #columns;
  readonly #texts: string[] = [];
  readonly #textIndexes = new Map<string, number>();
  readonly #specs: string[] = [];
  readonly #graphs: SceneGraph[] = [];
  readonly #state: OpenState;
  #nodes = 0;
  #edges = 0;
  #ribbons = 0;

  constructor({ nodes, edges, ribbons }: Size, state: OpenState) {
    this.#state = state;
    this.#columns = {
      x: new Float64Array(nodes),
      y: new Float64Array(nodes),
      width: new Float64Array(nodes),
      height: new Float64Array(nodes),
      kind: new Uint8Array(nodes),
      flags: new Uint8Array(nodes),
      parent: new Int32Array(nodes),
      name: new Int32Array(nodes),
      count: new Int32Array(nodes),
      from: new Int32Array(edges),
      to: new Int32Array(edges),
      ribbons: { shape: new Float64Array(ribbons * 6), count: new Int32Array(ribbons) },
    };
  }

  /** Adds a graph; a node's index is less than those of the nodes in it. */
  add(placed: PlacedGraph, corner: Corner): void {
    const { known, layout, sizes, inner } = placed;
    const { places, ribbons } = layout;
    const columns = this.#columns;
    const first = this.#nodes;
    this.#graphs.push({ placed, first });
    this.#nodes += known.graph.length;
    for (let row = 0; row < known.graph.length; row++) {
      const node = first + row;
      columns.x[node] = corner.left + (places.x[row] as number);
      columns.y[node] = corner.top + (places.y[row] as number);
      columns.width[node] = sizes.width[row] as number;
      columns.height[node] = sizes.height[row] as number;
      columns.parent[node] = corner.parent;
      this.#describe(placed, row, node);
    }
    this.#addEdges(placed, first);
    columns.ribbons.shape.set(
      ribbons.shape.map((value, at) => value + (at % 3 === 0 ? corner.left : corner.top)),
      this.#ribbons * 6,
    );
    columns.ribbons.count.set(ribbons.count, this.#ribbons);
    this.#ribbons += ribbons.count.length;
    for (const [row, contained] of inner) {
      const node = first + row;
      this.add(contained, { left: (columns.x[node] as number) + FRAME.side, top: (columns.y[node] as number) + FRAME.head, parent: node });
    }
  }

  #describe({ known, key, inner }: PlacedGraph, row: number, node: number): void {
    const { graph } = known;
    const id = graph.ids[row] as string;
    const live = this.#state.live.childrenOf(key).get(id);
    const kind = graph.kind[row] as number;
    const contained = containedGraph(known, row, live, this.#state);
    const has = (flag: number): boolean => live !== undefined && (live.flags & flag) !== 0;
    const isDynamic = has(NodeFlag.dynamic);
    this.#columns.kind[node] = kind;
    this.#columns.name[node] = this.#textOf(nameOf(known, row));
    this.#specs[node] = id;
    this.#columns.count[node] = contained?.graph.length ?? (live === undefined ? 0 : this.#state.live.childrenOf(live.key).size);
    this.#columns.flags[node] =
      (inner.has(row) ? SceneFlag.open : 0) |
      (contained !== undefined || isDynamic ? SceneFlag.opens : 0) |
      (isDynamic ? SceneFlag.dynamic : 0) |
      (kind === NodeKind.launchPlan ? SceneFlag.launches : 0) |
      (row === graph.failureNode ? SceneFlag.failure : 0) |
      (kind === NodeKind.array || has(NodeFlag.array) ? SceneFlag.map : 0);
  }

  #addEdges({ known: { graph } }: PlacedGraph, first: number): void {
    const { from, to } = this.#columns;
    for (let edge = 0; edge < graph.from.length; edge++, this.#edges++) {
      from[this.#edges] = first + (graph.from[edge] as number);
      to[this.#edges] = first + (graph.to[edge] as number);
    }
  }

  #textOf(text: string): number {
    let index = this.#textIndexes.get(text);
    if (index === undefined) this.#textIndexes.set(text, (index = this.#texts.push(text) - 1));
    return index;
  }

  finish(version: number, totalWidth: number, totalHeight: number): BuiltScene {
    const columns = this.#columns;
    const scene = {
      ...columns,
      version,
      length: this.#nodes,
      totalWidth,
      totalHeight,
      texts: this.#texts,
      specs: this.#specs,
      grid: buildGrid(columns, totalWidth, totalHeight),
    };
    return { scene, graphs: this.#graphs };
  }
}
