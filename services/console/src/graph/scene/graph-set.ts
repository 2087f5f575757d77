import { taskTitle } from "../../format/task-title.js";
import { type Ranking, rankNodes } from "../layout/layout.js";
import type { GraphMessage, NodeGraph } from "../wire/node-graph.js";

/** A graph of a message, with its message and what does not depend on an execution. */
export interface KnownGraph {
  readonly message: GraphMessage;
  readonly graph: NodeGraph;
  readonly ranking: Ranking;
}

const known = new WeakMap<NodeGraph, KnownGraph>();

/** Returns a graph of a message, ranked once. */
export function knownGraph(message: GraphMessage, index: number): KnownGraph | undefined {
  const graph = message.graphs[index];
  if (graph === undefined) return undefined;
  let found = known.get(graph);
  if (found === undefined) {
    found = { message, graph, ranking: rankNodes(graph.length, graph, graph.failureNode) };
    known.set(graph, found);
  }
  return found;
}

/** Graph that a node of another contains; undefined for none. */
export function innerGraph({ message, graph }: KnownGraph, row: number): KnownGraph | undefined {
  const index = graph.subGraph[row] as number;
  return index === 0 ? undefined : knownGraph(message, index);
}

/** Name of a node for people: its own, the last part of its task's, or its id. */
export function nameOf({ message: { texts }, graph }: KnownGraph, row: number): string {
  const own = texts[(graph.name[row] as number) - 1];
  if (own !== undefined) return own;
  const entity = texts[(graph.entity[row] as number) - 1] ?? "";
  return taskTitle(entity) || (graph.ids[row] as string);
}
