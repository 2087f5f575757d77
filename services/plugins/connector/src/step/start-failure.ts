import { PermanentFailure, RetryableFailure } from "@flyte-ts/task-plugin";
import type { CallFailure } from "../endpoint/call-failure.js";
import type { Endpoint } from "../endpoint/endpoint.js";
import type { LiveAttempt } from "../attempt/live-attempt.js";
import { FAILED_CODE, waitForConnector } from "./step-failure.js";
import type { StepContext, StepResult } from "./step.js";

/** Failure of a call whose effect is unknown: a job may exist that no id refers to. */
export function creationUnknown(attempt: LiveAttempt, why: string): RetryableFailure {
  attempt.isCreationUnknown = true;
  const message = `the connector may have created a job whose id is unknown: ${why}`;
  return new RetryableFailure({ code: "CreationUnknown", message, kind: "SYSTEM" });
}

/** Failure of a task whose connector has answered a process that then ended without a report. */
export function resultLost(): RetryableFailure {
  const message = "the connector has answered, but the process that had called it ended before it reported the answer";
  return new RetryableFailure({ code: "ResultLost", message, kind: "SYSTEM" });
}

/** Decides on a failed CreateTask or ExecuteTaskSync. @throws PermanentFailure, RetryableFailure */
export function resultOfStartFailure(
  attempt: LiveAttempt,
  { endpoint, failure }: { readonly endpoint: Endpoint; readonly failure: CallFailure },
  context: StepContext,
): StepResult {
  const { message } = failure;
  switch (failure.kind) {
    case "unavailable":
      if (failure.withoutEffect) return waitForConnector(attempt, failure, context);
      if (!endpoint.isIdempotent(attempt.taskType)) throw creationUnknown(attempt, message);
      attempt.isCreationUnknown = true;
      return waitForConnector(attempt, failure, context);
    case "invalid":
    case "missing":
      throw new PermanentFailure({ code: FAILED_CODE, message });
    case "error":
      throw new RetryableFailure({ code: FAILED_CODE, message, kind: "USER" });
  }
}
