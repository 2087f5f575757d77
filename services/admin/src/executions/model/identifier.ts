import {
  type NodeExecutionIdentifier,
  ResourceType,
  type TaskExecutionIdentifier,
  type WorkflowExecutionIdentifier,
} from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { checkReadIdentifier, checkText, missingArgument, notFound } from "../../platform/index.js";

/** @throws RpcError INVALID_ARGUMENT naming the part that is missing. */
export function checkExecutionId(id: WorkflowExecutionIdentifier | undefined, field = "id"): asserts id is WorkflowExecutionIdentifier {
  if (id === undefined) throw missingArgument(field);
  checkText(id.project, "project");
  checkText(id.domain, "domain");
  checkText(id.name, "name");
}

/** Identifier of a node with an execution. */
export type NodeId = NodeExecutionIdentifier & { readonly executionId: WorkflowExecutionIdentifier };

/** @throws RpcError INVALID_ARGUMENT naming the part that is missing. */
export function checkNodeId(id: NodeExecutionIdentifier | undefined, field = "id"): asserts id is NodeId {
  if (id === undefined) throw missingArgument(field);
  if (id.executionId === undefined) throw missingArgument("execution_id");
  checkText(id.nodeId, "node_id");
  checkExecutionId(id.executionId, "execution_id");
}

/** Identifier of a task attempt with all its parts. */
export type TaskId = TaskExecutionIdentifier & {
  readonly taskId: NonNullable<TaskExecutionIdentifier["taskId"]>;
  readonly nodeExecutionId: NodeId;
};

/**
 * REST paths contain no resource type: it defaults to a task's. @throws RpcError INVALID_ARGUMENT
 * naming the part that is missing.
 */
export function checkTaskId(id: TaskExecutionIdentifier | undefined): asserts id is TaskId {
  if (id === undefined) throw missingArgument("id");
  checkNodeId(id.nodeExecutionId, "node_execution_id");
  if (id.taskId === undefined) throw missingArgument("task_id");
  checkReadIdentifier(id.taskId, ResourceType.TASK);
}

// Format of identifiers in Flyte's messages.

const part = (name: string, value: string): string => (value === "" ? "" : `${name}:${JSON.stringify(value)} `);

export function executionIdText(id: { readonly project: string; readonly domain: string; readonly name: string }): string {
  return `${part("project", id.project)}${part("domain", id.domain)}${part("name", id.name)}`.trimEnd();
}

export function nodeIdText(id: NodeExecutionIdentifier): string {
  return `${part("node_id", id.nodeId)}${id.executionId ? `execution_id:{${executionIdText(id.executionId)}}` : ""}`.trimEnd();
}

export function taskIdText(id: TaskExecutionIdentifier): string {
  const task = id.taskId;
  const text =
    task &&
    `task_id:{${part("project", task.project)}${part("domain", task.domain)}${part("name", task.name)}${part("version", task.version).trimEnd()}} `;
  const node = id.nodeExecutionId && `node_execution_id:{${nodeIdText(id.nodeExecutionId)}}`;
  return `${text ?? ""}${node ?? ""}${id.retryAttempt === 0 ? "" : ` retry_attempt:${id.retryAttempt}`}`.trim();
}

/** Names a node for readers, in messages that Flyte does not have. */
export function describeNode({ nodeId, executionId: { project, domain, name } }: NodeId): string {
  return `node ${nodeId} of execution ${project}/${domain}/${name}`;
}

/** Error of a stream whose execution does not exist. */
export function watchedExecutionNotFound({ project, domain, name }: ExecutionName): Error {
  return notFound(`execution ${project}/${domain}/${name} does not exist`);
}

export function executionNotFound(id: Parameters<typeof executionIdText>[0]): Error {
  return notFound(`missing entity of type execution with identifier ${executionIdText(id)}`);
}

export function nodeNotFound(id: NodeExecutionIdentifier): Error {
  return notFound(`missing entity of type node execution with identifier ${nodeIdText(id)}`);
}

export function taskNotFound(id: TaskExecutionIdentifier): Error {
  return notFound(`missing entity of type task execution with identifier ${taskIdText(id)}`);
}

export interface ExecutionName {
  readonly project: string;
  readonly domain: string;
  readonly name: string;
}
