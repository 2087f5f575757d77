import type { Random } from "../random.js";
import type { Faults } from "./faults.js";
import type { Schedule } from "./schedule.js";

/** Handles a message; returns false to have it redelivered later. */
export type Consumer<T> = (message: T) => boolean;

/** A stream with one consumer: at-least-once and unordered; even stored messages may be lost. */
export class Stream<T> {
  #consumer: Consumer<T> | undefined;
  /** Number of messages in transit or queued. */
  open = 0;

  constructor(
    private readonly schedule: Schedule,
    private readonly random: Random,
    private readonly faults: Faults,
  ) {}

  consume(consumer: Consumer<T>): void {
    this.#consumer = consumer;
  }

  publish(message: T): void {
    if (this.random.chance(this.faults.busLoss)) return;
    this.#send(message);
    if (this.random.chance(this.faults.busDuplicate)) this.#send(message);
  }

  #send(message: T): void {
    this.open++;
    this.schedule.after(this.random.between(0.5, Math.max(1, this.faults.busDelay)), () => this.#deliver(message));
  }

  #deliver(message: T): void {
    if (this.#consumer?.(message) === true) {
      this.open--;
      // The acknowledgement may be lost; then the message is redelivered, possibly to another
      // process.
      if (this.random.chance(this.faults.busDuplicate / 4)) this.#send(message);
    } else this.schedule.after(this.random.between(100, 1_000), () => this.#deliver(message));
  }
}
