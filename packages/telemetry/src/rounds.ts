import type { Logger } from "./logger.js";
import type { Running } from "./running.js";

/** Work that is done again and again. */
export interface Rounds {
  readonly everyMs: number;
  /** Most that one call takes. */
  readonly batch: number;
  /** Takes up to `batch` pieces of work; gives how many it found. */
  readonly work: (batch: number) => Promise<number>;
  /** For the log, when a call fails. */
  readonly trouble: string;
}

/** Does work in rounds until it is closed; a round goes on while calls find as much as they may take. */
export function startRounds({ everyMs, batch, work, trouble }: Rounds, logger: Logger): Running {
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
