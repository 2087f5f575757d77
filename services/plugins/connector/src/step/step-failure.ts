import { backoffDelay } from "@flyte-ts/async";
import { BlobUnavailableError } from "@flyte-ts/blobstore";
import { PermanentFailure, RetryableFailure, RetryLater } from "@flyte-ts/task-plugin";
import { CallFailure } from "../endpoint/call-failure.js";
import type { LiveAttempt } from "../attempt/live-attempt.js";
import type { StepContext, StepResult } from "./step.js";

/** Code of failures without a code of the connector, as in Go Flyte. */
export const FAILED_CODE = "TaskFailedWithError";

const STORE_RETRY = { initialMs: 5_000, maxMs: 5_000, jitter: 0.4 };
const RETRY = { initialMs: 1_000, maxMs: 30_000, jitter: 0.4 };

/** Converts an error of a step: the end of the attempt, or a wait whose reason users see. */
export function resultOfError(attempt: LiveAttempt, error: unknown, context: StepContext): StepResult {
  if (error instanceof PermanentFailure || error instanceof RetryableFailure) {
    return endOf(attempt, error);
  }
  if (error instanceof CallFailure) return waitForConnector(attempt, error, context);
  if (error instanceof RetryLater || error instanceof BlobUnavailableError) return waitAgain(attempt, error.message, context);
  context.logger.error(
    { attempt: attempt.key, taskType: attempt.taskType, error: error instanceof Error ? error.stack : String(error) },
    "a step of an attempt failed unexpectedly; it is repeated",
  );
  return waitAgain(attempt, error instanceof Error ? error.message : String(error), context);
}

/** Ends the attempt with a failure. */
export function endOf(attempt: LiveAttempt, failure: PermanentFailure | RetryableFailure): StepResult {
  return { status: { phase: "FAILED", failure, ...attempt.pluginState() } };
}

/** Waits for a connector that does not answer; after a configured time the attempt fails. */
export function waitForConnector(attempt: LiveAttempt, { message, retryAfterMs }: CallFailure, context: StepContext): StepResult {
  const { config, clock, random } = context;
  const { sinceMs, tries, reason } = attempt.unavailable ?? { sinceMs: clock.elapsed(), tries: 0, reason: message };
  const waitedMs = clock.elapsed() - sinceMs;
  if (waitedMs >= config.unavailableMs && tries > 0) {
    const text = `no answer for ${Math.round(waitedMs / 1_000)} s: ${message}`;
    const failure = new RetryableFailure({ code: "ConnectorUnavailable", message: text, kind: "SYSTEM" });
    return { ...endOf(attempt, failure), leavesJob: attempt.created !== undefined };
  }
  attempt.unavailable = { sinceMs, tries: tries + 1, reason };
  const delayMs = Math.max(retryAfterMs ?? 0, backoffDelay(RETRY, tries, random));
  // The first answer of an endpoint changes the routes, which repeats the step.
  return { status: attempt.waiting(reason), againInMs: delayMs, ...(attempt.created === undefined ? { waitsFor: "route" as const } : {}) };
}

/** Repeats the step in some seconds. */
export function waitAgain(attempt: LiveAttempt, reason: string, { random }: StepContext): StepResult {
  return { status: attempt.waiting(reason), againInMs: backoffDelay(STORE_RETRY, 0, random) };
}
