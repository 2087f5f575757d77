import { fnv64a } from "@flyte-ts/domain";
import type { Cluster } from "../deps.js";
import type { PlacementConfig } from "./config-schema.js";

/** What an execution asks of the cluster that it is to run in. */
export interface PlacementWish {
  /** Its execution cluster label; empty for none. */
  readonly label: string;
  /** Its cluster pool; empty for none. */
  readonly pool: string;
}

export interface Candidate {
  readonly name: string;
  /** Share, relative to the others'; more than 0. */
  readonly weight: number;
}

export type PlacedCluster = Pick<Cluster, "name" | "weight" | "enabled" | "pools">;

/** Whether executions have to be placed: with one cluster and no rules there is nothing to choose. */
export function choosesClusters(clusters: readonly PlacedCluster[], rules: PlacementConfig): boolean {
  return clusters.length > 1 || Object.keys(rules.labelClusterMap).length > 0;
}

/**
 * The clusters that may take an execution, in the order of their names. A label stands for the clusters that it is mapped to; one that
 * is not mapped to any that is enabled counts as the default label, and where that is not mapped either, all enabled clusters may take
 * it. A pool narrows these to its members, where any cluster says that it has pools at all.
 *
 * Flyte's random cluster selector (contract §2.5.7); pools are names without effect there.
 */
export function candidatesFor(clusters: readonly PlacedCluster[], rules: PlacementConfig, { label, pool }: PlacementWish): Candidate[] {
  const enabled = clusters.filter((cluster) => cluster.enabled !== false);
  const byLabel = labelled(enabled, rules, label) ?? labelled(enabled, rules, rules.defaultExecutionLabel);
  const open = byLabel ?? enabled.map((cluster) => ({ cluster, weight: cluster.weight }));
  const pooled = clusters.some(({ pools = [] }) => pools.length > 0);
  const fitting = pool === "" || !pooled ? open : open.filter(({ cluster }) => cluster.pools?.includes(pool));
  return weighted(fitting.map(({ cluster, weight }) => ({ name: cluster.name, weight })));
}

/**
 * One of them by their shares: always the same for one execution, as long as the same clusters are there to choose from.
 * Undefined when there is none.
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

/** Undefined where the label leads to no cluster. */
function labelled(enabled: readonly PlacedCluster[], rules: PlacementConfig, label: string): Share[] | undefined {
  if (label === "" || !Object.hasOwn(rules.labelClusterMap, label)) return undefined;
  const shares = (rules.labelClusterMap[label] ?? []).flatMap(({ id, weight }) => {
    const cluster = enabled.find(({ name }) => name === id);
    return cluster === undefined ? [] : [{ cluster, weight }];
  });
  return shares.length === 0 ? undefined : shares;
}

/** Those without a share get nothing, unless nobody has one: then all are equal. */
function weighted(candidates: readonly Candidate[]): Candidate[] {
  const shared = candidates.filter(({ weight }) => weight > 0);
  const chosen = shared.length > 0 ? shared : candidates.map(({ name }) => ({ name, weight: 1 }));
  return chosen.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
