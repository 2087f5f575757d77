import { Counter, Gauge, Histogram, type Metrics } from "@flyte-ts/telemetry";

export interface WebApiMetrics {
  readonly calls: Counter<"api" | "operation" | "outcome">;
  readonly callSeconds: Histogram<"api" | "operation">;
  /** Ended attempts whose job may still run. */
  readonly abandoned: Counter<"api">;
}

/** Current load of one API. */
export interface ApiLoad {
  readonly api: string;
  readonly jobs: number;
  /** True while calls pause because they failed. */
  readonly circuitOpen: boolean;
}

/** Registers the metrics of calls of web APIs and of jobs that they did not stop. */
export function webApiMetrics(registry: Metrics): WebApiMetrics {
  return {
    calls: new Counter({
      name: "flyte_plugin_web_api_calls_total",
      help: "Calls of web APIs, by operation and outcome",
      labelNames: ["api", "operation", "outcome"],
      registers: [registry],
    }),
    callSeconds: new Histogram({
      name: "flyte_plugin_web_api_call_seconds",
      help: "Duration of calls of web APIs",
      labelNames: ["api", "operation"],
      buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 20],
      registers: [registry],
    }),
    abandoned: new Counter({
      name: "flyte_plugin_web_api_abandoned_total",
      help: "Ended attempts whose job may still run, since the web API did not stop it",
      labelNames: ["api"],
      registers: [registry],
    }),
  };
}

/** Registers the gauges of the APIs' loads. */
export function registerLoadMetrics(registry: Metrics, loads: () => readonly ApiLoad[]): void {
  const gauge = (name: string, help: string, read: (load: ApiLoad) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ["api"],
      registers: [registry],
      collect() {
        for (const load of loads()) this.set({ api: load.api }, read(load));
      },
    });
  gauge("flyte_plugin_web_api_jobs", "Jobs of a web API that this process follows or creates", ({ jobs }) => jobs);
  gauge("flyte_plugin_web_api_circuit_open", "1 while calls of a web API pause because they failed", ({ circuitOpen }) =>
    circuitOpen ? 1 : 0,
  );
}
