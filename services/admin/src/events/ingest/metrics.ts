import { Counter, Histogram, type Metrics } from "@flyte-ts/telemetry";

export interface IngestMetrics {
  readonly lag: Histogram;
  readonly events: Counter<"outcome">;
}

export function ingestMetrics(registry: Metrics): IngestMetrics {
  return {
    lag: new Histogram({
      name: "flyte_admin_ingest_lag_seconds",
      help: "Time from when an event was told to when it was recorded.",
      buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
      registers: [registry],
    }),
    events: new Counter({
      name: "flyte_admin_ingest_events_total",
      help: "Events taken from the bus, by what became of them.",
      labelNames: ["outcome"],
      registers: [registry],
    }),
  };
}
