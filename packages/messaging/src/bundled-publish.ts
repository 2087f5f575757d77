import { encodeBundle } from "./bundle.js";
import type { Fitting } from "./large-message.js";
import type { Outgoing } from "./stored-publish.js";

/** The sender no longer wanted the message to be sent. */
export class PublishGivenUp extends Error {
  override readonly name = "PublishGivenUp";

  constructor() {
    super("the message is no longer wanted");
  }
}

/** One message to be published; with headers it travels alone. */
export interface Publication extends Fitting {
  readonly subject: string;
  readonly wanted?: (() => boolean) | undefined;
}

interface Waiting extends Publication {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** What travels as one. */
export interface Travelling {
  /** Those that are still wanted. */
  readonly encode: () => Outgoing;
  /** Whether any is wanted; those that are not are given up. */
  readonly wanted: () => boolean;
}

/** Messages that travel as one, at most: a message that has to come again takes no more than these with it. */
const MOST_PARTS = 32;
/** Bytes that travel as one, at most, unless a single message has more. */
const MOST_BYTES = 64 * 1024;

/**
 * Publishes messages, those together that were given on one subject in one go, while others are on their way in one turn of the event loop,
 * or while there was no room for more: the busier the bus, the larger what travels as one. Each subject keeps its order, and subjects take turns.
 */
export class BundledPublish {
  readonly #open = new Map<string, Waiting[]>();
  #travelling = 0;
  #draining = false;
  #onRoom: (() => void) | undefined;

  /** `most` travel at once, each by `send`, which resolves when it is stored. */
  constructor(
    private readonly most: number,
    private readonly send: (message: Travelling) => Promise<void>,
  ) {}

  /** Resolves when the message is stored. @throws PublishGivenUp, and what `send` throws. */
  publish({ subject, data, headers, wanted }: Publication): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = { subject, data, headers, wanted, resolve, reject };
      const open = this.#open.get(subject);
      if (open === undefined) this.#open.set(subject, [waiting]);
      else open.push(waiting);
      if (this.#draining) return;
      this.#draining = true;
      // While nothing is on its way somebody may wait for this one alone, like the next node of a chain.
      const soon = this.#travelling === 0 ? queueMicrotask : setImmediate;
      soon(() => void this.#drain());
    });
  }

  async #drain(): Promise<void> {
    while (this.#open.size > 0) {
      if (this.#travelling >= this.most) await new Promise<void>((resolve) => (this.#onRoom = resolve));
      this.#travelling++;
      void this.#sendNext().finally(() => {
        this.#travelling--;
        this.#onRoom?.();
      });
    }
    this.#draining = false;
  }

  async #sendNext(): Promise<void> {
    let parts = this.#take();
    const wanted = () => {
      parts = parts.filter((part) => {
        if (part.wanted?.() ?? true) return true;
        part.reject(new PublishGivenUp());
        return false;
      });
      return parts.length > 0;
    };
    const encode = (): Outgoing => {
      const [first] = parts;
      if (first === undefined) throw new PublishGivenUp();
      const { subject, data, headers } = first;
      return { subject, ...(parts.length === 1 ? { data, headers } : encodeBundle(parts.map((part) => part.data))) };
    };
    try {
      await this.send({ encode, wanted });
      for (const { resolve } of parts) resolve();
    } catch (error) {
      for (const { reject } of parts) reject(error as Error);
    }
  }

  /** The oldest messages of the subject whose turn it is. */
  #take(): readonly Waiting[] {
    for (const [subject, waiting] of this.#open) {
      let bytes = waiting[0]?.data.length ?? 0;
      let count = 1;
      for (let next = waiting[count]; next !== undefined && count < MOST_PARTS; next = waiting[++count]) {
        if ((next.headers ?? waiting[0]?.headers) !== undefined) break;
        bytes += next.data.length;
        if (bytes > MOST_BYTES) break;
      }
      this.#open.delete(subject);
      const parts = waiting.splice(0, count);
      if (waiting.length > 0) this.#open.set(subject, waiting);
      return parts;
    }
    return [];
  }
}
