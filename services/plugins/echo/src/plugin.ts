import type { Time } from "@flyte-ts/async";
import { decodeMessage, encodeMessage } from "@flyte-ts/domain";
import { type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { attemptKey, definePlugin, eventBasis, type Plugin, type PluginHost, type Succeeded, type TaskStatus } from "@flyte-ts/task-plugin";
import type { Logger } from "@flyte-ts/telemetry";
import { Alarms } from "./alarms.js";
import { echoOutputs } from "./echo.js";
import { encodeEndTime, endTime } from "./end-time.js";
import { sleepDurationMs } from "./sleep-duration.js";

export interface EchoOptions {
  readonly clock: Time;
  readonly logger: Logger;
  /** Duration of an echo task, ms. 0 answers at once. */
  readonly echoDelayMs: number;
}

interface Sleeper {
  readonly workflowKey: string;
  readonly endMs: number;
  /** The encoded request, without fields that only its start needs: there may be very many. */
  readonly request: Uint8Array;
  readonly end: Succeeded;
}

/** Runs tasks without a pod that end by themselves: `echo` repeats its inputs, `core-sleep` sleeps. */
export function echoPlugin({ clock, logger, echoDelayMs }: EchoOptions): Plugin {
  const sleepers = new Map<string, Sleeper>();
  let host: PluginHost | undefined;
  const alarms = new Alarms(clock, (key) => {
    const sleeper = sleepers.get(key);
    sleepers.delete(key);
    if (sleeper === undefined || host === undefined) return;
    logger.debug({ object: key }, "sleep ended");
    host.report(decodeMessage(TaskRequestSchema, sleeper.request), sleeper.end).catch((error: unknown) => {
      // Propeller resends the request, and by then the end time has passed.
      logger.warn({ attempt: key, error: String(error) }, "end of a sleep not told");
    });
  });

  const sleep = (request: TaskRequest, durationMs: number, end: Succeeded): TaskStatus => {
    const key = attemptKey(request);
    let sleeper = sleepers.get(key);
    if (sleeper === undefined) {
      const endMs = endTime(request, durationMs, new Date(clock.now()));
      if (endMs <= clock.now()) {
        logger.debug({ object: key }, "sleep is past");
        return end;
      }
      sleeper = { workflowKey: request.workflowKey, endMs, request: encodeMessage(TaskRequestSchema, eventBasis(request)), end };
      sleepers.set(key, sleeper);
      alarms.set(key, endMs);
      logger.debug({ object: key, until: endMs }, "sleep begun");
    }
    return { phase: "RUNNING", pluginState: encodeEndTime(sleeper.endMs) };
  };

  return definePlugin({
    name: "echo",
    taskTypes: ["echo", "core-sleep"],
    identifierOf: (taskType) => taskType,
    finalizes: false,
    start: (given) => {
      host = given;
    },
    stop: () => alarms.stop(),
    reconcile: (request) => {
      if (request.template?.type === "core-sleep") return sleep(request, sleepDurationMs(request), { phase: "SUCCEEDED" });
      const end: Succeeded = { phase: "SUCCEEDED", outputs: echoOutputs(request) };
      return echoDelayMs === 0 ? end : sleep(request, echoDelayMs, end);
    },
    attemptsOf: ({ workflowKey }) =>
      [...sleepers.values()].flatMap((sleeper) =>
        sleeper.workflowKey === workflowKey ? decodeMessage(TaskRequestSchema, sleeper.request) : [],
      ),
    abort: (request) => {
      const key = attemptKey(request);
      if (sleepers.delete(key)) logger.debug({ object: key }, "sleep called off");
      alarms.callOff(key);
      return { phase: "ABORTED" };
    },
  });
}
