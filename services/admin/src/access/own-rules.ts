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

/** Who may read the audit log: an admin, where the request looks. */
export const auditRules: RulesOf<typeof AuditService> = { listAuditEntries: reads("admin", whereAsked) };

/** Operators see the data planes; an admin of a project sees what is made in them for it. */
export const clusterRules: RulesOf<typeof ClusterService> = {
  listClusters: reads("admin", () => everywhere),
  listClusterResources: reads("admin", whereAsked),
};

function whereAsked({ project, domain }: { readonly project: string; readonly domain: string }): Scope {
  if (project === "") return everywhere;
  return domain === "" ? wholeProject(project) : { kind: "project", project, domain };
}

/** Who may give a role: who has all that it gives, where it gives it. */
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

/** What is imported names addresses whose content is then shown, and says who had it run: for those who may see and do everything. */
export const historyRules: RulesOf<typeof HistoryService> = { importExecution: writes("admin", () => everywhere) };

/** All schedules are for the scheduler, and for those who may see all projects. */
export const scheduleRules: RulesOf<typeof ScheduleService> = {
  listSchedules: reads("viewer", () => everywhere),
  listNextRuns: reads("viewer", at),
};

/** Who sees an execution sees who was told of its end. */
export const notificationRules: RulesOf<typeof NotificationService> = {
  listDeliveries: reads("viewer", at),
  retryDelivery: writes("runner", at),
};

/** Who may read an execution may watch it. What a task writes into its log is for the same people: it may read nothing that its outputs may not hold. */
export const liveRules: RulesOf<typeof LiveService> = {
  watchExecution: reads("viewer", ({ id }) => at(id)),
  followLog: reads("viewer", ({ id }) => at(id?.executionId)),
};

/** A subject has the same tokens in all projects. */
export const tokenRules: RulesOf<typeof TokenService> = { revokeTokens: writes("admin", () => everywhere) };

const ofTrigger = ({ id }: { id?: TriggerId }): Scope => at(id);

/** Who makes a trigger must be able to do what it will do. */
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

/** A project and domain, a whole project, or all: where a policy holds. */
function whereKept({ project = "", domain = "" }: { readonly project?: string; readonly domain?: string } = {}): Scope {
  if (project === "") return everywhere;
  return domain === "" ? wholeProject(project) : { kind: "project", project, domain };
}

/** What is deleted cannot be had again: an admin says what is kept, and deletes. */
export const retentionRules: RulesOf<typeof RetentionService> = {
  setRetentionPolicy: writes("admin", ({ policy }) => whereKept(policy)),
  deleteRetentionPolicy: writes("admin", whereKept),
  getRetentionPolicy: reads("viewer", at),
  listRetentionPolicies: reads("viewer", whereKept),
  previewRetention: reads("viewer", at),
  deleteExecution: writes("admin", ({ id }) => at(id)),
  deleteExecutions: writes("admin", at),
};
