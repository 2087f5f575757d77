import { create } from "@bufbuild/protobuf";
import { END_NODE, START_NODE } from "@flyte-ts/domain/graph";
import { type Span, SpanSchema } from "@flyte-ts/idl/flyteidl/core/metrics_pb";
import { notBefore, timestampOf } from "@flyte-ts/execution-state";
import { Graph } from "./graph.js";
import type { ExecutionTiming, NodeTiming, AttemptTiming, Timestamps } from "./timing.js";

/**
 * Attributes the time of an execution to a tree of spans, down to `depth` levels (negative: all).
 * Spans of nodes, attempts and child executions have their ids; the time between them has the name
 * of an operation. Names and rules are Flyte's.
 */
export function executionSpan(execution: ExecutionTiming, depth: number): Span {
  const spans = depth === 0 ? [] : executionParts(execution, depth);
  return create(SpanSchema, {
    ...between(execution.createdAt, execution.updatedAt),
    id: { case: "workflowId", value: execution.id },
    spans,
  });
}

function executionParts(execution: ExecutionTiming, depth: number): Span[] {
  const top = execution.nodes.get("") ?? [];
  const start = top.find(({ specNodeId }) => specNodeId === START_NODE);
  if (start === undefined) return [operation("WORKFLOW_SETUP", execution.createdAt, execution.updatedAt)];
  const inner = new Inner(execution, new Graph(execution.workflow), top);
  return [
    operation("WORKFLOW_SETUP", execution.createdAt, start.updatedAt),
    ...inner.spans(depth - 1),
    ...inner.teardown("WORKFLOW_TEARDOWN", execution),
  ];
}

/** Nodes of one graph: that of the execution or of one of its nodes. */
class Inner {
  readonly #bySpecId: ReadonlyMap<string, NodeTiming>;

  constructor(
    private readonly execution: ExecutionTiming,
    private readonly graph: Graph,
    private readonly nodes: readonly NodeTiming[],
  ) {
    // If a node ran again because its parent did, the later run counts.
    this.#bySpecId = new Map(nodes.map((node) => [node.specNodeId, node]));
  }

  get start(): NodeTiming | undefined {
    return this.#bySpecId.get(START_NODE);
  }

  spans(depth: number): Span[] {
    const inner = this.nodes.filter((node) => {
      const { specNodeId } = node;
      return specNodeId !== START_NODE && specNodeId !== END_NODE && this.#bySpecId.get(specNodeId) === node;
    });
    return inner.map((node) => {
      const span = this.#node(node, depth);
      const upstream = this.#latestUpstream(node.specNodeId);
      if (upstream !== undefined) span.spans.unshift(operation("NODE_TRANSITION", upstream.updatedAt, node.createdAt));
      return span;
    });
  }

  /** Span from the end of the last node to the end of the whole. */
  teardown(name: string, whole: Timestamps): Span[] {
    const last = this.#latestUpstream(END_NODE);
    return last === undefined ? [] : ending(name, last, whole);
  }

  #latestUpstream(specNodeId: string): NodeTiming | undefined {
    let latest: NodeTiming | undefined;
    for (const id of this.graph.upstreamOf(specNodeId)) {
      const node = this.#bySpecId.get(id);
      if (node !== undefined && (latest === undefined || node.updatedAt > latest.updatedAt)) latest = node;
    }
    return latest;
  }

  #node(node: NodeTiming, depth: number): Span {
    const spans = depth === 0 ? [] : this.#parts(node, depth - 1);
    return create(SpanSchema, { ...between(node.createdAt, node.updatedAt), id: { case: "nodeId", value: node.id }, spans });
  }

  #parts(node: NodeTiming, depth: number): Span[] {
    const target = this.graph.node(node.specNodeId)?.target;
    const children = this.execution.nodes.get(node.id.nodeId) ?? [];
    switch (target?.case) {
      case "gateNode":
        return gateParts(node);
      case "branchNode":
        return this.#branch(node, { children, graph: this.graph.arms(target.value), depth });
      case "workflowNode": {
        const { reference } = target.value;
        if (reference.case !== "subWorkflowRef") return launchParts(node, depth);
        return this.#subWorkflow(node, { children, graph: this.graph.subWorkflow(reference.value), depth });
      }
      case "taskNode":
      case "arrayNode":
      case undefined:
        return node.dynamic === undefined && children.length === 0 ? taskParts(node, depth) : this.#dynamic(node, children, depth);
      default:
        return target satisfies never;
    }
  }

  #branch(node: NodeTiming, { children, graph, depth }: Within): Span[] {
    const [taken] = children;
    if (taken === undefined) return [operation("NODE_SETUP", node.createdAt, node.updatedAt)];
    const inner = new Inner(this.execution, graph, children);
    return [operation("NODE_SETUP", node.createdAt, taken.createdAt), ...inner.spans(depth), ...ending("NODE_TEARDOWN", taken, node)];
  }

  #subWorkflow(node: NodeTiming, { children, graph, depth }: Within): Span[] {
    const [first] = children;
    if (first === undefined) return [operation("NODE_SETUP", node.createdAt, node.updatedAt)];
    const inner = new Inner(this.execution, graph, children);
    const began = inner.start?.updatedAt ?? first.createdAt;
    return [operation("NODE_SETUP", node.createdAt, began), ...inner.spans(depth), ...inner.teardown("NODE_TEARDOWN", node)];
  }

  /** Spans of a dynamic node: its task, which returns the graph, then its nodes. */
  #dynamic(node: NodeTiming, children: readonly NodeTiming[], depth: number): Span[] {
    const last = node.tasks.at(-1);
    if (last === undefined) return [operation("NODE_SETUP", node.createdAt, node.updatedAt)];
    const making = [setup(node), ...attempts(node.tasks, depth)];
    const [first] = children;
    if (first === undefined) return [...making, ...ending("NODE_RESET", last, node)];
    const inner = new Inner(this.execution, new Graph(node.dynamic), children);
    const began = inner.start?.updatedAt ?? first.createdAt;
    return [...making, operation("NODE_RESET", last.updatedAt, began), ...inner.spans(depth), ...inner.teardown("NODE_TEARDOWN", node)];
  }
}

interface Within {
  readonly children: readonly NodeTiming[];
  readonly graph: Graph;
  readonly depth: number;
}

function gateParts(node: NodeTiming): Span[] {
  if (node.startedAt === undefined) return [operation("NODE_SETUP", node.createdAt, node.updatedAt)];
  const waiting = operation("NODE_SETUP", node.createdAt, node.startedAt);
  if (node.endedAt === undefined) return [waiting, operation("NODE_IDLE", node.startedAt, node.updatedAt)];
  return [waiting, operation("NODE_IDLE", node.startedAt, node.endedAt), operation("NODE_TEARDOWN", node.endedAt, node.updatedAt)];
}

function launchParts(node: NodeTiming, depth: number): Span[] {
  const { launched } = node;
  if (launched === undefined) return [operation("NODE_SETUP", node.createdAt, node.updatedAt)];
  return [
    operation("NODE_SETUP", node.createdAt, launched.createdAt),
    executionSpan(launched, depth),
    ...ending("NODE_TEARDOWN", launched, node),
  ];
}

function taskParts(node: NodeTiming, depth: number): Span[] {
  const last = node.tasks.at(-1);
  if (last === undefined) return [operation("NODE_SETUP", node.createdAt, node.updatedAt)];
  return [setup(node), ...attempts(node.tasks, depth), ...ending("NODE_TEARDOWN", last, node)];
}

/** Span from the node's creation to its first attempt. */
function setup(node: NodeTiming): Span {
  return operation("NODE_SETUP", node.createdAt, node.tasks[0]?.createdAt ?? node.updatedAt);
}

function attempts(tasks: readonly AttemptTiming[], depth: number): Span[] {
  return tasks.flatMap((task, index) => {
    const before = tasks[index - 1];
    const reset = before === undefined ? [] : [operation("NODE_RESET", before.updatedAt, task.createdAt)];
    return depth === 0 ? reset : [...reset, attempt(task)];
  });
}

function attempt(task: AttemptTiming): Span {
  return create(SpanSchema, {
    ...between(task.createdAt, task.updatedAt),
    id: { case: "taskId", value: task.id },
    spans: attemptParts(task),
  });
}

function attemptParts({ createdAt, startedAt, endedAt, updatedAt }: AttemptTiming): Span[] {
  if (startedAt === undefined) return [operation("TASK_SETUP", createdAt, updatedAt)];
  const waiting = operation("TASK_SETUP", createdAt, startedAt);
  if (endedAt === undefined) return [waiting, operation("TASK_RUNTIME", startedAt, updatedAt)];
  const teardown = updatedAt < endedAt ? [] : [operation("TASK_TEARDOWN", endedAt, updatedAt)];
  return [waiting, operation("TASK_RUNTIME", startedAt, endedAt), ...teardown];
}

/** Span from the end of a part to the end of the whole; none when the whole was reported first. */
function ending(name: string, part: Timestamps, whole: Timestamps): Span[] {
  return whole.updatedAt < part.updatedAt ? [] : [operation(name, part.updatedAt, whole.updatedAt)];
}

function operation(name: string, start: bigint, end: bigint): Span {
  return create(SpanSchema, { ...between(start, end), id: { case: "operationId", value: name } });
}

/**
 * Services have different clocks, so that an end may appear slightly before its start: such a span
 * has length 0.
 */
function between(start: bigint, end: bigint) {
  return { startTime: timestampOf(start), endTime: timestampOf(notBefore(start, end)) };
}
