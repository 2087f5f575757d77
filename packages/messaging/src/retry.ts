import { setTimeout as sleep } from "node:timers/promises";
import { JetStreamApiError } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { PublishCancelled } from "./publish/batch-publisher.js";

export class BusClosed extends Error {
  override readonly name = "BusClosed";
}

/** Retries until success or until the connection is closed: failures here mean that the server is unreachable or starting. */
export async function retry<T>(attempt: () => Promise<T>, connection: NatsConnection, wanted: () => boolean = () => true): Promise<T> {
  for (let delay = 50; ; delay = Math.min(delay * 2, 1_000)) {
    if (!wanted()) throw new PublishCancelled();
    if (connection.isClosed()) throw new BusClosed("the message bus is closed");
    try {
      return await attempt();
    } catch (error) {
      if (error instanceof JetStreamApiError && isRefusal(error)) throw error;
      if (connection.isClosed()) throw new BusClosed("the message bus is closed", { cause: error });
      await sleep(delay);
    }
  }
}

/** True for the answer to an invalid request; 5xx and 404 are transient while a server starts. */
function isRefusal(error: JetStreamApiError): boolean {
  return error.status === 400;
}
