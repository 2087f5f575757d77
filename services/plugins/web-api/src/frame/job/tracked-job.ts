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
  /** Time of the first failed reading since the last good one, ms; undefined: the last was good. */
  failingSinceMs: number | undefined;
  /** Number of failed readings in a row. */
  failures: number;
  /** True once an abort controls the job: readings of the poller no longer count. */
  stopping: boolean;
  /** True once the API was asked to stop the job. */
  stopSent: boolean;
}

/** The part of a request that the end of an attempt needs: there may be thousands. */
export function reducedRequest(request: TaskRequest): TaskRequest {
  const { template, rawOutputPrefix, owner } = request;
  return {
    ...eventFields(request),
    rawOutputPrefix,
    owner,
    template: create(TaskTemplateSchema, {
      type: template?.type ?? "",
      ...(template?.interface && { interface: { outputs: template.interface.outputs } }),
    }),
  };
}

/** Project and namespace that the attempt counts for. */
export function scopeOf({ id, namespace }: TaskRequest): JobScope {
  return { project: id?.nodeExecutionId?.executionId?.project ?? "", namespace };
}
