import type { Closeable } from "./closeable.js";
import { systemTime } from "./system.js";
import type { Time } from "./time.js";

/** The part of a logger that background work needs. */
export interface WarnLogger {
  warn(fields: object, message: string): void;
}

/** Periodic work in batches. */
export interface PeriodicTask {
  /** Delay between two runs, ms. */
  readonly intervalMs: number;
  /** Maximum number of items per call. */
  readonly batchSize: number;
  /** Processes up to `batchSize` items; returns how many it found. */
  readonly run: (batchSize: number) => Promise<number>;
  /** Log message when a call fails. */
  readonly errorMessage: string;
}

/**
 * Runs a task immediately and then every `intervalMs` until it is closed. Repeats a run at once
 * while it finds a full batch. A failed run is logged, and the next run starts after the interval.
 * Keeps the process alive.
 */
export function startPeriodic(task: PeriodicTask, logger: WarnLogger, time: Pick<Time, "sleep"> = systemTime): Closeable {
  const { intervalMs, batchSize, errorMessage } = task;
  const closing = new AbortController();
  const { signal } = closing;
  const runBatches = async () => {
    try {
      while (!signal.aborted && (await task.run(batchSize)) === batchSize);
    } catch (error) {
      logger.warn({ error: String(error) }, errorMessage);
    }
  };
  const runUntilClosed = async () => {
    while (!signal.aborted) {
      await runBatches();
      // Rejects when closed.
      await time.sleep(intervalMs, signal).catch(() => undefined);
    }
  };
  const running = runUntilClosed();
  return {
    close: async () => {
      closing.abort();
      await running;
    },
  };
}
