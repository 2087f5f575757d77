import { RetryableFailure } from "@flyte-ts/task-plugin";
import { CallFailure } from "../endpoint/call-failure.js";
import { reportedState } from "../result/task-phase.js";
import { finishedStatus } from "./finished-status.js";
import type { LiveAttempt } from "../attempt/live-attempt.js";
import { resultOfStartFailure, type TaskCreation } from "./start-failure.js";
import { FAILED_CODE } from "./step-failure.js";
import type { StepContext, StepResult } from "./step.js";

/** Runs the task of a synchronous connector: one call, whose answer is the result. */
export async function runSyncTask(attempt: LiveAttempt, { endpoint, request }: TaskCreation, context: StepContext): Promise<StepResult> {
  const { inputs, ...header } = request;
  const { signal } = attempt.stopping;
  try {
    const resource = await endpoint.call({
      name: "ExecuteTaskSync",
      lane: "start",
      isLong: true,
      isObsolete: () => attempt.isStopping,
      run: (calls) => {
        context.show(attempt, { phase: "RUNNING", reason: `runs at connector endpoint ${JSON.stringify(endpoint.name)}` });
        return calls.executeTaskSync({ header, inputs }, signal);
      },
    });
    const state = reportedState(resource);
    if (resource !== undefined && (state.kind === "succeeded" || state.kind === "failed")) {
      return { status: await finishedStatus(attempt, { resource, state }, context) };
    }
    const message = `connector endpoint ${JSON.stringify(endpoint.name)}, ExecuteTaskSync: the answer is no end of the task`;
    throw new RetryableFailure({ code: FAILED_CODE, message, kind: "USER" });
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    return resultOfStartFailure(attempt, { endpoint, failure: error }, context);
  }
}
