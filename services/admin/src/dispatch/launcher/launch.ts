import { isTerminalWorkflowEvent } from "@flyte-ts/domain/phase";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { KubeObject } from "@flyte-ts/kubernetes";
import { FLYTE_WORKFLOW_RESOURCE, type FlyteWorkflowResource, WorkflowBuildError } from "@flyte-ts/workflow-crd";
import { foldWorkflow, nanosOfDate, nextWorkflowSeq } from "@flyte-ts/execution-state";
import type { DispatchDeps } from "../deps.js";
import { admissionError, updateExecutionState, wakeParentNodes, type launchables, type executionIds } from "../../executions/index.js";
import {
  classifyCreateError,
  clusterUnavailable,
  orClusterUnavailable,
  deleteOwnResource,
  ensureNamespace,
  type LaunchKube,
  RetryableLaunchError,
} from "../../clusters/index.js";
import { type ClosureBlobCache, ClosureStoreError } from "./closure-blob-cache.js";
import type { ClosureCache } from "./closure-cache.js";
import { forceTerminate } from "../maintenance/force-abort.js";
import type { LaunchRate } from "./launch-rate.js";
import { resolveNameConflict } from "./name-conflict.js";
import { buildFlyteWorkflow } from "./build-resource.js";

export interface LaunchDeps extends Pick<DispatchDeps, "db" | "bus" | "config" | "clock" | "logger"> {
  readonly closureBlobs: ClosureBlobCache;
  readonly launchRate: LaunchRate;
  readonly closures: Pick<ClosureCache, "find">;
  /** Cache of existing namespaces. */
  readonly namespaces: Set<string>;
}

/**
 * Creates the resource of an execution in its data plane. Idempotent: a resource that an earlier
 * attempt created stays.
 *
 * @throws RetryableLaunchError when the data plane or the blob store is unavailable, or a resource
 *   of an ended execution of the same name still exists.
 */
export async function launch(deps: LaunchDeps, kube: LaunchKube, execution: launchables.LaunchableExecution): Promise<void> {
  // Already terminal or aborting before the launch: no resource is needed.
  if (isTerminalWorkflowEvent(execution.phase) || execution.phase === WorkflowExecution_Phase.ABORTING) return;
  const stored = await deps.closures.find(execution.settings.workflow, execution.settings.queue);
  if (stored === undefined) return failExecution(deps, execution, "its workflow is no longer registered");
  let resource: FlyteWorkflowResource;
  try {
    resource = await buildFlyteWorkflow(deps, execution, stored);
  } catch (error) {
    if (error instanceof WorkflowBuildError) return failExecution(deps, execution, error.message);
    if (!(error instanceof ClosureStoreError)) throw error;
    const reason = `the workflow could not be written to the blob store, it is retried: ${error.message}`;
    throw new RetryableLaunchError(reason, { cause: error, blocker: reason, notApplied: true });
  }
  await createResource(deps, { kube, execution, resource });
}

interface Creation {
  readonly kube: LaunchKube;
  readonly execution: launchables.LaunchableExecution;
  readonly resource: FlyteWorkflowResource;
}

async function createResource(deps: LaunchDeps, { kube, execution, resource }: Creation): Promise<void> {
  const { namespace } = resource.metadata;
  const known = `${execution.cluster}/${namespace}`;
  if (!deps.namespaces.has(known)) {
    await ensureNamespace(kube, namespace);
    deps.namespaces.add(known);
  }
  try {
    await kube.create(FLYTE_WORKFLOW_RESOURCE, resource as unknown as KubeObject, { metadataOnly: true });
  } catch (error) {
    const outcome = classifyCreateError(error);
    const reason = error instanceof Error ? error.message : String(error);
    switch (outcome) {
      case "exists": {
        const conflict = await resolveNameConflict(deps, kube, { namespace, owner: execution });
        return conflict.kind === "own" ? undefined : failExecution(deps, execution, conflict.reason);
      }
      case "rejected":
        return failExecution(deps, execution, reason);
      case "namespace-missing":
        deps.namespaces.delete(known);
        throw new RetryableLaunchError(reason, { cause: error, notApplied: true });
      case "retry":
        throw clusterUnavailable(error);
      default:
        return outcome satisfies never;
    }
  }
}

/** Fails an execution that its data plane will never accept. */
async function failExecution(deps: LaunchDeps, execution: executionIds.ExecutionName, reason: string): Promise<void> {
  const update = { phase: WorkflowExecution_Phase.FAILED, occurredAt: nanosOfDate(deps.clock()), error: admissionError(reason) };
  const { before } = await updateExecutionState(deps.db, execution, {
    apply: ({ state }) => foldWorkflow(state, update, nextWorkflowSeq(state)),
  });
  await wakeParentNodes(deps, [before.rowId]);
}

/**
 * Deletes an execution's resource; the engine then reports the end. Without a resource no engine
 * does, so the row becomes terminal here. Also deletes resources of executions that were aborted
 * without their engine.
 *
 * @throws RetryableLaunchError when the data plane is unavailable.
 */
export async function abortInCluster(
  deps: Pick<LaunchDeps, "db" | "bus" | "config" | "clock" | "logger">,
  kube: LaunchKube,
  { execution, namespace }: { readonly execution: launchables.LaunchableExecution; readonly namespace: string },
): Promise<void> {
  if (isTerminalWorkflowEvent(execution.phase) && !execution.abortForced) return;
  const deleted = await orClusterUnavailable(deleteOwnResource(kube, { namespace, owner: execution }));
  if (deleted || isTerminalWorkflowEvent(execution.phase)) return;
  await forceTerminate(deps, execution);
  await wakeParentNodes(deps, [execution.rowId]);
}
