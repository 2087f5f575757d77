import { pathOf, type RestClient } from "@flyte-ts/client/browser";
import type { NamedEntityIdentifierListJson } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import type { LaunchPlanListJson } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import type { IdentifierJson } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { TaskListJson } from "@flyte-ts/idl/flyteidl/admin/task_pb";
import type { WorkflowJson, WorkflowListJson } from "@flyte-ts/idl/flyteidl/admin/workflow_pb";
import { listParameters, type ListQuery, type Scope } from "./scope.js";

/** Kinds of registered entities. */
export type EntityKind = "workflow" | "launch_plan" | "task";

export interface RegistryApi {
  /** Names of the entities of a kind. */
  listNames(kind: EntityKind, scope: Scope, query: ListQuery, signal: AbortSignal): Promise<NamedEntityIdentifierListJson>;
  /** One version of a workflow with its nodes. */
  getWorkflow(id: IdentifierJson, signal: AbortSignal): Promise<WorkflowJson>;
  /** Versions of one workflow. */
  listWorkflows(scope: Scope, name: string, query: ListQuery, signal: AbortSignal): Promise<WorkflowListJson>;
  /** Versions of one task. */
  listTasks(scope: Scope, name: string, query: ListQuery, signal: AbortSignal): Promise<TaskListJson>;
  /** Versions of all launch plans, or of one. */
  listLaunchPlans(scope: Scope, name: string | undefined, query: ListQuery, signal: AbortSignal): Promise<LaunchPlanListJson>;
  listActiveLaunchPlans(scope: Scope, query: ListQuery, signal: AbortSignal): Promise<LaunchPlanListJson>;
}

export function registryApi(rest: RestClient): RegistryApi {
  const list = <Answer>(prefix: string, identifiers: readonly string[], query: ListQuery, signal: AbortSignal): Promise<Answer> =>
    rest.call(pathOf(`api/v1/${prefix}`, ...identifiers), { query: listParameters(query), signal });
  return {
    listNames: (kind, { project, domain }, query, signal) => list(`${kind}_ids`, [project, domain], query, signal),
    getWorkflow: ({ project = "", domain = "", name = "", version = "" }, signal) =>
      rest.call(pathOf("api/v1/workflows", project, domain, name, version), { signal }),
    listWorkflows: ({ project, domain }, name, query, signal) => list("workflows", [project, domain, name], query, signal),
    listTasks: ({ project, domain }, name, query, signal) => list("tasks", [project, domain, name], query, signal),
    listLaunchPlans: ({ project, domain }, name, query, signal) =>
      list("launch_plans", name === undefined ? [project, domain] : [project, domain, name], query, signal),
    listActiveLaunchPlans: ({ project, domain }, query, signal) => list("active_launch_plans", [project, domain], query, signal),
  };
}
