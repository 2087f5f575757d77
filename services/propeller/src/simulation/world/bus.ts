import type { Random } from "../random.js";
import type { Faults } from "./faults.js";
import type { Schedule } from "./schedule.js";

/** Takes a message, or says false when it cannot now: then it comes again later. */
export type Consumer<T> = (message: T) => boolean;

/** A stream with one consumer: at least once, in no certain order; what was stored may be lost all the same. */
export class Stream<T> {
  #consumer: Consumer<T> | undefined;
  /** Messages under way or waiting. */
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
    if (this.random.chance(this.faults.busDouble)) this.#send(message);
  }

  #send(message: T): void {
    this.open++;
    this.schedule.after(this.random.between(0.5, Math.max(1, this.faults.busDelay)), () => this.#deliver(message));
  }

  #deliver(message: T): void {
    if (this.#consumer?.(message) === true) {
      this.open--;
      // The acknowledgement may get lost; then the message comes again, perhaps to another process.
      if (this.random.chance(this.faults.busDouble / 4)) this.#send(message);
    } else this.schedule.after(this.random.between(100, 1_000), () => this.#deliver(message));
  }
}
