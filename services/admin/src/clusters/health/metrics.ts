import { Counter, Gauge, type Metrics } from "@flyte-ts/telemetry";
import type { BreakerState } from "./breaker.js";
import type { ClusterHealth } from "./health.js";
import type { PlacedCluster } from "../placement/placement-policy.js";

const STATES: readonly BreakerState[] = ["closed", "half-open", "open"];

/** Counts the probes of clusters by outcome. */
export function countProbes(registry: Metrics): (cluster: string, failure: string | undefined) => void {
  const probes = new Counter({
    name: "flyte_admin_cluster_probes_total",
    help: "Health checks of the data planes' APIs, by data plane and outcome (ok, failed).",
    labelNames: ["cluster", "outcome"],
    registers: [registry],
  });
  return (cluster, failure) => probes.inc({ cluster, outcome: failure === undefined ? "ok" : "failed" });
}

/** Gauges of the clusters' states, as this replica sees them; read on scrape. */
export function clusterMetrics(
  registry: Metrics,
  { clusters, health }: { readonly clusters: readonly PlacedCluster[]; readonly health: ClusterHealth },
): void {
  new Gauge({
    name: "flyte_admin_cluster_state",
    help: "1 for the state of a data plane: closed (healthy), open (down), half-open (recovering).",
    labelNames: ["cluster", "state"],
    registers: [registry],
    collect() {
      for (const { name } of clusters) {
        const current = health.breaker(name)?.state;
        for (const state of STATES) this.set({ cluster: name, state }, state === current ? 1 : 0);
      }
    },
  });
}
