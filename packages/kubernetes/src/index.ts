export type { AccessOptions } from "./client/access.js";
export type { ApplyOptions, KubeApplier } from "./client/applier.js";
export {
  createKubeClient,
  type DeleteOptions,
  type KubeClient,
  type KubeClientOptions,
  type ListOptions,
  type ObjectName,
  type PatchOptions,
  type PodLogOptions,
  REQUEST_TIMEOUT_MS,
  type WatchEvent,
  type WatchOptions,
} from "./client/client.js";
export { isAlreadyExists, isConflict, isGone, isNotFound, isTransient, wasNotApplied, KubeError } from "./client/errors.js";
export { createInformer, type Informer, type InformerEvent, type InformerOptions } from "./informer.js";
export {
  BINDINGS,
  CONFIG_MAPS,
  CUSTOM_RESOURCE_DEFINITIONS,
  EVENTS,
  type KubeList,
  type KubeObject,
  LEASES,
  NAMESPACES,
  NODES,
  objectKey,
  type ObjectMeta,
  type OwnerReference,
  POD_TEMPLATES,
  PODS,
  RESOURCE_QUOTAS,
  type ResourceRef,
  SECRETS,
  SERVICE_ACCOUNTS,
} from "./client/resources.js";
export { WorkQueue } from "./queue/work-queue.js";
export { WorkerPool, type WorkerPoolOptions } from "./queue/worker-pool.js";
export { ShardAllocator, type ShardAllocatorOptions, type LeaseAction } from "./shard-lease/shard-allocator.js";
export {
  type ElectionSettings,
  joinLeaderElection,
  type LeaderElection,
  type LeaderElectionOptions,
  runLeaderElection,
} from "./shard-lease/leader-election.js";
export { ShardLeases, type ShardLeasesOptions } from "./shard-lease/shard-leases.js";
