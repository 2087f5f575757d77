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
import type { WaitingPod } from "./waiting-pods.js";

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
  /** Modules that a new pod of a kind loads ahead. */
  readonly preloadOf: (key: string) => string | undefined;
  /** Pods of attempts that find no node. */
  readonly waiting: () => readonly WaitingPod[];
}

/** Pods that can serve the same attempts. */
interface Kind {
  readonly demand: Demand;
  /** Undefined until an attempt of the kind starts in this process. */
  start?: WarmStart;
  /** Times of cold starts that may still run, ms; of reused pods alone. */
  cold: readonly number[];
  creating: number;
  /** Time until which none is started ahead, ms. */
  pausedUntil: number;
  /** Time until which none is started for an attempt either, ms: the last one was refused. */
  refusedUntil: number;
  /** Time of the last start of an attempt in this process, ms. */
  usedAt: number;
}

const TICK_MS = 5_000;
/** Time after the last start of an attempt from which a kind without attempts is not in use, ms. */
const UNUSED_MS = 2_000;
/** Interval of checks while pods wait for room, ms. */
const WAITING_TICK_MS = 500;
/** Time in which a pod is scheduled once idle pods were deleted for it, ms. */
const SCHEDULING_MS = 5_000;
/** Delay of the check after a change: several changes need one. */
const SETTLE_MS = 20;

/** Keeps the number of idle pods at what recent starts need: creates and deletes them. */
export class Stock {
  readonly #kinds = new Map<string, Kind>();
  #cancelTimer: (() => void) | undefined;
  #nextCheckAt = Number.POSITIVE_INFINITY;
  #running = false;
  /** Times at which idle pods were deleted for pods that wait, ms. */
  #gaveWayAt: readonly number[] = [];
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
    return isReused(start) && pods < maxIdle && this.#total() < maxIdleTotal && kind.refusedUntil <= this.#now();
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

  /** Pauses starts of a kind. */
  pause(key: string): void {
    this.#kind(key).refusedUntil = this.#now() + this.deps.settings.pauseMs;
  }

  /**
   * Makes room in a namespace whose quota is exhausted: deletes the idle pods of kinds that are not
   * in use, or those of all kinds when there are no such pods. Starts none of these kinds for a
   * while.
   */
  giveWay(namespace: string): void {
    const now = this.#now();
    const idle = this.#free().filter(({ metadata }) => metadata.namespace === namespace);
    const unused = idle.filter((pod) => this.#isUnused(kindOf(pod), now));
    for (const pod of unused.length > 0 ? unused : idle) this.#discardForRoom(pod, now);
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
      const someWait = this.deps.waiting().length > 0 || this.#free().some(isUnschedulable);
      this.#checkWithin(someWait ? WAITING_TICK_MS : TICK_MS);
    });
  }

  #check(): void {
    if (!this.#running) return;
    this.#countIdleTime();
    const now = this.#now();
    this.#makeRoom(now);
    for (const pod of this.deps.pods.list()) this.#discardUnusable(pod, now);
    for (const [key, kind] of this.#kinds) {
      this.#discardSuperfluous(key, kind, now);
      if (kind.demand.isOver(now) && kind.creating === 0 && this.#count(key) === 0) this.#kinds.delete(key);
      else this.#fill(key, kind, now);
    }
    this.#countIdleTime();
  }

  /**
   * Deletes idle pods for those that find no node: all of kinds that are not in use, then one of
   * another kind for each attempt that waits, and all others once it has waited for some time. A
   * pod that was started ahead moves only kinds that are not in use.
   */
  #makeRoom(now: number): void {
    const waiting = this.deps.waiting();
    const idle = this.#free();
    const missing = idle.filter((pod) => isUnschedulable(pod) && !this.#isUnused(kindOf(pod), now));
    if (waiting.length + missing.length === 0) return;
    const kinds = new Set([...waiting.map(({ kind }) => kind), ...missing.map(kindOf)]);
    const unused = idle.filter((pod) => !kinds.has(kindOf(pod)) && this.#isUnused(kindOf(pod), now));
    for (const pod of unused) this.#discardForRoom(pod, now);
    this.#gaveWayAt = [...this.#gaveWayAt.filter((at) => at > now - SCHEDULING_MS), ...unused.map(() => now)];
    const others = idle.filter((pod) => !unused.includes(pod));
    const starves = this.#gaveWayAt.length === 0 && waiting.some(({ since }) => since <= now - SCHEDULING_MS);
    const strangers = others.filter((pod) => !waiting.some(({ kind }) => kind === kindOf(pod)));
    const chosen = starves ? others : strangers.slice(0, Math.max(0, waiting.length - this.#gaveWayAt.length));
    // Kinds that wait themselves start none ahead until then.
    for (const pod of chosen)
      if (strangers.includes(pod)) this.#discardForRoom(pod, now);
      else this.#discard(pod, "room");
    this.#gaveWayAt = [...this.#gaveWayAt, ...chosen.map(() => now)];
  }

  #discardForRoom(pod: Pod, now: number): void {
    this.#kind(kindOf(pod)).pausedUntil = now + this.deps.settings.pauseMs;
    this.#discard(pod, "room");
  }

  #discardUnusable(pod: Pod, now: number): void {
    const { maxAgeMs, pauseMs } = this.deps.settings;
    const kind = this.#kind(kindOf(pod));
    if (isSpent(pod)) {
      // A supervisor that ends early would end again, unless an end was not acknowledged in time.
      if (ageMs(pod, now) < maxAgeMs / 2 && !this.deps.pods.wasFreed(pod)) kind.refusedUntil = now + pauseMs;
      this.#discard(pod, "ended");
    } else if (isUnschedulable(pod) && (ageMs(pod, now) >= SCHEDULING_MS || this.deps.waiting().length > 0)) {
      this.#discardForRoom(pod, now);
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
    const isPaused = Math.max(kind.pausedUntil, kind.refusedUntil) > now || this.deps.waiting().length > 0;
    if (start === undefined || isPaused) return;
    // A pod that was taken just now may come back before a new one is ready.
    const returning = this.deps.busy(key).filter(({ at }) => at > now - REPLACEMENT_MS).length;
    const target = Math.min(this.deps.settings.maxIdle, kind.demand.need(now) - returning);
    while (this.#count(key) + kind.creating < target && this.#total() < this.deps.settings.maxIdleTotal) void this.#createIdle(kind, start);
  }

  #isUnused(key: string, now: number): boolean {
    return this.#kind(key).usedAt < now - UNUSED_MS && this.deps.busy(key).length === 0;
  }

  /** Idle pods that no attempt may have taken. */
  #free(): readonly Pod[] {
    return this.deps.pods.list().filter((pod) => !this.deps.isReserved(pod));
  }

  async #createIdle(kind: Kind, start: WarmStart): Promise<void> {
    const pod = await this.#create(kind, start);
    if (pod !== undefined) this.deps.pods.add(pod);
  }

  async #create(kind: Kind, start: WarmStart): Promise<Pod | undefined> {
    const { client, pool, logger, preloadOf } = this.deps;
    const name = `warm-${start.key.slice(0, 10)}-${pool.slice(0, 8)}-${(this.#created++).toString(36)}`;
    kind.creating++;
    try {
      return await client.create<Pod>(PODS, idlePod(start, { name, pool, preload: isReused(start) ? preloadOf(start.key) : undefined }));
    } catch (error) {
      // A pod ahead is a convenience: the quota, a policy or the API may refuse it.
      kind.refusedUntil = this.#now() + this.deps.settings.pauseMs;
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
    const kind: Kind = { demand: new Demand(this.deps.settings), cold: [], creating: 0, pausedUntil: 0, refusedUntil: 0, usedAt: 0 };
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
