import { randomUUID } from "node:crypto";
import type { Time } from "@flyte-ts/async";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { isConflict, isNotFound, isTransient, type KubeClient, objectKey, PODS, wasNotApplied } from "@flyte-ts/kubernetes";
import { asRetryLater, belongsToAttempt, decodeAttemptAnnotation, type Pod } from "@flyte-ts/pod-task";
import { handOverPatch, isIdleWarmPod, takeOf, takePatch, warmStart, type WarmStart } from "@flyte-ts/pod-task/warm";
import type { Logger } from "@flyte-ts/telemetry";
import { ageMs, type Candidate, isReady, isUnschedulable, kindOf } from "./idle-pod.js";
import { IdlePods } from "./idle-pods.js";
import type { WarmOutcome, WarmPodMetrics } from "./metrics.js";
import type { WarmPodSettings } from "./settings.js";
import { Preloads } from "./reused/preloads.js";
import { ReusedPods } from "./reused/reused-pods.js";
import { Stock } from "./stock.js";
import { type UnknownTake, UnknownTakes } from "./unknown-takes.js";
import { WaitingPods } from "./waiting-pods.js";
import { warmModeOf } from "./warm-mode.js";

export interface WarmPoolDeps {
  readonly client: KubeClient;
  readonly clock: Time;
  readonly logger: Logger;
  readonly settings: WarmPodSettings;
  readonly metrics?: WarmPodMetrics | undefined;
}

/** A pod that an attempt has taken. */
export interface TakenPod {
  readonly pod: Pod;
  readonly outcome: Exclude<WarmOutcome, "cold">;
}

type TakeResult = { readonly kind: "taken"; readonly pod: Pod } | { readonly kind: "lost" };

/** Maximum time to wait for a pod whose attempt has ended, and interval of the checks, ms. */
const RETURN_TIMEOUT_MS = 500;
const RETURN_STEP_MS = 20;
/** Changes of a pod by its kubelet that a take tolerates. */
const MAX_CONFLICTS = 5;
/**
 * Time before the end of an idle pod from which it is not taken, ms: its supervisor ends itself.
 */
const MARGIN_MS = 60_000;

/**
 * Pods that are started ahead, each for one attempt at a time. An attempt takes a pod by a patch of
 * the version that is known: the patch says which attempt it is, gives the pod its work, and
 * succeeds once. So the state is in Kubernetes, and no two attempts take a pod whatever fails.
 */
export class WarmPool {
  readonly #pods: IdlePods;
  readonly #stock: Stock;
  readonly #noNode: WaitingPods;
  readonly #unknown: UnknownTakes;
  /** Number of attempts that wait for a pod of a kind. */
  readonly #waiting = new Map<string, number>();
  /** Names this process. */
  readonly name = randomUUID();
  readonly #preloads = new Preloads();
  /** Pods that serve several attempts. */
  readonly reused: ReusedPods;

  constructor(private readonly deps: WarmPoolDeps) {
    const pool = this.name;
    const onFree = (pod: Pod) => {
      this.#pods.addFreed(pod);
      this.#stock.changed();
    };
    const preloads = this.#preloads;
    const isRoomNeeded = () => this.#noNode.list().length > 0;
    this.reused = new ReusedPods({ ...deps, pool, preloads, isRoomNeeded, onFree });
    this.#pods = new IdlePods({ ...deps, pool, onChange: () => this.#stock.changed() });
    this.#unknown = new UnknownTakes(deps.clock);
    const onChange = () => {
      this.reused.offers.closeAll();
      this.#stock.changed();
    };
    this.#noNode = new WaitingPods({ clock: deps.clock, hopelessMs: deps.settings.pauseMs, onChange });
    this.#stock = new Stock({
      ...deps,
      pool,
      pods: this.#pods,
      isReserved: (pod) => this.#unknown.mayHaveTaken(pod),
      busy: (kind) => this.reused.busy(kind),
      preloadOf: (kind) => preloads.annotationOf(kind),
      waiting: () => this.#noNode.list(),
    });
  }

  /** Resolves when no take of an earlier process can succeed any more. */
  async start(): Promise<void> {
    await this.#pods.start();
    for (const pod of this.#pods.list()) this.#preloads.inherit(pod);
    this.#stock.start();
  }

  /** Frees the pods of ended attempts without waiting for others that take them. */
  drain(): void {
    this.reused.drain();
  }

  async stop(): Promise<void> {
    this.reused.ends.stop();
    this.#stock.stop();
    await this.#pods.stop();
  }

  get load() {
    return this.#stock.load;
  }

  /** Divides the pod of an attempt that is to take a warm one; undefined for all others. */
  startFor(pod: Pod, request: TaskRequest): WarmStart | undefined {
    const { settings } = this.deps;
    const mode = warmModeOf(pod, request, settings);
    if (mode === undefined) return undefined;
    const reuse = mode === "reused" ? settings.reuse : undefined;
    return warmStart(pod, request, { python: settings.python, maxIdleSeconds: Math.ceil(settings.maxAgeMs / 1_000), reuse });
  }

  /** True when an attempt would probably get a pod, idle or new. */
  canServe(start: WarmStart): boolean {
    return this.#choices(start.key).length > 0 || this.reused.returning(start.key) > 0 || this.#stock.canCreateFor(start);
  }

  /** Counts a start, which decides how many pods are kept ready. */
  count(start: WarmStart, outcome: WarmOutcome): void {
    this.deps.metrics?.starts.inc({ outcome });
    this.#stock.count(start, outcome);
  }

  /** The pod of a take without an answer. */
  unknownTake(request: Pick<TaskRequest, "namespace" | "generatedName">): UnknownTake | undefined {
    return this.#unknown.get(request);
  }

  /**
   * Takes an idle pod for the attempt, which must have no other pod, or starts one that others can
   * take afterwards. Undefined when the attempt needs a pod of its own.
   *
   * @throws RetryLater while a take without an answer may have succeeded
   */
  async take(request: TaskRequest, start: WarmStart): Promise<TakenPod | undefined> {
    try {
      const unknown = this.#unknown.get(request);
      const earlier = unknown === undefined ? undefined : await this.#retake(unknown, request, start);
      if (earlier?.kind === "taken") return { pod: earlier.pod, outcome: "taken" };
      const idle = (await this.#takeIdle(request, start)) ?? (await this.#awaitReturning(start.key, () => this.#takeIdle(request, start)));
      if (idle !== undefined) return { pod: idle, outcome: "taken" };
      const started = await this.#stock.createFor(start);
      if (started === undefined) return undefined;
      const result = await this.#takePod({ pod: started, settledAt: 0 }, request, start);
      return result.kind === "taken" ? { pod: result.pod, outcome: "started" } : undefined;
    } catch (error) {
      throw asRetryLater(error);
    }
  }

  async #takeIdle(request: TaskRequest, start: WarmStart): Promise<Pod | undefined> {
    for (const candidate of this.#choices(start.key)) {
      const result = await this.#takePod(candidate, request, start);
      if (result.kind === "taken") return result.pod;
    }
    return undefined;
  }

  /**
   * Waits for a pod whose attempt has ended: the next node of a chain starts before the pod of the
   * last one is freed. Each such pod is awaited by one attempt.
   */
  async #awaitReturning(kind: string, take: () => Promise<Pod | undefined>): Promise<Pod | undefined> {
    const waiting = this.#waiting.get(kind) ?? 0;
    if (waiting >= this.reused.returning(kind)) return undefined;
    this.#waiting.set(kind, waiting + 1);
    try {
      for (let waitedMs = 0; waitedMs < RETURN_TIMEOUT_MS; waitedMs += RETURN_STEP_MS) {
        await this.deps.clock.sleep(RETURN_STEP_MS);
        const pod = await take();
        if (pod !== undefined) return pod;
      }
      return undefined;
    } finally {
      const left = (this.#waiting.get(kind) ?? 1) - 1;
      if (left > 0) this.#waiting.set(kind, left);
      else this.#waiting.delete(kind);
    }
  }

  /**
   * Forgets the take of an attempt that has ended.
   *
   * @param afterMs time after which the take can have no effect any more, ms
   */
  release(request: TaskRequest, afterMs: number): void {
    this.#unknown.deleteAfter(request, afterMs);
  }

  /**
   * Handles a change of an attempt's pod: notes a take that succeeded without an answer, and makes
   * room for a pod that finds no node.
   *
   * @param current returns the pod as it is later
   */
  observe(pod: Pod, current: () => Pod | undefined): void {
    // Its kubelet may show the assignment late.
    if (this.#unknown.settle(pod)) this.#noteTaken(pod, true);
    if (!isUnschedulable(pod)) return;
    this.#noNode.observe(objectKey(pod), kindOf(pod), () => {
      const later = current();
      return later !== undefined && isUnschedulable(later);
    });
  }

  /** Makes room in a namespace whose quota is exhausted. Repeated calls make more. */
  giveWay(namespace: string): void {
    this.reused.offers.closeAll();
    this.#stock.giveWay(namespace);
  }

  /**
   * Pods of a kind that are ready or offered: first those whose kubelets show an assignment at
   * once, the oldest first, which has imported most; then those that were changed just now, as they
   * become so.
   */
  #choices(kind: string): readonly Candidate[] {
    const { clock, settings } = this.deps;
    const now = clock.now();
    const reserved = this.#unknown.pods();
    const idle = this.#pods.list().filter((pod) => kindOf(pod) === kind && isReady(pod));
    const offered = this.reused.offers.list(kind).map(({ pod, settledAt }) => ({ pod, settledAt: settledAt > now ? settledAt : 0 }));
    return [...idle.map((pod) => ({ pod, settledAt: this.#pods.settledAt(pod) })), ...offered]
      .filter(({ pod }) => !reserved.has(objectKey(pod)) && ageMs(pod, now) < settings.maxAgeMs - MARGIN_MS)
      .toSorted((one, other) => one.settledAt - other.settledAt || ageMs(other.pod, now) - ageMs(one.pod, now));
  }

  /** Repeats a take without an answer, with the same pod: one of both succeeds, or neither. */
  async #retake(unknown: UnknownTake, request: TaskRequest, start: WarmStart): Promise<TakeResult> {
    const current = await this.#read(unknown);
    if (current === undefined || current.metadata.uid !== unknown.uid) return this.#forget(request);
    return this.#takePod({ pod: current, settledAt: 0 }, request, start);
  }

  async #takePod(candidate: Candidate, request: TaskRequest, start: WarmStart): Promise<TakeResult> {
    const { client, logger } = this.deps;
    const { namespace = "", name, uid } = candidate.pod.metadata;
    let pod: Pod | undefined = candidate.pod;
    const unknown = this.#unknown.get(request);
    const wasUnknown = unknown !== undefined;
    const offeredTake = wasUnknown ? unknown.offeredTake : takeOf(pod);
    this.#unknown.set(request, { namespace, name, uid, offeredTake });
    for (let conflicts = 0; pod !== undefined && pod.metadata.uid === uid && conflicts < MAX_CONFLICTS; conflicts++) {
      const isOffered = offeredTake !== undefined && takeOf(pod) === offeredTake;
      if (!isIdleWarmPod(pod) && !isOffered)
        return serves(pod, request) ? this.#taken(pod, request, candidate.settledAt) : this.#forget(request, pod);
      if (pod.metadata.deletionTimestamp !== undefined) return this.#forget(request, pod);
      try {
        const body = this.#takePatch(pod, request, start);
        return this.#taken(await client.mergePatch<Pod>(PODS, { namespace, name, body }), request, candidate.settledAt);
      } catch (error) {
        if (wasNotApplied(error) && !wasUnknown) this.#unknown.delete(request);
        if (isTransient(error) || (wasUnknown && !isConflict(error) && !isNotFound(error))) throw error;
        if (!isConflict(error) && !isNotFound(error)) {
          logger.warn({ pod: `${namespace}/${name}`, error: String(error) }, "cannot take a warm pod; the task starts in a new one");
          this.#stock.pause(start.key);
          return this.#forget(request, pod);
        }
      }
      pod = await this.#read({ namespace, name });
    }
    return this.#forget(request, pod);
  }

  #takePatch(pod: Pod, request: TaskRequest, start: WarmStart): object {
    const take = { start, now: new Date(this.deps.clock.now()) };
    return isIdleWarmPod(pod)
      ? takePatch(pod, request, take)
      : handOverPatch(pod, request, { ...take, ...this.reused.freedPod(start.key) });
  }

  #taken(pod: Pod, request: TaskRequest, settledAt: number): TakeResult {
    this.#unknown.delete(request);
    this.#noteTaken(pod, settledAt > 0);
    return { kind: "taken", pod };
  }

  #noteTaken(pod: Pod, late: boolean): void {
    this.reused.taken(pod, this.deps.clock.now(), late);
    this.#pods.remove(pod);
  }

  /** Notes that no take of this attempt can succeed any more. */
  #forget(request: TaskRequest, pod?: Pod): TakeResult {
    this.#unknown.delete(request);
    if (pod !== undefined && !isIdleWarmPod(pod)) this.#pods.remove(pod);
    return { kind: "lost" };
  }

  #read({ namespace, name }: { readonly namespace: string; readonly name: string }): Promise<Pod | undefined> {
    return this.deps.client.get<Pod>(PODS, { namespace, name });
  }
}

/** True when the pod was taken by this very attempt. */
function serves(pod: Pod, request: TaskRequest): boolean {
  const taker = decodeAttemptAnnotation(pod);
  return taker?.generatedName === request.generatedName && belongsToAttempt(pod, request);
}
