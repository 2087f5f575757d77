import { type AgentError, AgentError_Kind, type Resource, State } from "@flyte-ts/idl/flyteidl/admin/agent_pb";
import { ExecutionError_ErrorKind, TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { type FailureKind, PermanentFailure, type ProgressPhase, RetryableFailure } from "@flyte-ts/task-plugin";

/** State of a task as its connector reports it. */
export type ReportedState =
  | { readonly kind: "noNews" }
  | { readonly kind: "progress"; readonly phase: ProgressPhase; readonly reason: string }
  | { readonly kind: "succeeded" }
  | { readonly kind: "failed"; readonly failure: PermanentFailure | RetryableFailure };

/** Code of a failure without one of its own, as in Go Flyte. */
const DEFAULT_CODE = "TaskFailedWithError";

/**
 * Interprets a resource by its phase, or by the older `state` when it has none. A resource without
 * content counts as no news, although 0 in the older `state` means a failure.
 */
export function reportedState(resource: Resource | undefined): ReportedState {
  if (resource === undefined) return { kind: "noNews" };
  const { phase, message } = resource;
  switch (phase) {
    case Phase.QUEUED:
    case Phase.WAITING_FOR_RESOURCES:
    case Phase.INITIALIZING:
    case Phase.RUNNING:
      return { kind: "progress", phase: Phase[phase] as ProgressPhase, reason: message };
    case Phase.SUCCEEDED:
      return { kind: "succeeded" };
    case Phase.FAILED:
      return { kind: "failed", failure: failureOf(resource, `failed to run the job: ${message}`, false) };
    case Phase.RETRYABLE_FAILED:
      return { kind: "failed", failure: failureOf(resource, `failed to run the job: ${message}`, true) };
    case Phase.ABORTED:
      return { kind: "failed", failure: failureOf(resource, withMessage("failed to run the job with aborted phase.", message), false) };
    case Phase.UNDEFINED:
      return oldState(resource);
  }
}

/** True when the task has reached a terminal state. */
export function hasEnded(resource: Resource | undefined): boolean {
  const { kind } = reportedState(resource);
  return kind === "succeeded" || kind === "failed";
}

function oldState(resource: Resource): ReportedState {
  const { state, message } = resource;
  switch (state) {
    case State.PENDING:
      return { kind: "progress", phase: "INITIALIZING", reason: message };
    case State.RUNNING:
      return { kind: "progress", phase: "RUNNING", reason: message };
    case State.SUCCEEDED:
      return { kind: "succeeded" };
    case State.PERMANENT_FAILURE:
      return { kind: "failed", failure: failureOf(resource, `failed to run the job: ${message}`, false) };
    case State.RETRYABLE_FAILURE:
      if (message === "" && resource.agentError === undefined) return { kind: "noNews" };
      return { kind: "failed", failure: failureOf(resource, `failed to run the job: ${message}`, true) };
  }
}

/**
 * The phase or the kind of `agent_error` makes a failure retryable. The origin of `agent_error`
 * selects the retry budget; without it the failure counts as the user's.
 */
function failureOf({ agentError }: Resource, message: string, retryable: boolean): PermanentFailure | RetryableFailure {
  const details = { code: agentError?.code || DEFAULT_CODE, message, kind: kindOf(agentError) };
  return retryable || agentError?.kind === AgentError_Kind.RECOVERABLE ? new RetryableFailure(details) : new PermanentFailure(details);
}

function kindOf(error: AgentError | undefined): FailureKind {
  return error?.origin === ExecutionError_ErrorKind.SYSTEM ? "SYSTEM" : "USER";
}

function withMessage(text: string, message: string): string {
  return message === "" ? text : `${text} ${message}`;
}
