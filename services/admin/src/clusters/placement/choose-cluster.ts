import type { ClusterAssignment } from "@flyte-ts/idl/flyteidl/admin/cluster_assignment_pb";
import { candidatesFor, pickCluster, type PlacementRequest } from "./placement-policy.js";
import type { PlacementConfig } from "../config-schema.js";
import type { ClustersDeps } from "../deps.js";
import { invalidArgument } from "../../platform/index.js";

interface PoolAssignments {
  /** Assignment in the request. */
  readonly wanted: ClusterAssignment | undefined;
  /** Assignment of the project and domain. */
  readonly configured: ClusterAssignment | undefined;
}

/**
 * Returns the cluster pool of an execution; empty for none.
 *
 * @throws RpcError INVALID_ARGUMENT when the request names another pool than the project and
 *   domain.
 */
export function poolOf(
  { clusterPoolAssignments }: PlacementConfig,
  { project, domain }: { readonly project: string; readonly domain: string },
  assignments: PoolAssignments,
): string {
  const wanted = assignments.wanted?.clusterPoolName ?? "";
  const ofDomain = Object.hasOwn(clusterPoolAssignments, domain) ? clusterPoolAssignments[domain]?.pool : undefined;
  const pool = assignments.configured === undefined ? (ofDomain ?? "") : assignments.configured.clusterPoolName;
  if (wanted !== "" && pool !== "" && wanted !== pool) {
    throw invalidArgument(
      `execution with project "${project}" and domain "${domain}" cannot run on cluster pool "${wanted}", ` +
        `because its configured to run on pool "${pool}"`,
    );
  }
  return pool || wanted;
}

/**
 * Chooses the cluster of a new execution: a healthy one if possible. If all permitted ones are down
 * or disabled, the execution waits for one of them.
 *
 * @throws RpcError INVALID_ARGUMENT when no cluster matches.
 */
export function chooseCluster(
  { clusters, config, health }: Pick<ClustersDeps, "clusters" | "config" | "health">,
  { name }: { readonly name: string },
  request: PlacementRequest,
): string {
  const candidates = candidatesFor(clusters, config.placement, request);
  const healthy = candidates.filter((candidate) => health?.unhealthyReason(candidate.name) === undefined);
  const cluster =
    pickCluster(healthy, name) ?? pickCluster(candidates, name) ?? pickCluster(isEverEligible(clusters, config, request), name);
  if (cluster !== undefined) return cluster;
  const requested = [request.label && `execution cluster label "${request.label}"`, request.pool && `cluster pool "${request.pool}"`];
  throw invalidArgument(`no cluster accepts executions of ${requested.filter(Boolean).join(" and ")}`);
}

/** Returns the clusters that would be permitted if all were enabled. */
function isEverEligible(clusters: ClustersDeps["clusters"], { placement }: ClustersDeps["config"], request: PlacementRequest) {
  return candidatesFor(
    clusters.map((cluster) => ({ ...cluster, enabled: true })),
    placement,
    request,
  );
}
