import { backoffDelay } from "@flyte-ts/async";
import type { Database } from "@flyte-ts/postgres";
import { RetryableSendError, PermanentSendError } from "@flyte-ts/outbound";
import type { Counter, Logger } from "@flyte-ts/telemetry";
import { type QueueHandler, requeue } from "../../platform/index.js";
import type { NotificationsConfig } from "./config-schema.js";
import { DELIVERIES, deadLetterDelivery, partitionKey, markSent, claimDeliveries, type ClaimedDelivery } from "../store/deliveries.js";
import type { Send } from "./send.js";

export interface DeliverDeps {
  readonly db: Database;
  readonly config: Pick<NotificationsConfig, "firstDelaySeconds" | "maxDelaySeconds" | "giveUpAfterSeconds">;
  readonly send: Send;
  readonly random: () => number;
  readonly logger: Logger;
  /** Attempts, by channel and outcome. */
  readonly attempts: Pick<Counter<"channel" | "outcome">, "inc">;
}

/** Lease duration, ms. When it expires, another worker may claim the message. */
const LEASE_MS = 60_000;

export interface DeliveryLimits {
  /** Maximum of concurrent messages, in total and per lane. */
  readonly concurrency: number;
  readonly perPartition: number;
  /** Poll interval, ms. */
  readonly pollMs: number;
}

/** Sends messages that are due. A receiver that does not respond delays only its own lane. */
export function createDeliveryHandler(deps: DeliverDeps, { perPartition, ...limits }: DeliveryLimits): QueueHandler<ClaimedDelivery> {
  return {
    ...limits,
    table: DELIVERIES,
    leaseMs: LEASE_MS,
    // Claims messages of a lane only while none of its messages is in progress, so that a slow lane
    // gets no further slots.
    claim: (limit, inFlight) =>
      claimDeliveries(deps.db, {
        limit,
        leaseMs: LEASE_MS,
        excludedPartitions: [...new Set(inFlight.map(partitionKey))],
        perPartition,
      }),
    process: (delivery) => deliver(deps, delivery),
    errorMessage: "notifications cannot be processed now",
  };
}

/**
 * Sends a claimed message; never rejects. If the row of a sent message cannot be updated, the
 * message is sent again with the same id.
 */
async function deliver({ send, ...deps }: DeliverDeps, delivery: ClaimedDelivery): Promise<void> {
  const { db, logger } = deps;
  try {
    await send(delivery);
  } catch (error) {
    return failed(deps, delivery, error);
  }
  deps.attempts.inc({ channel: delivery.channel, outcome: "sent" });
  await logFailedWrite({ logger, delivery }, () => markSent(db, delivery.id));
}

async function failed(deps: Omit<DeliverDeps, "send">, delivery: ClaimedDelivery, error: unknown): Promise<void> {
  const { db, config, random, logger, attempts: attemptsCounter } = deps;
  const reason = error instanceof Error ? error.message : String(error);
  const delayMs = nextDelayMs({
    config,
    attempts: delivery.attempts,
    random,
    requestedMs: error instanceof RetryableSendError ? error.retryAfterMs : undefined,
  });
  const exhausted = delivery.retryingMs + delayMs > config.giveUpAfterSeconds * 1000;
  const permanent = error instanceof PermanentSendError || exhausted;
  attemptsCounter.inc({ channel: delivery.channel, outcome: permanent ? "given_up" : "failed" });
  // Omits the target, which may be a secret.
  const fields = { ...about(delivery), attempts: delivery.attempts, error: reason };
  if (permanent) logger.error(fields, "notification moved to dead letter");
  else logger.warn({ ...fields, delayMs }, "notification could not be sent; retrying");
  await logFailedWrite({ logger, delivery }, () =>
    permanent ? deadLetterDelivery(db, delivery.id, reason) : requeue(db, DELIVERIES, { row: delivery, delayMs, reason }),
  );
}

const about = ({ project, domain, executionName, channel, messageId }: ClaimedDelivery) => ({
  execution: `${project}/${domain}/${executionName}`,
  channel,
  messageId,
});

/** Stores the outcome. On failure the lease expires, and the message is sent again. */
async function logFailedWrite(
  { logger, delivery }: { readonly logger: Logger; readonly delivery: ClaimedDelivery },
  write: () => Promise<void>,
): Promise<void> {
  await write().catch((error: unknown) =>
    logger.warn({ ...about(delivery), error: String(error) }, "the outcome of a notification could not be recorded"),
  );
}

interface Delay {
  readonly config: Pick<NotificationsConfig, "firstDelaySeconds" | "maxDelaySeconds">;
  readonly attempts: number;
  readonly random: () => number;
  /** Delay requested by the receiver, ms. */
  readonly requestedMs: number | undefined;
}

/** Backoff: doubles, with a jitter of half, and is no shorter than the receiver requests. */
export function nextDelayMs({ config, attempts, random, requestedMs = 0 }: Delay): number {
  const maxMs = config.maxDelaySeconds * 1000;
  const backoff = { initialMs: config.firstDelaySeconds * 1000, maxMs, jitter: 0.5 };
  return Math.max(backoffDelay(backoff, attempts - 1, random), Math.min(requestedMs, maxMs));
}
