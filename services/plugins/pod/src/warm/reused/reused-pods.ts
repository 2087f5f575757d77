import { isConflict, isNotFound, isTransient, type KubeClient, objectKey, PODS } from "@flyte-ts/kubernetes";
import { asRetryLater, type Pod } from "@flyte-ts/pod-task";
import { abortPatch, type AttemptEnd, freePatch, repeatPatch, takeOf } from "@flyte-ts/pod-task/warm";
import { RetryLater } from "@flyte-ts/task-plugin";
import { kindOf } from "../idle-pod.js";
import type { WarmPodMetrics } from "../metrics.js";
import { AttemptEnds, type AttemptEndsDeps } from "./attempt-ends.js";
import { retirementOf } from "./retirement.js";

export interface ReusedPodsDeps extends Pick<AttemptEndsDeps, "clock"> {
  readonly client: Pick<KubeClient, "podLog" | "get" | "mergePatch">;
  /** Names this process. */
  readonly pool: string;
  readonly metrics?: WarmPodMetrics | undefined;
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
  /** Pods that this process has taken. */
  readonly #busy = new Map<string, BusyPod>();

  constructor(private readonly deps: ReusedPodsDeps) {
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

  /**
   * Makes the pod of an ended attempt idle again. Undefined when it cannot serve another one, and
   * is to be deleted.
   *
   * @throws RetryLater
   */
  async free(pod: Pod): Promise<"freed" | undefined> {
    const end = this.ends.endOf(pod);
    if (end === undefined || end.retires !== undefined || pod.metadata.deletionTimestamp !== undefined) {
      this.deps.metrics?.retired.inc({ reason: retirementOf(end?.retires) });
      return undefined;
    }
    const freed = await this.#patch(pod, (current) => freePatch(current, this.deps.pool));
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
