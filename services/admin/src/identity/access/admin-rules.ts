import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { type Permission, readRule, reportRule, type Rule, type RulesOf, writeRule } from "@flyte-ts/auth";
import { ExecutionCreateRequestSchema, ExecutionRecoverRequestSchema } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { LaunchPlanCreateRequestSchema } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { TaskCreateRequestSchema } from "@flyte-ts/idl/flyteidl/admin/task_pb";
import { WorkflowCreateRequestSchema } from "@flyte-ts/idl/flyteidl/admin/workflow_pb";
import type { NodeExecutionIdentifier, WorkflowExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import type { ObjectsConfig } from "./native-url.js";
import { offloadedPermissions, referencePermissions } from "./references.js";
import { anyProject, projectScope, allProjects, wholeProject } from "./scope.js";

type Request<Schema extends DescMessage> = MessageShape<Schema>;

const byId = readRule("viewer", ({ id }: { id?: { project: string; domain: string } }) => projectScope(id));
const byNames = readRule("viewer", (request: { project: string; domain: string }) => projectScope(request));
const byNode = readRule("viewer", ({ id }: { id?: NodeExecutionIdentifier }) => projectScope(id?.executionId));
const ofAttributes = ({ attributes }: { attributes?: { project: string; domain: string } }) => projectScope(attributes);

/**
 * Registers a version of an entity; the caller must be able to read the entities and the offloaded
 * literals that it refers to.
 */
function registers<Schema extends DescMessage>(
  schema: Schema,
  config: ObjectsConfig,
): Rule<Request<Schema> & { id?: { project: string; domain: string } }> {
  return writeRule(
    "contributor",
    ({ id }) => projectScope(id),
    (request) => [...referencePermissions(schema, request), ...offloadedPermissions(schema, request, config)],
  );
}

/**
 * A request with a parent node inherits the principal and cluster of the parent's execution, so
 * only the engine may send one.
 */
function parentPermissions(parent: NodeExecutionIdentifier | undefined): Permission[] {
  return parent === undefined ? [] : [{ role: "engine", scope: projectScope(parent.executionId) }];
}

/**
 * Other executions that an event names. Their content is shown as part of the event's own
 * execution, so the reporter needs the engine role for both. Tasks and launch plans of other
 * projects may be named, since workflows consist of them.
 */
function executionPermissions(execution: WorkflowExecutionIdentifier | undefined): Permission[] {
  return execution === undefined ? [] : [{ role: "engine", scope: projectScope(execution) }];
}

/** Permissions of the calls of AdminService. */
export const adminRules = (config: ObjectsConfig): RulesOf<typeof AdminService> => ({
  createTask: registers(TaskCreateRequestSchema, config),
  getTask: byId,
  listTaskIds: byNames,
  listTasks: byId,
  createWorkflow: registers(WorkflowCreateRequestSchema, config),
  getWorkflow: byId,
  listWorkflowIds: byNames,
  listWorkflows: byId,
  createLaunchPlan: registers(LaunchPlanCreateRequestSchema, config),
  getLaunchPlan: byId,
  getActiveLaunchPlan: byId,
  listActiveLaunchPlans: byNames,
  listLaunchPlanIds: byNames,
  listLaunchPlans: byId,
  updateLaunchPlan: writeRule("contributor", ({ id }) => projectScope(id)),
  getNamedEntity: byId,
  listNamedEntities: byNames,
  updateNamedEntity: writeRule("contributor", ({ id }) => projectScope(id)),
  getDescriptionEntity: byId,
  listDescriptionEntities: byId,

  createExecution: writeRule(
    "runner",
    (request) => projectScope(request),
    (request) => [
      ...parentPermissions(request.spec?.metadata?.parentNodeExecution),
      ...referencePermissions(ExecutionCreateRequestSchema, request),
      ...offloadedPermissions(ExecutionCreateRequestSchema, request, config),
    ],
  ),
  relaunchExecution: writeRule("runner", ({ id }) => projectScope(id)),
  recoverExecution: writeRule(
    "runner",
    ({ id }) => projectScope(id),
    (request) => [
      ...parentPermissions(request.metadata?.parentNodeExecution),
      ...referencePermissions(ExecutionRecoverRequestSchema, request),
    ],
  ),
  getExecution: byId,
  updateExecution: writeRule("runner", ({ id }) => projectScope(id)),
  getExecutionData: byId,
  getExecutionMetrics: byId,
  listExecutions: byId,
  terminateExecution: writeRule("runner", ({ id }) => projectScope(id)),
  getNodeExecution: byNode,
  getDynamicNodeWorkflow: byNode,
  getNodeExecutionData: byNode,
  listNodeExecutions: readRule("viewer", ({ workflowExecutionId }) => projectScope(workflowExecutionId)),
  listNodeExecutionsForTask: readRule("viewer", ({ taskExecutionId }) => projectScope(taskExecutionId?.nodeExecutionId?.executionId)),
  getTaskExecution: readRule("viewer", ({ id }) => projectScope(id?.nodeExecutionId?.executionId)),
  getTaskExecutionData: readRule("viewer", ({ id }) => projectScope(id?.nodeExecutionId?.executionId)),
  listTaskExecutions: readRule("viewer", ({ nodeExecutionId }) => projectScope(nodeExecutionId?.executionId)),

  createWorkflowEvent: reportRule("engine", ({ event }) => projectScope(event?.executionId)),
  createNodeEvent: reportRule(
    "engine",
    ({ event }) => projectScope(event?.id?.executionId),
    ({ event }) => [
      ...executionPermissions(event?.targetMetadata.case === "workflowNodeMetadata" ? event.targetMetadata.value.executionId : undefined),
      ...executionPermissions(event?.parentTaskMetadata?.id?.nodeExecutionId?.executionId),
    ],
  ),
  createTaskEvent: reportRule(
    "engine",
    ({ event }) => projectScope(event?.parentNodeExecutionId?.executionId),
    ({ event }) =>
      (event?.metadata?.externalResources ?? []).flatMap(({ targetMetadata: { case: kind, value } }) =>
        executionPermissions(kind === "workflowNodeMetadata" ? value.executionId : undefined),
      ),
  ),

  registerProject: writeRule("admin", () => allProjects),
  updateProject: writeRule("admin", ({ id }) => wholeProject(id)),
  getProject: readRule("viewer", ({ id }) => ({ kind: "some-domain", project: id })),
  listProjects: readRule("viewer", () => anyProject),
  getDomains: readRule("viewer", () => anyProject),
  getVersion: readRule("viewer", () => anyProject),

  updateProjectDomainAttributes: writeRule("admin", ofAttributes),
  getProjectDomainAttributes: byNames,
  deleteProjectDomainAttributes: writeRule("admin", projectScope),
  updateProjectAttributes: writeRule("admin", ({ attributes }) => wholeProject(attributes?.project)),
  getProjectAttributes: readRule("viewer", ({ project }) => ({ kind: "some-domain", project })),
  deleteProjectAttributes: writeRule("admin", ({ project }) => wholeProject(project)),
  updateWorkflowAttributes: writeRule("admin", ofAttributes),
  getWorkflowAttributes: byNames,
  deleteWorkflowAttributes: writeRule("admin", projectScope),
  // Returns the attributes of all projects.
  listMatchableAttributes: readRule("viewer", () => allProjects),
});
