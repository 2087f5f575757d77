import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { WILDCARD, readRule, type Rule, type RulesOf, type Scope, writeRule } from "@flyte-ts/auth";
import type { AuditService, RoleBinding, RoleService, TokenService } from "@flyte-ts/idl/flytets/admin/v1/access_pb";
import type { HistoryService } from "@flyte-ts/idl/flytets/admin/v1/history_pb";
import type { LiveService } from "@flyte-ts/idl/flytets/admin/v1/live_pb";
import type { ErrorService } from "@flyte-ts/idl/flytets/admin/v1/error_groups_pb";
import type { GraphService } from "@flyte-ts/idl/flytets/admin/v1/graph_pb";
import type { NodeTableService } from "@flyte-ts/idl/flytets/admin/v1/node_table_pb";
import type { AttributeService } from "@flyte-ts/idl/flytets/admin/v1/attributes_pb";
import type { OverviewService } from "@flyte-ts/idl/flytets/admin/v1/overview_pb";
import type { SearchService } from "@flyte-ts/idl/flytets/admin/v1/search_pb";
import type { NotificationService } from "@flyte-ts/idl/flytets/admin/v1/notification_pb";
import type { ClusterService } from "@flyte-ts/idl/flytets/admin/v1/cluster_pb";
import {
  CreateTriggerRequestSchema,
  type Trigger,
  type TriggerId,
  type TriggerService,
  UpdateTriggerRequestSchema,
} from "@flyte-ts/idl/flytets/admin/v1/trigger_pb";
import type { RetentionService } from "@flyte-ts/idl/flytets/admin/v1/retention_pb";
import type { ScheduleService } from "@flyte-ts/idl/flytets/admin/v1/schedule_pb";
import type { ObjectsConfig } from "./native-url.js";
import { offloadedPermissions } from "./references.js";
import { triggerPermissions } from "./trigger-permissions.js";
import { projectScope, allProjects, wholeProject } from "./scope.js";

/** Reading the audit log needs the admin role in the requested scope. */
export const auditRules: RulesOf<typeof AuditService> = { listAuditEntries: readRule("admin", requestScope) };

/**
 * Listing clusters needs the admin role everywhere; listing the cluster resources of a project, the
 * admin role in it.
 */
export const clusterRules: RulesOf<typeof ClusterService> = {
  listClusters: readRule("admin", () => allProjects),
  listClusterResources: readRule("admin", requestScope),
};

function requestScope({ project, domain }: { readonly project: string; readonly domain: string }): Scope {
  if (project === "") return allProjects;
  return domain === "" ? wholeProject(project) : { kind: "project", project, domain };
}

/**
 * Giving a role needs the admin role in the scope of the binding; the engine role, in all projects.
 */
function bindingScope({ binding }: { binding?: RoleBinding }): Scope {
  const { project = "", domain = "", role = "" } = binding ?? {};
  if (project === WILDCARD || project === "" || role === "engine") return allProjects;
  return domain === WILDCARD ? wholeProject(project) : { kind: "project", project, domain };
}

export const roleRules: RulesOf<typeof RoleService> = {
  listRoleBindings: readRule("admin", () => allProjects),
  putRoleBinding: writeRule("admin", bindingScope),
  deleteRoleBinding: writeRule("admin", bindingScope),
};

/**
 * An import names URIs whose content is then shown, and sets the principal, so it needs the admin
 * role everywhere.
 */
export const historyRules: RulesOf<typeof HistoryService> = { importExecution: writeRule("admin", () => allProjects) };

/** The scheduler, and viewers of all projects, list all schedules. */
export const scheduleRules: RulesOf<typeof ScheduleService> = {
  listSchedules: readRule("viewer", () => allProjects),
  listNextRuns: readRule("viewer", projectScope),
};

/** Viewers of an execution see the deliveries of its notifications. */
export const notificationRules: RulesOf<typeof NotificationService> = {
  listDeliveries: readRule("viewer", projectScope),
  retryDelivery: writeRule("runner", projectScope),
  testNotification: writeRule("admin", projectScope),
};

/**
 * Viewers of an execution may watch it. Logs have the same permission as outputs, since a task can
 * write the same data to both.
 */
export const liveRules: RulesOf<typeof LiveService> = {
  watchExecution: readRule("viewer", ({ id }) => projectScope(id)),
  followLog: readRule("viewer", ({ id }) => projectScope(id?.executionId)),
};

/** Viewers of an execution see the errors of its nodes. */
export const errorRules: RulesOf<typeof ErrorService> = { getErrorGroups: readRule("viewer", ({ id }) => projectScope(id)) };

/** Viewers of a project and domain see its attributes, as with the calls for one kind. */
export const attributeRules: RulesOf<typeof AttributeService> = { listAttributes: readRule("viewer", projectScope) };

/** Viewers of a project and domain see its overview: all of it is in lists that they may read. */
export const overviewRules: RulesOf<typeof OverviewService> = { getOverview: readRule("viewer", projectScope) };

/** Viewers of a project and domain search in it. */
export const searchRules: RulesOf<typeof SearchService> = { search: readRule("viewer", projectScope) };

/** Viewers of a workflow or an execution see its graph. */
export const graphRules: RulesOf<typeof GraphService> = {
  getWorkflowGraph: readRule("viewer", ({ id }) => projectScope(id)),
  getExecutionGraph: readRule("viewer", ({ id }) => projectScope(id)),
};

/** Viewers of an execution may watch its nodes. */
export const nodeTableRules: RulesOf<typeof NodeTableService> = {
  watchNodeTable: readRule("viewer", ({ id }) => projectScope(id)),
  watchItemTable: readRule("viewer", ({ id }) => projectScope(id?.executionId)),
  listNodeAttempts: readRule("viewer", ({ id }) => projectScope(id?.executionId)),
};

/**
 * A subject has the same tokens in all projects, so revoking them needs the admin role everywhere.
 */
export const tokenRules: RulesOf<typeof TokenService> = { revokeTokens: writeRule("admin", () => allProjects) };

const triggerScope = ({ id }: { id?: TriggerId }): Scope => projectScope(id);

/**
 * Requires of the author of a trigger the permissions for the executions that it starts, and for
 * their inputs.
 */
function writesTrigger<Schema extends DescMessage>(
  schema: Schema,
  config: ObjectsConfig,
): Rule<MessageShape<Schema> & { trigger?: Trigger }> {
  return writeRule(
    "contributor",
    ({ trigger }) => projectScope(trigger?.id),
    (request) => [
      ...(request.trigger === undefined ? [] : triggerPermissions(request.trigger)),
      ...offloadedPermissions(schema, request, config),
    ],
  );
}

/** Permissions that follow from what a trigger has stored are checked where it is read. */
export const triggerRules = (config: ObjectsConfig): RulesOf<typeof TriggerService> => ({
  createTrigger: writesTrigger(CreateTriggerRequestSchema, config),
  updateTrigger: writesTrigger(UpdateTriggerRequestSchema, config),
  setTriggerState: writeRule("contributor", triggerScope),
  deleteTrigger: writeRule("contributor", triggerScope),
  rotateTriggerSecret: writeRule("contributor", triggerScope),
  getTrigger: readRule("viewer", triggerScope),
  listTriggers: readRule("viewer", projectScope),
  listFirings: readRule("viewer", projectScope),
});

/** Scope of a retention policy: a project and domain, a whole project, or all. */
function policyScope({ project = "", domain = "" }: { readonly project?: string; readonly domain?: string } = {}): Scope {
  if (project === "") return allProjects;
  return domain === "" ? wholeProject(project) : { kind: "project", project, domain };
}

/** Deletion is final, so setting policies and deleting executions need the admin role. */
export const retentionRules: RulesOf<typeof RetentionService> = {
  setRetentionPolicy: writeRule("admin", ({ policy }) => policyScope(policy)),
  deleteRetentionPolicy: writeRule("admin", policyScope),
  getRetentionPolicy: readRule("viewer", projectScope),
  listRetentionPolicies: readRule("viewer", policyScope),
  previewRetention: readRule("viewer", projectScope),
  deleteExecution: writeRule("admin", ({ id }) => projectScope(id)),
  deleteExecutions: writeRule("admin", projectScope),
};
