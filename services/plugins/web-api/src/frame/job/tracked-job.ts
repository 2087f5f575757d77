import { create, type JsonObject } from "@bufbuild/protobuf";
import { TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { eventFields, type Progress } from "@flyte-ts/task-plugin";
import type { JobScope } from "./job-limits.js";

/** An attempt whose job exists. */
export interface TrackedJob<Job extends JsonObject> {
  readonly key: string;
  /** The request without what only the creation needs. */
  readonly request: TaskRequest;
  readonly trackedAtMs: number;
  job: Job;
  /** The newest status, for repeated requests. */
  status: Progress;
  /**
   * Time of the first failed reading since the last successful one, ms; undefined after a
   * successful one.
   */
  failingSinceMs: number | undefined;
  /** Number of failed readings in a row. */
  failures: number;
  /** True once an abort controls the job: readings of the poller no longer count. */
  stopping: boolean;
  /** True once the API has been requested to stop the job. */
  stopSent: boolean;
}

/**
 * Returns the part of a request that the end of an attempt needs, since thousands of requests may
 * be in memory.
 */
export function reducedRequest(request: TaskRequest): TaskRequest {
  const { template, rawOutputPrefix } = request;
  return {
    ...eventFields(request),
    rawOutputPrefix,
    template: create(TaskTemplateSchema, {
      type: template?.type ?? "",
      ...(template?.interface && { interface: { outputs: template.interface.outputs } }),
    }),
  };
}

/** Returns the project and namespace in whose limits the attempt counts. */
export function scopeOf({ id, namespace }: TaskRequest): JobScope {
  return { project: id?.nodeExecutionId?.executionId?.project ?? "", namespace };
}
