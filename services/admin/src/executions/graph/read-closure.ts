import { StoredMessageError } from "@flyte-ts/input-limits";
import { NodeKind } from "@flyte-ts/idl/flytets/admin/v1/graph_pb";
import { type Span, textOf, walkFields } from "./walk-fields.js";

/** A node as its graph shows it. */
export interface SourceNode {
  id: string;
  kind: NodeKind;
  /** Name in the node's metadata; empty for none. */
  name: string;
  /** Name of the task, workflow or launch plan. */
  entity: string;
  /** Identifier of the workflow that it contains; empty for none. */
  workflow: string;
  /** Alternatives of a branch. */
  readonly arms: SourceNode[];
}

/** A compiled workflow of a closure. */
export interface SourceGraph {
  workflow: string;
  readonly nodes: SourceNode[];
  failureNode: SourceNode | undefined;
  /** Entries of its map of downstream nodes. */
  readonly downstream: Span[];
}

/** Branches are nested no deeper. */
const MAX_DEPTH = 50;

/** Numbers of fields in flyteidl/core/{compiler,workflow,identifier}.proto. */
const CLOSURE = { primary: 1, subWorkflows: 2 } as const;
const WORKFLOW = { template: 1, connections: 2 } as const;
const TEMPLATE = { id: 1, nodes: 4, failureNode: 6 } as const;
const NODE = { id: 1, metadata: 2, task: 6, workflow: 7, branch: 8, gate: 9, array: 10 } as const;
const REFERENCE = { launchPlan: 1, subWorkflow: 2 } as const;
const IF_ELSE = { first: 1, other: 2, otherwise: 3 } as const;
const GATES: Readonly<Record<number, NodeKind>> = { 1: NodeKind.APPROVAL, 2: NodeKind.SIGNAL, 3: NodeKind.SLEEP };
const IDENTIFIER = { project: 2, domain: 3, name: 4, version: 5 } as const;
const CONNECTIONS_DOWNSTREAM = 7;

/**
 * Reads the graphs of an encoded flyteidl.core.CompiledWorkflowClosure, the primary one first, and
 * skips interfaces, bindings and tasks, which are most of it.
 *
 * @throws StoredMessageError for malformed bytes.
 */
export function readClosure(bytes: Uint8Array): SourceGraph[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const primary: SourceGraph[] = [];
  const others: SourceGraph[] = [];
  walkFields({ bytes: buffer, from: 0, to: buffer.length }, (field, value) => {
    if (field === CLOSURE.primary) primary.push(readWorkflow(value));
    if (field === CLOSURE.subWorkflows) others.push(readWorkflow(value));
  });
  return [...primary.slice(0, 1), ...others];
}

function readWorkflow(span: Span): SourceGraph {
  const graph: SourceGraph = { workflow: "", nodes: [], failureNode: undefined, downstream: [] };
  walkFields(span, (field, value) => {
    if (field === WORKFLOW.template) readTemplate(value, graph);
    if (field === WORKFLOW.connections)
      walkFields(value, (inner, entry) => {
        if (inner === CONNECTIONS_DOWNSTREAM) graph.downstream.push(entry);
      });
  });
  return graph;
}

function readTemplate(span: Span, graph: SourceGraph): void {
  walkFields(span, (field, value) => {
    if (field === TEMPLATE.id) graph.workflow = keyOf(value);
    if (field === TEMPLATE.nodes) graph.nodes.push(readNode(value, 0));
    if (field === TEMPLATE.failureNode) graph.failureNode = readNode(value, 0);
  });
}

function readNode(span: Span, depth: number): SourceNode {
  if (depth > MAX_DEPTH) throw new StoredMessageError(`the compiled workflow nests branches deeper than ${MAX_DEPTH} levels`);
  const node: SourceNode = { id: "", kind: NodeKind.UNSPECIFIED, name: "", entity: "", workflow: "", arms: [] };
  walkFields(span, (field, value) => {
    if (field === NODE.id) node.id = textOf(value);
    else if (field === NODE.metadata)
      walkFields(value, (inner, name) => {
        if (inner === 1) node.name = textOf(name);
      });
    else if (field === NODE.task) readTask(value, node);
    else if (field === NODE.workflow) readReference(value, node);
    else if (field === NODE.branch) readBranch(value, node, depth);
    else if (field === NODE.gate) walkFields(value, (inner) => (node.kind = GATES[inner] ?? node.kind));
    else if (field === NODE.array) readArray(value, node, depth);
  });
  return node;
}

function readTask(span: Span, node: SourceNode): void {
  node.kind = NodeKind.TASK;
  walkFields(span, (field, value) => {
    if (field === 1) node.entity = nameOf(value);
  });
}

function readReference(span: Span, node: SourceNode): void {
  walkFields(span, (field, value) => {
    if (field !== REFERENCE.launchPlan && field !== REFERENCE.subWorkflow) return;
    node.entity = nameOf(value);
    if (field === REFERENCE.subWorkflow) [node.kind, node.workflow] = [NodeKind.WORKFLOW, keyOf(value)];
    else node.kind = NodeKind.LAUNCH_PLAN;
  });
}

function readBranch(span: Span, node: SourceNode, depth: number): void {
  node.kind = NodeKind.BRANCH;
  const arm = (value: Span): void => void node.arms.push(readNode(value, depth + 1));
  walkFields(span, (_, ifElse) =>
    walkFields(ifElse, (field, value) => {
      if (field === IF_ELSE.otherwise) arm(value);
      if (field === IF_ELSE.first || field === IF_ELSE.other)
        walkFields(value, (inner, then) => {
          if (inner === 2) arm(then);
        });
    }),
  );
}

/** Takes the entity of the node that runs for each item. */
function readArray(span: Span, node: SourceNode, depth: number): void {
  node.kind = NodeKind.ARRAY;
  walkFields(span, (field, value) => {
    if (field === 1) node.entity = readNode(value, depth + 1).entity;
  });
}

/** Name of an identifier. */
function nameOf(span: Span): string {
  let name = "";
  walkFields(span, (field, value) => {
    if (field === IDENTIFIER.name) name = textOf(value);
  });
  return name;
}

/** Text that differs between identifiers. */
function keyOf(span: Span): string {
  const parts: string[] = [];
  walkFields(span, (field, value) => {
    parts[field] = textOf(value);
  });
  const { project, domain, name, version } = IDENTIFIER;
  return JSON.stringify([parts[project], parts[domain], parts[name], parts[version]]);
}

/** Reads the edges of a graph between nodes that `rowOf` knows: calls `edge` with both rows. */
export function readEdges(
  { downstream }: SourceGraph,
  rowOf: (id: string) => number | undefined,
  edge: (from: number, to: number) => void,
): void {
  for (const entry of downstream) {
    let from: number | undefined;
    walkFields(entry, (field, value) => {
      if (field === 1) from = rowOf(textOf(value));
      if (field !== 2 || from === undefined) return;
      const begin = from;
      walkFields(value, (_, id) => {
        const to = rowOf(textOf(id));
        if (to !== undefined && to !== begin) edge(begin, to);
      });
    });
  }
}
