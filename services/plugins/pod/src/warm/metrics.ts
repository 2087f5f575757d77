import { Counter, Gauge, type Metrics } from "@flyte-ts/telemetry";

/**
 * Start of an attempt that may use warm pods: in an idle pod (`taken`), in a new one that serves
 * others afterwards (`started`), or in one of its own (`cold`).
 */
export type WarmOutcome = "taken" | "started" | "cold";

/** Reason for which an idle pod is deleted. */
export type WarmPodEnd = "demand" | "age" | "room" | "ended";

export interface WarmPodMetrics {
  /** Reused pods that were freed for another attempt. */
  readonly reuses: Counter;
  /** Repeated assignments of reused pods whose supervisor showed no start. */
  readonly repeatedAssignments: Counter;
  /** Reused pods that served no further attempt. */
  readonly retired: Counter<"reason">;
  readonly starts: Counter<"outcome">;
  readonly discarded: Counter<"reason">;
}

/** Load of a pool. */
export interface WarmPodLoad {
  readonly idle: number;
  /** Sum over all pods of the time for which they were idle, ms. */
  readonly idleMs: number;
}

/** Registers the metrics of warm pods. */
export function warmPodMetrics(registry: Metrics, load: () => WarmPodLoad): WarmPodMetrics {
  new Gauge({
    name: "flyte_plugin_warm_pods",
    help: "Idle warm pods",
    registers: [registry],
    collect() {
      this.set(load().idle);
    },
  });
  new Counter({
    name: "flyte_plugin_warm_pod_idle_seconds_total",
    help: "Time for which warm pods held resources without an attempt",
    registers: [registry],
    collect() {
      this.reset();
      this.inc(load().idleMs / 1_000);
    },
  });
  return {
    reuses: new Counter({
      name: "flyte_plugin_warm_pod_reuses_total",
      help: "Reused warm pods that were freed for another attempt",
      registers: [registry],
    }),
    repeatedAssignments: new Counter({
      name: "flyte_plugin_warm_pod_repeated_assignments_total",
      help: "Assignments of reused warm pods that were repeated because the container showed no start in time",
      registers: [registry],
    }),
    retired: new Counter({
      name: "flyte_plugin_warm_pods_retired_total",
      help: "Reused warm pods that served no further attempt after an end, by reason",
      labelNames: ["reason"],
      registers: [registry],
    }),
    starts: new Counter({
      name: "flyte_plugin_warm_pod_starts_total",
      help: "Starts of attempts that may use warm pods, by outcome",
      labelNames: ["outcome"],
      registers: [registry],
    }),
    discarded: new Counter({
      name: "flyte_plugin_warm_pods_discarded_total",
      help: "Idle warm pods that were deleted, by reason",
      labelNames: ["reason"],
      registers: [registry],
    }),
  };
}
