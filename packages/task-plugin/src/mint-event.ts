import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type ExecutionError,
  ExecutionError_ErrorKind,
  ExecutionErrorSchema,
  TaskExecution_Phase,
} from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { TaskExecutionEventSchema, TaskExecutionMetadata_InstanceClass } from "@flyte-ts/idl/flyteidl/event/event_pb";
import { type TaskEvent, TaskEventSchema, type TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { boundErrorText } from "./error-text.js";
import type { AttemptFailure } from "./failure.js";
import type { TaskStatus } from "./status.js";

/** The version of task events in which map tasks report their elements one by one; what Flyte 1.16 sends. */
const EVENT_VERSION = 1;

export interface MintOptions {
  readonly phaseVersion: number;
  readonly pluginIdentifier: string;
  /** `producer_id`: name of the data plane, as admin knows it. */
  readonly producerId: string;
  readonly now: Date;
}

/** The event that tells propeller and admin how an attempt stands; the fields are those of a Go propeller's events. */
export function mintTaskEvent(request: TaskRequest, status: TaskStatus, options: MintOptions): TaskEvent {
  const { phaseVersion, pluginIdentifier, producerId, now } = options;
  const occurredAt = timestampFromDate(status.occurredAt ?? now);
  const event = create(TaskExecutionEventSchema, {
    parentNodeExecutionId: request.id?.nodeExecutionId,
    taskId: request.id?.taskId,
    retryAttempt: request.id?.retryAttempt ?? 0,
    phase: TaskExecution_Phase[status.phase],
    phaseVersion,
    producerId,
    logs: [...(status.logs ?? [])],
    occurredAt,
    reportedAt: timestampFromDate(now),
    // A request to stop may name the attempt and no more.
    inputValue: request.inputUri === "" ? { case: undefined } : { case: "inputUri", value: request.inputUri },
    outputResult: outputResult(request, status),
    customInfo: status.customInfo,
    // Readers of both the old and the new field exist.
    reason: status.reason ?? "",
    reasons: status.reason === undefined || status.reason === "" ? [] : [{ reason: status.reason, occurredAt }],
    taskType: request.template?.type ?? "",
    metadata: {
      generatedName: request.generatedName,
      pluginIdentifier,
      externalResources: [...(status.externalResources ?? [])],
      instanceClass: request.interruptible
        ? TaskExecutionMetadata_InstanceClass.INTERRUPTIBLE
        : TaskExecutionMetadata_InstanceClass.DEFAULT,
    },
    eventVersion: EVENT_VERSION,
    logContext: status.logContext,
  });
  return create(TaskEventSchema, {
    event,
    workflowKey: request.workflowKey,
    nodePath: request.nodePath,
    partOfArray: request.partOfArray,
    pluginState: status.pluginState ?? request.pluginState,
    ...ending(status),
  });
}

type OutputResult = NonNullable<MessageInitShape<typeof TaskExecutionEventSchema>["outputResult"]>;

function outputResult(request: TaskRequest, status: TaskStatus): OutputResult {
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
    message: boundErrorText(details.message),
    kind: ExecutionError_ErrorKind[details.kind],
    timestamp: details.timestamp === undefined ? undefined : timestampFromDate(details.timestamp),
    worker: details.worker ?? "",
  });
}

function ending(status: TaskStatus): MessageInitShape<typeof TaskEventSchema> {
  switch (status.phase) {
    case "SUCCEEDED":
      return { outputs: status.outputs, futuresUri: status.futuresUri ?? "", deckUri: status.deckUri ?? "" };
    case "FAILED":
      return {
        failure: { recoverable: status.failure.recoverable, cleanup: status.failure.details.cleanup ?? false },
        deckUri: status.deckUri ?? "",
      };
    default:
      return {};
  }
}
