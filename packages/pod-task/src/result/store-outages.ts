import type { Time } from "@flyte-ts/async";
import { BlobUnavailableError } from "@flyte-ts/blobstore";
import { type AttemptFailure, type PermanentFailure, RetryableFailure } from "@flyte-ts/task-plugin";
import type { ContainerStatus, Pod } from "../pod-types.js";
import { OOM_KILLED } from "../status/terminal-result.js";
import type { DataStore } from "./data-store.js";

/** The blob store, with the time of its last outage. */
export class OutageTrackingStore implements DataStore {
  #unavailableAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly store: DataStore,
    private readonly clock: Time,
  ) {}

  readonly get: DataStore["get"] = (...args) => this.#track(this.store.get(...args));
  readonly put: DataStore["put"] = (...args) => this.#track(this.store.put(...args));
  readonly head: DataStore["head"] = (...args) => this.#track(this.store.head(...args));

  /** True when the store was unavailable since then. */
  wasUnavailableSince(time: Date): boolean {
    return this.#unavailableAt >= time.getTime();
  }

  async #track<T>(response: Promise<T>): Promise<T> {
    try {
      return await response;
    } catch (error) {
      if (error instanceof BlobUnavailableError) this.#unavailableAt = this.clock.now();
      throw error;
    }
  }
}

/**
 * True when an unavailable blob store may have caused the failure: flytekit, which can then neither
 * read inputs nor write outputs or an error document, exits with a code as user code does.
 */
export function mayBeStoreOutage(pod: Pod, failure: AttemptFailure): boolean {
  if (!(failure instanceof RetryableFailure) || failure.details.kind !== "USER" || failure.details.code === OOM_KILLED) return false;
  return containerStatuses(pod).some(({ state, lastState }) => ((state?.terminated ?? lastState?.terminated)?.exitCode ?? 0) !== 0);
}

/** Converts the failure to a system failure, which uses no retry of the user. */
export function asSystemFailure(failure: RetryableFailure | PermanentFailure): RetryableFailure {
  const message = `${failure.details.message}\nThe blob store was unavailable while the attempt ran, so the failure does not use the task's retries.`;
  return new RetryableFailure({ ...failure.details, kind: "SYSTEM", message });
}

function containerStatuses({ status }: Pod): readonly ContainerStatus[] {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
}
