import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type TaskEvent, TaskEventSchema, type TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";

export interface AnswerDetails {
  readonly outputs?: LiteralMap;
  readonly code?: string;
  readonly message?: string;
  readonly kind?: "USER" | "SYSTEM";
  readonly recoverable?: boolean;
  readonly cleanup?: boolean;
  readonly version?: number;
  /** The attempt produced further nodes. */
  readonly futures?: boolean;
}

/** Event with which a plugin service answers a request. */
export function answer(
  request: TaskRequest,
  phase: keyof typeof TaskExecution_Phase,
  { now, details = {} }: { now: number; details?: AnswerDetails },
): TaskEvent {
  const failed = phase === "FAILED";
  return create(TaskEventSchema, {
    workflowKey: request.workflowKey,
    nodePath: request.nodePath,
    partOfArray: request.partOfArray,
    event: {
      taskId: request.id?.taskId,
      parentNodeExecutionId: request.id?.nodeExecutionId,
      retryAttempt: request.id?.retryAttempt ?? 0,
      phase: TaskExecution_Phase[phase],
      phaseVersion: details.version ?? 0,
      occurredAt: timestampFromMs(now),
      reportedAt: timestampFromMs(now),
      taskType: request.template?.type ?? "",
      metadata: { generatedName: request.generatedName },
      outputResult: failed
        ? {
            case: "error",
            value: { code: details.code ?? "Boom", message: details.message ?? "it broke", kind: details.kind === "SYSTEM" ? 2 : 1 },
          }
        : phase === "SUCCEEDED"
          ? { case: "outputUri", value: `${request.outputPrefix}/outputs.pb` }
          : { case: undefined },
    },
    ...(failed ? { failure: { recoverable: details.recoverable ?? true, cleanup: details.cleanup ?? false } } : {}),
    outputs: details.outputs,
    futuresUri: details.futures === true ? `${request.outputPrefix}/futures.pb` : "",
  });
}
