import { JetStreamApiError } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { type Backoff, retry as retryWithBackoff } from "@flyte-ts/async";
import { PublishCancelled } from "./publish/batch-publisher.js";

export class BusClosed extends Error {
  override readonly name = "BusClosed";
}

const BACKOFF: Backoff = { initialMs: 50, maxMs: 1_000 };

/**
 * Retries until success or until the connection is closed: failures here mean that the server is
 * unreachable or starting.
 */
export function retry<T>(attempt: () => Promise<T>, connection: NatsConnection, wanted: () => boolean = () => true): Promise<T> {
  const attemptIfOpen = async () => {
    if (!wanted()) throw new PublishCancelled();
    if (connection.isClosed()) throw new BusClosed("the message bus is closed");
    try {
      return await attempt();
    } catch (error) {
      if (isRefusal(error) || !connection.isClosed()) throw error;
      throw new BusClosed("the message bus is closed", { cause: error });
    }
  };
  const isFinal = (error: unknown) => isRefusal(error) || error instanceof PublishCancelled || error instanceof BusClosed;
  return retryWithBackoff(attemptIfOpen, { ...BACKOFF, isRetryable: (error) => !isFinal(error) });
}

/** True for the answer to an invalid request; 5xx and 404 are transient while a server starts. */
function isRefusal(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.status === 400 && !isTooFewServers(error);
}

/** API error with status 400: fewer servers of a cluster are online than a stream has copies. */
const NO_SUITABLE_PEERS = 10005;

/** True while servers of a cluster have not joined it, as during a start or a rolling restart. */
export function isTooFewServers(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === NO_SUITABLE_PEERS;
}
