import { nodePhases, workflowPhases } from "@flyte-ts/domain/phase";
import type { NodeStatus, WorkflowStatus } from "../model/status.js";
import type { Field } from "./field.js";

const WORKFLOW_PHASES: ReadonlySet<number> = new Set(workflowPhases.map(({ phase }) => phase));
const NODE_PHASES: ReadonlySet<number> = new Set(nodePhases.map(({ phase }) => phase));

/**
 * Parses `status` into a copy that the caller may change. Unknown fields are kept; missing phases
 * are 0, as Go omits them.
 */
export function parseStatus(status: Field): WorkflowStatus {
  if (status.isAbsent) return { phase: 0 };
  checkStatus(status);
  const { nodeStatus, ...copy } = structuredClone(status.object()) as Partial<WorkflowStatus>;
  const result: WorkflowStatus = { ...copy, phase: copy.phase ?? 0 };
  if (nodeStatus !== undefined && nodeStatus !== null) result.nodeStatus = withPhases(nodeStatus);
  return result;
}

/**
 * Parses the status of one node of a slice, by the same rules. The result shares the nested values.
 */
export function parseNodeStatus(field: Field): NodeStatus {
  checkNode(field);
  const status = field.object() as Partial<NodeStatus>;
  return { ...status, phase: status.phase ?? 0 };
}

function withPhases(nodes: Record<string, NodeStatus>): Record<string, NodeStatus> {
  for (const node of Object.values(nodes)) {
    node.phase ??= 0;
    if (node.subNodeStatus !== undefined && node.subNodeStatus !== null) withPhases(node.subNodeStatus);
  }
  return nodes;
}

function checkStatus(status: Field): void {
  checkPhase(status.at("phase"), WORKFLOW_PHASES);
  for (const key of ["startedAt", "stoppedAt", "lastUpdatedAt"]) checkTime(status.at(key));
  for (const key of ["message", "dataDir", "outputRef"]) status.at(key).optional((field) => field.string());
  for (const key of ["failedAttempts", "defVersion"]) status.at(key).optional((field) => field.nonNegativeInt());
  status.at("error").optional((field) => field.object());
  for (const [, node] of status.at("nodeStatus").entries()) checkNode(node);
}

function checkNode(node: Field): void {
  checkPhase(node.at("phase"), NODE_PHASES);
  for (const key of ["attempts", "systemFailures"]) node.at(key).optional((field) => field.nonNegativeInt());
  for (const key of ["queuedAt", "startedAt", "stoppedAt", "lastUpdatedAt", "laStartedAt"]) checkTime(node.at(key));
  for (const key of ["message", "parentNode", "childExecution", "deckUri"]) node.at(key).optional((field) => field.string());
  node.at("cached").optional((field) => field.boolean());
  for (const key of ["branchStatus", "workflowNodeStatus", "gateNodeStatus", "dynamicNodeStatus", "TaskNodeStatus", "error", "catalog"])
    node.at(key).optional((field) => field.object());
  for (const [, child] of node.at("subNodeStatus").entries()) checkNode(child);
}

/**
 * Refuses an unknown phase, which would be neither active nor terminal: its workflow would hang.
 */
function checkPhase(field: Field, known: ReadonlySet<number>): void {
  if (field.isAbsent || known.has(field.nonNegativeInt())) return;
  throw field.error(`must be a phase of 0 to ${Math.max(...known)}, is ${JSON.stringify(field.value)}`);
}

function checkTime(field: Field): void {
  if (field.isAbsent) return;
  if (Number.isNaN(Date.parse(field.string()))) throw field.error(`must be an RFC 3339 time, is ${JSON.stringify(field.value)}`);
}
