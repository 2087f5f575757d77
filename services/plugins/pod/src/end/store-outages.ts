import type { Time } from "@flyte-ts/async";
import { BlobUnavailable } from "@flyte-ts/blobstore";
import { type AttemptFailure, type PermanentFailure, RetryableFailure } from "@flyte-ts/task-plugin";
import type { ContainerStatus, Pod } from "../kube/pod-types.js";
import { OOM } from "../phase/ended.js";
import type { DataStore } from "./data-store.js";

/** The blob store, with the time of its last outage. */
export class WatchedStore implements DataStore {
  #awayAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly store: DataStore,
    private readonly clock: Time,
  ) {}

  readonly get: DataStore["get"] = (...args) => this.#noted(this.store.get(...args));
  readonly put: DataStore["put"] = (...args) => this.#noted(this.store.put(...args));
  readonly head: DataStore["head"] = (...args) => this.#noted(this.store.head(...args));

  /** True when the store was unavailable since then. */
  wasAwaySince(time: Date): boolean {
    return this.#awayAt >= time.getTime();
  }

  async #noted<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      if (error instanceof BlobUnavailable) this.#awayAt = this.clock.now();
      throw error;
    }
  }
}

/**
 * True when an unavailable blob store may have caused the failure: flytekit, which can then neither read inputs nor
 * write outputs or an error document, exits with a code as user code does.
 */
export function mayBeForStore(pod: Pod, failure: AttemptFailure): boolean {
  if (!(failure instanceof RetryableFailure) || failure.details.kind !== "USER" || failure.details.code === OOM) return false;
  return statusesOf(pod).some(({ state, lastState }) => ((state?.terminated ?? lastState?.terminated)?.exitCode ?? 0) !== 0);
}

/** Converts the failure to a system failure, which uses no retry of the user. */
export function forStore(failure: RetryableFailure | PermanentFailure): RetryableFailure {
  const message = `${failure.details.message}\nThe blob store was away while the attempt ran, so the failure is not counted against the task's retries.`;
  return new RetryableFailure({ ...failure.details, kind: "SYSTEM", message });
}

function statusesOf({ status }: Pod): readonly ContainerStatus[] {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
}
