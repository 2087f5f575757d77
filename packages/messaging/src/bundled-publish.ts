import { encodeBundle } from "./bundle.js";
import type { Fitting } from "./large-message.js";
import type { Outgoing } from "./stored-publish.js";

/** The `while` of the sender returned false before the message was sent. */
export class PublishGivenUp extends Error {
  override readonly name = "PublishGivenUp";

  constructor() {
    super("the message is no longer wanted");
  }
}

/** A message to publish; one with headers is not bundled. */
export interface Publication extends Fitting {
  readonly subject: string;
  readonly wanted?: (() => boolean) | undefined;
}

interface Waiting extends Publication {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** A single message or a bundle, as handed to `send`. */
export interface Travelling {
  /** Encodes the messages that are still wanted. */
  readonly encode: () => Outgoing;
  /** Rejects the messages that are no longer wanted; true when any is left. */
  readonly wanted: () => boolean;
}

/** Maximum number of messages in a bundle: when one must be redelivered, all of its bundle are. */
const MOST_PARTS = 32;
/** Maximum size of a bundle, bytes; a single larger message travels alone. */
const MOST_BYTES = 64 * 1024;

/**
 * Publishes messages in bundles per subject: those given in one call stack, those given in one turn of the event loop
 * while others are in flight, or those given while `most` are in flight. The busier the bus, the larger the bundles.
 * Each subject keeps its order; subjects are served round-robin.
 */
export class BundledPublish {
  readonly #open = new Map<string, Waiting[]>();
  #travelling = 0;
  #draining = false;
  #onRoom: (() => void) | undefined;

  /** At most `most` bundles are in flight, each sent by `send`, which resolves when it is stored. */
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
      // With nothing in flight a caller may wait for this message alone, like the next node of a chain: send it in this turn.
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

  /** Removes the oldest messages of the next subject, up to the limits of a bundle. */
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
