import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { type Backoff, backoffDelay, type Closeable } from "@flyte-ts/async";
import { namespaceOf, startWorker } from "../../platform/index.js";
import {
  clearLaunchBlocker,
  commitPlacement,
  type LaunchSlots,
  OUTBOX_CHANNEL,
  setLaunchBlocker,
  wakeParentNodes,
  outboxQueue,
  launchables,
} from "../../executions/index.js";
import {
  apiFailureReason,
  type Cluster,
  ClusterUnhealthyError,
  findCluster,
  resolvePlacement,
  RetryableLaunchError,
} from "../../clusters/index.js";
import type { DispatchDeps } from "../deps.js";
import { ClosureBlobCache } from "./closure-blob-cache.js";
import { ClosureCache } from "./closure-cache.js";
import { forceTerminate } from "../maintenance/force-abort.js";
import { abortInCluster, launch, type LaunchDeps } from "./launch.js";
import { LaunchRate } from "./launch-rate.js";

export type LauncherDeps = Pick<DispatchDeps, "db" | "blobs" | "bus" | "config" | "clusters" | "health" | "clock" | "random" | "logger">;

/** Maximum of concurrent requests to data planes. */
const CONCURRENCY = 32;
/** Lease duration, ms. When it expires, another worker may claim the entry. */
const LEASE_MS = 15_000;
const BACKOFF: Backoff = { initialMs: 500, maxMs: 30_000, jitter: 0.5 };
/** Attempt from which a launch blocker is shown to users. */
const BLOCKER_AFTER_ATTEMPTS = 3;
/** Poll interval, ms, for entries without a notification. */
const POLL_MS = 1_000;

/** Processes the outbox until it is closed. Any number of replicas share the work. */
export async function startLauncher(deps: LauncherDeps): Promise<Closeable & { readonly launches: LaunchSlots }> {
  const launcher = new LaunchHandler(deps);
  const worker = startWorker(deps, {
    table: outboxQueue.OUTBOX,
    leaseMs: LEASE_MS,
    concurrency: CONCURRENCY,
    pollMs: POLL_MS,
    claim: (limit) => outboxQueue.claimEntries(deps.db, limit, LEASE_MS),
    process: (entry: outboxQueue.OutboxEntry) => launcher.process(entry),
    errorMessage: "outbox cannot be read",
  });
  const listening = await deps.db.listen(OUTBOX_CHANNEL, () => worker.wake());
  return {
    launches: { leaseMs: LEASE_MS, reserve: () => worker.reserve() },
    close: async () => {
      await listening.close();
      await worker.close();
    },
  };
}

/** The cluster is unavailable: this blocker is shown to users at once. */
class ClusterUnavailableError extends RetryableLaunchError {
  constructor(problem: string, notApplied = false) {
    super(problem, { blocker: problem, notApplied });
  }
}

class LaunchHandler {
  readonly #deps: LauncherDeps;
  readonly #launch: LaunchDeps;
  readonly #done: outboxQueue.BatchedDelete;

  constructor(deps: LauncherDeps) {
    this.#deps = deps;
    const { db, blobs, bus, config, clock, logger } = deps;
    const closures = {
      closures: new ClosureCache(db),
      closureBlobs: new ClosureBlobCache(blobs, clock),
      launchRate: new LaunchRate(clock),
    };
    this.#launch = { db, bus, config, clock, logger, ...closures, namespaces: new Set() };
    this.#done = new outboxQueue.BatchedDelete(db);
  }

  async process(entry: outboxQueue.OutboxEntry): Promise<void> {
    const { db, logger, random } = this.#deps;
    try {
      await this.#run(entry);
      if (entry.action === "launch" && entry.attempts > 1) await clearLaunchBlocker(db, entry.executionId);
      await this.#done.delete(entry.id);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const delayMs = backoffDelay(BACKOFF, entry.attempts - 1, random);
      const fields = { executionRow: String(entry.executionId), action: entry.action, attempts: entry.attempts, delayMs, error: reason };
      if (error instanceof RetryableLaunchError) logger.warn(fields, "execution could not be launched; retrying");
      else logger.error({ ...fields, stack: error instanceof Error ? error.stack : undefined }, "outbox entry failed");
      // If the requeue fails as well, the lease expires and the entry becomes due.
      const reassignable = entry.reassignable && error instanceof RetryableLaunchError && error.notApplied;
      await outboxQueue.requeueEntry(db, entry, { delayMs, reason, reassignable }).catch(() => undefined);
      await this.#setBlocker(entry, error).catch(() => undefined);
    }
  }

  /** Sets the launch blocker; hides failures that the first retries may resolve. */
  async #setBlocker({ executionId, action, attempts }: outboxQueue.OutboxEntry, error: unknown): Promise<void> {
    if (action !== "launch" || !(error instanceof RetryableLaunchError) || error.blocker === undefined) return;
    if (attempts < BLOCKER_AFTER_ATTEMPTS && !(error instanceof ClusterUnavailableError)) return;
    await setLaunchBlocker(this.#deps.db, executionId, { reason: error.blocker, now: this.#deps.clock() });
  }

  async #run(entry: outboxQueue.OutboxEntry): Promise<void> {
    const { config } = this.#deps;
    const { action } = entry;
    const found = launchables.launchableExecution(entry.executionId, entry.row);
    const execution = action === "launch" && entry.reassignable ? await this.#place(entry, found) : found;
    if (execution === undefined) return;
    switch (action) {
      case "launch":
        return this.#onCluster(execution, (kube) => launch(this.#launch, kube, execution));
      case "abort": {
        const namespace = namespaceOf(config.namespaceTemplate, execution.project, execution.domain);
        return this.#onCluster(execution, (kube) => abortInCluster(this.#launch, kube, { execution, namespace }));
      }
      default:
        return action satisfies never;
    }
  }

  /**
   * Commits the cluster of an execution; returns the updated execution, or undefined when it needs
   * no launch.
   */
  async #place(
    { id, executionId }: outboxQueue.OutboxEntry,
    execution: launchables.LaunchableExecution,
  ): Promise<launchables.LaunchableExecution | undefined> {
    const { db, clusters, config, health, logger } = this.#deps;
    if (execution.phase === WorkflowExecution_Phase.ABORTING) {
      // No cluster has received a request for this execution.
      await forceTerminate(this.#launch, execution);
      await wakeParentNodes(this.#launch, [executionId]);
      return undefined;
    }
    const { name, cluster: before, settings } = execution;
    const placementRequest = settings.placement ?? { label: "", pool: "" };
    const placement = resolvePlacement({ clusters, rules: config.placement, health }, { name, cluster: before, request: placementRequest });
    if ("blockedBy" in placement) throw new ClusterUnavailableError(placement.blockedBy, true);
    const { cluster } = placement;
    if (!(await commitPlacement(db, { entryId: id, executionId, cluster, before }))) return launchables.findLaunchable(db, executionId);
    if (cluster === before) return execution;
    logger.info({ executionRow: String(executionId), cluster, before }, "execution moved to another data plane before its launch");
    return { ...execution, cluster };
  }

  /** Runs work on the cluster of an execution; fails when the cluster is or becomes unhealthy. */
  async #onCluster(execution: launchables.LaunchableExecution, work: (kube: Cluster["kube"]) => Promise<void>): Promise<void> {
    const { clusters, health } = this.#deps;
    const cluster = findCluster(clusters, execution.cluster);
    if (cluster === undefined) throw new ClusterUnavailableError(`data plane ${execution.cluster} is not configured`);
    // A single cluster is tried even when unhealthy: its requests delay no other cluster's.
    if (health === undefined || clusters.length === 1) return work(cluster.kube);
    const problem = health.unhealthyReason(cluster.name);
    if (problem !== undefined) throw new ClusterUnavailableError(problem);
    try {
      await health.raceWithHealth(cluster.name, work(cluster.kube));
    } catch (error) {
      if (error instanceof RetryableLaunchError && apiFailureReason(error.cause) !== undefined) health.probeNow(cluster.name);
      if (error instanceof ClusterUnhealthyError) throw new ClusterUnavailableError(error.message);
      throw error;
    }
  }
}
