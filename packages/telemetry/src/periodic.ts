import type { Logger } from "./logger.js";
import type { Closeable } from "./closeable.js";

/** Periodic work in batches. */
export interface PeriodicTask {
  readonly intervalMs: number;
  /** Maximum number of items per call. */
  readonly batchSize: number;
  /** Processes up to `batch` items; returns how many it found. */
  readonly run: (batch: number) => Promise<number>;
  /** Log message when a call fails. */
  readonly errorMessage: string;
}

/** Runs the work every `everyMs` until it is closed; a round repeats while calls find a full batch. */
export function startPeriodic(
  { intervalMs: everyMs, batchSize: batch, run: work, errorMessage: trouble }: PeriodicTask,
  logger: Logger,
): Closeable {
  let stopped = false;
  let stop: () => void = () => undefined;
  const stopping = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const round = async () => {
    try {
      while (!stopped && (await work(batch)) === batch);
    } catch (error) {
      logger.warn({ error: String(error) }, trouble);
    }
  };
  const run = async () => {
    while (!stopped) {
      await round();
      let timer: NodeJS.Timeout | undefined;
      const pause = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, everyMs);
      });
      await Promise.race([pause, stopping]);
      clearTimeout(timer);
    }
  };
  const running = run();
  return {
    close: async () => {
      stopped = true;
      stop();
      await running;
    },
  };
}
