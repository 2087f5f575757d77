import { retry } from "@flyte-ts/async";

/** Delays between the calls of a request: 4 retries within about 3 s. */
const BACKOFF = { initialMs: 100, maxMs: 2_000, jitter: 0.5, maxRetries: 4 };

/** Calls an operation again after failures that may be transient. */
export function withRetries<Result>(operation: () => Promise<Result>): Promise<Result> {
  return retry(operation, { ...BACKOFF, isRetryable: isTransient });
}

/**
 * True for errors that say themselves that they are transient: those of this package and of the
 * API, also when they come out of another copy of it.
 */
export const isTransient = (error: unknown): boolean => says(error, "transient") || says(error, "isTransient");

const says = (error: unknown, name: string): boolean => typeof error === "object" && error !== null && Reflect.get(error, name) === true;
