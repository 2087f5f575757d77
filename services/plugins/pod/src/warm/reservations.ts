import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { Time } from "@flyte-ts/async";
import {
  isAlreadyExists,
  isConflict,
  isNotFound,
  isTransient,
  type KubeClient,
  type KubeObject,
  PODS,
  type ResourceRef,
} from "@flyte-ts/kubernetes";
import { asRetryLater, type CreatePodDeps, type Pod } from "@flyte-ts/pod-task";
import { WARM_POOL_ANNOTATION, WARM_STATE_LABEL } from "@flyte-ts/pod-task/warm";
import { attemptKey, RetryLater } from "@flyte-ts/task-plugin";
import type { Logger } from "@flyte-ts/telemetry";

export interface ReservationsDeps {
  readonly client: Pick<KubeClient, "get" | "list" | "create" | "mergePatch" | "delete">;
  readonly clock: Time;
  readonly logger: Logger;
  /** Names this process. */
  readonly pool: string;
  /** Time within which creations of earlier processes may take effect, ms. */
  readonly settlesWithinMs: number;
}

const RESERVED = "reserved";
export const RESERVED_SELECTOR = `${WARM_STATE_LABEL}=${RESERVED}`;
/** No scheduler has this name, so that the pod gets no node and runs nothing. */
const NO_SCHEDULER = "flyte.org/none";
const MAX_CONFLICTS = 5;
const RETRY_MS = 5_000;

/**
 * Pods that run nothing and have the names of attempts. While one exists, a creation of the
 * attempt's own pod fails, also that of an earlier process which is still on its way. So an attempt
 * can take a warm pod at once after a start of this process.
 */
export class Reservations {
  /** Reservations of this process, by the keys of their attempts. */
  readonly #held = new Map<string, Pod>();
  readonly #cancelTimers = new Set<() => void>();
  #stopped = false;

  constructor(private readonly deps: ReservationsDeps) {}

  /** Deletes all reservations once they are not needed, also those of earlier processes. */
  start(): void {
    // The second time for those whose creation had no answer.
    for (const times of [1, 2]) this.#schedule(times * this.deps.settlesWithinMs);
  }

  stop(): void {
    this.#stopped = true;
    for (const cancel of this.#cancelTimers) cancel();
  }

  /**
   * Reserves the name of the attempt's own pod. False when such a pod exists, or the reservation is
   * refused.
   *
   * @throws RetryLater
   */
  async reserve(request: TaskRequest, pod: Pod): Promise<boolean> {
    try {
      for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
        const reserved = (await this.#create(pod)) ?? (await this.#takeOver(request));
        if (reserved === "none") return false;
        if (reserved === undefined) continue;
        this.#held.set(attemptKey(request), reserved);
        return true;
      }
    } catch (error) {
      if (!isTransient(error)) {
        this.deps.logger.info(
          { namespace: request.namespace, error: String(error) },
          "cannot reserve the name of a pod; the task starts cold",
        );
        return false;
      }
      throw asRetryLater(error);
    }
    throw new RetryLater(`the reservation of pod ${attemptKey(request)} changes all the time`);
  }

  /**
   * Ends the reservation of an attempt that needs a pod of its own name.
   *
   * @throws a failure of the API
   */
  async release(request: TaskRequest): Promise<void> {
    const held = this.#held.get(attemptKey(request));
    if (held === undefined) return;
    await this.#delete(held);
    this.#held.delete(attemptKey(request));
  }

  /** A client that creates pods of attempts in the places of reservations. */
  readonly creator: CreatePodDeps["client"] = {
    get: (ref, name) => this.deps.client.get(ref, name),
    create: async <T extends KubeObject>(ref: ResourceRef, object: KubeObject, options?: { metadataOnly?: boolean }) => {
      const { client } = this.deps;
      try {
        return await client.create<T>(ref, object, options);
      } catch (error) {
        const { namespace = "", name } = object.metadata;
        const existing = isAlreadyExists(error) ? await client.get<Pod>(PODS, { namespace, name }) : undefined;
        if (existing === undefined || !isReservation(existing)) throw error;
        await this.#delete(existing);
        return client.create<T>(ref, object, options);
      }
    },
  };

  /** Undefined when a pod of this name exists. */
  async #create(pod: Pod): Promise<Pod | undefined> {
    try {
      return await this.deps.client.create<Pod>(PODS, reservationOf(pod, this.deps.pool));
    } catch (error) {
      if (isAlreadyExists(error)) return undefined;
      throw error;
    }
  }

  /**
   * Takes a reservation of an earlier process over, or an earlier one of this process. The change
   * lets its deletion by that process fail, which may still be on its way.
   */
  async #takeOver({ namespace, generatedName: name }: TaskRequest): Promise<Pod | "none" | undefined> {
    const { client, pool } = this.deps;
    const existing = await client.get<Pod>(PODS, { namespace, name });
    if (existing === undefined) return undefined;
    if (!isReservation(existing)) return "none";
    if (existing.metadata.deletionTimestamp !== undefined) return undefined;
    const { uid, resourceVersion } = existing.metadata;
    const annotations = { [WARM_POOL_ANNOTATION]: `${pool} ${resourceVersion ?? ""}` };
    try {
      return await client.mergePatch<Pod>(PODS, { namespace, name, body: { metadata: { uid, resourceVersion, annotations } } });
    } catch (error) {
      if (isConflict(error) || isNotFound(error)) return undefined;
      throw error;
    }
  }

  #schedule(ms: number): void {
    const cancel = this.deps.clock.schedule(ms, () => {
      this.#cancelTimers.delete(cancel);
      void this.#deleteAll();
    });
    this.#cancelTimers.add(cancel);
  }

  async #deleteAll(): Promise<void> {
    try {
      const { items } = await this.deps.client.list<Pod>(PODS, { labelSelector: RESERVED_SELECTOR });
      for (const pod of items) if (!this.#stopped) await this.#delete(pod);
      this.#held.clear();
    } catch (error) {
      if (this.#stopped) return;
      this.deps.logger.info({ error: String(error) }, "cannot delete the reservations of pods' names; retrying");
      this.#schedule(RETRY_MS);
    }
  }

  /** Deletes this version of a reservation: never one that a later process relies on. */
  async #delete({ metadata: { namespace, name, uid, resourceVersion } }: Pod): Promise<void> {
    try {
      await this.deps.client.delete(PODS, { namespace, name, uid, resourceVersion, gracePeriodSeconds: 0 });
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error;
    }
  }
}

/** True for a pod that runs nothing and keeps the name of an attempt. */
export function isReservation({ metadata }: Pick<Pod, "metadata">): boolean {
  return metadata.labels?.[WARM_STATE_LABEL] === RESERVED;
}

/** Builds the reservation. It has the image of the attempt's pod, which policies admit. */
function reservationOf({ metadata: { namespace, name, ownerReferences }, spec }: Pod, pool: string): Pod {
  const securityContext = {
    allowPrivilegeEscalation: false,
    runAsNonRoot: true,
    capabilities: { drop: ["ALL"] },
    seccompProfile: { type: "RuntimeDefault" },
  };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...(namespace === undefined ? {} : { namespace }),
      name,
      labels: { [WARM_STATE_LABEL]: RESERVED },
      annotations: { [WARM_POOL_ANNOTATION]: pool },
      ...(ownerReferences === undefined ? {} : { ownerReferences }),
    },
    spec: {
      schedulerName: NO_SCHEDULER,
      restartPolicy: "Never",
      automountServiceAccountToken: false,
      containers: [{ name: "none", image: spec.containers[0]?.image ?? "none", securityContext }],
    },
  };
}
