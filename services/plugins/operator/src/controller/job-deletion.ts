import type { Time } from "@flyte-ts/async";
import type { Pod } from "@flyte-ts/pod-task";
import { RetryLater } from "@flyte-ts/task-plugin";
import type { Logger } from "@flyte-ts/telemetry";
import type { ChangeWaiter } from "./change-waiter.js";
import type { JobApi } from "./job-api.js";
import { activePods } from "./job-ending.js";
import type { JobRef } from "./job-ref.js";

export interface JobDeletionDeps {
  readonly api: Pick<JobApi, "get" | "delete">;
  readonly changes: ChangeWaiter;
  readonly podsOf: (ref: JobRef) => readonly Pod[];
  readonly clock: Time;
  readonly logger: Pick<Logger, "warn">;
  /** Maximum wait for the deletion of a job and its pods, ms. */
  readonly deletionTimeoutMs: number;
}

/** Time between two reads of a job whose deletion is awaited, ms: the watch may be interrupted. */
const POLL_MS = 2_000;

/** Deletes jobs and waits until none of their pods runs. */
export class JobDeletion {
  constructor(private readonly deps: JobDeletionDeps) {}

  /** @throws RetryLater when the resource or a pod still exists after `deletionTimeoutMs` */
  async deleteAndWait(ref: JobRef, uid: string | undefined): Promise<void> {
    await this.deps.api.delete(ref, uid);
    await this.#waitUntilGone(ref, uid);
  }

  /**
   * Waits for the pods of a resource that does not exist.
   *
   * @throws RetryLater when one still runs after `deletionTimeoutMs`
   */
  waitForPods(ref: JobRef): Promise<void> {
    return this.#waitUntilGone(ref, undefined);
  }

  async #waitUntilGone(ref: JobRef, uid: string | undefined): Promise<void> {
    const { api, changes, podsOf, clock, deletionTimeoutMs } = this.deps;
    const deadline = clock.now() + deletionTimeoutMs;
    let finalizers: readonly string[] = [];
    let exists = uid !== undefined;
    while (exists || activePods(podsOf(ref)).length > 0) {
      if (clock.now() >= deadline) throw this.#stillExists(ref, exists, finalizers);
      await changes.wait(ref.jobKey, POLL_MS);
      if (!exists) continue;
      const job = await api.get(ref);
      exists = job?.metadata.uid === uid;
      finalizers = job?.metadata.finalizers ?? [];
    }
  }

  /** Names what still exists, since only an operator or a node can remove it. */
  #stillExists(ref: JobRef, exists: boolean, finalizers: readonly string[]): RetryLater {
    const { logger, podsOf, deletionTimeoutMs } = this.deps;
    const { kind } = ref.operator;
    const pods = activePods(podsOf(ref)).map(({ metadata }) => metadata.name);
    const seconds = deletionTimeoutMs / 1_000;
    logger.warn(
      { job: ref.key, exists, finalizers, pods },
      `a job or its pods still exist ${seconds} s after the deletion; are the operator for ${kind} and the nodes of the pods working?`,
    );
    const job = finalizers.length === 0 ? `${kind} ${ref.jobKey}` : `${kind} ${ref.jobKey} (finalizers: ${finalizers.join(", ")})`;
    const left = [...(exists ? [job] : []), ...(pods.length > 0 ? [`its pods ${pods.join(", ")}`] : [])];
    return new RetryLater(`${seconds} s after the deletion, there still are ${left.join(" and ")}`);
  }
}
