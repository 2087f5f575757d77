import type { Time } from "@flyte-ts/async";
import { type Aborted, RetryLater } from "@flyte-ts/task-plugin";
import { CallFailure } from "../endpoint/call-failure.js";
import type { Endpoint } from "../endpoint/endpoint.js";
import { hasEnded } from "../result/task-phase.js";
import type { CreatedTask } from "../record/created-task.js";
import { deleteTask, getTask } from "./poll-task.js";

export interface StopConfig {
  readonly checkIntervalMs: number;
  /** Time for which the end of a deleted task is awaited, ms. */
  readonly timeoutMs: number;
  /** Time after which a connector without an answer is no longer awaited, ms. */
  readonly unavailableMs: number;
  /** Errors of DeleteTask after which it is no longer tried. */
  readonly maxErrors: number;
}

/** Earlier tries to stop a task. */
export interface StopTries {
  readonly sinceMs: number;
  errors: number;
}

export interface StopOptions {
  readonly task: CreatedTask;
  /** Undefined: the endpoint is no longer configured. */
  readonly endpoint: Endpoint | undefined;
  readonly outputPrefix: string;
  readonly tries: StopTries;
  /** True: this process has not followed the task, which may have ended. */
  readonly mayHaveEnded: boolean;
  readonly config: StopConfig;
  readonly clock: Time;
}

/**
 * Deletes a task and waits for its end. Gives up where the connector cannot stop it: a sensor, for
 * instance, ignores DeleteTask. A task that has ended is not deleted: its result may be in use.
 *
 * @throws RetryLater while the connector does not answer.
 */
export async function stopTask(options: StopOptions): Promise<Aborted> {
  const { task, endpoint, tries, config, clock } = options;
  if (endpoint === undefined) {
    return abortedBut(`connector endpoint ${JSON.stringify(task.endpoint)} is no longer configured, the job of the task may still run`);
  }
  try {
    if (options.mayHaveEnded && (await endedBefore(options, endpoint))) return { phase: "ABORTED" };
    await deleteTask(task, endpoint);
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    const { kind, message, retryAfterMs } = endpoint.whileUpdating(error);
    if (kind === "missing") return { phase: "ABORTED" };
    if (kind === "invalid") return abortedBut(message);
    if (kind === "error") tries.errors++;
    if (tries.errors >= config.maxErrors || clock.elapsed() - tries.sinceMs >= config.unavailableMs) return abortedBut(message);
    throw new RetryLater(message, { cause: error, ...(retryAfterMs !== undefined && { retryAfterMs }) });
  }
  return untilEnded({ ...options, endpoint });
}

/** @throws CallFailure when the connector does not answer. */
async function endedBefore({ task, outputPrefix }: StopOptions, endpoint: Endpoint): Promise<boolean> {
  try {
    return hasEnded(await getTask({ task, endpoint, outputPrefix, lane: "stop" }));
  } catch (error) {
    // Where GetTask fails, DeleteTask decides.
    if (error instanceof CallFailure && error.kind !== "unavailable") return false;
    throw error;
  }
}

async function untilEnded({
  task,
  endpoint,
  outputPrefix,
  config,
  clock,
}: StopOptions & { readonly endpoint: Endpoint }): Promise<Aborted> {
  const deadline = clock.elapsed() + config.timeoutMs;
  for (;;) {
    try {
      if (hasEnded(await getTask({ task, endpoint, outputPrefix, lane: "stop" }))) return { phase: "ABORTED" };
    } catch (error) {
      // The connector does not know the task any more.
      if (!(error instanceof CallFailure) || error.kind !== "unavailable") return { phase: "ABORTED" };
    }
    if (clock.elapsed() + config.checkIntervalMs > deadline) {
      return abortedBut(`DeleteTask succeeded, but ${config.timeoutMs} ms later the connector still reports the task as running`);
    }
    await clock.sleep(config.checkIntervalMs);
  }
}

function abortedBut(reason: string): Aborted {
  return { phase: "ABORTED", reason };
}
