import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type ExecutionError,
  ExecutionError_ErrorKind,
  ExecutionErrorSchema,
  TaskExecution_Phase,
} from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { type TaskExecutionEvent, TaskExecutionMetadata_InstanceClass } from "@flyte-ts/idl/flyteidl/event/event_pb";
import type { Failure, TaskEvent, TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { truncateErrorText } from "./truncate-error-text.js";
import type { AttemptFailure } from "../failure.js";
import type { TaskStatus } from "../status.js";

/** Event version in which map tasks report their elements individually; Flyte 1.16 sends it. */
const EVENT_VERSION = 1;

export interface TaskEventOptions {
  readonly phaseVersion: number;
  readonly pluginIdentifier: string;
  /** `producer_id`: name of the data plane, as admin knows it. */
  readonly producerId: string;
  readonly now: Date;
}

/**
 * Builds the event that reports an attempt's status to propeller and admin; the fields are those of
 * a Go propeller's events. Written out field by field for speed, as there are very many.
 */
export function buildTaskEvent(request: TaskRequest, status: TaskStatus, options: TaskEventOptions): TaskEvent {
  const { phaseVersion, pluginIdentifier, producerId, now } = options;
  const occurredAt = timestampFromDate(status.occurredAt ?? now);
  const reportedAt = timestampFromDate(now);
  const event: TaskExecutionEvent = {
    $typeName: "flyteidl.event.TaskExecutionEvent",
    parentNodeExecutionId: request.id?.nodeExecutionId,
    taskId: request.id?.taskId,
    retryAttempt: request.id?.retryAttempt ?? 0,
    phase: TaskExecution_Phase[status.phase],
    phaseVersion,
    producerId,
    logs: [...(status.logs ?? [])],
    occurredAt,
    reportedAt,
    // A request to stop may identify the attempt and nothing else.
    inputValue: request.inputUri === "" ? { case: undefined } : { case: "inputUri", value: request.inputUri },
    outputResult: outputResult(request, status),
    customInfo: status.customInfo,
    // Sets both the old and the new field, since each has readers.
    reason: status.reason ?? "",
    reasons: status.reason ? [{ $typeName: "flyteidl.event.EventReason", reason: status.reason, occurredAt }] : [],
    taskType: request.template?.type ?? "",
    metadata: {
      $typeName: "flyteidl.event.TaskExecutionMetadata",
      generatedName: request.generatedName,
      pluginIdentifier,
      resourcePoolInfo: [],
      externalResources: [...(status.externalResources ?? [])],
      instanceClass: request.interruptible
        ? TaskExecutionMetadata_InstanceClass.INTERRUPTIBLE
        : TaskExecutionMetadata_InstanceClass.DEFAULT,
    },
    eventVersion: EVENT_VERSION,
    logContext: status.logContext,
  };
  return {
    $typeName: "flytets.plugin.v1.TaskEvent",
    event,
    workflowKey: request.workflowKey,
    nodePath: request.nodePath,
    ownerUid: request.owner?.uid ?? "",
    partOfArray: request.partOfArray,
    pluginState: status.pluginState ?? request.pluginState,
    cleanup: (status.phase === "SUCCEEDED" || status.phase === "FAILED") && status.cleanup === true,
    ...terminalFields(status),
  };
}

function outputResult(request: TaskRequest, status: TaskStatus): TaskExecutionEvent["outputResult"] {
  switch (status.phase) {
    case "SUCCEEDED":
      return request.outputPrefix === "" ? { case: undefined } : { case: "outputUri", value: `${request.outputPrefix}/outputs.pb` };
    case "FAILED":
      return { case: "error", value: executionError(status.failure) };
    default:
      return { case: undefined };
  }
}

function executionError({ details }: AttemptFailure): ExecutionError {
  return create(ExecutionErrorSchema, {
    code: details.code,
    message: truncateErrorText(details.message),
    kind: ExecutionError_ErrorKind[details.kind],
    timestamp: details.timestamp === undefined ? undefined : timestampFromDate(details.timestamp),
    worker: details.worker ?? "",
  });
}

function terminalFields(status: TaskStatus): Pick<TaskEvent, "failure" | "outputs" | "futuresUri" | "deckUri"> {
  switch (status.phase) {
    case "SUCCEEDED":
      return { failure: undefined, outputs: status.outputs, futuresUri: status.futuresUri ?? "", deckUri: status.deckUri ?? "" };
    case "FAILED": {
      const { recoverable, details } = status.failure;
      const failure: Failure = { $typeName: "flytets.plugin.v1.Failure", recoverable, cleanup: details.cleanup ?? false };
      return { failure, outputs: undefined, futuresUri: "", deckUri: status.deckUri ?? "" };
    }
    default:
      return { failure: undefined, outputs: undefined, futuresUri: "", deckUri: "" };
  }
}
