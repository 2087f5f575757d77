import { FairQueue } from "@flyte-ts/async";
import type { PackedDelivery, UnpackedMessage } from "./unpack-delivery.js";

export type QueuedMessage = UnpackedMessage | PackedDelivery;

/**
 * Messages that wait for their handler, in queues by name, so that many messages on one do not
 * delay another. It knows the deliveries of which messages wait: the server delivers them again
 * while the handler is slow, without a bound.
 */
export class DeliveryQueue {
  readonly #queue = new FairQueue<QueuedMessage>();
  /** Number of waiting messages by the sequence of their delivery. */
  readonly #waiting = new Map<number, number>();

  get size(): number {
    return this.#queue.size;
  }

  /** True while a message of the delivery waits. */
  isWaiting(seq: number): boolean {
    return this.#waiting.has(seq);
  }

  push(name: string, message: QueuedMessage): void {
    this.#count(message.seq, 1);
    this.#queue.push(name, message);
  }

  /** Puts messages in front of the queue of that name. */
  unshift(name: string, messages: readonly QueuedMessage[]): void {
    for (const { seq } of messages) this.#count(seq, 1);
    this.#queue.unshift(name, messages);
  }

  /** Returns the message that `dequeue` would return. */
  peek(): QueuedMessage | undefined {
    return this.#queue.peek();
  }

  dequeue(): QueuedMessage | undefined {
    const message = this.#queue.dequeue();
    if (message !== undefined) this.#count(message.seq, -1);
    return message;
  }

  /** Forgets which deliveries wait: a stream that is created again repeats their sequences. */
  forgetSequences(): void {
    this.#waiting.clear();
  }

  #count(seq: number, change: 1 | -1): void {
    const count = (this.#waiting.get(seq) ?? 0) + change;
    if (count > 0) this.#waiting.set(seq, count);
    else this.#waiting.delete(seq);
  }
}
