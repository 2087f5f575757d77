import type { Logger } from "@flyte-ts/telemetry";

export interface ShutdownOptions {
  readonly logger: Logger;
  /** Maximum duration of `stop`, ms; afterwards the process exits with status 1. */
  readonly timeoutMs?: number;
}

/**
 * Runs `stop` once on the first SIGTERM or SIGINT and then exits; a second signal exits at once.
 */
export function onShutdown(stop: () => Promise<void>, { logger, timeoutMs = 20_000 }: ShutdownOptions): void {
  let stopping = false;
  const handleSignal = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1);
    stopping = true;
    logger.info({ signal }, "shutting down");
    setTimeout(() => {
      logger.error("shutdown timed out");
      process.exit(1);
    }, timeoutMs).unref();
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        logger.error({ error: String(error) }, "shutdown failed");
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", handleSignal);
  process.on("SIGINT", handleSignal);
}
