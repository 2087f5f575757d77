import { formatCount } from "../../format/count.js";
import { GRAPH_STATES, type GraphStateName, NOT_BEGUN } from "./node-phase.js";
import { NodeKind } from "../wire/node-graph.js";
import { type Scene, SceneFlag, type SceneStates } from "./scene.js";

const stateWord = (name: GraphStateName): string => (name === "notBegun" ? "not begun" : name);

const KIND_WORDS: Readonly<Record<number, string>> = {
  [NodeKind.task]: "task",
  [NodeKind.workflow]: "workflow",
  [NodeKind.launchPlan]: "launch plan",
  [NodeKind.branch]: "branch",
  [NodeKind.approval]: "approval",
  [NodeKind.signal]: "signal",
  [NodeKind.sleep]: "sleep",
  [NodeKind.array]: "map",
};

/** A scene with the states of its nodes. */
export interface NamedScene {
  readonly scene: Scene;
  readonly states: SceneStates;
}

export function nodeName({ texts, name }: Scene, node: number): string {
  return texts[name[node] as number] as string;
}

/** Says what kind of node it is, how many it contains, and its id if that is not its name. */
export function nodeKind(scene: Scene, node: number): string {
  const flags = scene.flags[node] as number;
  const kind = KIND_WORDS[scene.kind[node] as number] ?? "node";
  const word = (flags & SceneFlag.dynamic) !== 0 ? "dynamic" : (flags & SceneFlag.map) !== 0 ? "map" : kind;
  const count = scene.count[node] as number;
  if (count > 0) return `${word} · ${formatCount(count)} ${count === 1 ? "node" : "nodes"}`;
  const id = scene.specs[node] as string;
  if ((flags & SceneFlag.failure) !== 0) return `${word} · on failure`;
  return id === nodeName(scene, node) ? word : `${word} · ${id}`;
}

export function stateName({ state }: SceneStates, node: number): GraphStateName {
  return GRAPH_STATES[state[node] as number] as GraphStateName;
}

/** Returns how long a node has run, ms; undefined before its start. */
export function nodeRunMs({ started, ended }: SceneStates, node: number, nowMs: number): number | undefined {
  const start = started[node] as number;
  if (start === Number.POSITIVE_INFINITY) return undefined;
  const end = ended[node] as number;
  return Math.max((end === Number.POSITIVE_INFINITY ? nowMs : end) - start, 0);
}

/** Says name, kind, state and neighbours of a node, for those who do not see the drawing. */
export function nodeWords({ scene, states }: NamedScene, node: number, counts: { readonly up: number; readonly down: number }): string {
  const flags = scene.flags[node] as number;
  const state = states.state[node] === NOT_BEGUN && states.ids.every((id) => id === "") ? "" : `, ${stateWord(stateName(states, node))}`;
  const attempts = (states.attempts[node] as number) > 1 ? `, attempt ${states.attempts[node]}` : "";
  const opens = (flags & SceneFlag.opens) === 0 ? "" : (flags & SceneFlag.open) === 0 ? ", closed" : ", open";
  return `${nodeName(scene, node)}, ${nodeKind(scene, node)}${state}${attempts}${opens}; ${counts.up} before, ${counts.down} after`;
}

/** Sums up the states of the nodes inside of a closed one: what stands out, else what is done. */
export function squareWords({ squares, squareStart }: SceneStates, node: number): string {
  const counts = new Map<GraphStateName, number>();
  for (const state of squares.subarray(squareStart[node], squareStart[node + 1])) {
    const name = GRAPH_STATES[state] as GraphStateName;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const parts = (["failed", "waiting", "running", "aborted"] as const).flatMap((name) => {
    const count = counts.get(name) ?? 0;
    return count === 0 ? [] : [`${formatCount(count)} ${stateWord(name)}`];
  });
  if (parts.length > 0) return parts.join(" · ");
  const done = (counts.get("succeeded") ?? 0) + (counts.get("cached") ?? 0);
  return done === 0 ? "" : `${formatCount(done)} succeeded`;
}
