import { fnv64a } from "@flyte-ts/domain/name";
import type { Cluster } from "../kube/cluster.js";
import type { PlacementConfig } from "../config-schema.js";

/** Requirements of an execution on its cluster. */
export interface PlacementRequest {
  /** Execution cluster label; empty for none. */
  readonly label: string;
  /** Cluster pool; empty for none. */
  readonly pool: string;
}

export interface Candidate {
  readonly name: string;
  /** Weight relative to the others; more than 0. */
  readonly weight: number;
}

export type PlacedCluster = Pick<Cluster, "name" | "weight" | "enabled" | "pools">;

/** True when executions need placement: one cluster without rules leaves no choice. */
export function isPlacementNeeded(clusters: readonly PlacedCluster[], rules: PlacementConfig): boolean {
  return clusters.length > 1 || Object.keys(rules.labelClusterMap).length > 0;
}

/**
 * Returns the clusters that may run an execution, by name. A label selects the enabled clusters of
 * its mapping; without any, the default label does; without those, all enabled clusters are
 * candidates. A pool restricts these to its members, if any cluster has pools.
 *
 * Source: Flyte's random cluster selector, where pools have no effect.
 */
export function candidatesFor(clusters: readonly PlacedCluster[], rules: PlacementConfig, { label, pool }: PlacementRequest): Candidate[] {
  const enabled = clusters.filter((cluster) => cluster.enabled !== false);
  const byLabel = labelled(enabled, rules, label) ?? labelled(enabled, rules, rules.defaultExecutionLabel);
  const open = byLabel ?? enabled.map((cluster) => ({ cluster, weight: cluster.weight }));
  const pooled = clusters.some(({ pools = [] }) => pools.length > 0);
  const fitting = pool === "" || !pooled ? open : open.filter(({ cluster }) => cluster.pools?.includes(pool));
  return weighted(fitting.map(({ cluster, weight }) => ({ name: cluster.name, weight })));
}

/**
 * Picks a candidate by weight: always the same for one execution and the same candidates. Undefined
 * without candidates.
 */
export function pickCluster(candidates: readonly Candidate[], execution: string): string | undefined {
  const total = candidates.reduce((sum, { weight }) => sum + weight, 0);
  let place = (Number(BigInt(fnv64a(execution)) % 1_000_000n) / 1_000_000) * total;
  for (const { name, weight } of candidates) {
    place -= weight;
    if (place < 0) return name;
  }
  return candidates.at(-1)?.name;
}

interface Share {
  readonly cluster: PlacedCluster;
  readonly weight: number;
}

/** Returns the clusters of a label with their shares; undefined without any. */
function labelled(enabled: readonly PlacedCluster[], rules: PlacementConfig, label: string): Share[] | undefined {
  if (label === "" || !Object.hasOwn(rules.labelClusterMap, label)) return undefined;
  const shares = (rules.labelClusterMap[label] ?? []).flatMap(({ id, weight }) => {
    const cluster = enabled.find(({ name }) => name === id);
    return cluster === undefined ? [] : [{ cluster, weight }];
  });
  return shares.length === 0 ? undefined : shares;
}

/** Drops candidates with weight 0, unless all have it: then all are equal. */
function weighted(candidates: readonly Candidate[]): Candidate[] {
  const shared = candidates.filter(({ weight }) => weight > 0);
  const chosen = shared.length > 0 ? shared : candidates.map(({ name }) => ({ name, weight: 1 }));
  return chosen.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
