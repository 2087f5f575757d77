export type { AccessOptions } from "./access.js";
export type { ApplyOptions, KubeApplier } from "./applier.js";
export {
  createKubeClient,
  type DeleteOptions,
  type KubeClient,
  type KubeClientOptions,
  type ListOptions,
  type ObjectName,
  type PatchOptions,
  type PodLogOptions,
  type WatchEvent,
  type WatchOptions,
} from "./client.js";
export { isAlreadyExists, isConflict, isGone, isNotFound, isTransient, wasNotApplied, KubeError } from "./errors.js";
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
  type ObjectMeta,
  type OwnerReference,
  POD_TEMPLATES,
  PODS,
  RESOURCE_QUOTAS,
  type ResourceRef,
  SECRETS,
  SERVICE_ACCOUNTS,
} from "./resources.js";
export { WorkQueue } from "./work-queue.js";
export { WorkerPool, type WorkerPoolOptions } from "./worker-pool.js";
export { ShardAllocator, type ShardAllocatorOptions, type LeaseAction } from "./shard-lease/shard-allocator.js";
export { type LeaderElection, type LeaderElectionOptions, runLeaderElection } from "./shard-lease/leader-election.js";
export { ShardLeases, type ShardLeasesOptions } from "./shard-lease/shard-leases.js";
