import { BoundedMap } from "@flyte-ts/async";
import { TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { createInformer, type Informer, type InformerEvent, type KubeClient, PODS, WorkerPool, WorkQueue } from "@flyte-ts/kubernetes";
import {
  type Aborted,
  attemptKey,
  type EndedStatus,
  isEnded,
  NotYet,
  type OwningWorkflow,
  type PluginHost,
  type RetryableFailure,
  type TaskStatus,
} from "@flyte-ts/task-plugin";
import type { Logger } from "@flyte-ts/telemetry";
import type { Pod } from "../kube/pod-types.js";
import type { LogArchive } from "../logs/log-archive.js";
import { goneFailure } from "../phase/deleted.js";
import { attemptRecord, readAttempt, unnamedAttempt } from "./attempt-record.js";
import { createPod, type CreatePodParts } from "./create-pod.js";
import { Departures } from "./departures.js";
import { isOwnedBy, isPodOf, ownPod } from "./ownership.js";
import { PodStatusReader, type PodStatusParts, SUBMITTED } from "./pod-status.js";
import { orNotYet, unavailable } from "./refusal.js";
import { slimPod } from "./slim.js";

export interface PodAttemptsParts extends PodStatusParts, Omit<CreatePodParts, "client"> {
  readonly archive: Pick<LogArchive, "keep" | "kept">;
  readonly client: KubeClient;
  readonly logger: Logger;
  /**
   * Seconds between SIGTERM and SIGKILL for a container of an aborted attempt. Short, since its result is not needed;
   * not 0, with which Kubernetes forgets the pod before its processes have ended, so that two attempts could run at
   * once.
   */
  readonly stopSeconds: number;
  /** Maximum wait for the deletion of a pod before the abort is retried, ms. */
  readonly stopTimeoutMs: number;
  /** Number of pods observed concurrently. */
  readonly workers: number;
  /** At start, earlier ends of pods than this are not reported, ms; propeller asks for them. */
  readonly tellEndsOfMs: number;
}

// Selects every pod of a Flyte task; those of other propellers have no record of the attempt.
const SELECTOR = "execution-id,node-id";
const REMEMBERED = 10_000;
/** Maximum wait for the first list of pods before a request is postponed, ms. */
const SYNC_WAIT_MS = 5_000;
/** Time for which a pod created here may be missing from the watch, ms. */
const WATCH_LAG_MS = 5_000;
const RETRY_MS = 1_000;

/**
 * Runs one pod per attempt and follows all with one watch. State that must outlive the process is in Kubernetes: the
 * pod's name derives from the attempt, and its annotation identifies it.
 */
export class PodAttempts {
  #host: PluginHost | undefined;
  #informer: Informer<Pod> | undefined;
  #pool: WorkerPool | undefined;
  readonly #queue: WorkQueue;
  readonly #reader: PodStatusReader;
  readonly #departures: Departures;
  /** Pods being created: their changes in the watch are reported after the submission. */
  readonly #creating = new Set<string>();
  /** Created here and not yet in the watch. */
  readonly #created = new Map<string, { readonly pod: Pod; readonly at: number }>();
  /** Requests of pods that have no record. */
  readonly #adopted = new BoundedMap<string, TaskRequest>(REMEMBERED);
  /** Last state of pods that disappeared before their end was reported. */
  readonly #lost = new Map<string, Pod>();
  /** Attempts that are aborted or finalized: changes of their pods are ignored. */
  readonly #over = new BoundedMap<string, true>(REMEMBERED);
  #startedAt = 0;

  constructor(private readonly parts: PodAttemptsParts) {
    this.#queue = new WorkQueue(parts.clock);
    this.#reader = new PodStatusReader(parts);
    this.#departures = new Departures(parts.clock);
  }

  start(host: PluginHost): void {
    const { client, logger, workers } = this.parts;
    this.#host = host;
    this.#startedAt = this.#now();
    this.#pool = new WorkerPool({
      queue: this.#queue,
      workers,
      logger,
      work: (key) => this.#observe(key),
      onError: (key) => this.#queue.addAt(key, this.#now() + RETRY_MS),
    });
    const onEvent = (event: InformerEvent<Pod>) => this.#take(event);
    this.#informer = createInformer<Pod>({ client, ref: PODS, labelSelector: SELECTOR, logger, keep: slimPod, onEvent });
  }

  /** Reason why pods cannot be followed now. */
  problem(): string | undefined {
    return this.#informer?.lagMs() === undefined ? "the pods are not listed yet" : undefined;
  }

  async stop(): Promise<void> {
    await this.#informer?.stop();
    await this.#pool?.stop();
  }

  async reconcile(request: TaskRequest): Promise<TaskStatus> {
    await this.#synced();
    const { pod, created } = await this.#findOrCreate(request);
    if (readAttempt(pod) === undefined) this.#adopted.set(attemptKey(request), attemptRecord(request));
    const submitted = { phase: "QUEUED", reason: "task submitted to K8s", pluginState: SUBMITTED } as const;
    if (created) {
      // The submission is reported first, and changes in the watch right after it.
      this.#queue.addAt(attemptKey(request), this.#now() + 1);
      return submitted;
    }
    const { status, recheckAt } = await this.#reader.read(pod, request);
    if (recheckAt !== undefined) this.#queue.addAt(attemptKey(request), recheckAt.getTime());
    return status ?? submitted;
  }

  /** Reads the pod from Kubernetes itself: the cache may lag behind a creation. */
  async abort(request: TaskRequest): Promise<Aborted | EndedStatus> {
    this.#over.set(attemptKey(request), true);
    const pod = await this.#fetch(request);
    if (pod === undefined || !isPodOf(pod, request)) return { phase: "ABORTED" };
    // An abort may contain only the attempt's names; the pod's own record has the URIs of its outputs.
    const whose = readAttempt(pod) ?? request;
    const { status } = pod.metadata.deletionTimestamp === undefined ? await this.#reader.read(pod, whose) : { status: undefined };
    const ended = status !== undefined && isEnded(status) ? status : undefined;
    if (ended === undefined || !hasProcessEnded(pod)) await this.#remove(request, pod.metadata.uid);
    return ended ?? { phase: "ABORTED" };
  }

  /** Lists attempts whose pods the resource owns, by its uid: labels and names can be forged. */
  async attemptsOf({ workflowKey, owner }: OwningWorkflow): Promise<readonly TaskRequest[]> {
    await this.#synced();
    const pods = new Map([...this.#created].map(([key, { pod }]) => [key, pod]));
    for (const pod of this.#informer?.list() ?? []) pods.set(podKey(pod), pod);
    return [...pods].flatMap(([key, pod]) =>
      isOwnedBy(pod, owner) && pod.metadata.deletionTimestamp === undefined && !hasProcessEnded(pod)
        ? { ...(this.#requestOf(key, pod) ?? unnamedAttempt(pod, workflowKey)), owner }
        : [],
    );
  }

  async finalize(request: TaskRequest): Promise<void> {
    const key = attemptKey(request);
    this.#over.set(key, true);
    this.#queue.forget(key);
    this.#adopted.delete(key);
    this.#reader.forget(key);
    this.#lost.delete(key);
    this.#created.delete(key);
    const known = this.#informer?.get(key);
    if (!request.deleteResources || (known !== undefined && !isPodOf(known, request))) return;
    await this.parts.archive.kept(request);
    await this.#delete(request, known?.metadata.uid);
  }

  async #findOrCreate(request: TaskRequest): Promise<{ readonly pod: Pod; readonly created: boolean }> {
    const key = attemptKey(request);
    const known = this.#informer?.get(key);
    if (known !== undefined) return { pod: ownPod(known, request), created: false };
    const created = this.#created.get(key);
    if (created !== undefined && this.#now() - created.at < WATCH_LAG_MS) return { pod: created.pod, created: false };
    if (created !== undefined || this.#lost.has(key) || wasSubmitted(request)) {
      const found = await this.#fetch(request);
      if (found === undefined) throw deletedExternally(request);
      return { pod: ownPod(found, request), created: false };
    }
    this.#creating.add(key);
    try {
      const pod = await createPod(request, this.parts);
      if (this.#informer?.get(key) === undefined) this.#created.set(key, { pod: slimPod(pod), at: this.#now() });
      return { pod, created: true };
    } finally {
      this.#creating.delete(key);
    }
  }

  /** Handles a change of a pod from the watch. */
  #take({ type, key, object }: InformerEvent<Pod>): void {
    this.#created.delete(key);
    if (type === "deleted") {
      this.#departures.tell(key);
      this.#queue.forget(key);
    }
    if (this.#requestOf(key, object) === undefined || this.#over.get(key)) return;
    if (type === "deleted") {
      // Reported ends are finally garbage-collected: no news.
      if (this.#reader.hasRead(key, object) || this.#endedBefore(object, this.#now() - this.parts.tellEndsOfMs)) return;
      this.#lost.set(key, object);
    } else {
      this.#lost.delete(key);
      if (type === "added" && this.#endedBefore(object, this.#startedAt - this.parts.tellEndsOfMs)) return;
    }
    this.#queue.add(key);
  }

  /** Reports the state that follows from a pod's change. */
  async #observe(key: string): Promise<void> {
    if (this.#over.get(key) || this.#creating.has(key)) return;
    const pod = this.#informer?.get(key);
    const lost = this.#lost.get(key);
    const request = this.#requestOf(key, pod ?? lost);
    if (request === undefined) return;
    try {
      if (pod !== undefined) await this.#tell(pod, request);
      else if (lost !== undefined) await this.#tellLost(lost, request);
    } catch (error) {
      if (!(error instanceof NotYet)) throw error;
      if (error.status !== undefined) await this.#host?.report(request, error.status);
      this.#queue.addAt(key, this.#now() + (error.retryAfterMs ?? RETRY_MS));
    }
  }

  async #tell(pod: Pod, request: TaskRequest): Promise<void> {
    const { status, recheckAt } = await this.#reader.read(pod, request);
    if (recheckAt !== undefined) this.#queue.addAt(attemptKey(request), recheckAt.getTime());
    if (status !== undefined) await this.#host?.report(request, status);
  }

  async #tellLost(pod: Pod, request: TaskRequest): Promise<void> {
    // A pod that ended before its deletion has a result of its own.
    const { status } = hasProcessEnded(pod) ? await this.#reader.read(pod, request) : { status: undefined };
    const ended = status !== undefined && isEnded(status) ? status : undefined;
    await this.#host?.report(request, ended ?? { phase: "FAILED", failure: deletedExternally(request) });
    this.#lost.delete(attemptKey(request));
  }

  /** Deletes the pod and waits until it is gone. Since the watch may be interrupted, Kubernetes is polled as well. */
  async #remove(request: TaskRequest, uid: string | undefined): Promise<void> {
    const key = attemptKey(request);
    const departure = this.#departures.expect(key);
    try {
      if (!(await this.#delete(request, uid))) return;
      const deadline = this.#now() + this.parts.stopTimeoutMs;
      while (this.#now() < deadline) {
        if (await departure.within(1_000)) return;
        const found = await this.#fetch(request);
        if (found === undefined || found.metadata.uid !== uid) return;
      }
      throw new NotYet(`pod ${key} is not gone yet`);
    } finally {
      departure.cancel();
    }
  }

  async #delete({ namespace, generatedName: name }: TaskRequest, uid: string | undefined): Promise<boolean> {
    const { client, stopSeconds } = this.parts;
    try {
      return await client.delete(PODS, { namespace, name, gracePeriodSeconds: stopSeconds, uid });
    } catch (error) {
      throw orNotYet(error);
    }
  }

  async #fetch({ namespace, generatedName: name }: TaskRequest): Promise<Pod | undefined> {
    try {
      return await this.parts.client.get<Pod>(PODS, { namespace, name });
    } catch (error) {
      throw orNotYet(error);
    }
  }

  async #synced(): Promise<void> {
    let callOff: () => void = () => undefined;
    const late = new Promise<"late">((resolve) => {
      callOff = this.parts.clock.schedule(SYNC_WAIT_MS, () => resolve("late"));
    });
    const first = await Promise.race([this.#informer?.synced, late]);
    callOff();
    if (first === "late") throw unavailable("the pods cannot be listed");
  }

  #requestOf(key: string, pod: Pod | undefined): TaskRequest | undefined {
    return (pod === undefined ? undefined : readAttempt(pod)) ?? this.#adopted.get(key);
  }

  #endedBefore(pod: Pod, time: number): boolean {
    const decision = this.#reader.decide(pod);
    return (decision.kind === "succeeded" || decision.kind === "failed") && decision.occurredAt.getTime() < time;
  }

  #now(): number {
    return this.parts.clock.now();
  }
}

/** The key of a pod's attempt. */
function podKey({ metadata: { namespace = "", name } }: Pod): string {
  return attemptKey({ namespace, generatedName: name });
}

/** True when an earlier process, as far as propeller knows, has created the pod. */
function wasSubmitted({ pluginState, knownPhase }: TaskRequest): boolean {
  return pluginState[0] === SUBMITTED[0] || knownPhase === TaskExecution_Phase.INITIALIZING || knownPhase === TaskExecution_Phase.RUNNING;
}

function deletedExternally({ namespace, generatedName: name }: TaskRequest): RetryableFailure {
  return goneFailure({ namespace, name });
}

/** True when no process of the task runs in the pod any more. An unavailable image is an end too, but then the pod still exists. */
function hasProcessEnded({ status }: Pod): boolean {
  if (status?.phase === "Succeeded" || status?.phase === "Failed") return true;
  const containers = status?.containerStatuses ?? [];
  return containers.length > 0 && containers.every(({ state }) => state?.terminated !== undefined);
}
