import type { BreakerState } from "./breaker.js";
import type { ClusterHealth } from "./health.js";
import type { PlacedCluster } from "../placement/placement-policy.js";

/** State of a data plane as one replica of admin sees it. */
export interface ClusterStatus {
  readonly name: string;
  readonly enabled: boolean;
  readonly weight: number;
  readonly pools: readonly string[];
  readonly state: BreakerState;
  /** Time of the last state change. */
  readonly since: string | undefined;
  /** Error of its last probe; empty without one. */
  readonly reason: string;
}

export function clusterStatus(
  { name, enabled = true, weight, pools = [] }: PlacedCluster,
  health: ClusterHealth | undefined,
): ClusterStatus {
  const breaker = health?.breaker(name);
  return {
    name,
    enabled,
    weight,
    pools,
    state: breaker?.state ?? "closed",
    since: breaker && new Date(breaker.since).toISOString(),
    reason: breaker?.reason ?? "",
  };
}
