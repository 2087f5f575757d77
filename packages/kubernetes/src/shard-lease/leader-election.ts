import { randomUUID } from "node:crypto";
import { systemRandom } from "@flyte-ts/async";
import type { Logger } from "@flyte-ts/telemetry";
import { createKubeClient, type KubeClientOptions } from "../client/client.js";
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

export interface ElectionSettings {
  /** False: this process leads without an election. */
  readonly enabled: boolean;
  /** Namespace of the Leases. */
  readonly namespace: string;
  readonly group: string;
  /** Time without renewal after which the leader is replaced, ms. */
  readonly leaseMs: number;
}

/**
 * Takes part in the election of a service's leader. A process that loses leadership exits: another
 * one owns all work from then on, and the supervisor restarts this one as a standby.
 *
 * @param access access to the Kubernetes API that holds the Leases
 */
export async function joinLeaderElection(
  { enabled, ...election }: ElectionSettings,
  access: KubeClientOptions,
  logger: Logger,
): Promise<LeaderElection> {
  if (!enabled) return { becameLeader: Promise.resolve(), stop: () => Promise.resolve() };
  const client = await createKubeClient({ ...access, maxConnections: 4, timeoutMs: election.leaseMs / 2 });
  const leader = runLeaderElection({
    ...election,
    client,
    identity: randomUUID(),
    logger,
    clock: () => performance.now(),
    random: systemRandom,
    onLost: () => {
      logger.fatal("leadership lost, exiting");
      process.exit(1);
    },
  });
  logger.info("waiting for leadership");
  return {
    becameLeader: leader.becameLeader,
    stop: async () => {
      await leader.stop();
      await client.close();
    },
  };
}
