import { Counter, Gauge, Histogram, type Metrics } from "@flyte-ts/telemetry";
import type { Outcome } from "./outcome.js";

/** Operations that may fail and are retried. */
export type Operation = "list" | "claim" | "start" | "record";

export interface SchedulerMetrics {
  readonly runs: Counter<"outcome">;
  readonly startDelay: Histogram;
  readonly failures: Counter<"what">;
}

export interface GaugeSources {
  readonly schedules: () => number;
  /** Age of the oldest run that is due and not started, ms. */
  readonly overdueMs: () => number;
  /** Time since admin last returned the schedules, ms. */
  readonly listAgeMs: () => number;
}

export type RunOutcome = Outcome | "left_out";

export function schedulerMetrics(registry: Metrics): SchedulerMetrics {
  const registers = [registry];
  return {
    runs: new Counter({ name: "flyte_scheduler_runs_total", help: "runs by outcome", labelNames: ["outcome"], registers }),
    startDelay: new Histogram({
      name: "flyte_scheduler_lateness_seconds",
      help: "from when a run was due to when admin had it",
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 15, 60, 600, 3600],
      registers,
    }),
    failures: new Counter({
      name: "flyte_scheduler_failures_total",
      help: "failures that are retried",
      labelNames: ["what"],
      registers,
    }),
  };
}

export function registerGauges(registry: Metrics, sources: GaugeSources): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  gauge("flyte_scheduler_schedules", "active schedules", sources.schedules);
  gauge("flyte_scheduler_overdue_seconds", "age of the oldest run that is due and not started", () => sources.overdueMs() / 1000);
  gauge("flyte_scheduler_admin_silence_seconds", "time since the schedules were last read from admin", () => sources.listAgeMs() / 1000);
}
