import type { PlacementConfig } from "../config-schema.js";
import type { ClustersDeps } from "../deps.js";
import { candidatesFor, pickCluster, type PlacedCluster, type PlacementRequest } from "./placement-policy.js";

export interface UnplacedExecution {
  readonly name: string;
  /** Cluster chosen when the execution was accepted. */
  readonly cluster: string;
  readonly request: PlacementRequest;
}

/** Cluster of an execution that can still move, or the reason why it must wait. */
export type Placement = { readonly cluster: string } | { readonly blockedBy: string };

/** Keeps the chosen cluster while it is permitted and healthy; else picks another that is. */
export function resolvePlacement(
  { clusters, rules, health }: { clusters: readonly PlacedCluster[]; rules: PlacementConfig; health: ClustersDeps["health"] },
  { name, cluster, request }: UnplacedExecution,
): Placement {
  const candidates = candidatesFor(clusters, rules, request);
  if (candidates.length === 0) return { blockedBy: "no enabled data plane may run this execution" };
  const healthy = candidates.filter((candidate) => health?.unhealthyReason(candidate.name) === undefined);
  if (healthy.some((candidate) => candidate.name === cluster)) return { cluster };
  const other = pickCluster(healthy, name);
  if (other !== undefined) return { cluster: other };
  return { blockedBy: candidates.flatMap((candidate) => health?.unhealthyReason(candidate.name) ?? []).join("; ") };
}
