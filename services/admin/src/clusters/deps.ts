import type { RegistryDeps } from "../registry/index.js";
import type { Cluster } from "./kube/cluster.js";
import type { ClustersConfig } from "./config.js";
import type { ClusterHealth } from "./health/health.js";
import type { PluginServices } from "./plugins/plugin-services.js";

export interface ClustersDeps extends RegistryDeps {
  readonly config: ClustersConfig;
  readonly clusters: readonly Cluster[];
  /** Observed health of their APIs; default: all healthy. */
  readonly health?: ClusterHealth;
  /** Plugin services whose heartbeats this process receives; default: none. */
  readonly plugins?: PluginServices;
}
