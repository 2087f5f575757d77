import { ALL, reads, type RulesOf, type Scope, writes } from "@flyte-ts/auth";
import type { AuditService, RoleBinding, RoleService, TokenService } from "@flyte-ts/idl/flytets/admin/v1/access_pb";
import type { HistoryService } from "@flyte-ts/idl/flytets/admin/v1/history_pb";
import type { LiveService } from "@flyte-ts/idl/flytets/admin/v1/live_pb";
import type { NotificationService } from "@flyte-ts/idl/flytets/admin/v1/notification_pb";
import type { ClusterService } from "@flyte-ts/idl/flytets/admin/v1/cluster_pb";
import type { Trigger, TriggerId, TriggerService } from "@flyte-ts/idl/flytets/admin/v1/trigger_pb";
import type { RetentionService } from "@flyte-ts/idl/flytets/admin/v1/retention_pb";
import type { ScheduleService } from "@flyte-ts/idl/flytets/admin/v1/schedule_pb";
import { needsOfFiring } from "../trigger/needs.js";
import { at, everywhere, wholeProject } from "./scope.js";

/** Reading the audit log needs the admin role in the requested scope. */
export const auditRules: RulesOf<typeof AuditService> = { listAuditEntries: reads("admin", whereAsked) };

/** Listing clusters needs the admin role everywhere; listing the cluster resources of a project, the admin role in it. */
export const clusterRules: RulesOf<typeof ClusterService> = {
  listClusters: reads("admin", () => everywhere),
  listClusterResources: reads("admin", whereAsked),
};

function whereAsked({ project, domain }: { readonly project: string; readonly domain: string }): Scope {
  if (project === "") return everywhere;
  return domain === "" ? wholeProject(project) : { kind: "project", project, domain };
}

/** Giving a role needs the admin role in the scope of the binding; the engine role, in all projects. */
function whereGiven({ binding }: { binding?: RoleBinding }): Scope {
  const { project = "", domain = "", role = "" } = binding ?? {};
  if (project === ALL || project === "" || role === "engine") return everywhere;
  return domain === ALL ? wholeProject(project) : { kind: "project", project, domain };
}

export const roleRules: RulesOf<typeof RoleService> = {
  listRoleBindings: reads("admin", () => everywhere),
  putRoleBinding: writes("admin", whereGiven),
  deleteRoleBinding: writes("admin", whereGiven),
};

/** An import names URIs whose content is then shown, and sets the principal, so it needs the admin role everywhere. */
export const historyRules: RulesOf<typeof HistoryService> = { importExecution: writes("admin", () => everywhere) };

/** The scheduler, and viewers of all projects, list all schedules. */
export const scheduleRules: RulesOf<typeof ScheduleService> = {
  listSchedules: reads("viewer", () => everywhere),
  listNextRuns: reads("viewer", at),
};

/** Viewers of an execution see the deliveries of its notifications. */
export const notificationRules: RulesOf<typeof NotificationService> = {
  listDeliveries: reads("viewer", at),
  retryDelivery: writes("runner", at),
};

/** Viewers of an execution may watch it. Logs have the same permission as outputs, since a task can write the same data to both. */
export const liveRules: RulesOf<typeof LiveService> = {
  watchExecution: reads("viewer", ({ id }) => at(id)),
  followLog: reads("viewer", ({ id }) => at(id?.executionId)),
};

/** A subject has the same tokens in all projects. */
export const tokenRules: RulesOf<typeof TokenService> = { revokeTokens: writes("admin", () => everywhere) };

const ofTrigger = ({ id }: { id?: TriggerId }): Scope => at(id);

/** The author of a trigger needs the permissions for its firings. */
const asMade = writes(
  "contributor",
  ({ trigger }: { trigger?: Trigger }) => at(trigger?.id),
  ({ trigger }) => (trigger === undefined ? [] : needsOfFiring(trigger)),
);

export const triggerRules: RulesOf<typeof TriggerService> = {
  createTrigger: asMade,
  updateTrigger: asMade,
  setTriggerState: writes("contributor", ofTrigger),
  deleteTrigger: writes("contributor", ofTrigger),
  rotateTriggerSecret: writes("contributor", ofTrigger),
  getTrigger: reads("viewer", ofTrigger),
  listTriggers: reads("viewer", at),
  listFirings: reads("viewer", at),
};

/** Scope of a retention policy: a project and domain, a whole project, or all. */
function whereKept({ project = "", domain = "" }: { readonly project?: string; readonly domain?: string } = {}): Scope {
  if (project === "") return everywhere;
  return domain === "" ? wholeProject(project) : { kind: "project", project, domain };
}

/** Deletion is final, so setting policies and deleting executions need the admin role. */
export const retentionRules: RulesOf<typeof RetentionService> = {
  setRetentionPolicy: writes("admin", ({ policy }) => whereKept(policy)),
  deleteRetentionPolicy: writes("admin", whereKept),
  getRetentionPolicy: reads("viewer", at),
  listRetentionPolicies: reads("viewer", whereKept),
  previewRetention: reads("viewer", at),
  deleteExecution: writes("admin", ({ id }) => at(id)),
  deleteExecutions: writes("admin", at),
};
