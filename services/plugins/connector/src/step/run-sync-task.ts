import { RetryableFailure } from "@flyte-ts/task-plugin";
import type { Resource } from "@flyte-ts/idl/flyteidl/admin/agent_pb";
import type { LiveAttempt } from "../attempt/live-attempt.js";
import type { Endpoint } from "../endpoint/endpoint.js";
import { reportedState } from "../result/task-phase.js";
import { callToStart, type StartCall } from "./call-to-start.js";
import { finishedStatus } from "./finished-status.js";
import { adopt } from "./poll-task.js";
import { FAILED_CODE } from "./step-failure.js";
import type { StepContext, StepResult } from "./step.js";

/** Runs the task of a synchronous connector: one call, whose answer is the result. */
export async function runSyncTask(attempt: LiveAttempt, endpoint: Endpoint, context: StepContext): Promise<StepResult> {
  const call: StartCall<Resource | undefined> = {
    name: "ExecuteTaskSync",
    endpoint,
    isLong: true,
    run: (calls, { inputs, ...header }) => {
      context.show(attempt, { phase: "RUNNING", reason: `runs at connector endpoint ${JSON.stringify(endpoint.name)}` });
      return calls.executeTaskSync({ header, inputs }, attempt.stopping.signal);
    },
  };
  const started = await callToStart(attempt, call, context);
  if (started.kind === "created") return adopt(attempt, started.task, context);
  if (started.kind === "result") return started.result;
  const resource = started.answer;
  const state = reportedState(resource);
  if (resource !== undefined && (state.kind === "succeeded" || state.kind === "failed")) {
    return { status: await finishedStatus(attempt, { resource, state }, context) };
  }
  const message = `connector endpoint ${JSON.stringify(endpoint.name)}, ExecuteTaskSync: the answer is no end of the task`;
  throw new RetryableFailure({ code: FAILED_CODE, message, kind: "USER" });
}
