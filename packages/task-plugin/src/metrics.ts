import { Counter, Gauge, type Metrics } from "@flyte-ts/telemetry";

export interface PluginMetrics {
  readonly requests: Counter<"desired">;
  readonly events: Counter<"phase">;
  readonly postponed: Counter;
}

/** Registers a plugin service's metrics. */
export function pluginMetrics(registry: Metrics, liveAttempts: () => number): PluginMetrics {
  new Gauge({
    name: "flyte_plugin_attempts",
    help: "Attempts under way that this process knows of",
    registers: [registry],
    collect() {
      this.set(liveAttempts());
    },
  });
  return {
    requests: new Counter({
      name: "flyte_plugin_requests_total",
      help: "Task requests taken",
      labelNames: ["desired"],
      registers: [registry],
    }),
    events: new Counter({ name: "flyte_plugin_events_total", help: "Task events published", labelNames: ["phase"], registers: [registry] }),
    postponed: new Counter({
      name: "flyte_plugin_postponed_total",
      help: "Requests that could not be carried out yet",
      registers: [registry],
    }),
  };
}
