export { entityTags } from "./entity-tag.js";
export { attributeRpcs, scopeAttributeRpcs } from "./attributes/rpc.js";
export { type RegistryConfig, registrySettings } from "./config.js";
export type { RegistryDeps, ScopeChange } from "./deps.js";
export { descriptionEntityRpcs } from "./description/rpc.js";
export { mergeConfig } from "./execution-config/merge-config.js";
export { checkNotifications, NOTIFICATION_LIMITS } from "./launch-plan/check-notifications.js";
export { createLaunchPlanInternal } from "./launch-plan/create.js";
export { LaunchPlanCache, type LaunchPlanVersion } from "./launch-plan/launch-plan-cache.js";
export { launchPlanRpcs } from "./launch-plan/rpc.js";
export { namedEntityRpcs } from "./named-entity/rpc.js";
export { requireActiveProject, requireProject } from "./project/require.js";
export { projectRpcs, seedProjects } from "./project/rpc.js";
export { findActiveSchedules, scheduleRevision } from "./store/active-schedules.js";
export { resolveAttributes, resolveAttributesBatch } from "./store/attribute-lookup.js";
export { findActiveLaunchPlan, findLaunchPlan, launchPlanEntity, type StoredLaunchPlan } from "./store/launch-plans.js";
export { existingProjects, type FoundProject } from "./store/projects.js";
export { findTask, taskEntity } from "./store/tasks.js";
export {
  findClosureOfRow,
  findEncodedClosure,
  findExpansion,
  findWorkflowClosure,
  findWorkflowInterface,
  findWorkflowRow,
  workflowEntity,
} from "./store/workflows.js";
export { type PlatformResources, resourcesOf, type ResourceTexts } from "./task/resources.js";
export { taskRpcs } from "./task/rpc.js";
export { CompilerWorker } from "./workflow/compiler/compiler-worker.js";
export { createWorkflowInternal } from "./workflow/create.js";
export { decodeWorkflowRequest } from "./workflow/decode-request.js";
export { ExpansionCache, rejectExpansion } from "./workflow/expansion.js";
export { workflowRpcs } from "./workflow/rpc.js";
