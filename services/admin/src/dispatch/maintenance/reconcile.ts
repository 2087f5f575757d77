import { isTerminalWorkflow, isTerminalWorkflowEvent } from "@flyte-ts/domain/phase";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { TERMINATED, TERMINATION_STATUS_LABEL } from "@flyte-ts/workflow-crd";
import type { WorkflowStatus } from "@flyte-ts/workflow-crd/status";
import { foldWorkflow, nextWorkflowSeq, type WorkflowUpdate } from "@flyte-ts/execution-state";
import type { DispatchDeps } from "../deps.js";
import {
  publishCompletions,
  updateExecutionState,
  wakeParentNodes,
  staleExecutions,
  outboxQueue,
  type executionIds,
} from "../../executions/index.js";
import { namespaceOf } from "../../platform/index.js";
import { completeAttempts, completeNodes } from "../../events/index.js";
import { findCluster, getOwnResource, type LaunchKube } from "../../clusters/index.js";
import { forceTerminate } from "./force-abort.js";
import { failedUpdate, findResourceEnd } from "./resource-end.js";

export interface ReconcileDeps extends Pick<DispatchDeps, "db" | "bus" | "blobs" | "config" | "clock" | "logger"> {
  readonly clusters: readonly { readonly name: string; readonly weight: number; readonly kube: LaunchKube }[];
  readonly health?: DispatchDeps["health"];
}

/** Resource in the data plane. */
export interface FoundResource {
  readonly status: WorkflowStatus;
  readonly deleting: boolean;
  /**
   * True when propeller has marked the resource as terminated and removed its finalizer: the status
   * no longer changes.
   */
  readonly finished: boolean;
}

/**
 * Action that reconciles a row with its resource.
 * - `launch`, `abort`: the request to the data plane is neither done nor in the outbox.
 * - `aborted`: it was deleted, as requested.
 * - `end`: the resource is terminal; its terminal event was lost.
 * - `missing`: it was running and is not found; the next checks decide whether it has vanished.
 * - `vanished`: it was running and was deleted, with an unknown end.
 */
export type ReconcileAction =
  | { readonly kind: "nothing" | "launch" | "abort" | "aborted" | "missing" | "vanished" }
  | { readonly kind: "end"; readonly resource: FoundResource };

/**
 * Time, ms, after which what each check of an execution has missed counts as lost: its resource, or
 * the outputs of its ended resource. A shorter absence may be a stale or wrong answer.
 */
const LOST_AFTER_MS = 10 * 60_000;

export function planReconcile(execution: staleExecutions.StaleExecution, resource: FoundResource | undefined): ReconcileAction {
  const { phase, hasPendingAbort, hasPendingLaunch } = execution;
  if (isTerminalWorkflowEvent(phase)) return { kind: "nothing" };
  if (resource !== undefined) {
    if (isTerminalWorkflow(resource.status.phase)) return { kind: "end", resource };
    const abortNotSent = phase === WorkflowExecution_Phase.ABORTING && !resource.deleting && !hasPendingAbort;
    return { kind: abortNotSent ? "abort" : "nothing" };
  }
  if (hasPendingLaunch) return { kind: "nothing" };
  if (phase === WorkflowExecution_Phase.ABORTING) return { kind: "aborted" };
  if (phase === WorkflowExecution_Phase.UNDEFINED || phase === WorkflowExecution_Phase.QUEUED) return { kind: "launch" };
  return { kind: isLost(execution) ? "vanished" : "missing" };
}

function isLost({ missingMs }: staleExecutions.StaleExecution): boolean {
  return missingMs !== undefined && missingMs >= LOST_AFTER_MS;
}

/** Reconciles stale executions with their resources once; returns the number checked. */
export async function reconcileStale(
  deps: ReconcileDeps,
  { staleMs, limit }: { readonly staleMs: number; readonly limit: number },
): Promise<number> {
  const stale = await staleExecutions.claimStale(deps.db, { staleMs, limit });
  for (const execution of stale) {
    try {
      await reconcileExecution(deps, execution);
    } catch (error) {
      deps.logger.warn({ execution: executionText(execution), error: String(error) }, "execution cannot be reconciled now");
    }
  }
  return stale.length;
}

async function reconcileExecution(deps: ReconcileDeps, execution: staleExecutions.StaleExecution): Promise<void> {
  const cluster = findCluster(deps.clusters, execution.cluster);
  // Executions of an unavailable cluster are reconciled after its recovery.
  if (cluster === undefined || deps.health?.unhealthyReason(cluster.name) !== undefined) return;
  const namespace = namespaceOf(deps.config.namespaceTemplate, execution.project, execution.domain);
  const object = await getOwnResource(cluster.kube, { namespace, owner: execution });
  const resource = object && {
    status: object.status ?? { phase: 0 },
    deleting: object.metadata.deletionTimestamp !== undefined,
    finished: object.metadata.labels?.[TERMINATION_STATUS_LABEL] === TERMINATED,
  };
  const action = planReconcile(execution, resource);
  if (action.kind !== "nothing" && action.kind !== "end")
    deps.logger.info({ execution: executionText(execution), decision: action.kind }, "execution reconciled");
  if (resource !== undefined && action.kind !== "end" && execution.missingMs !== undefined)
    await staleExecutions.noteFound(deps.db, execution.rowId);
  switch (action.kind) {
    case "nothing":
      return;
    case "missing":
      return noteMissing(deps, execution);
    case "launch":
    case "abort":
      return outboxQueue.ensureEntry(deps.db, execution.rowId, action.kind);
    case "aborted":
      await forceTerminate(deps, execution);
      return wakeParentNodes(deps, [execution.rowId]);
    case "end":
      return applyResourceEnd(deps, execution, action.resource);
    case "vanished":
      return terminate(
        deps,
        execution,
        failedUpdate(deps.clock(), {
          code: "ResourceVanished",
          message: "the execution's resource no longer exists in its data plane",
          kind: "SYSTEM",
        }),
      );
    default:
      return action satisfies never;
  }
}

/**
 * Records the terminal state of the resource once its data are complete. Until then the execution
 * stays open: propeller repeats its terminal event, or the blob store recovers. If a resource
 * without finalizer lacks data, the data will never arrive: the execution then fails.
 */
async function applyResourceEnd(
  deps: ReconcileDeps,
  execution: staleExecutions.StaleExecution,
  { status, finished }: FoundResource,
): Promise<void> {
  const about = { execution: executionText(execution) };
  const found = await findResourceEnd(deps.blobs, status, { now: deps.clock() });
  if (found.kind === "complete") {
    // Completes the nodes first: once the execution's end is stored, the resource is deleted, and
    // with it the unreported state of its nodes.
    await completeNodes(deps, execution, found.nodes);
    await completeAttempts(deps, execution, found.nodes);
    deps.logger.info(about, "terminal phase taken from the execution's resource: its event was lost");
    return terminate(deps, execution, found.update);
  }
  if (!finished || !isLost(execution)) {
    if (finished) await noteMissing(deps, execution);
    deps.logger.warn(
      { ...about, missing: found.missing },
      "resource is terminal, but its outputs are not complete yet: the execution stays non-terminal",
    );
    return;
  }
  deps.logger.error({ ...about, missing: found.missing }, "execution marked as failed: it succeeded, but its outputs are lost");
  await terminate(
    deps,
    execution,
    failedUpdate(deps.clock(), {
      code: "OutputsLost",
      message: `the execution succeeded, but it has lost its ${found.missing}`,
      kind: "SYSTEM",
    }),
  );
}

/** Stores the time of the first of the checks that have missed something of an execution. */
async function noteMissing({ db }: ReconcileDeps, { rowId, missingMs }: staleExecutions.StaleExecution): Promise<void> {
  if (missingMs === undefined) await staleExecutions.noteMissing(db, rowId);
}

async function terminate(deps: ReconcileDeps, execution: executionIds.ExecutionName, update: WorkflowUpdate): Promise<void> {
  const { before, after } = await updateExecutionState(deps.db, execution, {
    apply: ({ state }) => foldWorkflow(state, update, nextWorkflowSeq(state)),
  });
  await publishCompletions(deps, [{ execution, rowId: before.rowId, phase: after.phase }]);
}

function executionText({ project, domain, name }: executionIds.ExecutionName): string {
  return `${project}/${domain}/${name}`;
}
