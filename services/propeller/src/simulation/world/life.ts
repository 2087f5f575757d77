import type { Schedule } from "./schedule.js";

/** One process from its start to its end. What it does later it does when it is awake, and never when it has ended. */
export class Life {
  alive = true;
  #asleepUntil = 0;

  constructor(private readonly schedule: Schedule) {}

  /** The process is stopped for a while, as by a swapping machine or a debugger. */
  sleep(ms: number): void {
    this.#asleepUntil = Math.max(this.#asleepUntil, this.schedule.now + ms);
  }

  get asleep(): boolean {
    return this.#asleepUntil > this.schedule.now;
  }

  after(delayMs: number, action: () => void): void {
    this.schedule.after(delayMs, () => {
      if (!this.alive) return;
      if (this.asleep) this.after(this.#asleepUntil - this.schedule.now, action);
      else action();
    });
  }
}

/** The process in which somebody works on an execution. */
export interface Host {
  /** Undefined while there is none. */
  readonly life: Life | undefined;
  /** How far its clock is ahead of the world's. */
  readonly clockSkewMs: number;
  /** The process may end or fall asleep here. Returns whether it ended. */
  mayCrash(): boolean;
  /** Whether it may do anything for the execution at this moment. */
  holds(): boolean;
  /** Something comes in from a stream; false when the message must come again. */
  hear(action: () => void): boolean;
}

/** Works on one execution in a process. */
export interface Worker {
  /** The process has begun to work on the execution. */
  begin(): void;
  /** It works on it no more. */
  drop(): void;
  /** Writes of it are under way. */
  readonly writing: boolean;
}
