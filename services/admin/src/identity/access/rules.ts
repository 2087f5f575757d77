import { platformRules, ruleEntries, type RuleTable } from "@flyte-ts/auth";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { AgentMetadataService } from "@flyte-ts/idl/flyteidl/service/agent_pb";
import { AuthMetadataService } from "@flyte-ts/idl/flyteidl/service/auth_pb";
import { DataProxyService } from "@flyte-ts/idl/flyteidl/service/dataproxy_pb";
import { IdentityService } from "@flyte-ts/idl/flyteidl/service/identity_pb";
import { SignalService } from "@flyte-ts/idl/flyteidl/service/signal_pb";
import { AuditService, RoleService, TokenService } from "@flyte-ts/idl/flytets/admin/v1/access_pb";
import { ErrorService } from "@flyte-ts/idl/flytets/admin/v1/error_groups_pb";
import { GraphService } from "@flyte-ts/idl/flytets/admin/v1/graph_pb";
import { LiveService } from "@flyte-ts/idl/flytets/admin/v1/live_pb";
import { MyAccessService } from "@flyte-ts/idl/flytets/admin/v1/my_access_pb";
import { NodeTableService } from "@flyte-ts/idl/flytets/admin/v1/node_table_pb";
import { AttributeService } from "@flyte-ts/idl/flytets/admin/v1/attributes_pb";
import { OverviewService } from "@flyte-ts/idl/flytets/admin/v1/overview_pb";
import { SearchService } from "@flyte-ts/idl/flytets/admin/v1/search_pb";
import { NotificationService } from "@flyte-ts/idl/flytets/admin/v1/notification_pb";
import { TriggerService } from "@flyte-ts/idl/flytets/admin/v1/trigger_pb";
import { ClusterService } from "@flyte-ts/idl/flytets/admin/v1/cluster_pb";
import { RetentionService } from "@flyte-ts/idl/flytets/admin/v1/retention_pb";
import { HistoryService } from "@flyte-ts/idl/flytets/admin/v1/history_pb";
import { ScheduleService } from "@flyte-ts/idl/flytets/admin/v1/schedule_pb";
import { adminRules } from "./admin-rules.js";
import type { ObjectsConfig } from "./native-url.js";
import {
  attributeRules,
  auditRules,
  clusterRules,
  errorRules,
  graphRules,
  liveRules,
  nodeTableRules,
  notificationRules,
  overviewRules,
  retentionRules,
  historyRules,
  roleRules,
  scheduleRules,
  searchRules,
  tokenRules,
  triggerRules,
} from "./own-rules.js";
import { agentRules, authMetadataRules, dataProxyRules, identityRules, myAccessRules, signalRules } from "./service-rules.js";

/** Permissions of all calls of admin. A call without a rule is denied. */
export function accessRules(config: ObjectsConfig): RuleTable {
  return new Map([
    ...ruleEntries(AdminService, adminRules(config)),
    ...ruleEntries(DataProxyService, dataProxyRules(config)),
    ...ruleEntries(SignalService, signalRules(config)),
    ...ruleEntries(AgentMetadataService, agentRules),
    ...ruleEntries(AuthMetadataService, authMetadataRules),
    ...ruleEntries(IdentityService, identityRules),
    ...ruleEntries(MyAccessService, myAccessRules),
    ...ruleEntries(AuditService, auditRules),
    ...ruleEntries(RoleService, roleRules),
    ...ruleEntries(TokenService, tokenRules),
    ...ruleEntries(ScheduleService, scheduleRules),
    ...ruleEntries(HistoryService, historyRules),
    ...ruleEntries(ClusterService, clusterRules),
    ...ruleEntries(NotificationService, notificationRules),
    ...ruleEntries(RetentionService, retentionRules),
    ...ruleEntries(LiveService, liveRules),
    ...ruleEntries(ErrorService, errorRules),
    ...ruleEntries(GraphService, graphRules),
    ...ruleEntries(AttributeService, attributeRules),
    ...ruleEntries(OverviewService, overviewRules),
    ...ruleEntries(SearchService, searchRules),
    ...ruleEntries(NodeTableService, nodeTableRules),
    ...ruleEntries(TriggerService, triggerRules(config)),
    ...platformRules,
  ]);
}
