import type { NatsConnection } from "@nats-io/transport-node";
import type { Logger } from "@flyte-ts/telemetry";

/** The client gave the connection up: it reconnects no more. */
export class BusConnectionEnded extends Error {
  override readonly name = "BusConnectionEnded";
}

export interface ConnectionEndOptions {
  readonly logger: Logger;
  /** True once this process closes the bus itself. */
  readonly isClosing: () => boolean;
  /** Called once with the reason when the connection has ended and the bus was not closed. */
  readonly onEnded: (error: BusConnectionEnded) => void;
}

/**
 * Reports the end of a connection that is not restored. A bus without it would answer no call and
 * deliver no message for the rest of the process.
 */
export async function watchConnectionEnd(
  connection: Pick<NatsConnection, "closed">,
  { logger, isClosing, onEnded }: ConnectionEndOptions,
): Promise<void> {
  const cause = await connection.closed();
  if (isClosing()) return;
  const reason = cause instanceof Error ? cause.message : "the client gave no reason";
  logger.fatal({ reason }, "the connection to the message bus ended and is not restored; this process exits to be started again");
  onEnded(new BusConnectionEnded(`the connection to the message bus ended and is not restored: ${reason}`, { cause }));
}

/** Ends the process, so that its supervisor starts it with a new connection. */
export function exitProcess(): void {
  process.exit(1);
}
