import type { Time } from "@flyte-ts/async";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { isTransient, REQUEST_TIMEOUT_MS, wasNotApplied } from "@flyte-ts/kubernetes";
import { attemptKey, RetryLater } from "@flyte-ts/task-plugin";
import { reduceRequest } from "./attempt-annotation.js";
import { isSameOwner } from "./ownership.js";

/**
 * Time after the end of a creation call within which the API server may still create the object,
 * ms: the server processes the call no longer than the client waits for it, and etcd decides about
 * a transaction that it has received within 7 s.
 */
export const CREATION_SETTLES_WITHIN_MS = REQUEST_TIMEOUT_MS + 10_000;

export interface UnsettledCreationsDeps {
  readonly clock: Time;
  /** Default: `CREATION_SETTLES_WITHIN_MS`. */
  readonly creationSettlesWithinMs?: number | undefined;
}

interface Creation {
  readonly request: TaskRequest;
  /** Time at which the creation can have no effect any more, ms; infinite during the call. */
  readonly settledAtMs: number;
}

/**
 * Creations that may still take effect: calls in progress, and calls without an answer. Kept in
 * memory: the start of the process counts as the end of every creation of earlier processes.
 */
export class UnsettledCreations {
  readonly #creations = new Map<string, Creation>();
  readonly #clock: Time;
  /** Time after the end of a call within which its creation may take effect, ms. */
  readonly settlesWithinMs: number;
  #earlierSettledAtMs = 0;

  constructor({ clock, creationSettlesWithinMs = CREATION_SETTLES_WITHIN_MS }: UnsettledCreationsDeps) {
    this.#clock = clock;
    this.settlesWithinMs = creationSettlesWithinMs;
  }

  /** Notes that this process takes over from earlier ones, whose creations may be in progress. */
  takeOver(): void {
    this.#earlierSettledAtMs = this.#clock.now() + this.settlesWithinMs;
  }

  /**
   * Adds the owner's attempts whose creation may still take effect to its existing ones.
   *
   * @throws RetryLater when there is none, while a creation of an earlier process may take effect
   */
  addAttempts(existing: readonly TaskRequest[], owner: TaskRequest["owner"]): readonly TaskRequest[] {
    this.#removeSettled();
    const attempts = new Map(existing.map((request) => [attemptKey(request), request]));
    for (const [key, { request }] of this.#creations)
      if (!attempts.has(key) && isSameOwner(request.owner, owner)) attempts.set(key, request);
    if (attempts.size === 0) this.requireEarlierSettled();
    return [...attempts.values()];
  }

  /**
   * Calls `create` for the attempt.
   *
   * @throws RetryLater also for a refusal, while an earlier creation may take effect
   */
  async track<T>(request: TaskRequest, create: () => Promise<T>): Promise<T> {
    const key = attemptKey(request);
    const earlier = this.#creations.get(key);
    this.#creations.set(key, { request, settledAtMs: Number.POSITIVE_INFINITY });
    try {
      const created = await create();
      this.#restore(key, earlier);
      return created;
    } catch (error) {
      this.#restore(key, earlier);
      if (mayTakeEffect(error)) {
        this.#removeSettled();
        this.#creations.set(key, {
          request: { ...reduceRequest(request), owner: request.owner },
          settledAtMs: this.#clock.now() + this.settlesWithinMs,
        });
      }
      if (error instanceof RetryLater) throw error;
      throw this.failureOf(request, error as Error);
    }
  }

  /** True while a creation of an earlier process may take effect. */
  get earlierMayTakeEffect(): boolean {
    return this.#clock.now() < this.#earlierSettledAtMs;
  }

  isSettled(request: TaskRequest): boolean {
    return this.remainingMs(request) === 0;
  }

  /** Returns the failure of the attempt; RetryLater while a creation of it may take effect. */
  failureOf(request: TaskRequest, failure: Error): Error {
    const retryAfterMs = this.remainingMs(request);
    return retryAfterMs === 0 ? failure : new RetryLater(failure.message, { retryAfterMs, cause: failure });
  }

  /** @throws RetryLater while a creation of the attempt by this process may take effect */
  requireSettled(request: TaskRequest): void {
    waitFor(this.remainingMs(request));
  }

  /** @throws RetryLater while a creation of an earlier process may take effect */
  requireEarlierSettled(): void {
    waitFor(Math.max(0, this.#earlierSettledAtMs - this.#clock.now()));
  }

  /** Time until creations of the attempt by this process are settled, ms. */
  remainingMs(request: TaskRequest): number {
    const { settledAtMs = 0 } = this.#creations.get(attemptKey(request)) ?? {};
    return Math.min(this.settlesWithinMs, Math.max(0, settledAtMs - this.#clock.now()));
  }

  #restore(key: string, earlier: Creation | undefined): void {
    if (earlier === undefined) this.#creations.delete(key);
    else this.#creations.set(key, earlier);
  }

  #removeSettled(): void {
    const now = this.#clock.now();
    for (const [key, { settledAtMs }] of this.#creations) if (settledAtMs <= now) this.#creations.delete(key);
  }
}

function waitFor(retryAfterMs: number): void {
  if (retryAfterMs > 0) throw new RetryLater("a creation without an answer may still take effect", { retryAfterMs });
}

/** True when the API server may process the creation after this error. */
function mayTakeEffect(error: unknown): boolean {
  const cause = error instanceof RetryLater ? error.cause : error;
  return isTransient(cause) && !wasNotApplied(cause);
}
