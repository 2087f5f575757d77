import { ShardLeases, type ShardLeasesOptions } from "./shard-leases.js";

export interface LeaderOptions extends Omit<ShardLeasesOptions, "shards" | "onGained" | "onLost"> {
  /** Another process may lead from now on: what this one does as the leader must end at once. Not called by `stop`. */
  readonly onLost: () => void;
}

export interface Leader {
  /** Resolves when this process leads. */
  readonly elected: Promise<void>;
  /** Gives the lead up, if it has it, so that another process need not wait for the lease time. */
  stop(): Promise<void>;
}

/** Of the processes of a group one leads; the rules are those of shards, of which there is one. */
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
