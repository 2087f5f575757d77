import { VariableMapSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { BindingSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { GraphModel, NodeModel } from "../model/model.js";
import { ListInterner } from "./list-interner.js";
import { type KnownTasks, parseNode } from "./node.js";
import type { Field } from "../parse/field.js";
import { BindingInterner } from "./binding-interner.js";

/** Targets that nodes of the resource may reference, by key. */
export interface KnownTargets extends KnownTasks {
  readonly subWorkflows: ReadonlySet<string>;
}

/** A graph in the form of the resource. */
export interface GraphSource {
  /** Fields of the graph; `nodes` may be missing. */
  readonly graph: Field;
  /** Nodes with their keys; each is read once, in order, so it may be built lazily. */
  readonly nodes: Iterable<readonly [id: string, field: Field]>;
}

/** Reads a graph from the resource. */
export function graphFromResource(graph: Field): GraphSource {
  return { graph, nodes: graph.at("nodes").entries() };
}

/** Number of nodes between yields. */
const NODES_PER_YIELD = 1_000;

/**
 * Parses `spec`, or one of `subWorkflows`, and ensures that every reference exists. Yields between
 * parts of a large graph.
 */
export function* parseGraph({ graph, nodes: fields }: GraphSource, knownTargets: KnownTargets): Generator<void, GraphModel> {
  const nodes = new Map<string, NodeModel>();
  const context = { tasks: knownTargets.tasks, bindings: new BindingInterner() };
  /** Arms may refer to later nodes. */
  const branches: (readonly [NodeModel, Field])[] = [];
  for (const [id, field] of fields) {
    const node = parseNode(field, context);
    if (node.id !== id) throw field.at("id").error(`must be ${JSON.stringify(id)}, the key of the node, is ${JSON.stringify(node.id)}`);
    nodes.set(id, node);
    if (node.target.kind === "branch") branches.push([node, field]);
    else checkTarget(node, field, { ...knownTargets, nodes });
    if (nodes.size % NODES_PER_YIELD === 0) yield;
  }
  for (const [node, field] of branches) checkTarget(node, field, { ...knownTargets, nodes });
  const onFailure = graph.at("onFailure").optional((field) => {
    const node = parseNode(field, context);
    checkTarget(node, field, { ...knownTargets, nodes });
    return node;
  });
  return {
    id: graph.at("id").string(),
    nodes,
    ...parseEdges(graph, nodes, onFailure?.id),
    outputs: graph.at("outputs").message(VariableMapSchema),
    outputBindings: graph
      .at("outputBindings")
      .items()
      .map((binding) => binding.message(BindingSchema)),
    onFailure,
    onFailurePolicy: parsePolicy(graph.at("onFailurePolicy")),
  };
}

type Edges = Map<string, readonly string[]>;

/**
 * Omits edges of the failure node: it runs when the graph has failed, not when its upstreams are
 * done.
 */
function parseEdges(
  graph: Field,
  nodes: ReadonlyMap<string, NodeModel>,
  failureNode: string | undefined,
): Pick<GraphModel, "upstream" | "downstream"> {
  const edges = graph.at("edges");
  let downstream = edges.isAbsent ? new Map() : parseIdLists(edges.at("downstream"), nodes, failureNode);
  let upstream = edges.isAbsent ? new Map() : parseIdLists(edges.at("upstream"), nodes, failureNode);
  if (downstream.size === 0 && upstream.size === 0) {
    // Resources of old Flyte versions have only `connections`, the downstream edges.
    downstream = parseIdLists(graph.at("connections"), nodes, failureNode);
    upstream = reverseEdges(downstream);
  }
  return { upstream, downstream };
}

function parseIdLists(lists: Field, nodes: ReadonlyMap<string, NodeModel>, failureNode: string | undefined): Edges {
  const edges: Edges = new Map();
  const interner = new ListInterner();
  for (const [from, list] of lists.entries()) {
    if (from === failureNode) continue;
    if (!nodes.has(from)) throw list.error("there is no such node");
    const ids: string[] = [];
    for (const item of list.items()) {
      const id = item.string();
      if (id === failureNode) continue;
      // Reuses the node's own string: a graph of 100,000 nodes names each several times.
      const knownTargets = nodes.get(id)?.id;
      if (knownTargets === undefined) throw item.error(`there is no node ${JSON.stringify(id)}`);
      ids.push(knownTargets);
    }
    edges.set(from, interner.intern(ids));
  }
  return edges;
}

function reverseEdges(edges: Edges): Edges {
  const result = new Map<string, string[]>();
  for (const [from, ids] of edges) {
    for (const id of ids) {
      const list = result.get(id);
      if (list === undefined) result.set(id, [from]);
      else list.push(from);
    }
  }
  return result;
}

function checkTarget(node: NodeModel, field: Field, knownTargets: KnownTargets & { readonly nodes: ReadonlyMap<string, NodeModel> }): void {
  const { target } = node;
  switch (target.kind) {
    case "task":
      if (!knownTargets.tasks.has(target.task)) throw field.at("task").error(`there is no task ${target.task}`);
      return;
    case "subWorkflow":
      if (!knownTargets.subWorkflows.has(target.workflow))
        throw field.at("workflow").at("subWorkflowRef").error(`there is no workflow ${target.workflow}`);
      return;
    case "branch":
      for (const id of [...target.branch.arms.map((arm) => arm.then), target.branch.otherwise]) {
        if (id !== undefined && !knownTargets.nodes.has(id)) throw field.at("branch").error(`there is no node ${JSON.stringify(id)}`);
      }
      return;
    case "array":
      checkTarget(target.subNode, field.at("array").at("SubNodeSpec"), knownTargets);
      return;
    default:
      return;
  }
}

function parsePolicy(field: Field): GraphModel["onFailurePolicy"] {
  const policy = field.stringOrEmpty();
  if (policy === "" || policy === "FAIL_IMMEDIATELY") return "FAIL_IMMEDIATELY";
  if (policy === "FAIL_AFTER_EXECUTABLE_NODES_COMPLETE") return policy;
  throw field.error(`must be FAIL_IMMEDIATELY or FAIL_AFTER_EXECUTABLE_NODES_COMPLETE, is ${JSON.stringify(policy)}`);
}
