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
import { CommitUnknown, isUnavailable, isUnstorableText } from "@flyte-ts/postgres";
import { Code, type HttpRoute, implement, type Interceptor, RpcError, type ServedService, withoutImplementation } from "@flyte-ts/rpc";
import type { Access } from "./access/start.js";
import { agentRpcs } from "./agent/rpc.js";
import { attributeRpcs } from "./attributes/rpc.js";
import { clusterRpcs } from "./cluster/rpc.js";
import type { AdminDeps } from "./deps.js";
import { dataProxyRpcs } from "./data-proxy/rpc.js";
import { descriptionEntityRpcs } from "./description-entity/rpc.js";
import { eventRpcs } from "./event/rpc.js";
import { executionRpcs } from "./execution/rpc.js";
import { historyRpcs } from "./history/rpc.js";
import { launchPlanRpcs } from "./launch-plan/rpc.js";
import { streamingRpcs } from "./live/rpc.js";
import type { Streaming } from "./live/start.js";
import { namedEntityRpcs } from "./named-entity/rpc.js";
import { nodeExecutionRpcs } from "./node-execution/rpc.js";
import { notificationRpcs } from "./notification/rpc.js";
import { projectRpcs } from "./project/rpc.js";
import { retentionRpcs } from "./retention/rpc.js";
import { scheduleRpcs } from "./schedule/rpc.js";
import { signalRpcs } from "./signal/rpc.js";
import { taskRpcs } from "./task/rpc.js";
import { taskExecutionRpcs } from "./task-execution/rpc.js";
import { triggerRpcs } from "./trigger/rpc.js";
import { createSecretDeriver, type DeriveSecret } from "./trigger/secret.js";
import { webhookRoute } from "./trigger/webhook-route.js";
import { type Build, versionRpcs } from "./version/rpc.js";
import { decodeWorkflowRequest } from "./workflow/open-request.js";
import { workflowRpcs } from "./workflow/rpc.js";

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
    ...(access?.services ?? [withoutImplementation(AuthMetadataService), withoutImplementation(IdentityService)]),
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
    if (isUnavailable(cause) || cause instanceof CommitUnknown) {
      throw new RpcError(Code.UNAVAILABLE, "the database cannot be reached, try again", { cause });
    }
    if (isUnstorableText(cause)) throw new RpcError(Code.INVALID_ARGUMENT, "invalid text: NUL characters are not allowed", { cause });
    throw cause;
  }
};
