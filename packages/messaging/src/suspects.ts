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
/** Messages that were handed back and are remembered. */
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
 * Bounds how often a message may end the processes that take it. A message that was delivered before, and was not handed back by this
 * process, is handled alone, and noted as in hand until it is settled. A process that gets a message which has been noted so for twice the
 * acknowledgement time puts it aside as a dead letter.
 */
export class Suspects {
  readonly #handedBack = new Set<number>();
  readonly #inHand = new Set<number>();

  constructor(private readonly parts: SuspectsParts) {}

  has({ seq, info }: Delivered): boolean {
    if (info.deliveryCount < SUSPECTED_FROM || performance.now() > SUSPECTS_FOR_MS) return false;
    return !this.#handedBack.has(seq) && !this.#inHand.has(seq);
  }

  /** Remembers whether this process hands the message back. */
  watched(message: Delivered): Delivered {
    if (message.info.deliveryCount < SUSPECTED_FROM - 1) return message;
    return this.#around(message, () => undefined);
  }

  /** Gives a suspect out to be handled alone; undefined when it is put aside, or comes again later. */
  async hold(message: Delivered): Promise<Delivered | undefined> {
    const { held, ackWaitMs } = this.parts;
    const letter = this.#letterOf(message);
    try {
      const since = await held.heldSince(letter);
      if (since === undefined) {
        await held.hold(letter);
        this.#inHand.add(message.seq);
        return this.#around(message, () => this.#release(message.seq));
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
    await Promise.all([...this.#inHand].map((seq) => this.#release(seq)));
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

  async #release(seq: number): Promise<void> {
    if (!this.#inHand.delete(seq)) return;
    const { held, durable, logger } = this.parts;
    await held
      .settle({ durable, id: String(seq) })
      .catch((error: unknown) => logger.warn({ durable, error: String(error) }, "a message stays noted as in hand although it is settled"));
  }

  #around(message: Delivered, before: () => Promise<void> | undefined): Delivered {
    const { subject, data, headers, seq, info } = message;
    const then = (settle: () => void): void => {
      const done = before();
      if (done === undefined) settle();
      else void done.then(settle);
    };
    return {
      subject,
      data,
      headers,
      seq,
      info,
      ack: () => {
        this.#handedBack.delete(seq);
        then(() => message.ack());
      },
      nak: (delayMs) => {
        if (this.#handedBack.size >= MOST_REMEMBERED) this.#handedBack.clear();
        this.#handedBack.add(seq);
        then(() => message.nak(delayMs));
      },
    };
  }

  #letterOf({ seq, subject, data, headers, info }: Delivered): DeadLetter {
    return { durable: this.parts.durable, id: String(seq), subject, data, headers, deliveries: info.deliveryCount };
  }
}
