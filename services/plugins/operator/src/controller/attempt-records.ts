import { BoundedMap } from "@flyte-ts/async";
import { create } from "@bufbuild/protobuf";
import { TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { decodeAttemptAnnotation, minimalAttempt, reduceRequest } from "@flyte-ts/pod-task";
import type { FinishedAttempts } from "@flyte-ts/pod-task/creations";
import { JOB_CREATED_STATE } from "../job/job-status-reader.js";
import type { Job } from "../operator.js";
import type { JobRef } from "./job-ref.js";

const MAX_REMEMBERED = 10_000;

/** Facts about attempts that their resources do not hold. */
export class AttemptRecords {
  /** Requests of resources that another propeller created, without a record of the attempt. */
  readonly #unannotated = new BoundedMap<string, TaskRequest>(MAX_REMEMBERED);
  /** Last state of resources that disappeared before their end was reported. */
  readonly #lost = new Map<string, Job>();

  constructor(private readonly finished: Pick<FinishedAttempts<Job>, "add" | "has">) {}

  /** True when changes of the attempt's job are not reported any more. */
  isFinished({ key }: JobRef, attempt: Pick<TaskRequest, "owner">): boolean {
    return this.finished.has(key, attempt);
  }

  /** Marks the attempt as finished and forgets everything else about it. */
  finish({ key }: JobRef, request: TaskRequest): void {
    this.finished.add(key, request);
    this.#unannotated.delete(key);
    this.#lost.delete(key);
  }

  /** Remembers the request of a resource that does not hold it. */
  add({ key }: JobRef, job: Job, request: TaskRequest): void {
    if (decodeAttemptAnnotation(job) === undefined) this.#unannotated.set(key, reduceRequest(request));
  }

  /** The request of a resource's attempt, as far as reports need it. */
  requestOf({ key }: JobRef, job: Job | undefined): TaskRequest | undefined {
    return (job === undefined ? undefined : decodeAttemptAnnotation(job)) ?? this.#unannotated.get(key);
  }

  /** Returns the attempt's request, or a minimal one that suffices to stop the attempt. */
  requestToStop(ref: JobRef, job: Job, workflowKey: string): TaskRequest {
    const template = create(TaskTemplateSchema, { type: ref.operator.taskType });
    return this.requestOf(ref, job) ?? { ...minimalAttempt(job, workflowKey), template };
  }

  lose({ key }: JobRef, job: Job): void {
    this.#lost.set(key, job);
  }

  lostJob({ key }: JobRef): Job | undefined {
    return this.#lost.get(key);
  }

  foundAgain({ key }: JobRef): void {
    this.#lost.delete(key);
  }
}

/** True when propeller's request shows that an earlier process has created the resource. */
export function wasSubmitted({ pluginState, knownPhase }: TaskRequest): boolean {
  return (
    pluginState[0] === JOB_CREATED_STATE[0] || knownPhase === TaskExecution_Phase.INITIALIZING || knownPhase === TaskExecution_Phase.RUNNING
  );
}
