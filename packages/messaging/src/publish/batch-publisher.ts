import { encodeBatch } from "./batch.js";
import type { Payload } from "./compression.js";
import type { OutgoingMessage } from "./acked-publisher.js";

/** `shouldSend` of the message returned false before the message was sent. */
export class PublishCancelled extends Error {
  override readonly name = "PublishCancelled";

  constructor() {
    super("the caller cancelled the message before it was sent");
  }
}

/** A message to publish; one with headers is not batched. */
export interface PublishRequest extends Payload {
  readonly subject: string;
  readonly shouldSend?: (() => boolean) | undefined;
}

interface PendingPublish extends PublishRequest {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

function isWanted({ shouldSend }: PublishRequest): boolean {
  return shouldSend?.() ?? true;
}

/** A single message or several of one subject, as passed to `send`. */
export interface Batch {
  /** Encodes the messages that are not cancelled. */
  readonly encode: () => OutgoingMessage;
  /** Rejects the cancelled messages; true when any is left. */
  readonly shouldSend: () => boolean;
}

/** Maximum number of messages in a batch: when one must be redelivered, all of its batch are. */
const MAX_BATCH_MESSAGES = 32;
/** Maximum size of a batch, bytes; a larger message is sent alone. */
const MAX_BATCH_BYTES = 64 * 1024;
/**
 * Number of batches in flight from which few messages wait for a second turn of the event loop.
 * Many executions that progress at the same time then share fewer batches, and the second turn
 * takes less time than the acknowledgements of the batches in flight.
 */
const BUSY_IN_FLIGHT = 8;
/** Mean number of queued messages per subject from which they do not wait for a second turn. */
const LARGE_BATCH = 6;

/**
 * Publishes messages in batches per subject: those of one call stack, those of one or two turns of
 * the event loop while others are in flight, or those queued while `maxInFlight` are in flight. The
 * busier the bus, the larger the batches. Each subject keeps its order; subjects are served
 * round-robin.
 */
export class BatchPublisher {
  readonly #queues = new Map<string, PendingPublish[]>();
  #inFlight = 0;
  #draining = false;
  #onCapacity: (() => void) | undefined;

  /**
   * At most `maxInFlight` batches are in flight, each sent by `send`, which resolves when it is
   * stored.
   */
  constructor(
    private readonly maxInFlight: number,
    private readonly send: (message: Batch) => Promise<void>,
  ) {}

  /** Resolves when the message is stored. @throws PublishCancelled, and what `send` throws. */
  publish({ subject, data, headers, shouldSend }: PublishRequest): Promise<void> {
    return new Promise((resolve, reject) => {
      const pending = { subject, data, headers, shouldSend, resolve, reject };
      const queue = this.#queues.get(subject);
      if (queue === undefined) this.#queues.set(subject, [pending]);
      else queue.push(pending);
      if (this.#draining) return;
      this.#draining = true;
      this.#scheduleDrain();
    });
  }

  #scheduleDrain(): void {
    const drain = () => void this.#drain();
    // With nothing in flight a caller may wait for this message alone, like the next node of a
    // chain: send it in this turn.
    if (this.#inFlight === 0) return queueMicrotask(drain);
    setImmediate(() => (this.#mayGather ? setImmediate(drain) : drain()));
  }

  /** True while a further turn makes small batches larger, and delays no large ones. */
  get #mayGather(): boolean {
    if (this.#inFlight < BUSY_IN_FLIGHT) return false;
    let queued = 0;
    for (const { length } of this.#queues.values()) queued += length;
    return queued < LARGE_BATCH * this.#queues.size;
  }

  async #drain(): Promise<void> {
    while (this.#queues.size > 0) {
      if (this.#inFlight >= this.maxInFlight) await new Promise<void>((resolve) => (this.#onCapacity = resolve));
      this.#inFlight++;
      void this.#sendNext().finally(() => {
        this.#inFlight--;
        this.#onCapacity?.();
      });
    }
    this.#draining = false;
  }

  async #sendNext(): Promise<void> {
    let messages = this.#nextBatch();
    const shouldSend = () => {
      if (messages.every(isWanted)) return messages.length > 0;
      messages = messages.filter((message) => {
        if (isWanted(message)) return true;
        message.reject(new PublishCancelled());
        return false;
      });
      return messages.length > 0;
    };
    const encode = (): OutgoingMessage => {
      const [first] = messages;
      if (first === undefined) throw new PublishCancelled();
      const { subject, data, headers } = first;
      return { subject, ...(messages.length === 1 ? { data, headers } : encodeBatch(messages.map((message) => message.data))) };
    };
    try {
      await this.send({ encode, shouldSend });
      for (const { resolve } of messages) resolve();
    } catch (error) {
      for (const { reject } of messages) reject(error as Error);
    }
  }

  /** Removes the oldest messages of the next subject, up to the limits of a batch. */
  #nextBatch(): readonly PendingPublish[] {
    for (const [subject, pending] of this.#queues) {
      let bytes = pending[0]?.data.length ?? 0;
      let count = 1;
      for (let next = pending[count]; next !== undefined && count < MAX_BATCH_MESSAGES; next = pending[++count]) {
        if ((next.headers ?? pending[0]?.headers) !== undefined) break;
        bytes += next.data.length;
        if (bytes > MAX_BATCH_BYTES) break;
      }
      this.#queues.delete(subject);
      const messages = pending.splice(0, count);
      if (pending.length > 0) this.#queues.set(subject, pending);
      return messages;
    }
    return [];
  }
}
