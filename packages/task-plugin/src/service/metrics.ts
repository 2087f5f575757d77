import { Counter, Gauge, type Metrics } from "@flyte-ts/telemetry";

export interface PluginMetrics {
  readonly requests: Counter<"desired">;
  readonly events: Counter<"phase">;
  readonly requeued: Counter;
}

/** Current load of a plugin service. */
export interface PluginLoad {
  /** Number of live attempts. */
  readonly activeCount: number;
  /** Number of requests being handled. */
  readonly inProgress: number;
  /** Age, ms, of the oldest request that is not handled yet. */
  readonly oldestPendingMs: number;
}

/** Registers a plugin service's metrics. */
export function pluginMetrics(registry: Metrics, load: () => PluginLoad): PluginMetrics {
  const gauge = (name: string, help: string, read: (load: PluginLoad) => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read(load()));
      },
    });
  gauge("flyte_plugin_attempts", "Attempts in progress that this process tracks", ({ activeCount }) => activeCount);
  gauge("flyte_plugin_requests_in_hand", "Requests that are being processed", ({ inProgress }) => inProgress);
  gauge(
    "flyte_plugin_oldest_request_seconds",
    "Age of the oldest request that was accepted and is not processed yet",
    ({ oldestPendingMs }) => oldestPendingMs / 1_000,
  );
  return {
    requests: new Counter({
      name: "flyte_plugin_requests_total",
      help: "Task requests accepted",
      labelNames: ["desired"],
      registers: [registry],
    }),
    events: new Counter({ name: "flyte_plugin_events_total", help: "Task events published", labelNames: ["phase"], registers: [registry] }),
    requeued: new Counter({
      name: "flyte_plugin_postponed_total",
      help: "Requests that could not be processed yet and were requeued",
      registers: [registry],
    }),
  };
}
