import type { Time } from "@flyte-ts/async";
import { isTransient, type KubeClient, KubeError, PODS } from "@flyte-ts/kubernetes";
import type { Pod } from "@flyte-ts/pod-task";
import { WARM_MODE_LABEL, type WarmStart } from "@flyte-ts/pod-task/warm";
import type { Logger } from "@flyte-ts/telemetry";
import { Demand, REPLACEMENT_MS } from "./demand.js";
import { ageMs, idlePod, isSpent, isUnschedulable, kindOf } from "./idle-pod.js";
import type { IdlePods } from "./idle-pods.js";
import type { WarmOutcome, WarmPodEnd, WarmPodLoad, WarmPodMetrics } from "./metrics.js";
import type { WarmPodSettings } from "./settings.js";

export interface StockDeps {
  readonly client: Pick<KubeClient, "create" | "delete">;
  readonly clock: Time;
  readonly logger: Logger;
  readonly settings: WarmPodSettings;
  readonly metrics?: WarmPodMetrics | undefined;
  readonly pool: string;
  readonly pods: Pick<IdlePods, "list" | "add" | "remove" | "restore" | "settledAt" | "wasFreed">;
  /** True for a pod that an attempt may have taken. */
  readonly isReserved: (pod: Pod) => boolean;
  /** Pods of a kind that come back from their attempts. */
  readonly busy: (key: string) => readonly { readonly at: number; readonly late: boolean }[];
}

/** Pods that can serve the same attempts. */
interface Kind {
  readonly demand: Demand;
  /** Undefined until an attempt of the kind starts in this process. */
  start?: WarmStart;
  /** Times of cold starts that may still run, ms; of reused pods alone. */
  cold: readonly number[];
  creating: number;
  pausedUntil: number;
  /** Time of the last start of an attempt in this process, ms. */
  usedAt: number;
}

const TICK_MS = 5_000;
/** Time after the last start of an attempt from which a kind without attempts is not in use, ms. */
const UNUSED_MS = 2_000;
/** Delay of the check after a change: several changes need one. */
const SETTLE_MS = 20;

/** Keeps the number of idle pods at what recent starts need: creates and deletes them. */
export class Stock {
  readonly #kinds = new Map<string, Kind>();
  #cancelTimer: (() => void) | undefined;
  #nextCheckAt = Number.POSITIVE_INFINITY;
  #running = false;
  #pausedUntil = 0;
  #created = 0;
  #idleMs = 0;
  #idle = 0;
  #countedAt: number;

  constructor(private readonly deps: StockDeps) {
    this.#countedAt = deps.clock.elapsed();
  }

  get load(): WarmPodLoad {
    this.#countIdleTime();
    return { idle: this.#idle, idleMs: this.#idleMs };
  }

  start(): void {
    this.#running = true;
    const now = this.#now();
    for (const pod of this.deps.pods.list()) {
      const kind = this.#kind(kindOf(pod));
      kind.demand.inherit(this.#count(kindOf(pod)), now);
    }
    this.changed();
  }

  stop(): void {
    this.#running = false;
    this.#cancelTimer?.();
  }

  /** Counts a start of an attempt that can take pods of this kind. */
  count(start: WarmStart, outcome: WarmOutcome): void {
    const kind = this.#kind(start.key);
    const now = this.#now();
    kind.cold = [...kind.cold.filter((at) => at > now - REPLACEMENT_MS), ...(outcome === "cold" ? [now] : [])];
    this.#addDemand(kind, start, now);
  }

  /**
   * Starts a pod for an attempt that finds none idle. Undefined for pods that serve one attempt,
   * and when the kind has its maximum of pods: many pods at once would be idle afterwards.
   */
  async createFor(start: WarmStart): Promise<Pod | undefined> {
    if (!this.canCreateFor(start)) return undefined;
    const kind = this.#kind(start.key);
    // Before the pod is seen: one without demand is superfluous.
    this.#addDemand(kind, start, this.#now());
    return this.#create(kind, start);
  }

  canCreateFor(start: WarmStart): boolean {
    const { maxIdle, maxIdleTotal } = this.deps.settings;
    const kind = this.#kind(start.key);
    const pods = this.#count(start.key) + kind.creating + this.deps.busy(start.key).length;
    return isReused(start) && pods < maxIdle && this.#total() < maxIdleTotal && !this.#isPaused(kind, this.#now());
  }

  #addDemand(kind: Kind, start: WarmStart, now: number): void {
    kind.start = start;
    kind.usedAt = now;
    const busy = this.deps.busy(start.key);
    // Another pod would have served a late attempt at once.
    const late = busy.filter((pod) => pod.late).length;
    const inUse = busy.length + late + kind.cold.length + this.#settling(start.key);
    kind.demand.add(now, isReused(start) ? inUse : undefined);
    this.changed();
  }

  /** Pauses starts ahead of a kind. */
  pause(key: string): void {
    this.#kind(key).pausedUntil = this.#now() + this.deps.settings.pauseMs;
  }

  /**
   * Makes room for other pods, in one namespace or everywhere: deletes the idle pods of kinds that
   * are not in use, or those of all kinds when there are no such pods. Starts none of these kinds
   * for a while.
   */
  giveWay(namespace?: string): void {
    const now = this.#now();
    const until = now + this.deps.settings.pauseMs;
    const idle = this.deps.pods.list().filter((pod) => namespace === undefined || pod.metadata.namespace === namespace);
    const unused = idle.filter((pod) => !this.deps.isReserved(pod) && this.#isUnused(kindOf(pod), now));
    if (unused.length === 0) this.#pausedUntil = until;
    for (const pod of unused) this.#kind(kindOf(pod)).pausedUntil = until;
    for (const pod of unused.length > 0 ? unused : idle) this.#discard(pod, "room");
  }

  /** Checks soon whether pods are missing or superfluous. */
  changed(): void {
    this.#checkWithin(SETTLE_MS);
  }

  #checkWithin(ms: number): void {
    const at = this.#now() + ms;
    if (!this.#running || this.#nextCheckAt <= at) return;
    this.#cancelTimer?.();
    this.#nextCheckAt = at;
    this.#cancelTimer = this.deps.clock.schedule(ms, () => {
      this.#nextCheckAt = Number.POSITIVE_INFINITY;
      this.#check();
      this.#checkWithin(TICK_MS);
    });
  }

  #check(): void {
    if (!this.#running) return;
    this.#countIdleTime();
    const now = this.#now();
    for (const pod of this.deps.pods.list()) this.#discardUnusable(pod, now);
    for (const [key, kind] of this.#kinds) {
      this.#discardSuperfluous(key, kind, now);
      if (kind.demand.isOver(now) && kind.creating === 0 && this.#count(key) === 0) this.#kinds.delete(key);
      else this.#fill(key, kind, now);
    }
    this.#countIdleTime();
  }

  #discardUnusable(pod: Pod, now: number): void {
    const { maxAgeMs, pauseMs } = this.deps.settings;
    const kind = this.#kind(kindOf(pod));
    if (isSpent(pod)) {
      // A supervisor that ends early would end again, unless an end was not acknowledged in time.
      if (ageMs(pod, now) < maxAgeMs / 2 && !this.deps.pods.wasFreed(pod)) kind.pausedUntil = now + pauseMs;
      this.#discard(pod, "ended");
    } else if (isUnschedulable(pod)) {
      kind.pausedUntil = now + pauseMs;
      this.#discard(pod, "room");
    } else if (ageMs(pod, now) >= maxAgeMs) this.#discard(pod, "age");
  }

  /**
   * Deletes the oldest pods beyond the target. Reused pods that come back are needed again: as many
   * stay as were in use at the peak.
   */
  #discardSuperfluous(key: string, { demand, start }: Kind, now: number): void {
    const back = start !== undefined && isReused(start) ? Math.max(0, demand.peak(now) - this.deps.busy(key).length) : 0;
    const pods = this.deps.pods.list().filter((pod) => kindOf(pod) === key && !this.deps.isReserved(pod));
    const superfluous = pods.length - demand.target(now) - back;
    const oldest = pods.toSorted((one, other) => ageMs(other, now) - ageMs(one, now));
    for (const pod of oldest.slice(0, Math.max(0, superfluous))) this.#discard(pod, "demand");
  }

  #fill(key: string, kind: Kind, now: number): void {
    const { start } = kind;
    if (start === undefined || this.#isPaused(kind, now)) return;
    // A pod that was taken just now may come back before a new one is ready.
    const returning = this.deps.busy(key).filter(({ at }) => at > now - REPLACEMENT_MS).length;
    const target = Math.min(this.deps.settings.maxIdle, kind.demand.need(now) - returning);
    while (this.#count(key) + kind.creating < target && this.#total() < this.deps.settings.maxIdleTotal) void this.#createIdle(kind, start);
  }

  #isUnused(key: string, now: number): boolean {
    return this.#kind(key).usedAt < now - UNUSED_MS && this.deps.busy(key).length === 0;
  }

  #isPaused(kind: Kind, now: number): boolean {
    return kind.pausedUntil > now || this.#pausedUntil > now;
  }

  async #createIdle(kind: Kind, start: WarmStart): Promise<void> {
    const pod = await this.#create(kind, start);
    if (pod !== undefined) this.deps.pods.add(pod);
  }

  async #create(kind: Kind, start: WarmStart): Promise<Pod | undefined> {
    const { client, pool, logger } = this.deps;
    const name = `warm-${start.key.slice(0, 10)}-${pool.slice(0, 8)}-${(this.#created++).toString(36)}`;
    kind.creating++;
    try {
      return await client.create<Pod>(PODS, idlePod(start, { name, pool }));
    } catch (error) {
      // A pod ahead is a convenience: the quota, a policy or the API may refuse it.
      kind.pausedUntil = this.#now() + this.deps.settings.pauseMs;
      const level = isTransient(error) || (error instanceof KubeError && error.status === 403) ? "info" : "warn";
      logger[level]({ namespace: start.metadata.namespace, error: String(error) }, "cannot start a warm pod; starts ahead pause");
      return undefined;
    } finally {
      kind.creating--;
      this.changed();
    }
  }

  /** Deletes exactly this version of an idle pod: never one that an attempt has taken meanwhile. */
  #discard(pod: Pod, reason: WarmPodEnd): void {
    if (this.deps.isReserved(pod)) return;
    const { client, pods, metrics } = this.deps;
    const { namespace, name, uid, resourceVersion } = pod.metadata;
    pods.remove(pod);
    metrics?.discarded.inc({ reason });
    void client.delete(PODS, { namespace, name, uid, resourceVersion, gracePeriodSeconds: 1 }).then(
      () => this.changed(),
      // It was changed meanwhile: the watch shows whether it is still idle.
      () => pods.restore(pod),
    );
  }

  #kind(key: string): Kind {
    const known = this.#kinds.get(key);
    if (known !== undefined) return known;
    const kind: Kind = { demand: new Demand(this.deps.settings), cold: [], creating: 0, pausedUntil: 0, usedAt: 0 };
    this.#kinds.set(key, kind);
    return kind;
  }

  /** Number of pods that were freed so recently that an attempt would start late in them. */
  #settling(key: string): number {
    const { pods } = this.deps;
    return pods.list().filter((pod) => kindOf(pod) === key && pods.settledAt(pod) > 0).length;
  }

  #count(key: string): number {
    return this.deps.pods.list().filter((pod) => kindOf(pod) === key).length;
  }

  #total(): number {
    const creating = [...this.#kinds.values()].reduce((sum, kind) => sum + kind.creating, 0);
    return this.deps.pods.list().length + creating;
  }

  #countIdleTime(): void {
    const now = this.deps.clock.elapsed();
    this.#idleMs += (now - this.#countedAt) * this.#idle;
    this.#countedAt = now;
    this.#idle = this.deps.pods.list().length;
  }

  #now(): number {
    return this.deps.clock.now();
  }
}

function isReused({ metadata }: WarmStart): boolean {
  return metadata.labels?.[WARM_MODE_LABEL] === "reused";
}
