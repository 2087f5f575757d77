import type { Schedule } from "../world/schedule.js";

/** One process from start to end. Its timers fire when it is awake, and never after its end. */
export class ProcessLifetime {
  alive = true;
  #asleepUntil = 0;

  constructor(private readonly schedule: Schedule) {}

  /** Pauses the process, as swapping or a debugger would. */
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

/** The process that runs an execution's worker. */
export interface Host {
  /** Undefined while no process runs. */
  readonly life: ProcessLifetime | undefined;
  /** Offset of its clock from the world's, ms. */
  readonly clockSkewMs: number;
  /** Lets the process end or pause at random. Returns true when it ended. */
  crashPoint(): boolean;
  /** True while the process may act for the execution. */
  holdsLease(): boolean;
  /** Delivers a message of a stream; false when it must be redelivered. */
  deliver(action: () => void): boolean;
}

/** Handles one execution in a process. */
export interface ExecutionWorker {
  /** The process has acquired the execution. */
  begin(): void;
  /** The process has released the execution. */
  drop(): void;
  /** True while writes of this worker are in flight. */
  readonly writing: boolean;
}
