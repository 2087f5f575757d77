import type { ClusterAssignment } from "@flyte-ts/idl/flyteidl/admin/cluster_assignment_pb";
import { candidatesFor, pickCluster, type PlacementWish } from "../cluster/place.js";
import type { PlacementConfig } from "../cluster/config-schema.js";
import type { AdminDeps } from "../deps.js";
import { invalidArgument } from "../invalid.js";
import type { ExecutionName } from "./state.js";

interface Assignments {
  /** What the request asks for. */
  readonly wanted: ClusterAssignment | undefined;
  /** What the project and domain have. */
  readonly configured: ClusterAssignment | undefined;
}

/**
 * The cluster pool of an execution; empty for none. Contract §2.5.7.
 *
 * @throws RpcError INVALID_ARGUMENT when another one is asked for than the project and domain have.
 */
export function poolOf({ clusterPoolAssignments }: PlacementConfig, { project, domain }: ExecutionName, assignments: Assignments): string {
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
 * The cluster for a new execution: one that is healthy, if there is any. Where all that fit are down or not enabled, it waits for them.
 *
 * @throws RpcError INVALID_ARGUMENT when there is no such cluster as is asked for.
 */
export function chooseCluster(
  { clusters, config, health }: Pick<AdminDeps, "clusters" | "config" | "health">,
  { name }: ExecutionName,
  wish: PlacementWish,
): string {
  const candidates = candidatesFor(clusters, config.placement, wish);
  const healthy = candidates.filter((candidate) => health?.problem(candidate.name) === undefined);
  const cluster = pickCluster(healthy, name) ?? pickCluster(candidates, name) ?? pickCluster(everOpen(clusters, config, wish), name);
  if (cluster !== undefined) return cluster;
  const asked = [wish.label && `execution cluster label "${wish.label}"`, wish.pool && `cluster pool "${wish.pool}"`];
  throw invalidArgument(`no cluster takes executions of ${asked.filter(Boolean).join(" and ")}`);
}

/** Those that would fit if all were enabled. */
function everOpen(clusters: AdminDeps["clusters"], { placement }: AdminDeps["config"], wish: PlacementWish) {
  return candidatesFor(
    clusters.map((cluster) => ({ ...cluster, enabled: true })),
    placement,
    wish,
  );
}
