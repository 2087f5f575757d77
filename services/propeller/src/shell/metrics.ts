import { workflowPhases } from "@flyte-ts/domain/phase";
import { Counter, Gauge, Histogram, Metrics } from "@flyte-ts/telemetry";

import type { Effect, RunCounts } from "../engine/types.js";

/** Prometheus metrics of the controller. */
export interface PropellerMetrics {
  readonly registry: Metrics;
  readonly transitions: Counter;
  readonly effectErrors: Counter;
  readonly kubeEventsDropped: Counter<"why">;
  readonly reconcileErrors: Counter;
  readonly reconcileSeconds: Histogram;
  readonly statusWrites: Histogram;
  readonly statusWriteBytes: Histogram;
  readonly executionsStarted: Counter;
  readonly executionsEnded: Counter<"phase">;
  readonly executionSeconds: Histogram<"phase">;
}

/** Gauges read at each scrape. */
export interface PropellerGauges {
  queueDepth(): number;
  queueLatencyMs(): number;
  freeWorkers(): number;
  loadSnapshot(): LoadSnapshot;
  /** Milliseconds since the last heartbeat of a plugin service, by task type. */
  pluginHeartbeatAges(): ReadonlyMap<string, number>;
  informerLagMs(): number;
  shards(): number;
}

/** Counts of all objects in memory. */
export interface LoadSnapshot extends RunCounts {
  /** Number of workflows by phase number. */
  readonly workflows: ReadonlyMap<number, number>;
}

/** Sums the counts of the runs in memory. */
export function sumLoad(runs: Iterable<{ readonly phase: number; readonly counts: RunCounts }>): LoadSnapshot {
  const workflows = new Map<number, number>();
  const sum = { activeNodes: 0, activeTasks: 0, queuedTasks: 0 };
  for (const { phase, counts } of runs) {
    workflows.set(phase, (workflows.get(phase) ?? 0) + 1);
    sum.activeNodes += counts.activeNodes;
    sum.activeTasks += counts.activeTasks;
    sum.queuedTasks += counts.queuedTasks;
  }
  return { workflows, ...sum };
}

/** Counts a decision of the engine. */
export function countTransition(metrics: PropellerMetrics, { metric, labels = {}, seconds }: Extract<Effect, { kind: "metric" }>): void {
  metrics.transitions.inc({ what: metric, detail: Object.values(labels).join(" ") });
  const phase = labels["phase"] ?? "";
  if (metric === "workflowStarted") metrics.executionsStarted.inc();
  if (metric !== "workflowEnded") return;
  metrics.executionsEnded.inc({ phase });
  if (seconds !== undefined) metrics.executionSeconds.observe({ phase }, seconds);
}

export function createMetrics(): PropellerMetrics {
  const registry = new Metrics();
  const registers = [registry];
  const buckets = [0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5];
  return {
    registry,
    transitions: new Counter({
      name: "flyte_propeller_transitions_total",
      help: "Transitions that the engine decided, by kind.",
      // Joins all details of a decision in one label: a metric must never fail a reconcile.
      labelNames: ["what", "detail"],
      registers,
    }),
    effectErrors: new Counter({
      name: "flyte_propeller_effect_errors_total",
      help: "Effects that failed.",
      labelNames: ["effect"],
      registers,
    }),
    kubeEventsDropped: new Counter({
      name: "flyte_propeller_kubernetes_events_dropped_total",
      help: "Kubernetes events on workflows that were dropped, by reason.",
      labelNames: ["why"],
      registers,
    }),
    reconcileErrors: new Counter({ name: "flyte_propeller_round_errors_total", help: "Reconciles that failed.", registers }),
    reconcileSeconds: new Histogram({ name: "flyte_propeller_round_seconds", help: "Duration of a reconcile.", buckets, registers }),
    executionsStarted: new Counter({ name: "flyte_propeller_executions_started_total", help: "Executions that started.", registers }),
    executionsEnded: new Counter({
      name: "flyte_propeller_executions_ended_total",
      help: "Executions that ended, by phase.",
      labelNames: ["phase"],
      registers,
    }),
    executionSeconds: new Histogram({
      name: "flyte_propeller_execution_seconds",
      help: "Time from the start of an execution to its end, by phase.",
      labelNames: ["phase"],
      buckets: [0.1, 0.5, 1, 5, 15, 60, 300, 1_800, 7_200, 43_200],
      registers,
    }),
    statusWriteBytes: new Histogram({
      name: "flyte_propeller_status_write_bytes",
      help: "Size of status patches; samples one of eight.",
      buckets: [256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576],
      registers,
    }),
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
  gauge("queue_depth", "Workflows that are waiting for a worker.", gauges.queueDepth);
  gauge("queue_latency_seconds", "Time that the oldest of them has waited.", () => gauges.queueLatencyMs() / 1_000);
  gauge("free_workers", "Workers without a workflow.", gauges.freeWorkers);
  gauge("active_nodes", "Nodes in progress.", () => gauges.loadSnapshot().activeNodes);
  gauge("active_tasks", "Task nodes in progress.", () => gauges.loadSnapshot().activeTasks);
  gauge("waiting_tasks", "Task nodes that wait because of the parallelism limit.", () => gauges.loadSnapshot().queuedTasks);
  new Gauge({
    name: "flyte_propeller_workflows",
    help: "Workflows in memory, by phase.",
    labelNames: ["phase"],
    registers: [registry],
    collect() {
      const { workflows } = gauges.loadSnapshot();
      for (const { phase, name } of workflowPhases) this.set({ phase: name }, workflows.get(phase) ?? 0);
    },
  });
  new Gauge({
    name: "flyte_propeller_plugin_silence_seconds",
    help: "Time since the last heartbeat of a plugin service, by task type.",
    labelNames: ["task_type"],
    registers: [registry],
    collect() {
      for (const [taskType, ms] of gauges.pluginHeartbeatAges()) this.set({ task_type: taskType }, ms / 1_000);
    },
  });
  gauge("informer_lag_seconds", "Time since the last sign of life of the watch.", () => gauges.informerLagMs() / 1_000);
  gauge("shards", "Shards that this process holds; 0 for a standby.", gauges.shards);
}
