import { BoundedMap, resolvesWithin } from "@flyte-ts/async";
import { TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { createInformer, type Informer, type InformerEvent, type KubeClient, PODS, WorkerPool, WorkQueue } from "@flyte-ts/kubernetes";
import {
  belongsToAttempt,
  buildAttemptPod,
  createBuiltPod,
  type CreatePodDeps,
  decodeAttemptAnnotation,
  isOwnedBy,
  asRetryLater,
  kubeUnavailable,
  minimalAttempt,
  OPERATOR_JOB_LABEL,
  type Pod,
  podMissingFailure,
  POD_CREATED_STATE,
  type PodStatusDeps,
  PodStatusReader,
  reduceRequest,
  requireAttemptObject,
  trimPod,
} from "@flyte-ts/pod-task";
import { FinishedAttempts, UnsettledCreations, type UnsettledCreationsDeps } from "@flyte-ts/pod-task/creations";
import { type LogArchive } from "@flyte-ts/pod-task/logs";
import { describeOnePod } from "@flyte-ts/pod-task/one-pod";
import { podName, takeOf, type WarmStart, withEndFromStatus } from "@flyte-ts/pod-task/warm";
import { type InvolvedObject, WarningEvents } from "@flyte-ts/pod-task/warnings";
import {
  type Aborted,
  attemptKey,
  type TerminalStatus,
  isTerminalStatus,
  RetryLater,
  type OwningWorkflow,
  type PluginHost,
  type TaskStatus,
} from "@flyte-ts/task-plugin";
import type { Logger } from "@flyte-ts/telemetry";
import { AttemptPods, type AttemptPodsDeps } from "./attempt-pods.js";
import { AttemptPodNames, podAttemptKey } from "./attempt-pod-names.js";
import { hasExited } from "./pod-exit.js";
import type { WarmPool } from "./warm/pool.js";
import { Reservations } from "./warm/reservations.js";
import { UnwatchedPods } from "./unwatched-pods.js";

export interface PodControllerDeps
  extends PodStatusDeps,
    UnsettledCreationsDeps,
    Omit<AttemptPodsDeps, "client" | "clock">,
    Omit<CreatePodDeps, "client" | "creations"> {
  readonly archive: Pick<LogArchive, "archive" | "waitUntilArchived">;
  readonly client: KubeClient;
  readonly logger: Logger;
  /** Number of pods observed concurrently. */
  readonly workers: number;
  /**
   * Maximum age of a pod's end at the start of this process, ms; older ends are reported when
   * propeller requests them.
   */
  readonly reportEndedWithinMs: number;
  /** Show Kubernetes' warnings about pods that do not run yet. */
  readonly warningEvents: boolean;
}

// Selects every pod of a Flyte task except those of operators; pods of other propellers have no
// record of the attempt.
const POD_SELECTOR = `execution-id,node-id,!${OPERATOR_JOB_LABEL}`;
const MAX_REMEMBERED = 10_000;
/** Maximum wait for the first list of pods before a request is requeued, ms. */
const SYNC_WAIT_MS = 5_000;
const RETRY_MS = 1_000;

/**
 * Runs one pod per attempt and follows all with one watch. State that must outlive the process is
 * in Kubernetes: the pod's name derives from the attempt, and its annotation identifies it. A warm
 * pod has a name of its own. Keys are those of attempts.
 */
export class PodController {
  #host: PluginHost | undefined;
  #informer: Informer<Pod> | undefined;
  #warnings: WarningEvents | undefined;
  #pool: WorkerPool | undefined;
  readonly #queue: WorkQueue;
  readonly #reader: PodStatusReader;
  readonly #pods: AttemptPods;
  readonly #creations: UnsettledCreations;
  /** Pods being created: their changes in the watch are reported after the submission. */
  readonly #creating = new Set<string>();
  readonly #unwatched: UnwatchedPods;
  /** Requests of pods that have no record. */
  readonly #unannotated = new BoundedMap<string, TaskRequest>(MAX_REMEMBERED);
  /** Last state of pods that disappeared before their end was reported. */
  readonly #deletedUnreported = new Map<string, Pod>();
  readonly #finished: FinishedAttempts<Pod>;
  readonly #reservations: Reservations;
  readonly #names = new AttemptPodNames();
  #warmSynced: Promise<void> = Promise.resolve();
  #stopped = false;
  #startedAt = 0;

  constructor(private readonly deps: PodControllerDeps) {
    this.#queue = new WorkQueue(deps.clock);
    this.#reader = new PodStatusReader({ ...deps, warningOf: (uid) => this.#warnings?.of(uid) });
    this.#pods = new AttemptPods(deps, this.#names);
    this.#unwatched = new UnwatchedPods(deps.clock);
    this.#creations = new UnsettledCreations(deps);
    this.#finished = new FinishedAttempts({ clock: deps.clock, creations: this.#creations, hasEnded: hasExited });
    const { settlesWithinMs } = this.#creations;
    this.#reservations = new Reservations({ ...deps, pool: deps.warm?.name ?? "", settlesWithinMs });
  }

  start(host: PluginHost): void {
    const { client, logger, clock, workers } = this.deps;
    this.#host = host;
    this.#startedAt = this.#now();
    this.#creations.takeOver();
    this.#pool = new WorkerPool({
      queue: this.#queue,
      workers,
      logger,
      reconcile: (key) => this.#reconcilePod(key),
      onError: (key) => this.#queue.addAt(key, this.#now() + RETRY_MS),
    });
    this.#reservations.start();
    const { warm } = this.deps;
    warm?.reused.ends.start((pod) => this.#queue.add(podAttemptKey(pod)));
    // The list of pods has to show each warm pod that was taken: none can be taken for an earlier
    // process after its pool was taken over.
    if (warm === undefined) this.#followPods();
    else this.#warmSynced = warm.start().then(() => this.#followPods());
    if (!this.deps.warningEvents) return;
    const onWarning = ({ namespace = "", name = "" }: InvolvedObject) => this.#onWarning(this.#names.attemptOf(namespace, name));
    this.#warnings = new WarningEvents({ client, logger, clock, kind: "Pod", onWarning });
  }

  #followPods(): void {
    if (this.#stopped) return;
    const { client, logger, clock } = this.deps;
    const onEvent = (event: InformerEvent<Pod>) => this.#onPodEvent(event);
    this.#informer = createInformer<Pod>({
      client,
      time: clock,
      ref: PODS,
      labelSelector: POD_SELECTOR,
      logger,
      transform: (pod) => withEndFromStatus(trimPod(pod)),
      onEvent,
    });
  }

  /** Reason why pods cannot be followed now. */
  notReadyReason(): string | undefined {
    return this.#informer?.lagMs() === undefined ? "the first list of pods is not complete" : undefined;
  }

  /** Ends the waits of finalized attempts for others that take their pods. */
  drain(): void {
    this.deps.warm?.drain();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#reservations.stop();
    await this.deps.warm?.stop();
    await Promise.all([this.#informer?.stop(), this.#warnings?.stop()]);
    await this.#pool?.stop();
  }

  async reconcile(request: TaskRequest): Promise<TaskStatus> {
    await this.#waitForSync();
    const { pod, created } = await this.#findOrCreate(request);
    if (decodeAttemptAnnotation(pod) === undefined) this.#unannotated.set(attemptKey(request), reduceRequest(request));
    const shown = describeOnePod(request.template?.type, this.deps.onePod) ?? { reason: "task submitted to K8s" };
    const submitted = { phase: "QUEUED", ...shown, pluginState: POD_CREATED_STATE, ...podName(pod) } as const;
    if (created) {
      // The submission is reported first, and changes in the watch right after it.
      this.#queue.addAt(attemptKey(request), this.#now() + 1);
      return submitted;
    }
    const { status, recheckAt } = await this.#readStatus(pod, request);
    if (recheckAt !== undefined) this.#queue.addAt(attemptKey(request), recheckAt.getTime());
    return status ?? submitted;
  }

  async abort(request: TaskRequest): Promise<Aborted | TerminalStatus> {
    const end = await this.#stopAttempt(request);
    this.deps.warm?.release(request, this.#creations.remainingMs(request));
    return end;
  }

  /** Reads the pod from Kubernetes itself: the cache may lag behind a creation. */
  async #stopAttempt(request: TaskRequest): Promise<Aborted | TerminalStatus> {
    if (this.deps.warm !== undefined) await this.#waitForSync();
    this.#finished.add(attemptKey(request), request);
    const pod = await this.#pods.get(request);
    if (pod === undefined || !belongsToAttempt(pod, request)) {
      this.#creations.requireSettled(request);
      if (!wasSubmitted(request)) this.#creations.requireEarlierSettled();
      return { phase: "ABORTED" };
    }
    // An abort may contain only the attempt's names; the pod's own record has the URIs of its
    // outputs.
    const annotated = decodeAttemptAnnotation(pod) ?? request;
    const { status } = pod.metadata.deletionTimestamp === undefined ? await this.#reader.read(pod, annotated) : { status: undefined };
    const terminal = status !== undefined && isTerminalStatus(status) ? status : undefined;
    if (terminal !== undefined && hasExited(pod)) return terminal;
    // The end is read again from a pod that still exists.
    if (terminal !== undefined) this.#creations.requireSettled(request);
    const ended = terminal === undefined ? await this.#endReused(pod, annotated) : undefined;
    if (ended === undefined) await this.#pods.deleteAndWait(request, pod.metadata.uid);
    this.#creations.requireSettled(request);
    return ended ?? terminal ?? { phase: "ABORTED" };
  }

  /**
   * Ends the attempt of a reused pod without the pod. Undefined when the pod has to be deleted.
   */
  async #endReused(pod: Pod, request: TaskRequest): Promise<Aborted | TerminalStatus | undefined> {
    const { warm } = this.deps;
    if (warm === undefined || takeOf(pod) === undefined || pod.metadata.deletionTimestamp !== undefined) return undefined;
    const end = await warm.reused.end(pod);
    if (end === undefined) return undefined;
    if (end.aborted) return (await warm.reused.free(pod)) === undefined ? undefined : { phase: "ABORTED" };
    const { status } = await this.#reader.read(this.#shown(pod), request);
    return status !== undefined && isTerminalStatus(status) ? status : undefined;
  }

  /** Lists attempts whose pods the resource owns, by its uid: labels and names can be forged. */
  async listAttempts({ workflowKey, owner }: OwningWorkflow): Promise<readonly TaskRequest[]> {
    await this.#waitForSync();
    const pods = new Map(this.#unwatched.entries());
    for (const pod of this.#informer?.list() ?? []) pods.set(podAttemptKey(pod), this.#shown(pod));
    const attempts = [...pods].flatMap(([key, pod]) =>
      isOwnedBy(pod, owner) && pod.metadata.deletionTimestamp === undefined && !hasExited(pod)
        ? { ...(this.#requestFor(key, pod) ?? minimalAttempt(pod, workflowKey)), owner }
        : [],
    );
    return this.#creations.addAttempts(attempts, owner);
  }

  async finalize(request: TaskRequest): Promise<void> {
    const key = attemptKey(request);
    this.#finished.add(key, request);
    this.#queue.cancelDelayed(key);
    this.#unannotated.delete(key);
    this.#reader.invalidate(key);
    this.#deletedUnreported.delete(key);
    this.#unwatched.delete(key);
    if (request.deleteResources && (this.#creations.earlierMayTakeEffect || this.deps.warm !== undefined)) await this.#waitForSync();
    const known = this.#watched(key);
    this.deps.warm?.release(request, this.#creations.remainingMs(request));
    if (!request.deleteResources || (known !== undefined && !belongsToAttempt(known, request))) return;
    await this.deps.archive.waitUntilArchived(request);
    if (known !== undefined && takeOf(known) !== undefined && (await this.deps.warm?.reused.release(known)) !== undefined) return;
    // Until then the ended pod prevents another of its name.
    this.#creations.requireSettled(request);
    const dueAtMs = this.#finished.deferDeletion(key, known);
    if (dueAtMs === undefined) await this.#pods.delete(request, known?.metadata.uid);
    else this.#queue.addAt(key, dueAtMs);
    if (known === undefined) this.#names.delete(key);
  }

  async #findOrCreate(request: TaskRequest): Promise<{ readonly pod: Pod; readonly created: boolean }> {
    const key = attemptKey(request);
    const known = this.#watched(key);
    if (known !== undefined) return { pod: requireAttemptObject(known, request, "Pod"), created: false };
    const unwatched = this.#unwatched.recent(key);
    if (unwatched !== undefined) return { pod: requireAttemptObject(this.#shown(unwatched), request, "Pod"), created: false };
    if (this.#unwatched.has(key) || this.#deletedUnreported.has(key) || wasSubmitted(request)) {
      const current = await this.#pods.get(request);
      if (current === undefined) throw this.#creations.failureOf(request, podMissingFailure(this.#names.objectOf(request)));
      return { pod: requireAttemptObject(current, request, "Pod"), created: false };
    }
    this.#creating.add(key);
    try {
      const pod = await this.#startPod(request);
      this.#names.add(pod);
      this.deps.warm?.reused.ends.observe(trimPod(pod));
      if (this.#watched(key) === undefined) this.#unwatched.add(key, trimPod(pod));
      return { pod, created: true };
    } finally {
      this.#creating.delete(key);
    }
  }

  /** Takes a warm pod, or creates one. */
  async #startPod(request: TaskRequest): Promise<Pod> {
    const { warm } = this.deps;
    const creations = this.#creations;
    const pod = await buildAttemptPod(request, this.deps);
    const start = warm?.startFor(pod, request);
    if (warm === undefined || start === undefined) return this.#createCold(pod, request);
    const taken = (await this.#mayTake(request, { warm, start, pod }))
      ? await creations.track(request, () => warm.take(request, start))
      : undefined;
    warm.count(start, taken?.outcome ?? "cold");
    return taken?.pod ?? this.#createCold(pod, request);
  }

  /**
   * True when no pod of the attempt's own name exists or may appear. Creations of an earlier
   * process are settled some time after the start of this one; a reservation keeps them away until
   * then.
   */
  async #mayTake(request: TaskRequest, { warm, start, pod }: { warm: WarmPool; start: WarmStart; pod: Pod }): Promise<boolean> {
    if (warm.unknownTake(request) !== undefined) return true;
    if (!this.#creations.isSettled(request)) return false;
    if (this.#creations.earlierMayTakeEffect) return warm.canServe(start) && this.#reservations.reserve(request, pod);
    return (await this.#pods.get(request)) === undefined;
  }

  async #createCold(pod: Pod, request: TaskRequest): Promise<Pod> {
    try {
      await this.#reservations.release(request);
      return await createBuiltPod(pod, request, { ...this.deps, client: this.#reservations.creator, creations: this.#creations });
    } catch (error) {
      if (error instanceof RetryLater && error.status?.phase === "WAITING_FOR_RESOURCES") this.deps.warm?.giveWay(request.namespace);
      throw asRetryLater(error);
    }
  }

  /** The attempt's pod in the watch. */
  #watched(key: string): Readonly<Pod> | undefined {
    const pod = this.#informer?.get(this.#names.podOf(key));
    return pod === undefined || podAttemptKey(pod) !== key ? undefined : this.#shown(pod);
  }

  /** The pod with the end of its attempt, also where the pod goes on. */
  #shown(pod: Readonly<Pod>): Readonly<Pod> {
    return this.deps.warm?.reused.ends.apply(pod) ?? pod;
  }

  /** Handles a change of a pod from the watch. */
  #onPodEvent(event: InformerEvent<Pod>): void {
    const { type } = event;
    if (type !== "deleted" && this.#unwatched.isOlder(event.object)) return;
    const object = this.#shown(event.object);
    const key = this.#names.add(object);
    if (type === "deleted") this.deps.warm?.reused.ends.forget(object);
    else this.deps.warm?.reused.ends.observe(object);
    this.#unwatched.delete(key);
    const request = this.#requestFor(key, object);
    if (type !== "deleted") this.deps.warm?.observe(object, () => this.#informer?.get(event.key));
    if (type === "deleted") {
      if (this.#finished.has(key, request ?? {})) this.#names.delete(key);
      this.#pods.onDeleted(key);
      this.#queue.cancelDelayed(key);
    }
    if (this.#finished.onEvent(key, { ...event, object })) {
      this.deps.logger.warn({ pod: key }, "a pod was created after its attempt ended, and is deleted");
      this.#queue.add(key);
    }
    if (request === undefined || this.#finished.has(key, request)) return;
    if (type === "deleted") {
      // The deletion of a pod whose end was reported is garbage collection, not a change to report.
      if (this.#reader.hasResult(key, object) || this.#endedBefore(object, this.#now() - this.deps.reportEndedWithinMs))
        return this.#names.delete(key);
      this.#deletedUnreported.set(key, object);
    } else {
      this.#deletedUnreported.delete(key);
      if (type === "added" && this.#endedBefore(object, this.#startedAt - this.deps.reportEndedWithinMs)) return;
    }
    this.#queue.add(key);
  }

  /** Reports the pod of an attempt again, now with a warning; other pods are not in the cache. */
  #onWarning(key: string): void {
    if (this.#watched(key) !== undefined) this.#queue.add(key);
  }

  /** Reports the state that follows from a pod's change, or deletes an obsolete pod. */
  async #reconcilePod(key: string): Promise<void> {
    if (await this.#deleteObsolete(key)) return;
    const pod = this.#watched(key);
    const deletedPod = this.#deletedUnreported.get(key);
    const request = this.#requestFor(key, pod ?? deletedPod);
    if (request === undefined || this.#finished.has(key, request) || this.#creating.has(key)) return;
    try {
      if (pod !== undefined) await this.#publish(pod, request);
      else if (deletedPod !== undefined) await this.#publishDeleted(deletedPod, request);
    } catch (error) {
      if (error instanceof RetryLater && error.status !== undefined) await this.#host?.publishStatus(request, error.status);
      this.#retryLater(key, error);
    }
  }

  /** False when the pod is not obsolete. */
  async #deleteObsolete(key: string): Promise<boolean> {
    if (!this.#finished.isObsolete(key)) return false;
    const [namespace = "", generatedName = ""] = key.split("/");
    try {
      const dueAtMs = await this.#finished.deleteDue(key, (uid) => this.#pods.delete({ namespace, generatedName }, uid));
      if (dueAtMs !== undefined) this.#queue.addAt(key, dueAtMs);
    } catch (error) {
      this.#retryLater(key, error);
    }
    return true;
  }

  #retryLater(key: string, error: unknown): void {
    if (!(error instanceof RetryLater)) throw error;
    this.#queue.addAt(key, this.#now() + (error.retryAfterMs ?? RETRY_MS));
  }

  /** Reads the status of an attempt, whose end may be in the log alone. */
  async #readStatus(pod: Pod, request: TaskRequest): ReturnType<PodStatusReader["read"]> {
    await this.deps.warm?.reused.ends.firstRead(pod);
    return this.#reader.read(this.#shown(pod), request);
  }

  async #publish(pod: Pod, request: TaskRequest): Promise<void> {
    const { status, recheckAt } = await this.#readStatus(pod, request);
    if (recheckAt !== undefined) this.#queue.addAt(attemptKey(request), recheckAt.getTime());
    if (status !== undefined) await this.#host?.publishStatus(request, status);
  }

  async #publishDeleted(pod: Pod, request: TaskRequest): Promise<void> {
    // A pod that ended before its deletion has a result of its own.
    const { status } = hasExited(pod) ? await this.#reader.read(pod, request) : { status: undefined };
    const terminal = status !== undefined && isTerminalStatus(status) ? status : undefined;
    this.#creations.requireSettled(request);
    await this.#host?.publishStatus(request, terminal ?? { phase: "FAILED", failure: podMissingFailure(this.#names.objectOf(request)) });
    this.#deletedUnreported.delete(attemptKey(request));
    this.#names.delete(attemptKey(request));
  }

  async #waitForSync(): Promise<void> {
    const synced = this.#warmSynced.then(() => this.#informer?.synced);
    if (!(await resolvesWithin(synced, SYNC_WAIT_MS, this.deps.clock))) throw kubeUnavailable("the first list of pods is not complete");
  }

  #requestFor(key: string, pod: Pod | undefined): TaskRequest | undefined {
    return (pod === undefined ? undefined : decodeAttemptAnnotation(pod)) ?? this.#unannotated.get(key);
  }

  #endedBefore(pod: Pod, time: number): boolean {
    const state = this.#reader.podState(pod);
    return (state.kind === "succeeded" || state.kind === "failed") && state.occurredAt.getTime() < time;
  }

  #now(): number {
    return this.deps.clock.now();
  }
}

/** True when propeller's request shows that an earlier process has created the pod. */
function wasSubmitted({ pluginState, knownPhase }: TaskRequest): boolean {
  return (
    pluginState[0] === POD_CREATED_STATE[0] || knownPhase === TaskExecution_Phase.INITIALIZING || knownPhase === TaskExecution_Phase.RUNNING
  );
}
