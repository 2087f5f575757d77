import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { type Backoff, backoffDelay, type Closeable } from "@flyte-ts/async";
import { startWorker } from "../background/worker.js";
import { decidePlacement, fixPlacement } from "../cluster/fix-placement.js";
import { ClusterTrouble, failureOf } from "../cluster/health.js";
import type { AdminDeps, Cluster } from "../deps.js";
import { namespaceOf } from "../execution/namespace.js";
import { OUTBOX_CHANNEL } from "../execution/insert.js";
import { wakeParents } from "../wake/announce-ends.js";
import { ClosureBlobs } from "./closure-blobs.js";
import { ClosureCache } from "./closure-cache.js";
import { findLaunchable, type LaunchableExecution, readLaunchable } from "./execution.js";
import { endWithoutEngine } from "./force-abort.js";
import { abort, clusterOf, launch, type LaunchDeps, TryLater } from "./launch.js";
import { LaunchRate } from "./launch-rate.js";
import type { Launches } from "./launches.js";
import { clearWaiting, noteWaiting } from "./notice.js";
import { EntryRemoval, OUTBOX, type OutboxEntry, postponeEntry, takeEntries } from "./outbox.js";

export type LauncherDeps = Pick<AdminDeps, "db" | "blobs" | "bus" | "config" | "clusters" | "health" | "clock" | "random" | "logger">;

/** Maximum of concurrent requests to data planes. */
const IN_FLIGHT = 32;
/** Lease duration, ms. When it expires, another worker may claim the entry. */
const LEASE_MS = 15_000;
const RETRIES: Backoff = { initialMs: 500, maxMs: 30_000, jitter: 0.5 };
/** Attempt from which a launch blocker is shown to users. */
const TOLD_FROM = 3;
/** Poll interval, ms, for entries without a notification. */
const POLL_MS = 1_000;

/** Processes the outbox until it is closed. Any number of replicas share the work. */
export async function startLauncher(deps: LauncherDeps): Promise<Closeable & { readonly launches: Launches }> {
  const launcher = new Launcher(deps);
  const worker = startWorker(deps, {
    table: OUTBOX,
    leaseMs: LEASE_MS,
    inFlight: IN_FLIGHT,
    pollMs: POLL_MS,
    take: (limit) => takeEntries(deps.db, limit, LEASE_MS),
    carryOut: (entry: OutboxEntry) => launcher.carryOut(entry),
    trouble: "outbox cannot be read",
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

/** Shown to users at once. */
class ClusterDown extends TryLater {
  constructor(problem: string, undone = false) {
    super(problem, { notice: problem, undone });
  }
}

class Launcher {
  readonly #deps: LauncherDeps;
  readonly #launch: LaunchDeps;
  readonly #done: EntryRemoval;

  constructor(deps: LauncherDeps) {
    this.#deps = deps;
    const { db, blobs, bus, config, clock, logger } = deps;
    const closures = { closures: new ClosureCache(db), closureBlobs: new ClosureBlobs(blobs, clock), launchRate: new LaunchRate(clock) };
    this.#launch = { db, bus, config, clock, logger, ...closures, namespaces: new Set() };
    this.#done = new EntryRemoval(db);
  }

  async carryOut(entry: OutboxEntry): Promise<void> {
    const { db, logger, random } = this.#deps;
    try {
      await this.#act(entry);
      if (entry.action === "launch" && entry.attempts > 1) await clearWaiting(db, entry.executionId);
      await this.#done.remove(entry.id);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const delayMs = backoffDelay(RETRIES, entry.attempts - 1, random);
      const fields = { executionRow: String(entry.executionId), action: entry.action, attempts: entry.attempts, delayMs, error: reason };
      if (error instanceof TryLater) logger.warn(fields, "execution cannot be launched now");
      else logger.error({ ...fields, stack: error instanceof Error ? error.stack : undefined }, "outbox entry failed");
      // If this fails too, the lease expires.
      const movable = entry.movable && error instanceof TryLater && error.undone;
      await postponeEntry(db, entry, { delayMs, reason, movable }).catch(() => undefined);
      await this.#tell(entry, error).catch(() => undefined);
    }
  }

  /** Sets the launch blocker; hides failures that the first retries may resolve. */
  async #tell({ executionId, action, attempts }: OutboxEntry, error: unknown): Promise<void> {
    if (action !== "launch" || !(error instanceof TryLater) || error.notice === undefined) return;
    if (attempts < TOLD_FROM && !(error instanceof ClusterDown)) return;
    await noteWaiting(this.#deps.db, executionId, { reason: error.notice, now: this.#deps.clock() });
  }

  async #act(entry: OutboxEntry): Promise<void> {
    const { config } = this.#deps;
    const { action } = entry;
    const found = readLaunchable(entry.executionId, entry.row);
    const execution = action === "launch" && entry.movable ? await this.#place(entry, found) : found;
    if (execution === undefined) return;
    switch (action) {
      case "launch":
        return this.#within(execution, (kube) => launch(this.#launch, kube, execution));
      case "abort": {
        const namespace = namespaceOf(config.namespaceTemplate, execution.project, execution.domain);
        return this.#within(execution, (kube) => abort(this.#launch, kube, { execution, namespace }));
      }
      default:
        return action satisfies never;
    }
  }

  /** Commits the cluster of an execution; returns the updated execution, or undefined when it needs no launch. */
  async #place({ id, executionId }: OutboxEntry, execution: LaunchableExecution): Promise<LaunchableExecution | undefined> {
    const { db, clusters, config, health, logger } = this.#deps;
    if (execution.phase === WorkflowExecution_Phase.ABORTING) {
      // No cluster has received a request for it.
      await endWithoutEngine(this.#launch, execution);
      await wakeParents(this.#launch, [executionId]);
      return undefined;
    }
    const { name, cluster: before, settings } = execution;
    const wish = settings.placement ?? { label: "", pool: "" };
    const placement = decidePlacement({ clusters, rules: config.placement, health }, { name, cluster: before, wish });
    if ("waits" in placement) throw new ClusterDown(placement.waits, true);
    const { cluster } = placement;
    if (!(await fixPlacement(db, { entryId: id, executionId, cluster, before }))) return findLaunchable(db, executionId);
    if (cluster === before) return execution;
    logger.info({ executionRow: String(executionId), cluster, before }, "execution moved to another data plane before its launch");
    return { ...execution, cluster };
  }

  /** Runs work on the cluster of an execution; fails when the cluster is or becomes unhealthy. */
  async #within(execution: LaunchableExecution, work: (kube: Cluster["kube"]) => Promise<void>): Promise<void> {
    const { clusters, health } = this.#deps;
    const cluster = clusterOf(clusters, execution.cluster);
    if (cluster === undefined) throw new ClusterDown(`data plane ${execution.cluster} is not configured`);
    // A single cluster is tried even when unhealthy: its requests delay no other cluster's.
    if (health === undefined || clusters.length === 1) return work(cluster.kube);
    const problem = health.problem(cluster.name);
    if (problem !== undefined) throw new ClusterDown(problem);
    try {
      await health.whileHealthy(cluster.name, work(cluster.kube));
    } catch (error) {
      if (error instanceof TryLater && failureOf(error.cause) !== undefined) health.suspect(cluster.name);
      if (error instanceof ClusterTrouble) throw new ClusterDown(error.message);
      throw error;
    }
  }
}
