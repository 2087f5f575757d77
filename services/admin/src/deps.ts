import type { BlobStore } from "@flyte-ts/blobstore";
import type { KubeApplier, KubeClient } from "@flyte-ts/kubernetes";
import type { Bus } from "@flyte-ts/messaging";
import type { Database } from "@flyte-ts/postgres";
import type { Logger, Metrics } from "@flyte-ts/telemetry";
import type { ClusterHealth } from "./cluster/health.js";
import type { AdminConfig } from "./config.js";
import type { Launches } from "./launcher/launches.js";
import type { CompileThread } from "./workflow/compiler/compile-thread.js";

/** A data plane that executions may be sent to. */
export interface Cluster {
  readonly name: string;
  /** Share of new executions, relative to the other clusters' weights. */
  readonly weight: number;
  /** False: it gets no new executions. Default true. */
  readonly enabled?: boolean;
  /** Cluster pools that it belongs to. Default none. */
  readonly pools?: readonly string[];
  readonly kube: KubeClient & KubeApplier;
}

/** What the slices of admin are made of; `main.ts` builds it once. */
export interface AdminDeps {
  readonly config: AdminConfig;
  readonly db: Database;
  readonly blobs: BlobStore;
  readonly bus: Bus;
  readonly clusters: readonly Cluster[];
  /** What is known of their APIs; without it all count as healthy. */
  readonly health?: ClusterHealth;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: () => Date;
  /** Compiles large workflows; without it they are compiled on the main thread. */
  readonly compileThread?: Pick<CompileThread, "compile">;
  /** Without it executions wait for whoever looks for them. */
  readonly launches?: Launches;
  /** Tells all replicas that something of these executions, by the numbers of their rows, was committed; it may be lost. */
  readonly changed?: (executionIds: readonly bigint[]) => void;
  /** Variables of the environment that the configuration names for secrets. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A number in [0, 1). */
  readonly random: () => number;
}
