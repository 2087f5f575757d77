import type { Time } from "@flyte-ts/async";
import { decodeMessage, encodeMessage } from "@flyte-ts/proto-codec";
import { type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import {
  attemptKey,
  definePlugin,
  eventFields,
  type Plugin,
  type PluginHost,
  type Succeeded,
  type TaskStatus,
} from "@flyte-ts/task-plugin";
import type { Logger } from "@flyte-ts/telemetry";
import { Alarms } from "./alarms.js";
import { echoOutputs } from "./echo.js";
import { encodeWakeTime, wakeTime } from "./wake-time.js";
import { manifest } from "./manifest.js";
import { sleepDurationMs } from "./sleep-duration.js";

export interface EchoOptions {
  readonly clock: Time;
  readonly logger: Logger;
  /** Duration of an echo task, ms. 0 answers at once. */
  readonly echoDelayMs: number;
}

interface PendingSleep {
  readonly workflowKey: string;
  readonly ownerUid: string;
  readonly wakeMs: number;
  /**
   * The encoded request without fields that only its start needs, since there may be very many
   * sleeps.
   */
  readonly request: Uint8Array;
  readonly result: Succeeded;
}

/**
 * Runs tasks without a pod that end by themselves: `echo` repeats its inputs, `core-sleep` sleeps.
 */
export function echoPlugin({ clock, logger, echoDelayMs }: EchoOptions): Plugin {
  const pendingSleeps = new Map<string, PendingSleep>();
  let host: PluginHost | undefined;
  const alarms = new Alarms(clock, (key) => {
    const pending = pendingSleeps.get(key);
    pendingSleeps.delete(key);
    if (pending === undefined || host === undefined) return;
    logger.debug({ object: key }, "sleep finished");
    host.publishStatus(decodeMessage(TaskRequestSchema, pending.request), pending.result).catch((error: unknown) => {
      // Propeller resends the request, and by then the end time has passed.
      logger.warn({ attempt: key, error: String(error) }, "cannot report the end of a sleep; propeller will ask again");
    });
  });

  const sleep = (request: TaskRequest, durationMs: number, result: Succeeded): TaskStatus => {
    const key = attemptKey(request);
    let pending = pendingSleeps.get(key);
    if (pending === undefined) {
      const wakeMs = wakeTime(request, durationMs, new Date(clock.now()));
      if (wakeMs <= clock.now()) {
        logger.debug({ object: key }, "the sleep has already finished");
        return result;
      }
      const { workflowKey, owner } = request;
      const ownerUid = owner?.uid ?? "";
      pending = { workflowKey, ownerUid, wakeMs, request: encodeMessage(TaskRequestSchema, eventFields(request)), result };
      pendingSleeps.set(key, pending);
      alarms.set(key, wakeMs);
      logger.debug({ object: key, until: wakeMs }, "sleep started");
    }
    return { phase: "RUNNING", pluginState: encodeWakeTime(pending.wakeMs) };
  };

  return definePlugin({
    name: "echo",
    taskTypes: manifest.taskTypes,
    pluginIdentifierFor: (taskType) => taskType,
    start: (pluginHost) => {
      host = pluginHost;
    },
    stop: () => alarms.stop(),
    reconcile: (request) => {
      if (request.template?.type === "core-sleep") return sleep(request, sleepDurationMs(request), { phase: "SUCCEEDED" });
      const result: Succeeded = { phase: "SUCCEEDED", outputs: echoOutputs(request) };
      return echoDelayMs === 0 ? result : sleep(request, echoDelayMs, result);
    },
    listAttempts: ({ workflowKey, owner }) =>
      [...pendingSleeps.values()].flatMap((pending) =>
        pending.workflowKey === workflowKey && pending.ownerUid === (owner?.uid ?? "")
          ? decodeMessage(TaskRequestSchema, pending.request)
          : [],
      ),
    abort: (request) => {
      const key = attemptKey(request);
      if (pendingSleeps.delete(key)) logger.debug({ object: key }, "sleep aborted");
      alarms.callOff(key);
      return { phase: "ABORTED" };
    },
  });
}
