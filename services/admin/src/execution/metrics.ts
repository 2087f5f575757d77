import { create } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { type WorkflowExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type Span, SpanSchema } from "@flyte-ts/idl/flyteidl/core/metrics_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { nanosOf, timestampOf } from "../event/time.js";
import { nodeColumns, nodeExecutionOf, type NodeRow } from "../node-execution/row.js";
import { taskColumns, taskExecutionsOf, type TaskRow } from "../task-execution/row.js";
import { findExecution } from "./find.js";
import { executionOf } from "./row.js";

export interface MetricsDeps {
  readonly db: Queryable;
}

const START_NODE = "start-node";
const END_NODE = "end-node";

/**
 * Where the time of an execution went: a tree of spans, down to `depth` levels (negative:
 * all). Time that is neither a node's nor a task's is set-up, transition or teardown.
 *
 * @throws RpcError NOT_FOUND.
 */
export async function executionMetrics({ db }: MetricsDeps, id: WorkflowExecutionIdentifier, depth: number): Promise<Span> {
  const row = await findExecution(db, id);
  const { closure } = executionOf(row);
  const span = create(SpanSchema, {
    ...times(closure?.createdAt, closure?.updatedAt),
    id: { case: "workflowId", value: id },
  });
  if (depth === 0) return span;
  const { rows } = await db.query<NodeRow & { parent_node_id: string | null }>({
    name: "load-nodes-for-metrics",
    text: `SELECT ${nodeColumns}, parent_node_id FROM node_executions WHERE execution_id = $1 ORDER BY first_ns, id`,
    values: [row.id],
  });
  const walk = new Walk(db, { id, rowId: row.id, rows });
  const start = rows.find((node) => node.parent_node_id === null && node.spec_node_id === START_NODE);
  if (start === undefined) {
    span.spans = [operation("WORKFLOW_SETUP", closure?.createdAt, closure?.updatedAt)];
    return span;
  }
  const started = timestampOf(start.updated_ns);
  span.spans = [operation("WORKFLOW_SETUP", closure?.createdAt, started), ...(await walk.children(null, depth - 1))];
  const last = walk.lastEnd(null);
  if (last !== undefined && last <= row.updated_ns) span.spans.push(operation("WORKFLOW_TEARDOWN", timestampOf(last), closure?.updatedAt));
  return span;
}

type Node = NodeRow & { parent_node_id: string | null };

interface Loaded {
  readonly id: WorkflowExecutionIdentifier;
  readonly rowId: bigint;
  readonly rows: readonly Node[];
}

class Walk {
  constructor(
    private readonly db: Queryable,
    private readonly loaded: Loaded,
  ) {}

  #under(parent: string | null): readonly Node[] {
    const inner = this.loaded.rows.filter((node) => node.parent_node_id === parent);
    return inner.filter(({ spec_node_id: spec }) => spec !== START_NODE && spec !== END_NODE);
  }

  /** When the last of the nodes within a node, or of the top, was heard of. */
  lastEnd(parent: string | null): bigint | undefined {
    return this.#under(parent).reduce<bigint | undefined>(
      (last, { updated_ns: at }) => (last === undefined || at > last ? at : last),
      undefined,
    );
  }

  async children(parent: string | null, depth: number): Promise<Span[]> {
    const spans: Span[] = [];
    for (const node of this.#under(parent)) spans.push(await this.#node(node, depth));
    return spans;
  }

  async #node(row: Node, depth: number): Promise<Span> {
    const node = nodeExecutionOf(row, { executionId: this.loaded.id });
    const [created, updated] = [node.closure?.createdAt, node.closure?.updatedAt];
    const span = create(SpanSchema, { ...times(created, updated), ...(node.id && { id: { case: "nodeId", value: node.id } }) });
    if (depth === 0) return span;
    const parts = [...(await this.#tasks(row, depth - 1)), ...(await this.children(row.node_id, depth - 1))];
    const begin = parts.at(0)?.startTime;
    const end = parts.at(-1)?.endTime;
    span.spans = [operation("NODE_SETUP", created, begin ?? updated), ...parts];
    if (end !== undefined && updated !== undefined && nanosOf(end) <= nanosOf(updated))
      span.spans.push(operation("NODE_TEARDOWN", end, updated));
    return span;
  }

  async #tasks({ node_id: nodeId }: Node, depth: number): Promise<Span[]> {
    const { rows } = await this.db.query<TaskRow>({
      name: "load-tasks-for-metrics",
      text: `SELECT ${taskColumns} FROM task_executions WHERE execution_id = $1 AND node_id = $2 ORDER BY first_ns, id`,
      values: [this.loaded.rowId, nodeId],
    });
    const tasks = await taskExecutionsOf(this.db, this.loaded.id, rows);
    const spans: Span[] = [];
    for (const [index, task] of tasks.entries()) {
      const before = tasks[index - 1]?.closure?.updatedAt;
      const row = rows[index];
      if (before !== undefined) spans.push(operation("NODE_RESET", before, task.closure?.createdAt));
      const span = create(SpanSchema, {
        ...times(task.closure?.createdAt, task.closure?.updatedAt),
        ...(task.id && { id: { case: "taskId", value: task.id } }),
      });
      if (depth !== 0 && row !== undefined) span.spans = taskParts(row);
      spans.push(span);
    }
    return spans;
  }
}

function taskParts(row: TaskRow): Span[] {
  const [created, updated] = [timestampOf(row.first_ns), timestampOf(row.updated_ns)];
  if (row.started_ns === null) return [operation("TASK_SETUP", created, updated)];
  const started = timestampOf(row.started_ns);
  if (row.ended_ns === null) return [operation("TASK_SETUP", created, started), operation("TASK_RUNTIME", started, updated)];
  const ended = timestampOf(row.ended_ns);
  const parts = [operation("TASK_SETUP", created, started), operation("TASK_RUNTIME", started, ended)];
  if (row.ended_ns <= row.updated_ns) parts.push(operation("TASK_TEARDOWN", ended, updated));
  return parts;
}

function operation(name: string, start: Timestamp | undefined, end: Timestamp | undefined): Span {
  return create(SpanSchema, { ...times(start, end), id: { case: "operationId", value: name } });
}

function times(startTime: Timestamp | undefined, endTime: Timestamp | undefined) {
  return { ...(startTime && { startTime }), ...(endTime && { endTime }) };
}
