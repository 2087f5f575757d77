import type { Logger } from "@flyte-ts/telemetry";
import { BUNDLE_HEADER, decodeBundle } from "./bundle.js";
import type { DeadLetter, DeadLetters } from "./dead-letters.js";
import type { Delivered } from "./delivered.js";
import type { HeldNotes } from "./held-notes.js";
import { MOST_PARTS_TAKEN } from "./limits.js";
import type { Outgoing } from "./stored-publish.js";

/** From this delivery on a message is suspected of ending the processes that take it. */
const SUSPECTED_FROM = 3;
/** Age of a process up to which it suspects messages, ms: what ends processes comes back to one that has just started. */
const SUSPECTS_FOR_MS = 600_000;
/** Messages that this process took and that are remembered. */
const MOST_REMEMBERED = 100_000;
/** Pause before a message comes again while the server does not answer, ms. */
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
 * Bounds how often a message may end the processes that take it. A message that was delivered before, and that this process has not taken
 * yet, is handled alone, and noted as in hand until it is settled. The note is renewed until then: an outage of what the handler needs may
 * last long. A process that gets a message whose note has been neither settled nor renewed for twice the acknowledgement time puts it aside
 * as a dead letter.
 */
export class Suspects {
  /** What this process took and outlived: that it comes again says that settling it took long. */
  readonly #taken = new Set<number>();
  /** Messages in hand, with the timers that renew their notes. */
  readonly #inHand = new Map<number, NodeJS.Timeout>();
  /** Suspects that wait for their turn. */
  readonly #waiting = new Set<number>();

  constructor(private readonly parts: SuspectsParts) {}

  has({ seq, info }: Delivered): boolean {
    if (info.deliveryCount < SUSPECTED_FROM || performance.now() > SUSPECTS_FOR_MS) return false;
    return !this.#taken.has(seq) && !this.#inHand.has(seq);
  }

  /** Remembers that this process takes the message. */
  take({ seq }: Delivered): void {
    if (performance.now() > SUSPECTS_FOR_MS) {
      this.#taken.clear();
      return;
    }
    if (this.#taken.size >= MOST_REMEMBERED) this.#taken.clear();
    this.#taken.add(seq);
  }

  /** Reports whether a suspect is to wait for its turn; one that waits already is delivered again in vain. */
  queues({ seq }: Delivered): boolean {
    if (this.#waiting.has(seq)) return false;
    this.#waiting.add(seq);
    return true;
  }

  /** Gives a suspect out to be handled alone; undefined when it is put aside, or comes again later. */
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
      // Its holder may be slow.
      const leftMs = since + 2 * ackWaitMs - Date.now();
      if (leftMs > 0) message.nak(leftMs);
      else await this.#putAside(message, letter);
    } catch (error) {
      this.parts.logger.warn({ durable: letter.durable, subject: letter.subject, error: String(error) }, "a suspected message waits");
      message.nak(AGAIN_MS);
    }
    return undefined;
  }

  /** Nothing is in hand any more: this process ends in order. */
  async close(): Promise<void> {
    await Promise.all([...this.#inHand.keys()].map((seq) => this.#release(seq)));
  }

  async #putAside(message: Delivered, letter: DeadLetter): Promise<void> {
    const parts = message.headers?.has(BUNDLE_HEADER) === true ? (decodeBundle(message.data, MOST_PARTS_TAKEN) ?? []) : [];
    if (parts.length <= 1) await this.parts.deadLetters.bury(letter, "crashed", REASON);
    else {
      // One of them is to blame: each goes its own way from here.
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
