import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { AgentMetadataService } from "@flyte-ts/idl/flyteidl/service/agent_pb";
import { AuthMetadataService } from "@flyte-ts/idl/flyteidl/service/auth_pb";
import { DataProxyService } from "@flyte-ts/idl/flyteidl/service/dataproxy_pb";
import { IdentityService } from "@flyte-ts/idl/flyteidl/service/identity_pb";
import { SignalService } from "@flyte-ts/idl/flyteidl/service/signal_pb";
import { LiveService } from "@flyte-ts/idl/flytets/admin/v1/live_pb";
import { NotificationService } from "@flyte-ts/idl/flytets/admin/v1/notification_pb";
import { ClusterService } from "@flyte-ts/idl/flytets/admin/v1/cluster_pb";
import { TriggerService } from "@flyte-ts/idl/flytets/admin/v1/trigger_pb";
import { RetentionService } from "@flyte-ts/idl/flytets/admin/v1/retention_pb";
import { HistoryService } from "@flyte-ts/idl/flytets/admin/v1/history_pb";
import { ScheduleService } from "@flyte-ts/idl/flytets/admin/v1/schedule_pb";
import { CommitOutcomeUnknownError, isUnavailable, isInvalidText } from "@flyte-ts/postgres";
import { Code, type HttpRoute, implement, type Interceptor, RpcError, type ServedService, unimplementedService } from "@flyte-ts/rpc";
import type { Access } from "./identity/access/start.js";
import { agentRpcs } from "./platform/server-info/agents-rpc.js";
import { attributeRpcs } from "./registry/attributes/rpc.js";
import { clusterRpcs } from "./clusters/rpc.js";
import type { AdminDeps } from "./deps.js";
import { dataProxyRpcs } from "./executions/data-proxy/rpc.js";
import { descriptionEntityRpcs } from "./registry/description/rpc.js";
import { eventRpcs } from "./events/rpc/rpc.js";
import { executionRpcs } from "./executions/execution/rpc.js";
import { historyRpcs } from "./events/import/rpc.js";
import { launchPlanRpcs } from "./registry/launch-plan/rpc.js";
import { streamingRpcs } from "./executions/streaming/rpc.js";
import type { Streaming } from "./executions/streaming/start.js";
import { namedEntityRpcs } from "./registry/named-entity/rpc.js";
import { nodeExecutionRpcs } from "./executions/node/rpc.js";
import { notificationRpcs } from "./automation/notification/rpc.js";
import { projectRpcs } from "./registry/project/rpc.js";
import { retentionRpcs } from "./automation/retention/rpc.js";
import { scheduleRpcs } from "./automation/schedule/rpc.js";
import { signalRpcs } from "./executions/signal/rpc.js";
import { taskRpcs } from "./registry/task/rpc.js";
import { taskExecutionRpcs } from "./executions/attempt/rpc.js";
import { triggerRpcs } from "./automation/trigger/rpc.js";
import { createSecretDeriver, type DeriveSecret } from "./automation/trigger/secret.js";
import { webhookRoute } from "./automation/trigger/webhook-route.js";
import { type Build, versionRpcs } from "./platform/server-info/version-rpc.js";
import { decodeWorkflowRequest } from "./registry/workflow/decode-request.js";
import { workflowRpcs } from "./registry/workflow/rpc.js";

/** All services of admin. */
export function adminServices(deps: AdminDeps & { readonly live: Streaming }, build: Build, access?: Access): ServedService[] {
  return [
    implement(
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
      // With authentication, the rules read everything that a request refers to, including nodes.
      deps.compilerWorker === undefined || access !== undefined ? {} : { createWorkflow: decodeWorkflowRequest },
    ),
    implement(DataProxyService, dataProxyRpcs(deps)),
    implement(SignalService, signalRpcs(deps)),
    implement(AgentMetadataService, agentRpcs(deps)),
    implement(ScheduleService, scheduleRpcs(deps)),
    implement(HistoryService, historyRpcs(deps)),
    implement(ClusterService, clusterRpcs(deps)),
    implement(NotificationService, notificationRpcs(deps)),
    implement(RetentionService, retentionRpcs(deps)),
    implement(LiveService, streamingRpcs(deps)),
    implement(TriggerService, triggerRpcs({ ...deps, deriveSecret: secretsOf(deps) })),
    // Without authentication their REST routes respond like those of a Flyte server without it.
    ...(access?.services ?? [unimplementedService(AuthMetadataService), unimplementedService(IdentityService)]),
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
 * Maps an unavailable database to UNAVAILABLE, so that callers retry; all calls are idempotent. A NUL character that no
 * check has rejected becomes INVALID_ARGUMENT.
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
