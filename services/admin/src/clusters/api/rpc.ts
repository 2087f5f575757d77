import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ClusterService, PluginReplicaSchema } from "@flyte-ts/idl/flytets/admin/v1/cluster_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import { listSyncs } from "../store/resource-syncs.js";
import type { ClustersDeps } from "../deps.js";
import { checkLimit, invalidArgument, namespaceOf } from "../../platform/index.js";
import { clusterStatus } from "../health/status.js";
import type { PluginReplica } from "../plugins/plugin-services.js";

/** Lists the data planes with their plugin services, and the cluster resources of projects. */
export function clusterRpcs({
  db,
  config,
  clusters,
  health,
  plugins,
}: Pick<ClustersDeps, "db" | "config" | "clusters" | "health" | "plugins">): ServiceImplementation<typeof ClusterService> {
  return {
    listClusters: () => ({
      clusters: clusters.map((cluster) => {
        const { since, pools, ...status } = clusterStatus(cluster, health);
        return { ...status, pools: [...pools], ...(since === undefined ? {} : { since: timestampFromDate(new Date(since)) }) };
      }),
      pluginServices: (plugins?.list() ?? []).map(({ replicas, taskTypes, ...service }) => ({
        ...service,
        taskTypes: [...taskTypes],
        replicas: replicas.map(replicaMessage),
      })),
    }),

    async listClusterResources({ project, domain, cluster, limit: requestedLimit, token }) {
      const limit = checkLimit(requestedLimit);
      if (!/^\d{0,9}$/.test(token)) throw invalidArgument("invalid value for token: it must be the token of the previous response");
      const offset = Number(token);
      const syncs = await listSyncs(db, { project, domain, cluster, limit, offset });
      return {
        resources: syncs.map(({ synced_at: syncedAt, checked_at: checkedAt, resources, ...sync }) => {
          const problem = health?.unhealthyReason(sync.cluster);
          return {
            ...sync,
            ...(problem === undefined ? {} : { state: "waiting", reason: problem }),
            namespace: namespaceOf(config.namespaceTemplate, sync.project, sync.domain),
            ...(syncedAt && { syncedAt: timestampFromDate(syncedAt) }),
            ...(checkedAt && { checkedAt: timestampFromDate(checkedAt) }),
            resources: [...resources],
          };
        }),
        token: syncs.length < limit ? "" : String(offset + limit),
      };
    },
  };
}

function replicaMessage({
  instance,
  startedMs,
  heardMs,
  attempts,
  oldestRequestMs,
}: PluginReplica): MessageInitShape<typeof PluginReplicaSchema> {
  return {
    instance,
    heardAt: timestampFromMs(heardMs),
    ...(startedMs !== undefined && { startedAt: timestampFromMs(startedMs) }),
    ...(attempts !== undefined && { attempts }),
    ...(oldestRequestMs !== undefined && { oldestRequestAt: timestampFromMs(oldestRequestMs) }),
  };
}
