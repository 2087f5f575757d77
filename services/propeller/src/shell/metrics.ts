import { Counter, Gauge, Histogram, Metrics } from "@flyte-ts/telemetry";

/** What the controller tells Prometheus. */
export interface PropellerMetrics {
  readonly registry: Metrics;
  readonly transitions: Counter;
  readonly effectErrors: Counter;
  readonly roundErrors: Counter;
  readonly rounds: Histogram;
  readonly statusWrites: Histogram;
}

/** Values that are read when Prometheus asks. */
export interface PropellerGauges {
  queueDepth(): number;
  queueLatencyMs(): number;
  freeWorkers(): number;
  runs(): number;
  informerLagMs(): number | undefined;
  shards(): number;
}

export function createMetrics(): PropellerMetrics {
  const registry = new Metrics();
  const registers = [registry];
  const buckets = [0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5];
  return {
    registry,
    transitions: new Counter({
      name: "flyte_propeller_transitions_total",
      help: "What the engine decided, by kind.",
      // One label for all that a decision says of itself: a metric must never be able to fail a round.
      labelNames: ["what", "detail"],
      registers,
    }),
    effectErrors: new Counter({
      name: "flyte_propeller_effect_errors_total",
      help: "Effects that failed.",
      labelNames: ["effect"],
      registers,
    }),
    roundErrors: new Counter({ name: "flyte_propeller_round_errors_total", help: "Rounds that failed.", registers }),
    rounds: new Histogram({ name: "flyte_propeller_round_seconds", help: "Duration of a round.", buckets, registers }),
    statusWrites: new Histogram({
      name: "flyte_propeller_status_write_seconds",
      help: "Duration of a status write.",
      labelNames: ["outcome"],
      buckets,
      registers,
    }),
  };
}

export function registerGauges({ registry }: PropellerMetrics, gauges: PropellerGauges): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name: `flyte_propeller_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  gauge("queue_depth", "Workflows that wait for a worker.", gauges.queueDepth);
  gauge("queue_latency_seconds", "How long the first one has waited.", () => gauges.queueLatencyMs() / 1_000);
  gauge("free_workers", "Workers without a workflow.", gauges.freeWorkers);
  gauge("workflows", "Workflows in memory.", gauges.runs);
  gauge("informer_lag_seconds", "Time since the watch last proved to be alive.", () => (gauges.informerLagMs() ?? 0) / 1_000);
  gauge("shards", "Shards that this process holds; 0 while it stands by.", gauges.shards);
}
