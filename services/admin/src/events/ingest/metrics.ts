import { Counter, Histogram, type Metrics } from "@flyte-ts/telemetry";

export interface IngestMetrics {
  readonly lag: Histogram;
  readonly events: Counter<"outcome">;
}

export function ingestMetrics(registry: Metrics): IngestMetrics {
  return {
    lag: new Histogram({
      name: "flyte_admin_ingest_lag_seconds",
      help: "Time from the occurrence of an event to its record in the database.",
      buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
      registers: [registry],
    }),
    events: new Counter({
      name: "flyte_admin_ingest_events_total",
      help: "Events received from the bus, by outcome.",
      labelNames: ["outcome"],
      registers: [registry],
    }),
  };
}
