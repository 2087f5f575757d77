import { Counter, Gauge, Histogram, type Metrics } from "@flyte-ts/telemetry";
import type { ConnectorController } from "./attempt/connector-controller.js";
import type { Endpoint, EndpointDeps } from "./endpoint/endpoint.js";

interface Observed {
  readonly endpoints: readonly Endpoint[];
  readonly controller: ConnectorController;
}

export interface ConnectorMetrics extends Required<Pick<EndpointDeps, "onCall">> {
  /** Counts an ended task whose job may still run. */
  onAbandoned(taskType: string): void;
}

/** Registers the metrics of endpoints. */
export function connectorMetrics(registry: Metrics, observed: () => Observed): ConnectorMetrics {
  const gauge = (name: string, help: string, read: (endpoint: Endpoint, controller: ConnectorController) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ["endpoint"],
      registers: [registry],
      collect() {
        const { endpoints, controller } = observed();
        for (const endpoint of endpoints) this.set({ endpoint: endpoint.name }, read(endpoint, controller));
      },
    });
  gauge("flyte_plugin_connector_up", "1 unless several calls of the endpoint in a row had no answer", ({ isAnswering }) =>
    isAnswering ? 1 : 0,
  );
  gauge("flyte_plugin_connector_tasks", "Tasks in progress at the endpoint", ({ slots }) => slots.total);
  gauge(
    "flyte_plugin_connector_open_calls",
    "Calls of the endpoint that wait for their turn or are in progress",
    ({ openCalls }) => openCalls,
  );
  gauge("flyte_plugin_connector_waiting", "Attempts that wait for room at the endpoint", (endpoint, controller) =>
    controller.waitingAt(endpoint),
  );
  const calls = new Counter({
    name: "flyte_plugin_connector_calls_total",
    help: "Calls of connectors by their status code",
    labelNames: ["endpoint", "call", "code"],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: "flyte_plugin_connector_call_seconds",
    help: "Duration of calls of connectors",
    labelNames: ["endpoint", "call"],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60],
    registers: [registry],
  });
  const abandoned = new Counter({
    name: "flyte_plugin_connector_abandoned_total",
    help: "Ended tasks whose job may still run, since their connector did not stop it",
    labelNames: ["task_type"],
    registers: [registry],
  });
  return {
    onAbandoned: (taskType) => abandoned.inc({ task_type: taskType }),
    onCall: ({ endpoint, call, code, durationMs }) => {
      calls.inc({ endpoint, call, code });
      seconds.observe({ endpoint, call }, durationMs / 1_000);
    },
  };
}
