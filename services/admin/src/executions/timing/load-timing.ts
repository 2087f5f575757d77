import { create, fromBinary } from "@bufbuild/protobuf";
import { ExecutionClosureSchema } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { NodeExecutionClosureSchema } from "@flyte-ts/idl/flyteidl/admin/node_execution_pb";
import type { CompiledWorkflowClosure } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import {
  IdentifierSchema,
  NodeExecutionIdentifierSchema,
  ResourceType,
  TaskExecutionIdentifierSchema,
  type WorkflowExecutionIdentifier,
  WorkflowExecutionIdentifierSchema,
} from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Queryable } from "@flyte-ts/postgres";
import type { ExecutionsDeps } from "../deps.js";
import { findExecution } from "../store/execution/find.js";
import { type ExecutionName, executionNotFound } from "../model/identifier.js";
import { readDynamicWorkflow } from "../blobs/dynamic-workflow.js";
import { findWorkflowClosure } from "../../registry/index.js";
import type { AttemptTiming, ExecutionTiming, NodeTiming, Timestamps } from "./timing.js";
import { loadAttemptTimes, loadDynamicWorkflows, loadNodes, type NodeRow, type TimesRow } from "../store/timing.js";

export type TimingDeps = Pick<ExecutionsDeps, "db" | "blobs" | "logger">;

/**
 * Reads an execution, its nodes and attempts, and its child executions, as far as spans of `depth`
 * levels need them: one query per kind of row and execution, whatever the number of rows.
 *
 * @throws RpcError NOT_FOUND.
 */
export async function loadExecutionTiming(deps: TimingDeps, execution: ExecutionName, depth: number): Promise<ExecutionTiming> {
  const row = await findExecution(deps.db, execution);
  const id = create(WorkflowExecutionIdentifierSchema, { project: execution.project, domain: execution.domain, name: execution.name });
  const timing = {
    id,
    createdAt: row.accepted_ns,
    updatedAt: row.updated_ns,
    startedAt: row.started_ns ?? undefined,
    endedAt: row.ended_ns ?? undefined,
  };
  if (depth === 0) return { ...timing, workflow: undefined, nodes: new Map() };
  const { workflowId } = fromBinary(ExecutionClosureSchema, row.closure);
  const [workflow, rows, tasks, dynamics] = await Promise.all([
    workflowId && findWorkflowClosure(deps.db, workflowId),
    loadNodes(deps.db, row.id),
    loadTasks(deps.db, row.id, id),
    loadDynamics(deps, row.id),
  ]);
  const nodes = new Map<string, NodeTiming[]>();
  for (const node of rows) {
    const timing: NodeTiming = {
      id: create(NodeExecutionIdentifierSchema, { nodeId: node.node_id, executionId: id }),
      specNodeId: node.spec_node_id,
      ...timesOf(node),
      tasks: tasks.get(node.node_id) ?? [],
      dynamic: dynamics.get(node.node_id),
      launched: await loadLaunchedTiming(deps, node, depth),
    };
    const parent = node.parent_node_id ?? "";
    const list = nodes.get(parent);
    if (list === undefined) nodes.set(parent, [timing]);
    else list.push(timing);
  }
  return { ...timing, workflow, nodes };
}

/**
 * Reads the child execution of a node; its spans are at most two levels below those of this one.
 */
async function loadLaunchedTiming(deps: TimingDeps, { target }: NodeRow, depth: number): Promise<ExecutionTiming | undefined> {
  if (target === null || (depth > 0 && depth < 2)) return undefined;
  const { targetMetadata } = fromBinary(NodeExecutionClosureSchema, target);
  const id = targetMetadata.case === "workflowNodeMetadata" ? targetMetadata.value.executionId : undefined;
  if (id === undefined) return undefined;
  const missing = executionNotFound(id).message;
  return loadExecutionTiming(deps, id, depth - 2).catch((error: unknown) => {
    if (error instanceof Error && error.message === missing) return undefined;
    throw error;
  });
}

function timesOf(row: TimesRow): Timestamps {
  return { createdAt: row.first_ns, updatedAt: row.updated_ns, startedAt: row.started_ns ?? undefined, endedAt: row.ended_ns ?? undefined };
}

/** Attempts by node, in order of time. */
async function loadTasks(
  db: Queryable,
  rowId: bigint,
  executionId: WorkflowExecutionIdentifier,
): Promise<ReadonlyMap<string, readonly AttemptTiming[]>> {
  const rows = await loadAttemptTimes(db, rowId);
  const tasks = new Map<string, AttemptTiming[]>();
  for (const row of rows) {
    const { node_id: nodeId, project, domain, name, version } = row;
    const taskId = create(IdentifierSchema, { resourceType: ResourceType.TASK, project, domain, name, version });
    const nodeExecutionId = create(NodeExecutionIdentifierSchema, { nodeId, executionId });
    const id = create(TaskExecutionIdentifierSchema, { taskId, nodeExecutionId, retryAttempt: Number(row.retry_attempt) });
    const list = tasks.get(nodeId);
    const task = { id, ...timesOf(row) };
    if (list === undefined) tasks.set(nodeId, [task]);
    else list.push(task);
  }
  return tasks;
}

/** Compiled workflows of dynamic nodes, by node. */
async function loadDynamics({ db, blobs, logger }: TimingDeps, executionId: bigint): Promise<ReadonlyMap<string, CompiledWorkflowClosure>> {
  const rows = await loadDynamicWorkflows(db, executionId);
  const dynamics = new Map<string, CompiledWorkflowClosure>();
  for (const row of rows) {
    const closure = await readDynamicWorkflow(blobs, row).catch((error: unknown) => {
      logger.warn({ uri: row.dynamic_workflow_uri, error: String(error) }, "the compiled workflow of a dynamic node cannot be read");
      return undefined;
    });
    if (closure !== undefined) dynamics.set(row.node_id, closure);
  }
  return dynamics;
}
