import { create } from "@bufbuild/protobuf";
import { TaskExecution_Phase as Phase, type TaskLog, TaskLog_MessageFormat, TaskLogSchema } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { type ExternalResourceInfo, ExternalResourceInfoSchema } from "@flyte-ts/idl/flyteidl/event/event_pb";

/** A link that users see beside the attempt, even before the job runs. */
export function link(name: string, uri: string): TaskLog {
  return create(TaskLogSchema, { name, uri, messageFormat: TaskLog_MessageFormat.JSON, ShowWhilePending: true });
}

export interface ExternalResource {
  /** The API's id of the job. */
  readonly id: string;
  /** The API's own name of the state. */
  readonly state?: string | undefined;
  readonly index?: number;
  readonly retryAttempt?: number;
  readonly logs?: readonly TaskLog[];
}

/** A job, or a part of one, as an external resource of the attempt. */
export function externalResource({ id, state, index = 0, retryAttempt = 0, logs = [] }: ExternalResource): ExternalResourceInfo {
  const phase = PHASES[state ?? ""] ?? Phase.UNDEFINED;
  return create(ExternalResourceInfoSchema, { externalId: id, index, retryAttempt, phase, logs: [...logs] });
}

/** States of all APIs. */
const PHASES: Readonly<Record<string, Phase>> = {
  SUBMITTED: Phase.QUEUED,
  PENDING: Phase.QUEUED,
  RUNNABLE: Phase.QUEUED,
  QUEUED: Phase.QUEUED,
  STARTING: Phase.INITIALIZING,
  RUNNING: Phase.RUNNING,
  SUCCEEDED: Phase.SUCCEEDED,
  DONE: Phase.SUCCEEDED,
  FINISHED: Phase.SUCCEEDED,
  FAILED: Phase.FAILED,
  CANCELLED: Phase.ABORTED,
};
