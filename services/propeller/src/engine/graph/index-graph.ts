import type { Binding, BindingData } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { END_NODE, START_NODE } from "@flyte-ts/domain/graph";
import { ListInterner, type GraphModel, type NodeModel } from "@flyte-ts/workflow-crd";

export { END_NODE, START_NODE };

/** Graph lookups that the engine needs besides the model. */
export interface GraphIndex {
  readonly graph: GraphModel;
  /** Position of every reachable node in topological order. */
  readonly order: ReadonlyMap<string, number>;
  /** Nodes that a node depends on, without its branch. */
  readonly upstream: ReadonlyMap<string, readonly string[]>;
  /** Nodes that depend on a node. */
  readonly dependents: ReadonlyMap<string, readonly string[]>;
  /** Branch node of each arm. */
  readonly branchOf: ReadonlyMap<string, string>;
  /** Number of nodes that bind a node's outputs. */
  readonly consumers: ReadonlyMap<string, number>;
  /** Nodes whose outputs a node binds. */
  readonly sources: ReadonlyMap<string, readonly string[]>;
}

const indexes = new WeakMap<GraphModel, GraphIndex>();

/**
 * Indexes a graph, once: runs may share the index. Arms of a branch are in the graph beside the
 * branch, without edges from it, and may have edges from the nodes whose outputs they bind.
 */
export function indexGraph(graph: GraphModel): GraphIndex {
  let index = indexes.get(graph);
  if (index === undefined) {
    index = buildIndex(graph);
    indexes.set(graph, index);
  }
  return index;
}

function buildIndex(graph: GraphModel): GraphIndex {
  const branchOf = armsOf(graph);
  const lists = new ListInterner();
  const upstream = new Map<string, readonly string[]>();
  const dependents = new Dependents(lists);
  const sources = new Map<string, readonly string[]>();
  const consumers = new Map<string, number>();
  for (const node of graph.nodes.values()) {
    const before = lists.intern(upstreamOf(graph, node.id, branchOf));
    if (before.length > 0) upstream.set(node.id, before);
    for (const id of before) dependents.add(id, node.id);
    const bound = lists.intern(boundNodes(node.inputBindings));
    if (bound.length > 0) sources.set(node.id, bound);
    for (const id of bound) consumers.set(id, (consumers.get(id) ?? 0) + 1);
  }
  const edges = { upstream, dependents: dependents.byNode, branchOf };
  return { graph, ...edges, order: orderOf(graph, edges), consumers, sources };
}

/** Dependents of each node. Typically there are none or one: a list is allocated only for more. */
class Dependents {
  readonly byNode = new Map<string, readonly string[]>();
  readonly #grown = new Map<string, string[]>();

  constructor(private readonly lists: ListInterner) {}

  add(id: string, dependent: string): void {
    const known = this.byNode.get(id);
    if (known === undefined) {
      this.byNode.set(id, this.lists.intern([dependent]));
      return;
    }
    let list = this.#grown.get(id);
    if (list === undefined) {
      list = [...known];
      this.#grown.set(id, list);
      this.byNode.set(id, list);
    }
    list.push(dependent);
  }
}

function armsOf(graph: GraphModel): Map<string, string> {
  const branchOf = new Map<string, string>();
  for (const node of graph.nodes.values()) for (const arm of armIds(node)) branchOf.set(arm, node.id);
  return branchOf;
}

/** Ids of a branch node's arms, in order of evaluation; none for other nodes. */
export function armIds(node: NodeModel): readonly string[] {
  if (node.target.kind !== "branch") return [];
  const { arms, otherwise } = node.target.branch;
  const ids = arms.map((arm) => arm.then);
  return otherwise === undefined ? ids : [...ids, otherwise];
}

function upstreamOf(graph: GraphModel, id: string, branchOf: ReadonlyMap<string, string>): readonly string[] {
  if (id === START_NODE) return [];
  const named = [...new Set(graph.upstream.get(id) ?? [])].filter((up) => graph.nodes.has(up) && up !== branchOf.get(id));
  // A node without dependencies depends on the start node.
  return named.length === 0 ? [START_NODE] : named;
}

interface Edges {
  readonly upstream: ReadonlyMap<string, readonly string[]>;
  readonly dependents: ReadonlyMap<string, readonly string[]>;
  readonly branchOf: ReadonlyMap<string, string>;
}

function orderOf(graph: GraphModel, { upstream, dependents, branchOf }: Edges): Map<string, number> {
  const order = new Map<string, number>();
  if (!graph.nodes.has(START_NODE)) return order;
  const left = new Map<string, number>();
  for (const id of graph.nodes.keys()) left.set(id, (upstream.get(id)?.length ?? 0) + (branchOf.has(id) ? 1 : 0));
  const queue = [START_NODE];
  for (const id of queue) {
    order.set(id, order.size);
    const node = graph.nodes.get(id);
    const next = [...(dependents.get(id) ?? []), ...(node === undefined ? [] : new Set(armIds(node)))];
    for (const later of next) {
      const rest = (left.get(later) ?? 0) - 1;
      left.set(later, rest);
      if (rest === 0) queue.push(later);
    }
  }
  return order;
}

/** Ids of the nodes that bindings refer to, without duplicates; "" is the start node. */
export function boundNodes(bindings: readonly Binding[]): readonly string[] {
  const ids = new Set<string>();
  for (const binding of bindings) collect(binding.binding, ids);
  return [...ids];
}

function collect(data: BindingData | undefined, ids: Set<string>): void {
  switch (data?.value.case) {
    case "promise":
      ids.add(data.value.value.nodeId === "" ? START_NODE : data.value.value.nodeId);
      return;
    case "collection":
      for (const element of data.value.value.bindings) collect(element, ids);
      return;
    case "map":
      for (const element of Object.values(data.value.value.bindings)) collect(element, ids);
      return;
    default:
      return;
  }
}
