import { randomBytes, randomUUID } from "node:crypto";
import type { Time } from "@flyte-ts/async";
import { EVENT_STREAM, TASK_STREAM } from "@flyte-ts/bus-contract";
import type { Logger, Metrics } from "@flyte-ts/telemetry";
import { attemptLogFields } from "../attempt/attempt-log-fields.js";
import { AttemptController } from "../attempt/attempt-controller.js";
import { decodeRequest } from "./decode-request.js";
import { PermanentFailure } from "../failure.js";
import { pluginMetrics } from "./metrics.js";
import type { Plugin } from "../plugin.js";
import type { BusMessage, PluginBus } from "./plugin-bus.js";
import { TaskTypeSubscriptions } from "./task-type-subscriptions.js";

export interface RunPluginOptions {
  readonly plugin: Plugin;
  readonly bus: PluginBus;
  readonly logger: Logger;
  readonly clock: Time;
  readonly metrics?: Metrics | undefined;
  /** Maximum of unacknowledged requests per task type, over all replicas. Default 256. */
  readonly maxInFlight?: number;
  /** `producer_id` of events. Default `propeller`, as in Go Flyte's single cluster. */
  readonly producerId?: string;
  /** Maximum number of cached terminal attempts. Default 10,000. */
  readonly maxTerminalAttempts?: number;
  /** Identifies this process among its replicas and predecessors. Default: random. */
  readonly instance?: string;
  /** Source of jitter for retries; [0, 1). */
  readonly random?: () => number;
}

export interface RunningPlugin {
  /** Stops accepting requests, waits for those being handled, then stops the plugin. */
  stop(): Promise<void>;
}

/** Starts the plugin and serves its task types until stopped. */
export async function runPlugin(options: RunPluginOptions): Promise<RunningPlugin> {
  const { plugin, bus, logger, clock, maxInFlight = 256, producerId = "propeller", maxTerminalAttempts = 10_000 } = options;
  const random = options.random ?? (() => randomBytes(4).readUInt32BE() / 2 ** 32);
  const metrics = options.metrics === undefined ? undefined : pluginMetrics(options.metrics, () => attempts);
  const attempts: AttemptController = new AttemptController({
    plugin,
    bus,
    logger,
    clock,
    random,
    producerId,
    maxTerminalAttempts,
    metrics,
  });
  const instance = options.instance ?? randomUUID();
  // The first service to start creates the streams.
  await bus.ensureStream(TASK_STREAM);
  await bus.ensureStream(EVENT_STREAM);

  const handleMessage = async (message: BusMessage, taskType: string): Promise<void> => {
    const decoded = decodeRequest(message.data, [taskType, ...subscriptions.taskTypes]);
    switch (decoded.kind) {
      case "request":
        attempts.accept(decoded.request, message);
        return;
      case "abortAll":
        attempts.acceptAbortAll(decoded.request, message);
        return;
      case "invalid":
        logger.warn(
          { subject: message.subject, ...attemptLogFields(decoded.request), reason: decoded.reason },
          "invalid task request: reporting the attempt as failed",
        );
        await attempts.publishStatus(decoded.request, {
          phase: "FAILED",
          failure: new PermanentFailure({ code: "BadTaskSpecification", message: decoded.reason, kind: "SYSTEM" }),
        });
        message.ack();
        return;
      case "undecodable":
        message.discard(decoded.reason);
        return;
    }
  };

  const subscriptions: TaskTypeSubscriptions = new TaskTypeSubscriptions({
    bus,
    clock,
    name: plugin.name,
    instance,
    maxInFlight,
    load: () => ({ attempts: attempts.activeCount, oldestRequestMs: Math.round(attempts.oldestPendingMs) }),
    onMessage: handleMessage,
  });
  await plugin.start?.({
    publishStatus: (request, status) => attempts.publishStatus(request, status),
    setTaskTypes: (taskTypes) => subscriptions.set(taskTypes),
  });
  if (plugin.dynamicTaskTypes !== true) await subscriptions.set(plugin.taskTypes);
  logger.info({ plugin: plugin.name, taskTypes: plugin.taskTypes }, "plugin service started");

  return {
    async stop() {
      await subscriptions.close();
      plugin.drain?.();
      await attempts.stop();
      await plugin.stop?.();
    },
  };
}
