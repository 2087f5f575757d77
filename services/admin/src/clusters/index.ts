export { clusterRpcs } from "./api/rpc.js";
export { type ClustersConfig, clustersSettings } from "./config.js";
export type { ClustersDeps } from "./deps.js";
export { apiFailureReason, ClusterUnhealthyError, watchClusters } from "./health/health.js";
export { clusterMetrics, countProbes } from "./health/metrics.js";
export { clusterStatus } from "./health/status.js";
export { type Cluster, type DeletingCluster, findCluster, type LaunchKube } from "./kube/cluster.js";
export {
  deleteFoundResource,
  deleteOwnResource,
  type ExecutionResource,
  getOwnResource,
  hasIdOf,
  isOwnResource,
  type ResourceOwner,
  type ResourcePlace,
  resourceOwnerText,
} from "./kube/execution-resource.js";
export { classifyCreateError } from "./kube/create-outcome.js";
export { clusterUnavailable, orClusterUnavailable, RetryableLaunchError } from "./health/launch-error.js";
export { chooseCluster, poolOf } from "./placement/choose-cluster.js";
export { isPlacementNeeded, type PlacementRequest } from "./placement/placement-policy.js";
export { watchPluginServices } from "./plugins/plugin-services.js";
export { resolvePlacement } from "./placement/resolve-placement.js";
export { startSync } from "./resources/start.js";
export { enqueueSync } from "./store/resource-syncs.js";
export { ensureNamespace } from "./resources/ensure-namespace.js";
