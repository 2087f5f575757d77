import type { AdminDeps } from "../deps.js";
import { namespaceOf } from "../execution/namespace.js";
import { OUTBOX_CHANNEL } from "../execution/insert.js";
import { ClosureCache } from "./closure-cache.js";
import { findLaunchable } from "./execution.js";
import { abort, clusterOf, launch, type LaunchDeps, TryLater } from "./launch.js";
import { extendEntries, type OutboxEntry, postponeEntry, removeEntry, takeEntries } from "./outbox.js";
import { startRounds } from "./rounds.js";
import { retryDelayMs } from "./verdict.js";

export type LauncherDeps = Pick<AdminDeps, "db" | "blobs" | "bus" | "config" | "clusters" | "clock" | "random" | "logger">;

export interface Running {
  /** Takes no more work and waits for what is under way. */
  close(): Promise<void>;
}

/** Requests to data planes at once. */
const IN_FLIGHT = 32;
/** After so long without a word from whoever took an entry, others take it. */
const LEASE_MS = 15_000;
const EXTEND_MS = 5_000;
/** How long an entry that nobody was told of may lie. */
const POLL_MS = 1_000;

/** Carries out what the outbox holds until it is closed. Any number of replicas share the work. */
export async function startLauncher(deps: LauncherDeps): Promise<Running> {
  const launcher = new Launcher(deps);
  const listening = await deps.db.listen(OUTBOX_CHANNEL, () => launcher.wake());
  const running = launcher.run();
  const work = () => launcher.extend();
  const extending = startRounds({ everyMs: EXTEND_MS, batch: 1, work, trouble: "outbox entries in hand cannot be extended" }, deps.logger);
  return {
    close: async () => {
      await listening.close();
      launcher.stop();
      await running;
      await extending.close();
    },
  };
}

class Launcher {
  readonly #deps: LauncherDeps;
  readonly #launch: LaunchDeps;
  readonly #working = new Map<Promise<void>, OutboxEntry>();
  #stopped = false;
  #woken = false;
  #wake: () => void = () => undefined;

  constructor(deps: LauncherDeps) {
    this.#deps = deps;
    const { db, blobs, bus, config, clock, logger } = deps;
    this.#launch = { db, blobs, bus, config, clock, logger, closures: new ClosureCache(db), namespaces: new Set() };
  }

  wake(): void {
    this.#woken = true;
    this.#wake();
  }

  stop(): void {
    this.#stopped = true;
    this.wake();
  }

  async run(): Promise<void> {
    while (!this.#stopped) {
      this.#woken = false;
      const free = IN_FLIGHT - this.#working.size;
      const entries = free > 0 ? await this.#take(free) : [];
      for (const entry of entries) this.#start(entry);
      // Every turn waits for something: the database or a reason to go on.
      if (entries.length < free || free <= 0) await this.#pause();
    }
    await Promise.all(this.#working.keys());
  }

  /** Gives 0: there is nothing that it leaves for another call. */
  async extend(): Promise<number> {
    if (this.#working.size > 0) await extendEntries(this.#deps.db, [...this.#working.values()], LEASE_MS);
    return 0;
  }

  async #take(limit: number): Promise<readonly OutboxEntry[]> {
    try {
      return await takeEntries(this.#deps.db, limit, LEASE_MS);
    } catch (error) {
      this.#deps.logger.warn({ error: String(error) }, "outbox cannot be read");
      return [];
    }
  }

  #start(entry: OutboxEntry): void {
    const work = this.#carryOut(entry).finally(() => {
      this.#working.delete(work);
      this.wake();
    });
    this.#working.set(work, entry);
  }

  async #carryOut(entry: OutboxEntry): Promise<void> {
    const { db, logger, random } = this.#deps;
    try {
      await this.#act(entry);
      await removeEntry(db, entry.id);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const delayMs = retryDelayMs(entry.attempts, random);
      const fields = { executionRow: String(entry.executionId), action: entry.action, attempts: entry.attempts, delayMs, error: reason };
      if (error instanceof TryLater) logger.warn(fields, "data plane does not take the execution now");
      else logger.error({ ...fields, stack: error instanceof Error ? error.stack : undefined }, "outbox entry failed");
      // Should this fail too, the lease ends by itself.
      await postponeEntry(db, entry.id, { delayMs, reason }).catch(() => undefined);
    }
  }

  async #act({ executionId, action }: OutboxEntry): Promise<void> {
    const { db, clusters, config } = this.#deps;
    const execution = await findLaunchable(db, executionId);
    if (execution === undefined) return;
    const cluster = clusterOf(clusters, execution.cluster);
    if (cluster === undefined) throw new TryLater(`cluster ${execution.cluster} is not configured`);
    switch (action) {
      case "launch":
        return launch(this.#launch, cluster.kube, execution);
      case "abort": {
        const namespace = namespaceOf(config.namespaceTemplate, execution.project, execution.domain);
        return abort(this.#launch, cluster.kube, { execution, namespace });
      }
      default:
        return action satisfies never;
    }
  }

  async #pause(): Promise<void> {
    if (this.#woken || this.#stopped) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, POLL_MS);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
