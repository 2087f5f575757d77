/** A delivery that can be acknowledged. */
export interface Acknowledgeable {
  ack(): void;
}

/** Maximum delay of an acknowledgement, ms. */
const MAX_DELAY_MS = 5;

/** Number of held acknowledgements that are sent without delay. */
const MAX_HELD = 32;

/**
 * Holds acknowledgements of deliveries until the connection sends a message, at most 5 ms: both
 * then share one write to the socket. A write costs the client and the server more than the
 * handling of a small message, and a service that answers each message with one makes half as many
 * writes. A crash within the delay redelivers the messages, which handlers receive more than once
 * anyway.
 */
export class AckBuffer {
  #held: Acknowledgeable[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** @param isClosed true once nothing can be sent any more */
  constructor(private readonly isClosed: () => boolean) {}

  /**
   * Acknowledges the delivery soon.
   *
   * @param maxUnacknowledged maximum of unacknowledged deliveries of the consumer: held ones take
   *   at most a quarter of it, since the server delivers no others in their place
   */
  add(delivery: Acknowledgeable, maxUnacknowledged: number): void {
    this.#held.push(delivery);
    if (this.#held.length >= Math.min(MAX_HELD, maxUnacknowledged / 4)) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), MAX_DELAY_MS);
  }

  /** Sends all held acknowledgements: called beside each message of the connection. */
  flush(): void {
    if (this.#held.length === 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const held = this.#held;
    this.#held = [];
    if (this.isClosed()) return;
    for (const delivery of held) delivery.ack();
  }
}
