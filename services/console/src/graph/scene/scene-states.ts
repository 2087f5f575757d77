import { countDensity } from "../layout/density.js";
import { CARD, GAP_Y } from "../layout/metrics.js";
import type { BuiltScene, SceneGraph } from "./build-scene.js";
import type { KnownGraph } from "./graph-set.js";
import { NOT_BEGUN } from "./node-phase.js";
import { containedGraph, type OpenState } from "./place-graph.js";
import { type Scene, SceneFlag, type SceneStates } from "./scene.js";

/** Squares of one node, and of all. */
const MAX_SQUARES = 1_200;
const MAX_ALL_SQUARES = 200_000;

/** Returns the states of a scene's nodes as they are now. */
export function sceneStates(built: BuiltScene, open: OpenState): SceneStates {
  const { scene, graphs } = built;
  const states = {
    state: new Uint8Array(scene.length).fill(NOT_BEGUN),
    attempts: new Uint8Array(scene.length),
    started: new Float64Array(scene.length).fill(Number.POSITIVE_INFINITY),
    ended: new Float64Array(scene.length).fill(Number.POSITIVE_INFINITY),
    ids: Array<string>(scene.length).fill(""),
  };
  const squares: number[] = [];
  const squareStart = new Int32Array(scene.length + 1);
  for (const graph of graphs) joinGraph(graph, open, states);
  for (const graph of graphs)
    for (let row = 0; row < graph.placed.known.graph.length; row++) {
      const node = graph.first + row;
      if (squares.length < MAX_ALL_SQUARES) addSquares(squares, { scene, node, owner: graph, open });
      squareStart[node + 1] = squares.length;
    }
  return { version: scene.version, ...states, squares: Uint8Array.from(squares), squareStart, density: densityOf(scene, states.state) };
}

type Columns = Pick<SceneStates, "state" | "attempts" | "started" | "ended"> & { readonly ids: string[] };

function joinGraph({ placed, first }: SceneGraph, { live }: OpenState, states: Columns): void {
  const nodes = live.childrenOf(placed.key);
  if (nodes.size === 0) return;
  for (const [row, id] of placed.known.graph.ids.entries()) {
    const found = nodes.get(id);
    if (found === undefined) continue;
    const node = first + row;
    states.state[node] = found.state;
    states.attempts[node] = found.attempts;
    states.started[node] = found.started;
    states.ended[node] = found.ended;
    states.ids[node] = found.id;
  }
}

interface SquareOptions {
  readonly scene: Scene;
  readonly node: number;
  readonly owner: SceneGraph;
  readonly open: OpenState;
}

/** Adds the states of the nodes inside of a closed one. */
function addSquares(squares: number[], { scene, node, owner: { placed, first }, open }: SquareOptions): void {
  const flags = scene.flags[node] as number;
  if ((flags & SceneFlag.opens) === 0 || (flags & SceneFlag.open) !== 0) return;
  const row = node - first;
  const live = open.live.childrenOf(placed.key).get(placed.known.graph.ids[row] as string);
  const children = open.live.childrenOf(live?.key ?? -1);
  const contained: KnownGraph | undefined = containedGraph(placed.known, row, live, open);
  const end = squares.length + MAX_SQUARES;
  if (contained === undefined) {
    for (const child of children.values()) if (squares.length < end) squares.push(child.state);
  } else for (const id of contained.graph.ids) if (squares.length < end) squares.push(children.get(id)?.state ?? NOT_BEGUN);
}

/** Counts the nodes that are not frames of others. */
function densityOf({ x, y, width, height, flags, totalWidth, totalHeight }: Scene, state: Uint8Array): SceneStates["density"] {
  const shown: number[] = [];
  for (const [node, bits] of flags.entries()) if ((bits & SceneFlag.open) === 0) shown.push(node);
  return countDensity({
    x: Float64Array.from(shown, (node) => (x[node] as number) + (width[node] as number) / 2),
    y: Float64Array.from(shown, (node) => (y[node] as number) + (height[node] as number) / 2),
    state: Uint8Array.from(shown, (node) => state[node] as number),
    width: totalWidth,
    height: totalHeight,
    cellWidth: CARD.height + GAP_Y,
    cellHeight: CARD.height + GAP_Y,
  });
}
