import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { AgentMetadataService } from "@flyte-ts/idl/flyteidl/service/agent_pb";
import { AuthMetadataService } from "@flyte-ts/idl/flyteidl/service/auth_pb";
import { DataProxyService } from "@flyte-ts/idl/flyteidl/service/dataproxy_pb";
import { IdentityService } from "@flyte-ts/idl/flyteidl/service/identity_pb";
import { SignalService } from "@flyte-ts/idl/flyteidl/service/signal_pb";
import { AttributeService } from "@flyte-ts/idl/flytets/admin/v1/attributes_pb";
import { ErrorService } from "@flyte-ts/idl/flytets/admin/v1/error_groups_pb";
import { LiveService } from "@flyte-ts/idl/flytets/admin/v1/live_pb";
import { NodeTableService } from "@flyte-ts/idl/flytets/admin/v1/node_table_pb";
import { MyAccessService } from "@flyte-ts/idl/flytets/admin/v1/my_access_pb";
import { OverviewService } from "@flyte-ts/idl/flytets/admin/v1/overview_pb";
import { SearchService } from "@flyte-ts/idl/flytets/admin/v1/search_pb";
import { NotificationService } from "@flyte-ts/idl/flytets/admin/v1/notification_pb";
import { ClusterService } from "@flyte-ts/idl/flytets/admin/v1/cluster_pb";
import { TriggerService } from "@flyte-ts/idl/flytets/admin/v1/trigger_pb";
import { RetentionService } from "@flyte-ts/idl/flytets/admin/v1/retention_pb";
import { HistoryService } from "@flyte-ts/idl/flytets/admin/v1/history_pb";
import { ScheduleService } from "@flyte-ts/idl/flytets/admin/v1/schedule_pb";
import { CommitOutcomeUnknownError, isUnavailable, isInvalidText } from "@flyte-ts/postgres";
import { Code, type HttpRoute, implement, type Interceptor, RpcError, type ServedService, unimplementedService } from "@flyte-ts/rpc";
import { type Access, unrestrictedAccessRpcs } from "./identity/index.js";
import {
  attributeRpcs,
  scopeAttributeRpcs,
  decodeWorkflowRequest,
  descriptionEntityRpcs,
  entityTags,
  launchPlanRpcs,
  namedEntityRpcs,
  projectRpcs,
  type ScopeChange,
  taskRpcs,
  workflowRpcs,
} from "./registry/index.js";
import { clusterRpcs, enqueueSync } from "./clusters/index.js";
import {
  dataProxyRpcs,
  executionRpcs,
  nodeExecutionRpcs,
  signalRpcs,
  type Streaming,
  errorRpcs,
  graphService,
  nodeTableRpcs,
  streamingRpcs,
  taskExecutionRpcs,
} from "./executions/index.js";
import { eventRpcs, historyRpcs } from "./events/index.js";
import {
  createSecretDeriver,
  type DeriveSecret,
  notificationRpcs,
  retentionRpcs,
  scheduleRpcs,
  triggerRpcs,
  webhookRoute,
} from "./automation/index.js";
import { overviewRpcs } from "./overview/index.js";
import { searchRpcs } from "./search/index.js";
import { agentRpcs } from "./server-info/agents-rpc.js";
import { type Build, versionRpcs } from "./server-info/version-rpc.js";
import type { AdminDeps } from "./deps.js";

const DATA_WITH_SIGNED_URLS = ["getExecutionData", "getNodeExecutionData", "getTaskExecutionData"];

/** All services of admin. */
export function adminServices(given: AdminDeps & { readonly live: Streaming }, build: Build, access?: Access): ServedService[] {
  const deps = { ...given, onScopeChanged: (scope: ScopeChange) => enqueueSync(given.db, given.config, scope) };
  return [
    {
      ...implement(
        AdminService,
        {
          ...projectRpcs(deps),
          ...taskRpcs(deps),
          ...workflowRpcs(deps),
          ...launchPlanRpcs(deps),
          ...namedEntityRpcs(deps),
          ...descriptionEntityRpcs(deps),
          ...attributeRpcs(deps),
          ...versionRpcs(build),
          ...executionRpcs(deps),
          ...nodeExecutionRpcs(deps),
          ...taskExecutionRpcs(deps),
          ...eventRpcs(deps),
        },
        // With authentication, the access rules read everything that a request refers to, including
        // nodes, so the request is decoded completely.
        deps.compilerWorker === undefined || access !== undefined ? {} : { createWorkflow: decodeWorkflowRequest },
      ),
      entityTag: entityTags(`${build.version} ${build.revision}`),
      secretAnswers: deps.config.remoteData.signedUrls.enabled ? DATA_WITH_SIGNED_URLS : [],
    },
    {
      ...implement(DataProxyService, dataProxyRpcs(deps)),
      // Signed URLs.
      secretAnswers: ["createUploadLocation", "createDownloadLocation", "createDownloadLink", "getData"],
    },
    implement(SignalService, signalRpcs(deps)),
    implement(AgentMetadataService, agentRpcs(deps)),
    implement(ScheduleService, scheduleRpcs(deps)),
    implement(HistoryService, historyRpcs(deps)),
    implement(ClusterService, clusterRpcs(deps)),
    implement(NotificationService, notificationRpcs(deps)),
    implement(RetentionService, retentionRpcs(deps)),
    implement(LiveService, streamingRpcs(deps)),
    implement(ErrorService, errorRpcs(deps)),
    graphService(deps, `${build.version} ${build.revision}`),
    implement(AttributeService, scopeAttributeRpcs(deps)),
    implement(OverviewService, overviewRpcs(deps)),
    implement(SearchService, searchRpcs(deps)),
    implement(NodeTableService, nodeTableRpcs(deps)),
    {
      ...implement(TriggerService, triggerRpcs({ ...deps, deriveSecret: secretsOf(deps) })),
      // Secrets of webhooks.
      secretAnswers: ["createTrigger", "updateTrigger", "rotateTriggerSecret"],
    },
    // Without authentication their REST routes respond like those of a Flyte server without it.
    ...(access?.services ?? [
      unimplementedService(AuthMetadataService),
      unimplementedService(IdentityService),
      implement(MyAccessService, unrestrictedAccessRpcs),
    ]),
  ];
}

/** Public HTTP routes besides the calls. */
export function adminRoutes(deps: AdminDeps): HttpRoute[] {
  return [webhookRoute({ ...deps, deriveSecret: secretsOf(deps) })];
}

function secretsOf({ db, config, env }: AdminDeps): DeriveSecret {
  return createSecretDeriver({ db, key: config.triggers.webhooks.key, env });
}

/**
 * Maps an unavailable database to UNAVAILABLE, so that callers retry; all calls are idempotent. A
 * NUL character that no check has rejected becomes INVALID_ARGUMENT.
 */
export const mapInfrastructureErrors: Interceptor = async ({ context }, next) => {
  try {
    return await next(context);
  } catch (cause) {
    if (isUnavailable(cause) || cause instanceof CommitOutcomeUnknownError) {
      throw new RpcError(Code.UNAVAILABLE, "the database cannot be reached, try again", { cause });
    }
    if (isInvalidText(cause)) throw new RpcError(Code.INVALID_ARGUMENT, "invalid text: NUL characters are not allowed", { cause });
    throw cause;
  }
};
