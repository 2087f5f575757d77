import type { Time } from "@flyte-ts/async";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { type KubeClient, PODS } from "@flyte-ts/kubernetes";
import { asRetryLater, type Pod } from "@flyte-ts/pod-task";
import { withEndFromStatus } from "@flyte-ts/pod-task/warm";
import { attemptKey, RetryLater } from "@flyte-ts/task-plugin";
import type { AttemptPodNames } from "./attempt-pod-names.js";
import { DeletionWaiter } from "./deletion-waiter.js";
import { deleteTakenPod } from "./warm/delete-taken-pod.js";
import type { WarmPool } from "./warm/pool.js";
import { isReservation } from "./warm/reservations.js";

export interface AttemptPodsDeps {
  readonly client: Pick<KubeClient, "get" | "delete">;
  readonly clock: Time;
  /**
   * Seconds between SIGTERM and SIGKILL for a container of an aborted attempt. Short, since its
   * result is not needed; not 0, with which Kubernetes forgets the pod before its processes have
   * ended, so that two attempts could run at once.
   */
  readonly terminationGraceSeconds: number;
  /** Maximum wait for the deletion of a pod before the abort is retried, ms. */
  readonly deletionTimeoutMs: number;
  /** Pods that are started ahead. Absent: each attempt starts a pod of its own. */
  readonly warm?: WarmPool | undefined;
}

/** Reads and deletes the pods of attempts in Kubernetes itself: a cache may lag behind it. */
export class AttemptPods {
  readonly #deletions: DeletionWaiter;

  constructor(
    private readonly deps: AttemptPodsDeps,
    private readonly names: AttemptPodNames,
  ) {
    this.#deletions = new DeletionWaiter(deps.clock);
  }

  /** Ends the waits for the deletion of an attempt's pod. */
  onDeleted(key: string): void {
    this.#deletions.onDeleted(key);
  }

  /** Reads the pod of the attempt, also one whose take had no answer. */
  async get(request: Pick<TaskRequest, "namespace" | "generatedName">): Promise<Pod | undefined> {
    const { client, warm } = this.deps;
    const { namespace, name } = warm?.unknownTake(request) ?? this.names.objectOf(request);
    try {
      const pod = await client.get<Pod>(PODS, { namespace, name });
      if (pod === undefined || isReservation(pod)) return undefined;
      if (name === request.generatedName) return pod;
      // A warm pod may be idle, or may have been taken by another attempt.
      if (this.names.add(pod) !== attemptKey(request)) return undefined;
      const ended = withEndFromStatus(pod);
      return warm?.reused.ends.apply(ended) ?? ended;
    } catch (error) {
      throw asRetryLater(error);
    }
  }

  async delete(attempt: Pick<TaskRequest, "namespace" | "generatedName">, uid: string | undefined): Promise<boolean> {
    const { client, terminationGraceSeconds: gracePeriodSeconds } = this.deps;
    const { namespace, name } = this.names.objectOf(attempt);
    if (name !== attempt.generatedName)
      return deleteTakenPod({ client, gracePeriodSeconds, read: () => this.get(attempt) }, attemptKey(attempt));
    try {
      return await client.delete(PODS, { namespace, name, gracePeriodSeconds, uid });
    } catch (error) {
      throw asRetryLater(error);
    }
  }

  /**
   * Deletes the pod and waits until it is gone. Since the watch may be interrupted, Kubernetes is
   * polled as well.
   */
  async deleteAndWait(request: TaskRequest, uid: string | undefined): Promise<void> {
    const { clock, deletionTimeoutMs } = this.deps;
    const key = attemptKey(request);
    const deletion = this.#deletions.watch(key);
    try {
      if (!(await this.delete(request, uid))) return;
      const deadline = clock.now() + deletionTimeoutMs;
      while (clock.now() < deadline) {
        if (await deletion.waitFor(1_000)) return;
        const current = await this.get(request);
        if (current === undefined || current.metadata.uid !== uid) return;
      }
      throw new RetryLater(`pod ${key} still exists after its deletion`);
    } finally {
      deletion.cancel();
    }
  }
}
