import type { Random } from "../random.js";
import type { Faults } from "../world/faults.js";
import { Leases } from "./leases.js";
import type { Host, ExecutionWorker } from "./process-lifetime.js";
import { Replica } from "./replica.js";
import type { Schedule } from "../world/schedule.js";

export interface FleetOptions {
  readonly schedule: Schedule;
  readonly random: Random;
  readonly faults: Faults;
  readonly processes: number;
  readonly bug: string | undefined;
}

const SHARDS = 4;

/** Several propellers that share the executions of a world. */
export class Fleet {
  readonly #leases = new Leases();
  readonly #replicas: readonly Replica[];

  constructor(options: FleetOptions) {
    this.#replicas = Array.from(
      { length: options.processes },
      (_, at) =>
        new Replica({
          ...options,
          name: "abcd".charAt(at),
          leases: this.#leases,
          shards: SHARDS,
          clockSkewMs: options.random.chance(0.5) ? options.random.between(-2_000, 2_000) : 0,
        }),
    );
  }

  get crashes(): number {
    return this.#replicas.reduce((sum, { crashes }) => sum + crashes, 0);
  }

  get handOvers(): number {
    return Math.max(0, this.#replicas.reduce((sum, { gains }) => sum + gains, 0) - SHARDS);
  }

  /** Gives each process a worker for the execution, active while the process holds its shard. */
  spawnWorkers<W extends ExecutionWorker>(place: number, make: (host: Host, entitled: () => boolean) => W): readonly W[] {
    const shard = place % SHARDS;
    return this.#replicas.map((replica) => {
      const worker = make(replica.hostOf(shard), () => this.#leases.isHolder(replica.member, shard));
      replica.add(shard, worker);
      return worker;
    });
  }
}
