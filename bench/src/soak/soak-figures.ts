import type { MemoryUse } from "../memory.js";

/** Figures of a tenth of the executions. */
export interface SoakTenth {
  /** Measured executions that have ended: those of the warm-up do not count. */
  readonly ended: number;
  readonly seconds: number;
  /** Ended executions per second. */
  readonly rate: number;
  /** Latency of CreateExecution, ms. */
  readonly create: Quantiles;
  /** Time from the call until propeller has started the execution, ms. */
  readonly queue: Quantiles;
  /** Mean of all samples during the tenth. */
  readonly memory: MemoryUse;
  /** Size of admin's database, MiB. */
  readonly databaseMib: number;
  /** Part of it that holds an audit entry for each deletion, MiB. */
  readonly auditLogMib: number;
  /** Executions that retention has deleted since the start. */
  readonly deleted: number;
}

export interface Quantiles {
  readonly p50: number;
  readonly p99: number;
}

/** Number of executions, counted in three ways that must agree. */
export interface SoakCounts {
  /** Calls of CreateExecution that were answered with OK. */
  readonly accepted: number;
  /** Executions whose success propeller has published on the bus. */
  readonly succeeded: number;
  /** Rows of succeeded executions in admin's database, and deleted ones. */
  readonly recorded: number;
}

/** Computes quantiles of durations, ms; sorts these. */
export function quantiles(times: number[]): Quantiles {
  const sorted = times.sort((a, b) => a - b);
  const at = (part: number) => round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0);
  return { p50: at(0.5), p99: at(0.99) };
}

/** Computes the mean of memory samples by program, MiB. */
export function meanMemory(samples: readonly MemoryUse[]): MemoryUse {
  const programs = new Set(samples.flatMap(({ parts }) => Object.keys(parts)));
  const mean = (of: (sample: MemoryUse) => number) => round(samples.reduce((sum, each) => sum + of(each), 0) / Math.max(1, samples.length));
  return {
    total: mean(({ total }) => total),
    parts: Object.fromEntries([...programs].map((name) => [name, mean(({ parts }) => parts[name] ?? 0)])),
  };
}

/** Rounds to one decimal place. */
export function round(value: number): number {
  return Math.round(value * 10) / 10;
}
