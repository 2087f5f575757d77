import { NodeExecution_Phase, TaskExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";

// Rows store phases by name, as filters of clients name them. A number without a name is stored as
// digits: a newer engine may report phases that this admin does not know.

export function workflowPhaseName(phase: WorkflowExecution_Phase): string {
  return WorkflowExecution_Phase[phase] ?? String(phase);
}

export function workflowPhaseOf(name: string): WorkflowExecution_Phase {
  return (WorkflowExecution_Phase as unknown as Record<string, WorkflowExecution_Phase>)[name] ?? Number(name);
}

export function nodePhaseName(phase: NodeExecution_Phase): string {
  return NodeExecution_Phase[phase] ?? String(phase);
}

export function nodePhaseOf(name: string): NodeExecution_Phase {
  return (NodeExecution_Phase as unknown as Record<string, NodeExecution_Phase>)[name] ?? Number(name);
}

export function taskPhaseName(phase: TaskExecution_Phase): string {
  return TaskExecution_Phase[phase] ?? String(phase);
}

export function taskPhaseOf(name: string): TaskExecution_Phase {
  return (TaskExecution_Phase as unknown as Record<string, TaskExecution_Phase>)[name] ?? Number(name);
}
