import { randomBytes, randomUUID } from "node:crypto";
import type { Time } from "@flyte-ts/async";
import { EVENT_STREAM, pluginHelloSubject, TASK_STREAM, taskRequestFilter, taskTypeToken } from "@flyte-ts/domain";
import type { Logger, Metrics } from "@flyte-ts/telemetry";
import { attemptFields } from "./attempt-fields.js";
import { Attempts } from "./attempts.js";
import { decodeRequest } from "./decode-request.js";
import { PermanentFailure } from "./failure.js";
import { encodeHello, HELLO_INTERVAL_MS } from "./hello.js";
import { pluginMetrics } from "./metrics.js";
import type { Plugin } from "./plugin.js";
import type { BusMessage, PluginBus } from "./plugin-bus.js";

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
  /** Maximum of remembered ended attempts. Default 10,000. */
  readonly endedLimit?: number;
  /** Identifies this process among its replicas and predecessors. Default: random. */
  readonly instance?: string;
  /** Source of jitter for retries; [0, 1). */
  readonly random?: () => number;
}

export interface RunningPlugin {
  /** Stops accepting requests, waits for those being handled, then stops the plugin. */
  stop(): Promise<void>;
}

/** Number of requests handled between yields to the event loop. */
const BATCH = 64;

// Exceeds the time that a pod takes to stop and that neighbouring calls take to time out.
const ACK_WAIT_MS = 60_000;

/** Starts the plugin and serves its task types until stopped. */
export async function runPlugin(options: RunPluginOptions): Promise<RunningPlugin> {
  const { plugin, bus, logger, clock, maxInFlight = 256, producerId = "propeller", endedLimit = 10_000 } = options;
  const random = options.random ?? (() => randomBytes(4).readUInt32BE() / 2 ** 32);
  const metrics = options.metrics === undefined ? undefined : pluginMetrics(options.metrics, () => attempts);
  const attempts: Attempts = new Attempts({ plugin, bus, logger, clock, random, producerId, endedLimit, metrics });
  const instance = options.instance ?? randomUUID();
  // The first service to start creates the streams.
  await bus.ensureStream(TASK_STREAM);
  await bus.ensureStream(EVENT_STREAM);
  await plugin.start?.(attempts);

  const take = async (message: BusMessage): Promise<void> => {
    const decoded = decodeRequest(message.data, plugin.taskTypes);
    switch (decoded.kind) {
      case "request":
        attempts.accept(decoded.request, message);
        return;
      case "abortAll":
        attempts.acceptAbortAll(decoded.request, message);
        return;
      case "bad":
        logger.warn({ subject: message.subject, ...attemptFields(decoded.request), problem: decoded.problem }, "request refused");
        await attempts.report(decoded.request, {
          phase: "FAILED",
          failure: new PermanentFailure({ code: "BadTaskSpecification", message: decoded.problem, kind: "SYSTEM" }),
        });
        message.ack();
        return;
      case "poison":
        message.discard(decoded.problem);
        return;
    }
  };

  const subscriptions = await Promise.all(
    plugin.taskTypes.map((taskType) =>
      bus.subscribe(
        {
          stream: TASK_STREAM.name,
          durable: durableName(taskType),
          subjects: [taskRequestFilter(taskType)],
          maxInFlight,
          batch: BATCH,
          ackWaitMs: ACK_WAIT_MS,
        },
        async (messages) => {
          await Promise.all(messages.map(take));
        },
      ),
    ),
  );

  const { name, taskTypes, finalizes = true } = plugin;
  const since = clock.now();
  let callOff: () => void = () => undefined;
  const announce = () => {
    const servedMs = clock.now() - since;
    bus.publishVolatile(pluginHelloSubject, encodeHello({ name, taskTypes, finalizes, instance, servedMs }));
    callOff = clock.schedule(HELLO_INTERVAL_MS, announce);
  };
  announce();
  logger.info({ plugin: plugin.name, taskTypes: plugin.taskTypes }, "plugin serves");

  return {
    async stop() {
      callOff();
      await Promise.all(subscriptions.map((subscription) => subscription.close()));
      await attempts.stop();
      await plugin.stop?.();
    },
  };
}

/** Name of the consumer that the replicas of a plugin share. */
export function durableName(taskType: string): string {
  return `plugin-${taskTypeToken(taskType)}`;
}
