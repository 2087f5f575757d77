import { adjacencyOf } from "../layout/adjacency.js";
import { type BuiltScene, buildScene } from "../scene/build-scene.js";
import { knownGraph } from "../scene/graph-set.js";
import { LiveNodes } from "../scene/live-nodes.js";
import { GRAPH_STATES } from "../scene/node-phase.js";
import { type OpenState, placeGraph } from "../scene/place-graph.js";
import { sceneStates } from "../scene/scene-states.js";
import type { SceneStates } from "../scene/scene.js";
import { type GivenGraph, graphMessage } from "../wire/graph-message.fixture.js";
import { fitCamera } from "./camera.js";
import type { GraphColours, GraphFrame } from "./graph-frame.js";

/** Scene of graphs without an execution. */
export function sceneOf(
  graphs: readonly GivenGraph[],
  open: ReadonlyMap<string, boolean> = new Map(),
): BuiltScene & { readonly states: SceneStates } {
  const known = knownGraph(graphMessage(...graphs), 0);
  if (known === undefined) throw new Error("there is no graph");
  const state: OpenState = { live: new LiveNodes(), open, made: new Map() };
  const built = buildScene(placeGraph(known, { key: 0, path: "" }, state), 1, state);
  return { ...built, states: sceneStates(built, state) };
}

/** A graph of layers of `width` nodes each. */
export function layeredGraph(layers: number, width: number): GivenGraph {
  const nodes = Array.from({ length: layers * width }, (_, index) => ({ id: `n${index}` }));
  const edges = nodes.slice(width).map((_, index) => [index, index + width] as const);
  return { nodes, edges };
}

const colours: GraphColours = {
  states: Object.fromEntries(GRAPH_STATES.map((state) => [state, state])) as GraphColours["states"],
  ground: "ground",
  surface: "surface",
  sunken: "sunken",
  line: "line",
  lineStrong: "line-strong",
  ink: "ink",
  inkSoft: "ink-soft",
  accent: "accent",
  nameFont: "12px x",
  smallFont: "11px x",
};

/** Frame of a whole scene. */
export function graphFrame({ scene, states }: Pick<GraphFrame, "scene" | "states">, given: Partial<GraphFrame> = {}): GraphFrame {
  const size = { widthPx: 1000, heightPx: 600, ratio: 2 };
  return {
    ...size,
    scene,
    states,
    adjacency: adjacencyOf(scene.length, scene),
    camera: fitCamera(scene, size),
    colours,
    current: -1,
    selected: -1,
    hovered: -1,
    nowMs: 0,
    durationText: (durationMs) => `${durationMs} ms`,
    detail: 1,
    ...given,
  };
}
