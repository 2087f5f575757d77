import { BoundedSet } from "@flyte-ts/async";
import type { Logger } from "@flyte-ts/telemetry";
import { BUNDLE_HEADER, decodeBundle } from "./bundle.js";
import type { DeadLetter, DeadLetters } from "./dead-letters.js";
import type { Delivered } from "./delivered.js";
import type { HeldNotes } from "./held-notes.js";
import { MOST_PARTS_TAKEN } from "./limits.js";
import type { Outgoing } from "./stored-publish.js";

/** Delivery count from which a message is suspected of crashing its consumers. */
const SUSPECTED_FROM = 3;
/** Process age up to which it suspects messages, ms: a crashing message reaches a process that has just started. */
const SUSPECTS_FOR_MS = 600_000;
/** Maximum number of taken messages to remember. */
const MOST_REMEMBERED = 100_000;
/** Delay before redelivery while the server does not answer, ms. */
const AGAIN_MS = 5_000;

const REASON = "each process that had the message in hand ended";

interface SuspectsParts {
  readonly deadLetters: Pick<DeadLetters, "bury">;
  readonly held: Pick<HeldNotes, "hold" | "heldSince" | "settle">;
  readonly publish: (message: Outgoing) => Promise<void>;
  readonly logger: Logger;
  /** Name of the consumer. */
  readonly durable: string;
  readonly ackWaitMs: number;
}

/**
 * Bounds how often a message may crash its consumers. A message that was delivered before, and that this process has
 * not taken yet, is handled alone, with a note that it is held until it is settled. The note is renewed meanwhile: an
 * outage of the handler's dependencies may last long. A process that gets a message whose note was neither settled nor
 * renewed for twice the acknowledgement time makes it a dead letter.
 */
export class Suspects {
  /** Messages that this process took and survived: their redelivery only means that settling took long. */
  readonly #taken = new BoundedSet<number>(MOST_REMEMBERED);
  /** Held messages, with the timers that renew their notes. */
  readonly #inHand = new Map<number, NodeJS.Timeout>();
  /** Queued suspects. */
  readonly #waiting = new Set<number>();

  constructor(private readonly parts: SuspectsParts) {}

  has({ seq, info }: Delivered): boolean {
    if (info.deliveryCount < SUSPECTED_FROM || performance.now() > SUSPECTS_FOR_MS) return false;
    return !this.#taken.has(seq) && !this.#inHand.has(seq);
  }

  /** Remembers that this process took the message. */
  take({ seq }: Delivered): void {
    if (performance.now() > SUSPECTS_FOR_MS) {
      this.#taken.clear();
      return;
    }
    this.#taken.add(seq);
  }

  /** True when a suspect is to be queued; false when it is queued already. */
  queues({ seq }: Delivered): boolean {
    if (this.#waiting.has(seq)) return false;
    this.#waiting.add(seq);
    return true;
  }

  /** Notes that a suspect is held, to handle it alone; undefined when it became a dead letter, or is redelivered later. */
  async hold(message: Delivered): Promise<Delivered | undefined> {
    const { held, ackWaitMs } = this.parts;
    const letter = this.#letterOf(message);
    this.#waiting.delete(message.seq);
    try {
      const since = await held.heldSince(letter);
      if (since === undefined) {
        await held.hold(letter);
        this.#inHand.set(message.seq, this.#renewing(letter));
        return this.#released(message);
      }
      // The holder may just be slow.
      const leftMs = since + 2 * ackWaitMs - Date.now();
      if (leftMs > 0) message.nak(leftMs);
      else await this.#putAside(message, letter);
    } catch (error) {
      this.parts.logger.warn({ durable: letter.durable, subject: letter.subject, error: String(error) }, "a suspected message waits");
      message.nak(AGAIN_MS);
    }
    return undefined;
  }

  /** Settles all notes: this process ends in order. */
  async close(): Promise<void> {
    await Promise.all([...this.#inHand.keys()].map((seq) => this.#release(seq)));
  }

  async #putAside(message: Delivered, letter: DeadLetter): Promise<void> {
    const parts = message.headers?.has(BUNDLE_HEADER) === true ? (decodeBundle(message.data, MOST_PARTS_TAKEN) ?? []) : [];
    if (parts.length <= 1) await this.parts.deadLetters.bury(letter, "crashed", REASON);
    else {
      // One of the bundle is to blame: publish each alone.
      for (const data of parts) await this.parts.publish({ subject: message.subject, data });
      await this.parts.held.settle(letter);
      this.parts.logger.warn(
        { durable: letter.durable, subject: letter.subject, messages: parts.length },
        "suspected messages are sent apart",
      );
    }
    message.ack();
  }

  #renewing(letter: DeadLetter): NodeJS.Timeout {
    const { held, logger, ackWaitMs } = this.parts;
    const { durable } = letter;
    const renew = (): void => {
      held
        .hold(letter)
        .catch((error: unknown) => logger.warn({ durable, error: String(error) }, "the note of a suspected message is not renewed"));
    };
    return setInterval(renew, ackWaitMs).unref();
  }

  async #release(seq: number): Promise<void> {
    const renewing = this.#inHand.get(seq);
    if (renewing === undefined) return;
    clearInterval(renewing);
    this.#inHand.delete(seq);
    this.#taken.add(seq);
    const { held, durable, logger } = this.parts;
    await held
      .settle({ durable, id: String(seq) })
      .catch((error: unknown) => logger.warn({ durable, error: String(error) }, "a message stays noted as in hand although it is settled"));
  }

  /** Settles the note before the message. */
  #released(message: Delivered): Delivered {
    const { subject, data, headers, seq, info } = message;
    return {
      subject,
      data,
      headers,
      seq,
      info,
      ack: () => void this.#release(seq).then(() => message.ack()),
      nak: (delayMs) => void this.#release(seq).then(() => message.nak(delayMs)),
    };
  }

  #letterOf({ seq, subject, data, headers, info }: Delivered): DeadLetter {
    return { durable: this.parts.durable, id: String(seq), subject, data, headers, deliveries: info.deliveryCount };
  }
}
