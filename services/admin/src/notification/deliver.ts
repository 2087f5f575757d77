import { backoffDelay } from "@flyte-ts/async";
import type { Database } from "@flyte-ts/postgres";
import { SendLater, SendRefused } from "@flyte-ts/outbound";
import type { Counter, Logger } from "@flyte-ts/telemetry";
import { postpone } from "../background/lease.js";
import type { Work } from "../background/worker.js";
import type { NotificationsConfig } from "./config-schema.js";
import { DELIVERIES, giveUpDelivery, laneOf, markSent, takeDeliveries, type TakenDelivery } from "./delivery-store.js";
import type { Send } from "./send.js";

export interface DeliverDeps {
  readonly db: Database;
  readonly config: Pick<NotificationsConfig, "firstDelaySeconds" | "maxDelaySeconds" | "giveUpAfterSeconds">;
  readonly send: Send;
  readonly random: () => number;
  readonly logger: Logger;
  /** Attempts, by channel and outcome. */
  readonly tries: Pick<Counter<"channel" | "outcome">, "inc">;
}

/** Lease duration, ms. When it expires, another worker may claim the message. */
const LEASE_MS = 60_000;

export interface DeliveryLimits {
  /** Maximum of concurrent messages, in total and per lane. */
  readonly inFlight: number;
  readonly perLane: number;
  /** Poll interval, ms. */
  readonly pollMs: number;
}

/** Sends messages that are due. A receiver that does not respond delays only its own lane. */
export function deliveryWork(deps: DeliverDeps, { perLane, ...limits }: DeliveryLimits): Work<TakenDelivery> {
  return {
    ...limits,
    table: DELIVERIES,
    leaseMs: LEASE_MS,
    // A lane is refilled when it is empty: the messages in progress show its speed.
    take: (limit, inHand) => takeDeliveries(deps.db, { limit, leaseMs: LEASE_MS, full: [...new Set(inHand.map(laneOf))], perLane }),
    carryOut: (delivery) => deliver(deps, delivery),
    trouble: "notifications cannot be taken now",
  };
}

/** Sends a claimed message; never rejects. If the row of a sent message cannot be updated, the message is sent again with the same id. */
async function deliver({ send, ...deps }: DeliverDeps, delivery: TakenDelivery): Promise<void> {
  const { db, logger } = deps;
  try {
    await send(delivery);
  } catch (error) {
    return failed(deps, delivery, error);
  }
  deps.tries.inc({ channel: delivery.channel, outcome: "sent" });
  await recorded({ logger, delivery }, () => markSent(db, delivery.id));
}

async function failed(deps: Omit<DeliverDeps, "send">, delivery: TakenDelivery, error: unknown): Promise<void> {
  const { db, config, random, logger, tries } = deps;
  const reason = error instanceof Error ? error.message : String(error);
  const delayMs = nextDelayMs({
    config,
    attempts: delivery.attempts,
    random,
    asked: error instanceof SendLater ? error.retryAfterMs : undefined,
  });
  const late = delivery.triedMs + delayMs > config.giveUpAfterSeconds * 1000;
  const final = error instanceof SendRefused || late;
  tries.inc({ channel: delivery.channel, outcome: final ? "given_up" : "failed" });
  // Targets may be secrets.
  const fields = { ...about(delivery), attempts: delivery.attempts, error: reason };
  if (final) logger.error(fields, "notification given up");
  else logger.warn({ ...fields, delayMs }, "notification cannot be sent now");
  await recorded({ logger, delivery }, () =>
    final ? giveUpDelivery(db, delivery.id, reason) : postpone(db, DELIVERIES, { row: delivery, delayMs, reason }),
  );
}

const about = ({ project, domain, executionName, channel, messageId }: TakenDelivery) => ({
  execution: `${project}/${domain}/${executionName}`,
  channel,
  messageId,
});

/** Stores the outcome. On failure the lease expires, and the message is sent again. */
async function recorded(
  { logger, delivery }: { readonly logger: Logger; readonly delivery: TakenDelivery },
  write: () => Promise<void>,
): Promise<void> {
  await write().catch((error: unknown) =>
    logger.warn({ ...about(delivery), error: String(error) }, "what became of a notification is not recorded"),
  );
}

interface Delay {
  readonly config: Pick<NotificationsConfig, "firstDelaySeconds" | "maxDelaySeconds">;
  readonly attempts: number;
  readonly random: () => number;
  /** Delay requested by the receiver, ms. */
  readonly asked: number | undefined;
}

/** Backoff: doubles, with a jitter of half, and is no shorter than the receiver requests. */
export function nextDelayMs({ config, attempts, random, asked = 0 }: Delay): number {
  const maxMs = config.maxDelaySeconds * 1000;
  const backoff = { initialMs: config.firstDelaySeconds * 1000, maxMs, jitter: 0.5 };
  return Math.max(backoffDelay(backoff, attempts - 1, random), Math.min(asked, maxMs));
}
