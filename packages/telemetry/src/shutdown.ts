import type { Logger } from "pino";

export interface ShutdownOptions {
  readonly logger: Logger;
  /** Longest time for the work to end, ms; after it the process ends with status 1. */
  readonly deadlineMs?: number;
}

/**
 * Runs `stop` once on the first SIGTERM or SIGINT and then ends the process; a
 * second signal ends it at once.
 */
export function onShutdown(stop: () => Promise<void>, { logger, deadlineMs = 20_000 }: ShutdownOptions): void {
  let stopping = false;
  const begin = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1);
    stopping = true;
    logger.info({ signal }, "stopping");
    setTimeout(() => {
      logger.error("stopping took too long");
      process.exit(1);
    }, deadlineMs).unref();
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        logger.error({ error: String(error) }, "stopping failed");
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", begin);
  process.on("SIGINT", begin);
}
