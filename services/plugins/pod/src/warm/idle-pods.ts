import type { Time } from "@flyte-ts/async";
import {
  createInformer,
  type Informer,
  type KubeClient,
  isConflict,
  isNotFound,
  isTransient,
  KubeError,
  objectKey,
  PODS,
  wasNotApplied,
} from "@flyte-ts/kubernetes";
import type { Pod } from "@flyte-ts/pod-task";
import { isIdleWarmPod, WARM_POOL_ANNOTATION } from "@flyte-ts/pod-task/warm";
import type { Logger } from "@flyte-ts/telemetry";
import { IDLE_SELECTOR, poolOf, trimIdlePod } from "./idle-pod.js";

export interface IdlePodsDeps {
  readonly client: KubeClient;
  readonly clock: Time;
  readonly logger: Logger;
  /** Names this process: takes by other processes fail for the pods that bear this name. */
  readonly pool: string;
  readonly onChange: () => void;
}

const RETRY_MS = 1_000;
/** Time for which a created pod may be missing from the watch, ms. */
const WATCH_LAG_MS = 5_000;
/**
 * Time after a change of a pod for which its kubelet may show no other one, ms. A kubelet waits for
 * the next look at all containers, which it takes each second, before it syncs a pod again.
 */
export const KUBELET_LAG_MS = 1_200;
/** Time after which a pod that was deleted here and still exists counts again, ms. */
const DELETION_MS = 30_000;

/**
 * Idle pods of this process. It takes over those of earlier processes by a change of each pod: a
 * take of an earlier process that is still on its way then fails, since it names an older version.
 * A pod that may not be changed is deleted, which has the same effect. One that may not be deleted
 * either stays as it is: takes of it are refused as its change was.
 */
export class IdlePods {
  #informer: Informer<Pod> | undefined;
  readonly #abort = new AbortController();
  readonly #adopting = new Map<string, Promise<void>>();
  /** Pods that were just created or changed here, newer than the watch. */
  readonly #newer = new Map<string, { readonly pod: Pod; readonly until: number }>();
  /** Times at which pods were freed or taken over here, ms. */
  readonly #changedAt = new Map<string, number>();
  /** Pods that this process freed. */
  readonly #freed = new Set<string>();
  /** Pods that were taken or deleted here, and that the watch still shows. */
  readonly #gone = new Map<string, { readonly uid: string | undefined; readonly until: number }>();

  constructor(private readonly deps: IdlePodsDeps) {}

  /** Resolves when no take of an earlier process can succeed any more. */
  async start(): Promise<void> {
    const { client, clock, logger, onChange } = this.deps;
    this.#informer = createInformer<Pod>({
      client,
      time: clock,
      ref: PODS,
      labelSelector: IDLE_SELECTOR,
      logger,
      transform: trimIdlePod,
      onEvent: ({ type, key, object }) => {
        if (type === "deleted") {
          this.#newer.delete(key);
          this.#gone.delete(key);
          this.#changedAt.delete(key);
          this.#freed.delete(key);
        } else if (poolOf(object) !== this.deps.pool) void this.#adopt(object);
        onChange();
      },
    });
    await this.#informer.synced;
    await Promise.all(this.#adopting.values());
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#informer?.stop();
    await Promise.all(this.#adopting.values());
  }

  /** Pods that belong to this process. */
  list(): readonly Pod[] {
    const now = this.deps.clock.now();
    const pods = new Map((this.#informer?.list() ?? []).map((pod) => [objectKey(pod), pod]));
    for (const [key, { pod, until }] of this.#newer) {
      const watched = pods.get(key);
      const isWatched = watched !== undefined && poolOf(watched) === this.deps.pool;
      if (isWatched || until <= now) this.#newer.delete(key);
      else pods.set(key, pod);
    }
    return [...pods].flatMap(([key, pod]) => (this.#isIdle(key, pod, now) ? [pod] : []));
  }

  #isIdle(key: string, pod: Pod, now: number): boolean {
    const gone = this.#gone.get(key);
    const isGone = gone !== undefined && gone.uid === pod.metadata.uid && gone.until > now;
    return !isGone && poolOf(pod) === this.deps.pool && pod.metadata.deletionTimestamp === undefined;
  }

  /** Adds a pod that this process changed. */
  addChanged(pod: Pod): void {
    this.#changedAt.set(objectKey(pod), this.deps.clock.now());
    this.add(pod);
  }

  /** Adds a pod that has served an attempt. */
  addFreed(pod: Pod): void {
    this.#freed.add(objectKey(pod));
    this.addChanged(pod);
  }

  /** True for a pod that this process freed. */
  wasFreed(pod: Pod): boolean {
    return this.#freed.has(objectKey(pod));
  }

  /** Adds a pod that this process created. */
  add(pod: Pod): void {
    this.#gone.delete(objectKey(pod));
    this.#newer.set(objectKey(pod), { pod: trimIdlePod(pod), until: this.deps.clock.now() + WATCH_LAG_MS });
  }

  /** Time from which the kubelet shows an assignment of the pod at once, ms; 0 if it has passed. */
  settledAt(pod: Pod): number {
    const at = this.#changedAt.get(objectKey(pod));
    return at === undefined || at + KUBELET_LAG_MS <= this.deps.clock.now() ? 0 : at + KUBELET_LAG_MS;
  }

  /** Removes a pod that was taken or deleted. */
  remove(pod: Pod): void {
    const key = objectKey(pod);
    this.#newer.delete(key);
    this.#changedAt.delete(key);
    this.#freed.delete(key);
    if (this.#informer?.get(key) !== undefined) this.#gone.set(key, { uid: pod.metadata.uid, until: this.deps.clock.now() + DELETION_MS });
  }

  /** Counts a pod again that could not be deleted. */
  restore(pod: Pod): void {
    this.#gone.delete(objectKey(pod));
  }

  #adopt(pod: Pod): Promise<void> {
    const key = objectKey(pod);
    const adopting = this.#adopting.get(key) ?? this.#adoptPod(pod).finally(() => this.#adopting.delete(key));
    this.#adopting.set(key, adopting);
    return adopting;
  }

  async #adoptPod(found: Pod): Promise<void> {
    const { clock, logger, pool } = this.deps;
    const { signal } = this.#abort;
    const { namespace = "", name } = found.metadata;
    let pod: Pod | undefined = found;
    while (!signal.aborted && pod !== undefined && poolOf(pod) !== pool) {
      try {
        return await this.#takeOver(pod);
      } catch (error) {
        if (isNotFound(error)) return;
        if (!isConflict(error)) {
          const fields = { pod: `${namespace}/${name}`, error: String(error) };
          logger.warn(fields, "cannot take over a warm pod now; tasks start once this has succeeded or was refused");
          await clock.sleep(RETRY_MS, signal).catch(() => undefined);
        }
      }
      pod = await this.#idlePod(namespace, name, pod);
    }
  }

  /**
   * Changes this version of the pod, or deletes it where that is refused.
   *
   * @throws an error after which another try may have another result
   */
  async #takeOver(pod: Pod): Promise<void> {
    const { client, logger, pool } = this.deps;
    const { namespace = "", name, uid, resourceVersion } = pod.metadata;
    const id = `${namespace}/${name}`;
    try {
      const body = { metadata: { resourceVersion, annotations: { [WARM_POOL_ANNOTATION]: pool } } };
      return this.addChanged(await client.mergePatch<Pod>(PODS, { namespace, name, body }));
    } catch (error) {
      if (!isRefusal(error)) throw error;
      logger.warn({ pod: id, error: String(error) }, "a warm pod may not be changed and is deleted: no task could take it");
    }
    try {
      await client.delete(PODS, { namespace, name, uid, resourceVersion, gracePeriodSeconds: 1 });
    } catch (error) {
      if (!isRefusal(error)) throw error;
      logger.warn({ pod: id, error: String(error) }, "a warm pod may be neither changed nor deleted; delete it by hand");
    }
  }

  /** The current pod if it is still idle; the known one while it cannot be read. */
  async #idlePod(namespace: string, name: string, known: Pod): Promise<Pod | undefined> {
    try {
      const current = await this.deps.client.get<Pod>(PODS, { namespace, name });
      return current !== undefined && isIdleWarmPod(current) ? current : undefined;
    } catch {
      return known;
    }
  }
}

/** True for a refusal that would be repeated: by an admission policy or a missing permission. */
function isRefusal(error: unknown): boolean {
  return error instanceof KubeError && !isTransient(error) && !wasNotApplied(error) && !isConflict(error) && !isNotFound(error);
}
