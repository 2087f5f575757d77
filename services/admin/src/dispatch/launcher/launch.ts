import { isTerminalWorkflowEvent } from "@flyte-ts/domain/phase";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { isAlreadyExists, wasNotApplied, type KubeClient, type KubeObject, NAMESPACES } from "@flyte-ts/kubernetes";
import { FLYTE_WORKFLOW_RESOURCE, type FlyteWorkflowResource, WorkflowBuildError } from "@flyte-ts/workflow-crd";
import { nanosOfDate, foldWorkflow, nextWorkflowSeq } from "@flyte-ts/execution-state";
import { apiFailureReason } from "../../clusters/health/health.js";
import type { AdminDeps, Cluster } from "../../deps.js";
import { updateExecutionState } from "../../executions/execution/update-state.js";
import { admissionError } from "../../executions/create/admission.js";
import type { ExecutionName } from "../../executions/store/execution/state.js";
import { wakeParentNodes } from "../../executions/engine-notifier/publish-completions.js";
import { type ClosureBlobCache, ClosureStoreError } from "./closure-blob-cache.js";
import type { StoredClosure } from "./closure-cache.js";
import type { LaunchableExecution } from "../../executions/store/outbox/launchable.js";
import { forceTerminate } from "../maintenance/force-abort.js";
import type { LaunchRate } from "./launch-rate.js";
import { buildFlyteWorkflow } from "./build-resource.js";
import { classifyCreateError } from "./create-outcome.js";

/** Verbs of the Kubernetes API that launching needs. */
export type LaunchKube = Pick<KubeClient, "create" | "delete" | "get">;

export interface LaunchDeps extends Pick<AdminDeps, "db" | "bus" | "config" | "clock" | "logger"> {
  readonly closureBlobs: ClosureBlobCache;
  readonly launchRate: LaunchRate;
  readonly closures: { find(workflow: LaunchableExecution["settings"]["workflow"]): Promise<StoredClosure | undefined> };
  /** Cache of existing namespaces. */
  readonly namespaces: Set<string>;
}

/** Retryable failure; the message has the reason for operators. */
export class RetryableLaunchError extends Error {
  override readonly name = "TryLater";
  /** Blocker in words for users; undefined: none yet. */
  readonly blocker: string | undefined;
  /** True when the cluster certainly did not create the resource. */
  readonly notApplied: boolean;

  constructor(
    message: string,
    { cause, blocker: notice, notApplied: undone = false }: { cause?: unknown; blocker?: string | undefined; notApplied?: boolean } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.blocker = notice;
    this.notApplied = undone;
  }
}

/** Error for a failure of the data plane's API. */
function clusterUnavailable(cause: unknown, notApplied = wasNotApplied(cause)): RetryableLaunchError {
  const failure = apiFailureReason(cause);
  return new RetryableLaunchError(cause instanceof Error ? cause.message : String(cause), {
    cause,
    notApplied,
    blocker: failure && `the data plane does not take the execution now: ${failure}`,
  });
}

/**
 * Creates the resource of an execution in its data plane. Idempotent: an existing resource is the same.
 *
 * @throws TryLater when the data plane or the blob store is unavailable.
 */
export async function launch(deps: LaunchDeps, kube: LaunchKube, execution: LaunchableExecution): Promise<void> {
  // Already terminal or aborting before the launch: no resource is needed.
  if (isTerminalWorkflowEvent(execution.phase) || execution.phase === WorkflowExecution_Phase.ABORTING) return;
  const stored = await deps.closures.find(execution.settings.workflow);
  if (stored === undefined) return failExecution(deps, execution, "its workflow is not registered any more");
  let resource: FlyteWorkflowResource;
  try {
    resource = await buildFlyteWorkflow(deps, execution, stored);
  } catch (error) {
    if (error instanceof WorkflowBuildError) return failExecution(deps, execution, error.message);
    if (!(error instanceof ClosureStoreError)) throw error;
    const reason = `the blob store does not take the workflow now: ${error.message}`;
    throw new RetryableLaunchError(reason, { cause: error, blocker: reason, notApplied: true });
  }
  await createResource(deps, { kube, execution, resource });
}

interface Creation {
  readonly kube: LaunchKube;
  readonly execution: LaunchableExecution;
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
      case "done":
        return;
      case "refused":
        return failExecution(deps, execution, reason);
      case "namespace":
        deps.namespaces.delete(known);
        throw new RetryableLaunchError(reason, { cause: error, notApplied: true });
      case "later":
        throw clusterUnavailable(error);
      default:
        return outcome satisfies never;
    }
  }
}

export async function ensureNamespace(kube: Pick<LaunchKube, "create">, name: string): Promise<void> {
  try {
    await kube.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  } catch (error) {
    // Forbidden: another component creates the namespaces here. A missing one fails the creation of the resource.
    if (isAlreadyExists(error) || classifyCreateError(error) === "refused") return;
    // The namespace precedes the resource, so the resource does not exist.
    throw clusterUnavailable(error, true);
  }
}

/** Fails an execution that its data plane will never accept. */
async function failExecution(deps: LaunchDeps, execution: ExecutionName, reason: string): Promise<void> {
  const update = { phase: WorkflowExecution_Phase.FAILED, occurredAt: nanosOfDate(deps.clock()), error: admissionError(reason) };
  const { before } = await updateExecutionState(deps.db, execution, {
    apply: ({ state }) => foldWorkflow(state, update, nextWorkflowSeq(state)),
  });
  await wakeParentNodes(deps, [before.rowId]);
}

/**
 * Deletes an execution's resource; the engine then reports the end. Without a resource no engine does, so the row
 * becomes terminal here. Also deletes resources of executions that were aborted without their engine.
 *
 * @throws TryLater when the data plane is unavailable.
 */
export async function abortInCluster(
  deps: Pick<LaunchDeps, "db" | "bus" | "config" | "clock" | "logger">,
  kube: LaunchKube,
  { execution, namespace }: { readonly execution: LaunchableExecution; readonly namespace: string },
): Promise<void> {
  if (isTerminalWorkflowEvent(execution.phase) && !execution.abortForced) return;
  let deleted: boolean;
  try {
    deleted = await kube.delete(FLYTE_WORKFLOW_RESOURCE, { namespace, name: execution.name, propagation: "Background" });
  } catch (error) {
    throw clusterUnavailable(error);
  }
  if (deleted || isTerminalWorkflowEvent(execution.phase)) return;
  await forceTerminate(deps, execution);
  await wakeParentNodes(deps, [execution.rowId]);
}

/**
 * Finds the data plane of an execution: by name, or the only one. A data plane without a configured name matches any
 * name, which its engine may have reported.
 */
export function findCluster(clusters: readonly Cluster[], name: string): Cluster | undefined {
  const [only] = clusters;
  return clusters.find((cluster) => cluster.name === name) ?? (name === "" || only?.name === "" ? only : undefined);
}
