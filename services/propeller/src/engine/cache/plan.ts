import { cachedCall, type CachedCall, executionKey, taskUniqueId, uuidOf } from "@flyte-ts/domain";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { WorkflowModel } from "@flyte-ts/workflow-crd";
import type { RuntimeNode } from "../graph/runtime.js";

/** How one call is cached. */
export interface CachePlan {
  readonly call: CachedCall;
  /** Of equal calls one computes, the others wait for it. */
  readonly serialize: boolean;
  /** What is cached is not looked at, and replaced. */
  readonly overwrite: boolean;
}

/** Undefined when the task does not ask to be cached, has nothing to cache, or lacks a cache version. */
export function cachePlan(template: TaskTemplate, inputs: LiteralMap, { options }: WorkflowModel): CachePlan | undefined {
  const { metadata } = template;
  if (metadata?.discoverable !== true || !hasOutputs(template)) return undefined;
  const call = cachedCall(template, inputs);
  if (call === undefined) return undefined;
  const overwrite = options.overwriteCache;
  // Who overwrites does not care what others compute.
  return { call, overwrite, serialize: metadata.cacheSerializable && !overwrite };
}

function hasOutputs(template: TaskTemplate): boolean {
  return Object.keys(template.interface?.outputs?.variables ?? {}).length > 0;
}

/** Who holds a reservation: the node, over all its attempts. */
export function reservationOwner(workflow: WorkflowModel, node: RuntimeNode): string {
  return taskUniqueId({ execution: workflow.name, nodeUniqueId: node.uniqueId, attempt: 0 });
}

/** A UUID of its own for the outputs of each attempt, so that storing them twice stores them once. */
export function artifactIdOf(workflow: WorkflowModel, node: RuntimeNode): string {
  return uuidOf(`${executionKey(workflow.executionId)}/${node.uniqueId}/${node.attempt}`);
}
