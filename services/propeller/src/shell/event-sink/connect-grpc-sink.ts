import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { type ServiceAuth, clientCredentials } from "@flyte-ts/auth";
import { createClient, openChannel } from "@flyte-ts/rpc";
import { Counter, Gauge, type Logger } from "@flyte-ts/telemetry";
import type { PropellerMetrics } from "../metrics.js";
import { backoffDelay } from "@flyte-ts/async";
import type { ForwardingSink, Observe } from "./event-sink.js";
import { GrpcSink } from "./grpc-sink.js";

export interface GrpcSinkConfig {
  readonly endpoint: string;
  readonly timeoutMs: number;
  readonly concurrency: number;
  readonly maxWaiting: number;
  readonly auth?: ServiceAuth | undefined;
}

export interface GrpcSinkDependencies {
  readonly observe: Observe;
  readonly logger: Logger;
  readonly metrics: PropellerMetrics;
  readonly random: () => number;
}

const RETRY_BACKOFF = { initialMs: 100, maxMs: 15_000, jitter: 0.5 };

/** Event sink to a Flyte admin over a dedicated gRPC connection. */
export function connectGrpcSink(config: GrpcSinkConfig, { observe, logger, metrics, random }: GrpcSinkDependencies): ForwardingSink {
  const channel = openChannel({
    endpoint: config.endpoint,
    deadlineMs: config.timeoutMs,
    ...clientCredentials(config.endpoint, config.auth, () => new Date()),
  });
  const { registry } = metrics;
  const sent = new Counter({
    name: "flyte_propeller_recorder_answers_total",
    help: "Responses of the control plane to events sent over gRPC, by outcome.",
    labelNames: ["verdict"],
    registers: [registry],
  });
  const sink = new GrpcSink({
    admin: createClient({ channel, service: AdminService }),
    observe,
    logger,
    concurrency: config.concurrency,
    maxQueueLength: config.maxWaiting,
    backoffMs: (failures) => backoffDelay(RETRY_BACKOFF, failures, random),
    now: () => performance.now(),
    onSent: (outcome) => sent.inc({ verdict: outcome }),
  });
  new Gauge({
    name: "flyte_propeller_recorder_waiting",
    help: "Events that are waiting to be sent to the control plane.",
    registers: [registry],
    collect() {
      this.set(sink.queueLength);
    },
  });
  return {
    publish: (key, event, fence) => sink.publish(key, event, fence),
    whenRecorded: (key) => sink.whenRecorded(key),
    forward: (key, event, outputs) => sink.forward(key, event, outputs),
    close: () => {
      sink.close();
      channel.close();
    },
  };
}
