import { ShardLeases, type ShardLeasesOptions } from "./shard-leases.js";

export interface LeaderElectionOptions extends Omit<ShardLeasesOptions, "shards" | "onGained" | "onLost"> {
  /** Another process may lead from now on: end the leader's work at once. Not called by `stop`. */
  readonly onLost: () => void;
}

export interface LeaderElection {
  /** Resolves when this process becomes the leader. */
  readonly becameLeader: Promise<void>;
  /** Releases leadership, so that another process need not wait for the lease time. */
  stop(): Promise<void>;
}

/** Elects one leader of a group of processes, with the rules of shards for a single shard. */
export function runLeaderElection({ onLost, ...options }: LeaderElectionOptions): LeaderElection {
  let stopping = false;
  let resolveBecameLeader: () => void = () => undefined;
  const becameLeader = new Promise<void>((resolve) => {
    resolveBecameLeader = resolve;
  });
  const leases = new ShardLeases({
    ...options,
    shards: 1,
    onGained: () => resolveBecameLeader(),
    onLost: () => {
      if (!stopping) onLost();
      return Promise.resolve();
    },
  });
  leases.start();
  return {
    becameLeader,
    stop: () => {
      stopping = true;
      return leases.stop();
    },
  };
}
