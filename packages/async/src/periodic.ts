import type { Closeable } from "./closeable.js";
import { systemTime } from "./system.js";
import type { Time } from "./time.js";

/** A run of a periodic task that failed, and is repeated after the interval. */
export interface TaskFailure {
  /** Name of the task. */
  readonly task: string;
  readonly error: unknown;
  /** Log message. */
  readonly message: string;
}

/** Records failed runs of periodic tasks. */
export interface FailureLog {
  failed(failure: TaskFailure): void;
}

/** Periodic work in batches. */
export interface PeriodicTask {
  /** Names the task in messages about several, such as `retention policies`. */
  readonly name: string;
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
 * while it finds a full batch. A failed run is recorded, and the next starts after the interval.
 * Keeps the process alive.
 */
export function startPeriodic(task: PeriodicTask, failures: FailureLog, time: Pick<Time, "sleep"> = systemTime): Closeable {
  const { name, intervalMs, batchSize, errorMessage } = task;
  const closing = new AbortController();
  const { signal } = closing;
  const runBatches = async () => {
    try {
      while (!signal.aborted && (await task.run(batchSize)) === batchSize);
    } catch (error) {
      failures.failed({ task: name, error, message: errorMessage });
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
