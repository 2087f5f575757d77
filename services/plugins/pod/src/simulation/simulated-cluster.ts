import type { ManualTime } from "@flyte-ts/async/manual-time";
import {
  type DeleteOptions,
  KubeError,
  type KubeClient,
  type KubeList,
  type KubeObject,
  type ListOptions,
  objectKey,
  type ObjectMeta,
  type ObjectName,
  type PatchOptions,
  type PodLogOptions,
  type ResourceRef,
  type WatchEvent,
  type WatchOptions,
} from "@flyte-ts/kubernetes";
import type { ContainerState, Pod, PodCondition } from "@flyte-ts/pod-task";
import { isIdleWarmPod, WARM_KEY_LABEL, WARM_STATE_LABEL } from "@flyte-ts/pod-task/warm";
import type { JobFault } from "@flyte-ts/task-plugin/harness";
import { podAttemptKey } from "../attempt-pod-names.js";
import { IDLE_SELECTOR } from "../warm/idle-pod.js";
import { isReservation, RESERVED_SELECTOR } from "../warm/reservations.js";

/** Times after which late creations take place, ms: in turn before and after a deletion's end. */
const LATE_MS = [900, 2_500];
/** A change of a pod: before and after; undefined where it does not exist. */
export interface Change {
  readonly before: Pod | undefined;
  readonly after: Pod | undefined;
}

export interface SimulatedStatus {
  /** State of the pod's first container. */
  readonly state: ContainerState;
  readonly conditions?: PodCondition[];
  readonly reason?: string;
}

/** Time after which a new pod's containers start, ms: it is scheduled, and its images are there. */
const START_MS = 300;

/**
 * A simulated Kubernetes API whose pods have no processes. It outlives the plugin's processes, so
 * that tests can restart them.
 */
export class SimulatedCluster implements KubeClient {
  readonly pods = new Map<string, Pod>();
  /** Number of creations of a pod with this key. */
  readonly creations = new Map<string, number>();
  /** Uids of the pods whose containers have started, by their keys. */
  readonly #started = new Map<string, Set<string | undefined>>();
  #lateCreations = 0;
  /** Number of warm pods that attempts have taken. */
  takes = 0;
  readonly templates = new Map<string, KubeObject>();
  /** Errors thrown instead of creating, once each. */
  readonly createErrors: KubeError[] = [];
  /** Faults of the next creations and deletions, once each. */
  readonly faults: JobFault[] = [];
  /** Refuses every call as if the server were unreachable. */
  unavailable = false;
  /** Processes of deleted pods do not end. */
  deletionHangs = false;
  readonly #watchers = new Set<(change: Change) => void>();
  /** Called when a patch of this pod will take effect after its call. */
  onLatePatch: (key: string) => void = () => undefined;
  /** Logs of pods with a simulated process. */
  logs: ((options: PodLogOptions) => AsyncGenerator<Uint8Array>) | undefined;
  #version = 1;

  constructor(private readonly clock: () => ManualTime | undefined) {}

  podLog(options: PodLogOptions): AsyncGenerator<Uint8Array> {
    if (this.unavailable) throw new KubeError("connect ECONNREFUSED", { status: 0 });
    if (this.logs === undefined) throw new Error("pods without processes write nothing");
    return this.logs(options);
  }

  /** Calls the listener with each change, before those who watch. */
  onChange(listener: (change: Change) => void): void {
    this.#watchers.add(listener);
  }

  /** Returns the only pod. */
  get pod(): Pod | undefined {
    return [...this.pods.values()][0];
  }

  /** Returns the pod of an attempt, also a warm pod that the attempt was assigned to. */
  podOf(attempt: string): Pod | undefined {
    const own = this.pods.get(attempt);
    if (own !== undefined && !isReservation(own)) return own;
    return [...this.pods.values()].find((pod) => podAttemptKey(pod) === attempt && !isReservation(pod));
  }

  /** Number of pods of this key whose containers have started, or are about to. */
  startCount(key: string): number {
    const pod = this.pods.get(key);
    const { uid, deletionTimestamp } = pod?.metadata ?? {};
    const started = new Set(this.#started.get(key));
    if (pod !== undefined && isReservation(pod)) return started.size;
    if (uid !== undefined && deletionTimestamp === undefined) started.add(uid);
    return started.size;
  }

  /** Sets the state of the pod's first container, and the pod's phase. */
  setPodStatus(attempt: string, phase: string, { state, conditions = [], ...rest }: SimulatedStatus): void {
    const pod = this.podOf(attempt);
    if (pod === undefined) throw new Error(`no pod ${attempt}`);
    this.#start(objectKey(pod), pod.metadata.uid);
    const name = pod.spec.containers[0]?.name ?? "";
    this.#put({ ...pod, status: { phase, conditions, ...rest, containerStatuses: [{ name, ready: false, state }] } });
  }

  /** Removes the pod without a deletion request. */
  deletePodExternally(key: string): void {
    const pod = this.pods.get(key);
    if (pod === undefined) return;
    this.pods.delete(key);
    this.#version++;
    this.#notifyWatchers({ before: pod, after: undefined });
  }

  get<T extends KubeObject>(ref: ResourceRef, { namespace, name }: ObjectName): Promise<T | undefined> {
    return this.#respond(() => {
      const found: KubeObject | undefined =
        ref.plural === "pods" ? this.pods.get(`${namespace}/${name}`) : this.templates.get(`${namespace}/${name}`);
      return found as T | undefined;
    });
  }

  list<T extends KubeObject>(_: ResourceRef, { labelSelector }: ListOptions = {}): Promise<KubeList<T>> {
    return this.#respond(() => ({
      metadata: { resourceVersion: String(this.#version) },
      items: [...this.pods.values()].filter((pod) => matches(pod, labelSelector)) as unknown as T[],
    }));
  }

  create<T extends KubeObject>(_: ResourceRef, object: KubeObject): Promise<T> {
    return this.#respond(() => {
      const refused = this.createErrors.shift();
      if (refused !== undefined) throw refused;
      const fault = this.#takeFault("create");
      if (fault === "createRefused") throw new KubeError("too many requests", { status: 429 });
      if (fault === "createLate")
        this.clock()?.schedule(LATE_MS[this.#lateCreations++ % LATE_MS.length] ?? 0, () => this.#createIfAbsent(object));
      if (fault === "createUnknown" || fault === "createDoubled") this.#createIfAbsent(object);
      if (fault === "createUnknown" || fault === "createLate") throw new KubeError("request timed out", { status: 0 });
      return this.#create(object) as unknown as T;
    });
  }

  #createIfAbsent(object: KubeObject): void {
    if (!this.pods.has(`${object.metadata.namespace}/${object.metadata.name}`)) this.#create(object);
  }

  #create(object: KubeObject): Pod {
    const { namespace, name } = object.metadata;
    const key = `${namespace}/${name}`;
    if (this.pods.has(key)) throw new KubeError(`pods "${name}" already exists`, { status: 409, reason: "AlreadyExists" });
    this.creations.set(key, (this.creations.get(key) ?? 0) + 1);
    const metadata = { ...object.metadata, uid: `uid-${this.#version}`, creationTimestamp: this.#timestamp() };
    this.clock()?.schedule(START_MS, () => this.#start(key, metadata.uid));
    return this.#put({ ...(object as Pod), metadata, status: { phase: "Pending" } });
  }

  /** Starts the containers of a pod at once. */
  startPod(key: string): void {
    this.#start(key, this.pods.get(key)?.metadata.uid);
  }

  /** Starts the containers, unless the pod is gone or being deleted. */
  #start(key: string, uid: string | undefined): void {
    const { metadata } = this.pods.get(key) ?? {};
    const pod = this.pods.get(key);
    if (pod === undefined || metadata?.uid !== uid || metadata?.deletionTimestamp !== undefined) return;
    if (pod.metadata.labels?.[WARM_KEY_LABEL] !== undefined) {
      const conditions = [{ type: "Ready", status: "True" }];
      const state = { running: { startedAt: this.#timestamp() } };
      if (pod.status?.phase === "Pending")
        this.#put({ ...pod, status: { phase: "Running", conditions, containerStatuses: [{ name: "task", ready: true, state }] } });
      return;
    }
    if (podAttemptKey(pod) !== key || isReservation(pod)) return;
    this.#started.set(key, (this.#started.get(key) ?? new Set()).add(uid));
  }

  #takeFault(call: "create" | "delete"): JobFault | undefined {
    const index = this.faults.findIndex((fault) => fault.startsWith(call));
    return index < 0 ? undefined : this.faults.splice(index, 1)[0];
  }

  delete(_: ResourceRef, { namespace, name, uid, resourceVersion, gracePeriodSeconds = 30 }: DeleteOptions): Promise<boolean> {
    return this.#respond(() => {
      const key = `${namespace}/${name}`;
      const pod = this.pods.get(key);
      if (pod === undefined) return false;
      if (uid !== undefined && pod.metadata.uid !== uid) throw new KubeError("uid differs", { status: 409, reason: "Conflict" });
      requireVersion(pod, resourceVersion);
      if (this.#takeFault("delete") !== undefined) return true;
      if (this.deletionHangs || !(isTerminalPod(pod) || isReservation(pod))) {
        this.#put({ ...pod, metadata: { ...pod.metadata, deletionTimestamp: this.#timestamp() } });
        if (!this.deletionHangs) this.clock()?.schedule(gracePeriodSeconds * 1_000, () => this.deletePodExternally(key));
      } else this.deletePodExternally(key);
      return true;
    });
  }

  async *watch<T extends KubeObject>(
    _: ResourceRef,
    { signal, labelSelector }: Pick<WatchOptions, "signal" | "labelSelector">,
  ): AsyncGenerator<WatchEvent<T>> {
    const events: WatchEvent<Pod>[] = [];
    let wake: () => void = () => undefined;
    const watcher = (change: Change) => {
      const event = this.#eventOf(change, labelSelector);
      if (event === undefined) return;
      events.push(event);
      wake();
    };
    this.#watchers.add(watcher);
    signal.addEventListener("abort", () => wake());
    try {
      while (!signal.aborted) {
        const event = events.shift();
        if (event === undefined) await new Promise<void>((resolve) => (wake = resolve));
        else yield event as unknown as WatchEvent<T>;
      }
    } finally {
      this.#watchers.delete(watcher);
    }
  }

  replace<T extends KubeObject>(): Promise<T> {
    return Promise.reject(new Error("not simulated"));
  }

  /** Changes labels, annotations and owners of the version that the patch names. */
  mergePatch<T extends KubeObject>(_: ResourceRef, { namespace = "", name, body }: PatchOptions): Promise<T> {
    return this.#respond(() => {
      const apply = () => this.#patch(`${namespace}/${name}`, body as { metadata: Partial<ObjectMeta> });
      const fault = this.#takeFault("create");
      if (fault === "createRefused") throw new KubeError("too many requests", { status: 429 });
      if (fault === "createLate") {
        this.clock()?.schedule(LATE_MS[this.#lateCreations++ % LATE_MS.length] ?? 0, () => ignoreConflict(apply));
        this.onLatePatch(`${namespace}/${name}`);
      }
      if (fault === "createUnknown" || fault === "createDoubled") ignoreConflict(apply);
      if (fault === "createUnknown" || fault === "createLate") throw new KubeError("request timed out", { status: 0 });
      return apply() as unknown as T;
    });
  }

  /** Creates a pod without a call that could fail. */
  createDirectly(pod: Pod): void {
    this.#create(pod);
  }

  /** Patches a pod without a call that could fail. */
  patchDirectly(key: string, body: { metadata: object }): void {
    this.#patch(key, body as { metadata: Partial<ObjectMeta> });
  }

  #patch(key: string, { metadata }: { metadata: Partial<ObjectMeta> }): Pod {
    const pod = this.pods.get(key);
    if (pod === undefined) throw new KubeError(`pods "${key}" not found`, { status: 404, reason: "NotFound" });
    requireVersion(pod, metadata.resourceVersion);
    const merged = (one: Record<string, string> = {}, other: Record<string, string | null> = {}) =>
      Object.fromEntries(Object.entries({ ...one, ...other }).filter((entry): entry is [string, string] => entry[1] !== null));
    const { ownerReferences = pod.metadata.ownerReferences } = metadata;
    const patched: Pod = {
      ...pod,
      metadata: {
        ...pod.metadata,
        labels: merged(pod.metadata.labels, metadata.labels),
        annotations: merged(pod.metadata.annotations, metadata.annotations),
        ...(ownerReferences === undefined ? {} : { ownerReferences }),
      },
    };
    const attempt = podAttemptKey(patched);
    if (!isIdleWarmPod(patched) && takerOf(patched) !== takerOf(pod)) {
      this.takes++;
      this.#started.set(attempt, (this.#started.get(attempt) ?? new Set()).add(`${pod.metadata.uid} ${pod.metadata.resourceVersion}`));
    }
    return this.#put(patched);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async #respond<T>(act: () => T): Promise<T> {
    await Promise.resolve();
    if (this.unavailable) throw new KubeError("connect ECONNREFUSED", { status: 0 });
    return act();
  }

  #timestamp(): string {
    const time = this.clock();
    return time === undefined ? "" : new Date(time.now()).toISOString();
  }

  #put(pod: Pod): Pod {
    const key = objectKey(pod);
    const before = this.pods.get(key);
    const after: Pod = { ...pod, metadata: { ...pod.metadata, resourceVersion: String(++this.#version) } };
    this.pods.set(key, after);
    this.#notifyWatchers({ before, after });
    return after;
  }

  /**
   * The event that a watch with this selector gets. A pod that it selects no more is deleted, in
   * its previous state with the version of the change.
   */
  #eventOf({ before, after }: Change, labelSelector: string | undefined): WatchEvent<Pod> | undefined {
    const wasSelected = before !== undefined && matches(before, labelSelector);
    if (after !== undefined && matches(after, labelSelector)) return { type: wasSelected ? "MODIFIED" : "ADDED", object: after };
    if (!wasSelected) return undefined;
    // Also an object that is no longer selected is shown as it was before.
    return { type: "DELETED", object: { ...before, metadata: { ...before.metadata, resourceVersion: String(this.#version) } } };
  }

  #notifyWatchers(change: Change): void {
    for (const watcher of this.#watchers) watcher(change);
  }
}

/** Tells idle warm pods and reservations from the pods of attempts, as the selectors in use do. */
function matches({ metadata }: Pod, labelSelector: string | undefined): boolean {
  const state = metadata.labels?.[WARM_STATE_LABEL];
  if (labelSelector === undefined) return true;
  if (labelSelector === IDLE_SELECTOR || labelSelector === RESERVED_SELECTOR) return labelSelector === `${WARM_STATE_LABEL}=${state}`;
  return state === undefined || (state === "taken" && metadata.labels?.["execution-id"] !== undefined);
}

/** Identifies the take of a warm pod; undefined for other pods. */
function takerOf({ metadata }: Pod): string | undefined {
  return metadata.annotations?.["flyte.org/warm-taken"];
}

function requireVersion({ metadata }: Pod, resourceVersion: string | undefined): void {
  if (resourceVersion !== undefined && metadata.resourceVersion !== resourceVersion)
    throw new KubeError("the object has been modified", { status: 409, reason: "Conflict" });
}

function ignoreConflict(act: () => unknown): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
  }
}

function isTerminalPod({ status }: Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}
