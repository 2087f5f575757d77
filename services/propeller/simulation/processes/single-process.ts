import type { Random } from "../random.js";
import type { Faults } from "../world/faults.js";
import { type Host, ProcessLifetime, type ExecutionWorker } from "./process-lifetime.js";
import type { Schedule } from "../world/schedule.js";

export interface SingleProcessOptions {
  readonly schedule: Schedule;
  readonly random: Random;
  readonly faults: Faults;
}

/** A process for a single execution, restarted whenever it has ended. */
export class SingleProcess implements Host {
  readonly clockSkewMs = 0;
  life: ProcessLifetime | undefined;
  /** Number of times that the process has ended. */
  crashes = 0;
  #worker: ExecutionWorker | undefined;

  constructor(private readonly options: SingleProcessOptions) {}

  start(worker: ExecutionWorker): void {
    this.#worker = worker;
    this.life = new ProcessLifetime(this.options.schedule);
    worker.begin();
  }

  crashPoint(): boolean {
    const { random, faults, schedule } = this.options;
    const worker = this.#worker;
    if (this.life === undefined || worker === undefined) return true;
    if (!random.chance(faults.propellerCrash)) return false;
    this.life.alive = false;
    this.life = undefined;
    this.crashes++;
    worker.drop();
    schedule.after(random.between(10, 15_000), () => this.start(worker));
    return true;
  }

  holdsLease(): boolean {
    return true;
  }

  /** The consumer keeps messages while the process is down. */
  deliver(action: () => void): boolean {
    if (this.life === undefined) return false;
    action();
    return this.life !== undefined;
  }
}
