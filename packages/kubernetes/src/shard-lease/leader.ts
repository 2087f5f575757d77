import { ShardLeases, type ShardLeasesOptions } from "./shard-leases.js";

export interface LeaderOptions extends Omit<ShardLeasesOptions, "shards" | "onGained" | "onLost"> {
  /** Another process may lead from now on: end the leader's work at once. Not called by `stop`. */
  readonly onLost: () => void;
}

export interface Leader {
  /** Resolves when this process becomes the leader. */
  readonly elected: Promise<void>;
  /** Gives up leadership, so that another process need not wait for the lease time. */
  stop(): Promise<void>;
}

/** Elects one leader of a group of processes, with the rules of shards for a single shard. */
export function runForLeader({ onLost, ...options }: LeaderOptions): Leader {
  let stopping = false;
  let elect: () => void = () => undefined;
  const elected = new Promise<void>((resolve) => {
    elect = resolve;
  });
  const leases = new ShardLeases({
    ...options,
    shards: 1,
    onGained: () => elect(),
    onLost: () => {
      if (!stopping) onLost();
      return Promise.resolve();
    },
  });
  leases.start();
  return {
    elected,
    stop: () => {
      stopping = true;
      return leases.stop();
    },
  };
}
