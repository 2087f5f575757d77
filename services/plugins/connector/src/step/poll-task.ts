import type { Resource } from "@flyte-ts/idl/flyteidl/admin/agent_pb";
import { PermanentFailure, RetryableFailure } from "@flyte-ts/task-plugin";
import { CallFailure } from "../endpoint/call-failure.js";
import type { Endpoint } from "../endpoint/endpoint.js";
import { reportedState } from "../result/task-phase.js";
import type { CreatedTask } from "../record/created-task.js";
import { taskRef } from "../record/task-ref.js";
import { observeTask, type Observed } from "../observe/observe-task.js";
import { finishedStatus, shownDetails } from "./finished-status.js";
import type { LiveAttempt } from "../attempt/live-attempt.js";
import { pollDelay } from "./poll-delay.js";
import { endOf, FAILED_CODE, waitForConnector } from "./step-failure.js";
import type { StepContext, StepResult } from "./step.js";

/** Continues a task that an earlier process created. */
export function adopt(attempt: LiveAttempt, task: CreatedTask, context: StepContext): Promise<StepResult> {
  attempt.onCreated(task, context.clock.elapsed());
  const endpoint = context.endpoints.get(task.endpoint);
  if (endpoint !== undefined) attempt.occupySlot(endpoint);
  return pollTask(attempt, task, context);
}

/** Reads the state of a created task from its connector. */
export async function pollTask(attempt: LiveAttempt, task: CreatedTask, context: StepContext): Promise<StepResult> {
  const endpoint = context.endpoints.get(task.endpoint);
  if (endpoint === undefined) return waitForConnector(attempt, notConfigured(task), context);
  try {
    const resource = await getTask({ task, endpoint, outputPrefix: attempt.source.outputPrefix, signal: attempt.stopping.signal });
    attempt.errors = 0;
    attempt.unavailable = undefined;
    return await resultOfResource({ attempt, task, endpoint, context }, resource);
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    return resultOfPollFailure(attempt, { task, endpoint, failure: endpoint.whileUpdating(error) }, context);
  }
}

interface GetTaskOptions {
  readonly task: CreatedTask;
  readonly endpoint: Endpoint;
  readonly outputPrefix: string;
  readonly signal?: AbortSignal;
  /** Default: `poll`. */
  readonly lane?: "stop";
}

/** @throws CallFailure */
export function getTask({ task, endpoint, outputPrefix, signal, lane }: GetTaskOptions): Promise<Resource | undefined> {
  return endpoint.call({
    name: "GetTask",
    lane: lane ?? "poll",
    ...(signal && { isObsolete: () => signal.aborted }),
    run: (calls) => calls.getTask({ ...taskRef(task), outputPrefix }, signal),
  });
}

export function deleteTask(task: CreatedTask, endpoint: Endpoint): Promise<void> {
  return endpoint.call({ name: "DeleteTask", lane: "stop", run: (calls) => calls.deleteTask(taskRef(task)) });
}

function notConfigured({ endpoint }: CreatedTask): CallFailure {
  const message = `connector endpoint ${JSON.stringify(endpoint)}, which created the task, is no longer configured`;
  return new CallFailure(message, { kind: "unavailable", withoutEffect: true });
}

async function resultOfResource(observed: Observed, resource: Resource | undefined): Promise<StepResult> {
  const { attempt, context } = observed;
  const againInMs = nextPollMs(attempt, context);
  const state = reportedState(resource);
  if (resource === undefined || state.kind === "noNews") return { status: attempt.status, againInMs };
  if (state.kind === "progress") {
    const { phase, reason } = state;
    return { status: { phase, ...(reason === "" ? {} : { reason }), ...shownDetails(attempt, resource) }, againInMs };
  }
  return { status: await finishedStatus(attempt, { resource: await observeTask(observed, resource), state }, context) };
}

/**
 * Handles a failed GetTask. An error may be temporary, in a system behind the connector, so only
 * several in a row end the attempt and delete its job.
 */
async function resultOfPollFailure(
  attempt: LiveAttempt,
  { task, endpoint, failure }: { readonly task: CreatedTask; readonly endpoint: Endpoint; readonly failure: CallFailure },
  context: StepContext,
): Promise<StepResult> {
  const { message, kind } = failure;
  if (kind === "unavailable") return waitForConnector(attempt, failure, context);
  if (kind === "invalid") return { ...endOf(attempt, new PermanentFailure({ code: FAILED_CODE, message })), leavesJob: true };
  if (kind === "missing") throw new RetryableFailure({ code: "ResourceDeletedExternally", message, kind: "SYSTEM" });
  if (++attempt.errors < context.config.getTaskErrors) {
    return { status: attempt.waiting(message), againInMs: Math.max(1_000, nextPollMs(attempt, context)) };
  }
  const end = endOf(attempt, new RetryableFailure({ code: FAILED_CODE, message, kind: "USER" }));
  return { ...end, leavesJob: !attempt.isStopping && !(await isDeleted(task, endpoint)) };
}

async function isDeleted(task: CreatedTask, endpoint: Endpoint): Promise<boolean> {
  try {
    await deleteTask(task, endpoint);
    return true;
  } catch (error) {
    if (error instanceof CallFailure) return error.kind === "missing";
    throw error;
  }
}

function nextPollMs(attempt: LiveAttempt, { config, clock, random }: StepContext): number {
  const polling = config.pollingOfTaskTypes[attempt.taskType] ?? config.polling;
  return pollDelay(polling, { polls: ++attempt.polls, ageMs: clock.elapsed() - attempt.createdAtMs, random });
}
