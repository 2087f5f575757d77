import { cacheKeyOf, keyForExecution } from "@flyte-ts/domain/catalog";
import { deterministicUuid, executionKey } from "@flyte-ts/domain/identifier";
import { taskUniqueId } from "@flyte-ts/domain/name";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { WorkflowModel } from "@flyte-ts/workflow-crd";
import type { CacheConfig } from "./config.js";
import type { CachePlan } from "../graph/node-cache.js";
import type { RuntimeNode } from "../graph/runtime.js";

interface CacheContext {
  readonly model: Pick<WorkflowModel, "options" | "executionId">;
  readonly config: CacheConfig;
}

/**
 * Undefined when the task does not request caching, has no outputs to cache, or lacks a cache
 * version.
 */
export function cachePlan(template: TaskTemplate, inputs: LiteralMap, { model, config }: CacheContext): CachePlan | undefined {
  const { metadata } = template;
  if (metadata?.discoverable !== true || !hasOutputs(template)) return undefined;
  const key = cacheKeyOf(template, inputs);
  if (key === undefined) return undefined;
  const call = config.shareAcrossProjects ? key : keyForExecution(key, model.executionId);
  const overwrite = model.options.overwriteCache;
  // An overwriting task needs no reservation, since it uses no outputs of other executions.
  return { call, overwrite, serialize: metadata.cacheSerializable && !overwrite };
}

function hasOutputs(template: TaskTemplate): boolean {
  return Object.keys(template.interface?.outputs?.variables ?? {}).length > 0;
}

/** Owner id of a reservation: the node, over all its attempts. */
export function reservationOwner(workflow: WorkflowModel, node: RuntimeNode): string {
  return taskUniqueId({ execution: workflow.name, nodeUniqueId: node.uniqueId, attempt: 0 });
}

/** UUID of an attempt's outputs, derived so that storing them twice has no second effect. */
export function artifactIdOf(workflow: WorkflowModel, node: RuntimeNode): string {
  return deterministicUuid(`${executionKey(workflow.executionId)}/${node.uniqueId}/${node.attempt}`);
}
