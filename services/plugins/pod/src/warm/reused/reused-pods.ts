import { isConflict, isNotFound, isTransient, type KubeClient, objectKey, PODS } from "@flyte-ts/kubernetes";
import { asRetryLater, type Pod } from "@flyte-ts/pod-task";
import { abortPatch, type AttemptEnd, type FreePod, freePatch, repeatPatch, takeOf } from "@flyte-ts/pod-task/warm";
import { RetryLater } from "@flyte-ts/task-plugin";
import { kindOf } from "../idle-pod.js";
import { KUBELET_LAG_MS } from "../idle-pods.js";
import type { WarmPodMetrics } from "../metrics.js";
import { AttemptEnds, type AttemptEndsDeps } from "./attempt-ends.js";
import { Offers } from "./offers.js";
import type { Preloads } from "./preloads.js";
import { retirementOf } from "./retirement.js";

export interface ReusedPodsDeps extends Pick<AttemptEndsDeps, "clock"> {
  readonly client: Pick<KubeClient, "podLog" | "get" | "mergePatch">;
  /** Names this process. */
  readonly pool: string;
  readonly metrics?: WarmPodMetrics | undefined;
  readonly preloads: Preloads;
  /** True while other pods wait for the room that idle pods have. */
  readonly isRoomNeeded: () => boolean;
  /** Called with each pod that waits for an attempt again. */
  readonly onFree: (pod: Pod) => void;
}

/** Changes of a pod by its kubelet that one request tolerates. */
const MAX_CONFLICTS = 5;
/** Time within which a supervisor has to end an attempt; later its pod is deleted, ms. */
const ABORT_MS = 2_000;

/** A pod that this process has taken. */
interface BusyPod {
  readonly pod: Pod;
  /** Time of the take, ms. */
  readonly at: number;
  /** Its kubelet may have shown the assignment late. */
  readonly late: boolean;
}

/** Pods that serve several attempts: how an attempt ends without its pod. */
export class ReusedPods {
  readonly ends: AttemptEnds;
  /** Pods that attempts can take before they are freed. */
  readonly offers: Offers;
  /** Pods that this process has taken. */
  readonly #busy = new Map<string, BusyPod>();

  #draining = false;

  constructor(private readonly deps: ReusedPodsDeps) {
    this.offers = new Offers(deps.clock);
    this.ends = new AttemptEnds({ ...deps, repeatAssignment: (pod, count) => this.#repeatAssignment(pod, count) });
  }

  /**
   * Notes that an attempt has taken the pod.
   *
   * @param late true if its kubelet may show the assignment late
   */
  taken(pod: Pod, now: number, late: boolean): void {
    if (takeOf(pod) === undefined) return;
    this.ends.observe(pod);
    this.offers.taken(pod);
    this.#busy.set(objectKey(pod), { pod, at: now, late });
  }

  /** Pods of a kind that attempts have, and that can serve another one. */
  busy(kind: string): readonly BusyPod[] {
    for (const [key, { pod }] of this.#busy) if (!this.ends.mayReturn(pod)) this.#busy.delete(key);
    return [...this.#busy.values()].filter(({ pod }) => kindOf(pod) === kind);
  }

  /** Number of pods of a kind whose attempts have ended, and that are freed in a moment. */
  returning(kind: string): number {
    return this.busy(kind).filter(({ pod }) => this.ends.endOf(pod) !== undefined).length;
  }

  /** Offers no pods any more. */
  drain(): void {
    this.#draining = true;
    this.offers.closeAll();
  }

  /** Builds what a pod of this kind gets when it is freed. */
  freedPod(kind: string): FreePod {
    const { pool, preloads } = this.deps;
    return { pool, preload: preloads.annotationOf(kind) };
  }

  /**
   * Offers the pod of an ended attempt to the next one, and makes it idle if none takes it.
   * Undefined when the pod cannot serve another attempt, and is to be deleted.
   *
   * @throws RetryLater
   */
  async release(pod: Pod): Promise<"freed" | undefined> {
    const end = this.ends.endOf(pod);
    if (end === undefined || !canServe(pod, end) || this.#draining || this.deps.isRoomNeeded()) return this.free(pod);
    this.deps.preloads.learn(kindOf(pod), end);
    const busy = this.#busy.get(objectKey(pod));
    const settledAt = busy === undefined ? 0 : busy.at + KUBELET_LAG_MS * (busy.late ? 2 : 1);
    if (!(await this.offers.offer({ pod, settledAt }))) return this.free(pod);
    this.deps.metrics?.reuses.inc();
    return "freed";
  }

  /**
   * Makes the pod of an ended attempt idle again. Undefined when it cannot serve another one, and
   * is to be deleted.
   *
   * @throws RetryLater
   */
  async free(pod: Pod): Promise<"freed" | undefined> {
    const end = this.ends.endOf(pod);
    if (end !== undefined) this.deps.preloads.learn(kindOf(pod), end);
    if (end === undefined || !canServe(pod, end)) {
      this.deps.metrics?.retired.inc({ reason: retirementOf(end?.retires) });
      return undefined;
    }
    const freed = await this.#patch(pod, (current) => freePatch(current, this.freedPod(kindOf(pod))));
    if (freed === "refused") return undefined;
    this.ends.forget(pod);
    if (freed !== undefined) {
      this.deps.metrics?.reuses.inc();
      this.deps.onFree(freed);
    }
    return "freed";
  }

  /**
   * Ends the attempt of the pod. Undefined when its supervisor does not do so in time, and the pod
   * is to be deleted.
   *
   * @throws RetryLater
   */
  async end(pod: Pod): Promise<AttemptEnd | undefined> {
    const known = this.ends.endOf(pod);
    if (known !== undefined) return known;
    this.ends.observe(pod);
    const asked = await this.#patch(pod, abortPatch);
    return asked === undefined || asked === "refused" ? undefined : this.ends.waitFor(pod, ABORT_MS);
  }

  async #repeatAssignment(pod: Pod, count: number): Promise<void> {
    const repeated = await this.#patch(pod, (current) => repeatPatch(current, count));
    if (repeated !== undefined && repeated !== "refused") this.deps.metrics?.repeatedAssignments.inc();
  }

  /** Patches the pod while it serves this attempt; undefined when it does not. */
  async #patch(pod: Pod, bodyOf: (current: Pod) => object): Promise<Pod | "refused" | undefined> {
    const { client } = this.deps;
    const { namespace = "", name } = pod.metadata;
    let current: Pod | undefined = pod;
    try {
      for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
        if (current === undefined || takeOf(current) !== takeOf(pod)) return undefined;
        try {
          return await client.mergePatch<Pod>(PODS, { namespace, name, body: bodyOf(current) });
        } catch (error) {
          if (isNotFound(error)) return undefined;
          if (isTransient(error)) throw error;
          if (!isConflict(error)) return "refused";
        }
        current = await client.get<Pod>(PODS, { namespace, name });
      }
    } catch (error) {
      throw asRetryLater(error);
    }
    throw new RetryLater(`pod ${namespace}/${name} changes all the time`);
  }
}

/** True when the pod can serve an attempt after the one that has ended. */
function canServe({ metadata }: Pod, { retires }: AttemptEnd): boolean {
  return retires === undefined && metadata.deletionTimestamp === undefined;
}
