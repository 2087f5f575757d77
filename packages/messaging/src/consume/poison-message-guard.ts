import { BoundedSet } from "@flyte-ts/async";
import type { Logger } from "@flyte-ts/telemetry";
import { BATCH_HEADER, decodeBatch } from "../publish/batch.js";
import type { DeadLetter, DeadLetters } from "./dead-letters.js";
import type { Delivery } from "./unpack-delivery.js";
import type { ProcessingMarkers } from "./processing-markers.js";
import { MAX_RECEIVED_BATCH_MESSAGES } from "../limits.js";
import type { OutgoingMessage } from "../publish/acked-publisher.js";

/** Delivery count from which a message is suspected of crashing its consumers. */
const SUSPECT_DELIVERIES = 3;
/**
 * Time from the start of the subscription in which messages are suspected, ms: a crashing message
 * reaches a process that has just subscribed.
 */
export const SUSPICION_PERIOD_MS = 600_000;
/** Maximum number of taken messages to remember. */
const MAX_ACCEPTED = 100_000;
/** Delay before redelivery while the server does not answer, ms. */
const REDELIVERY_DELAY_MS = 5_000;

const REASON = "every process that handled the message ended";

interface PoisonMessageGuardDeps {
  readonly deadLetters: Pick<DeadLetters, "store">;
  readonly markers: Pick<ProcessingMarkers, "mark" | "markedSince" | "clear">;
  readonly publish: (message: OutgoingMessage) => Promise<void>;
  readonly logger: Logger;
  /** Name of the consumer. */
  readonly durable: string;
  readonly ackWaitMs: number;
}

/**
 * Bounds how often a message may crash its consumers. A message that was delivered before, and that
 * this process has not taken yet, is handled alone, with a marker until it is settled. The marker
 * is renewed meanwhile: an outage of the handler's dependencies may last long. A process that gets
 * a message whose marker was neither cleared nor renewed for twice the acknowledgement time makes
 * it a dead letter.
 */
export class PoisonMessageGuard {
  /**
   * Messages that this process took and survived: their redelivery only means that settling took
   * long.
   */
  readonly #accepted = new BoundedSet<number>(MAX_ACCEPTED);
  /** Messages in progress, with the timers that renew their markers. */
  readonly #markerTimers = new Map<number, NodeJS.Timeout>();
  /** End of the period of suspicion, by `performance.now`. */
  #suspectsUntil = Number.POSITIVE_INFINITY;

  constructor(private readonly deps: PoisonMessageGuardDeps) {}

  /**
   * Starts the period of suspicion, when the server first delivers to this subscription. A consumer
   * that is created again starts no other: this process has survived the messages before.
   */
  start(): void {
    if (this.#suspectsUntil === Number.POSITIVE_INFINITY) this.#suspectsUntil = performance.now() + SUSPICION_PERIOD_MS;
  }

  isSuspect({ seq, info }: Delivery): boolean {
    if (info.deliveryCount < SUSPECT_DELIVERIES || performance.now() > this.#suspectsUntil) return false;
    return !this.#accepted.has(seq) && !this.#markerTimers.has(seq);
  }

  /** Remembers that this process took the message. */
  recordAccepted({ seq }: Delivery): void {
    if (performance.now() > this.#suspectsUntil) {
      this.#accepted.clear();
      return;
    }
    this.#accepted.add(seq);
  }

  /**
   * Marks a suspect as in progress, to handle it alone; undefined when it became a dead letter, or
   * is redelivered later.
   */
  async beginProcessing(message: Delivery): Promise<Delivery | undefined> {
    const { markers, ackWaitMs } = this.deps;
    const letter = this.#toDeadLetter(message);
    try {
      const since = await markers.markedSince(letter);
      if (since === undefined) {
        await markers.mark(letter);
        this.#markerTimers.set(message.seq, this.#renewMarker(letter));
        return this.#clearMarkerOnAck(message);
      }
      // The holder may just be slow.
      const remainingMs = since + 2 * ackWaitMs - Date.now();
      if (remainingMs > 0) message.nak(remainingMs);
      else await this.#discardSuspect(message, letter);
    } catch (error) {
      this.deps.logger.warn(
        { durable: letter.durable, subject: letter.subject, error: String(error) },
        "cannot check a suspected message; it is redelivered later",
      );
      message.nak(REDELIVERY_DELAY_MS);
    }
    return undefined;
  }

  /** Clears all markers: this process shuts down in order. */
  async close(): Promise<void> {
    await Promise.all([...this.#markerTimers.keys()].map((seq) => this.#clearMarker(seq)));
  }

  async #discardSuspect(message: Delivery, letter: DeadLetter): Promise<void> {
    const messages = message.headers?.has(BATCH_HEADER) === true ? (decodeBatch(message.data, MAX_RECEIVED_BATCH_MESSAGES) ?? []) : [];
    if (messages.length <= 1) await this.deps.deadLetters.store(letter, "crashed", REASON);
    else {
      // One message of the batch crashes its consumers: publish each alone.
      for (const data of messages) await this.deps.publish({ subject: message.subject, data });
      await this.deps.markers.clear(letter);
      this.deps.logger.warn(
        { durable: letter.durable, subject: letter.subject, messages: messages.length },
        "republished the messages of a suspected batch one by one",
      );
    }
    message.ack();
  }

  #renewMarker(letter: DeadLetter): NodeJS.Timeout {
    const { markers, logger, ackWaitMs } = this.deps;
    const { durable } = letter;
    const renew = (): void => {
      markers
        .mark(letter)
        .catch((error: unknown) =>
          logger.warn({ durable, error: String(error) }, "cannot renew the processing marker of a suspected message"),
        );
    };
    return setInterval(renew, ackWaitMs).unref();
  }

  async #clearMarker(seq: number): Promise<void> {
    const timer = this.#markerTimers.get(seq);
    if (timer === undefined) return;
    clearInterval(timer);
    this.#markerTimers.delete(seq);
    this.#accepted.add(seq);
    const { markers, durable, logger } = this.deps;
    await markers
      .clear({ durable, id: String(seq) })
      .catch((error: unknown) => logger.warn({ durable, error: String(error) }, "cannot clear the processing marker of a settled message"));
  }

  /** Clears the marker before the message is settled. */
  #clearMarkerOnAck(message: Delivery): Delivery {
    const { subject, data, headers, seq, info } = message;
    return {
      subject,
      data,
      headers,
      seq,
      info,
      ack: () => void this.#clearMarker(seq).then(() => message.ack()),
      nak: (delayMs) => void this.#clearMarker(seq).then(() => message.nak(delayMs)),
    };
  }

  #toDeadLetter({ seq, subject, data, headers, info }: Delivery): DeadLetter {
    return { durable: this.deps.durable, id: String(seq), subject, data, headers, deliveries: info.deliveryCount };
  }
}
