import { BlobUnavailableError } from "@flyte-ts/blobstore";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { TaskExecutionMetadataSchema } from "@flyte-ts/idl/flyteidl/admin/agent_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { recordedAttempt } from "@flyte-ts/task-plugin/files";
import type { LiveAttempt } from "../attempt/live-attempt.js";
import { findRoute } from "../discovery/routes.js";
import { CallFailure } from "../endpoint/call-failure.js";
import type { ConnectorCalls } from "../endpoint/connector-calls.js";
import type { Endpoint } from "../endpoint/endpoint.js";
import type { CreatedTask } from "../record/created-task.js";
import { taskInputs } from "../task/task-inputs.js";
import { taskMetadata } from "../task/task-metadata.js";
import { taskTemplate } from "../task/task-template.js";
import { creationUnknown, resultLost, resultOfStartFailure } from "./start-failure.js";
import { waitForConnector } from "./step-failure.js";
import type { StepContext, StepResult } from "./step.js";

/** The call that starts a task: CreateTask or ExecuteTaskSync. */
export interface StartCall<T> {
  readonly name: string;
  readonly endpoint: Endpoint;
  /** True: the call lasts as long as its task. */
  readonly isLong?: boolean;
  readonly run: (calls: ConnectorCalls, request: StartRequest) => Promise<T>;
}

export interface StartRequest {
  readonly inputs: LiteralMap;
  readonly template: TaskTemplate;
  readonly outputPrefix: string;
  readonly taskExecutionMetadata: MessageInitShape<typeof TaskExecutionMetadataSchema>;
}

/** The answer of the connector, or what an earlier process did, or the result of the step. */
export type Started<T> =
  | { readonly kind: "answered"; readonly answer: T }
  | { readonly kind: "created"; readonly task: CreatedTask }
  | { readonly kind: "result"; readonly result: StepResult };

/**
 * Calls the connector to start the task of an attempt, at most once unless that is idempotent. At
 * the call's turn, not before, the inputs are read and the creation recorded. Thus attempts that
 * wait for a connector have neither inputs in memory nor a record of a creation.
 *
 * @throws PermanentFailure, RetryableFailure, RetryLater, BlobUnavailableError
 */
export async function callToStart<T>(attempt: LiveAttempt, call: StartCall<T>, context: StepContext): Promise<Started<T>> {
  const { name, endpoint, isLong = false, run } = call;
  try {
    return await endpoint.turn({ name, lane: "start", isLong, isObsolete: () => attempt.isStopping }, async (send) => {
      const request = await startRequest(attempt, context);
      const earlier = await begin(attempt, endpoint, context);
      return earlier ?? { kind: "answered", answer: await send((calls) => run(calls, request)) };
    });
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    const withoutConnector = error.kind === "missing" ? await resultWithoutConnector(attempt, endpoint, context) : undefined;
    if (withoutConnector !== undefined) {
      await withdraw(attempt, context);
      return { kind: "result", result: withoutConnector };
    }
    const failure = endpoint.whileUpdating(error);
    if (failure.withoutEffect && !attempt.isStopping && !endpoint.isIdempotent(attempt.taskType)) await withdraw(attempt, context);
    return { kind: "result", result: resultOfStartFailure(attempt, { endpoint, failure }, context) };
  }
}

async function startRequest({ request, source }: LiveAttempt, { store }: StepContext): Promise<StartRequest> {
  const inputs = await taskInputs(request, store);
  const template = await taskTemplate(request, inputs, store);
  return { inputs, template, outputPrefix: source.outputPrefix, taskExecutionMetadata: taskMetadata(request) };
}

/**
 * Records that the creation begins. Returns what the attempt's earlier record says instead.
 *
 * @throws RetryableFailure when an earlier process may have created the task
 */
async function begin(attempt: LiveAttempt, endpoint: Endpoint, { records }: StepContext): Promise<Started<never> | undefined> {
  if (attempt.hasBegun) return undefined;
  const { request, ownerUid, taskType, writer } = attempt;
  const found = await records.begin(request, { task: "begun", writer, attempt: recordedAttempt(request, ownerUid) });
  // A write without an answer may have been made: the store then has this attempt's own record.
  const earlier = found?.writer === writer ? undefined : found?.task;
  if (earlier === "stopped") return { kind: "result", result: { status: { phase: "ABORTED" } } };
  if (typeof earlier === "object") return { kind: "created", task: earlier };
  if (earlier !== undefined && !endpoint.isIdempotent(taskType)) {
    throw earlier === "ended" ? resultLost() : creationUnknown(attempt, "an earlier process ended meanwhile");
  }
  attempt.hasBegun = true;
  attempt.isCreationUnknown = earlier === "begun";
  return undefined;
}

/**
 * Asks the endpoint, which does not know the task, for its types again: its connectors may have
 * changed. Returns undefined when it still announces the type.
 */
async function resultWithoutConnector(attempt: LiveAttempt, endpoint: Endpoint, context: StepContext): Promise<StepResult | undefined> {
  await context.refreshRoutes();
  const noAnswer = endpoint.lastNoAnswer();
  if (noAnswer !== undefined) return waitForConnector(attempt, noAnswer, context);
  const found = findRoute(context.routes(), attempt.taskType, attempt.version);
  if (found.kind === "found" && found.route.endpoint === endpoint.name) return undefined;
  attempt.releaseSlot();
  return { status: attempt.status, againInMs: 0 };
}

/** Deletes the record of a creation without effect: a later process may create the task. */
async function withdraw(attempt: LiveAttempt, { records }: StepContext): Promise<void> {
  if (!attempt.hasBegun) return;
  try {
    await records.delete(attempt.source.outputPrefix);
    attempt.hasBegun = false;
  } catch (error) {
    // The record stays, and this process creates the task with it.
    if (!(error instanceof BlobUnavailableError)) throw error;
  }
}
