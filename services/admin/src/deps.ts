import type { BlobStore } from "@flyte-ts/blobstore";
import type { KubeApplier, KubeClient } from "@flyte-ts/kubernetes";
import type { Bus } from "@flyte-ts/messaging";
import type { Database } from "@flyte-ts/postgres";
import type { Logger, Metrics } from "@flyte-ts/telemetry";
import type { ClusterHealth } from "./clusters/health/health.js";
import type { AdminConfig } from "./config.js";
import type { LaunchSlots } from "./executions/create/launch-slots.js";
import type { CompilerWorker } from "./registry/workflow/compiler/compiler-worker.js";

/** A data plane that runs executions. */
export interface Cluster {
  readonly name: string;
  /** Weight among new executions, relative to the other clusters'. */
  readonly weight: number;
  /** False: it gets no new executions. Default true. */
  readonly enabled?: boolean;
  /** Cluster pools of which it is a member. Default none. */
  readonly pools?: readonly string[];
  readonly kube: KubeClient & KubeApplier;
}

/** Dependencies of admin's parts; `main.ts` creates them once. */
export interface AdminDeps {
  readonly config: AdminConfig;
  readonly db: Database;
  readonly blobs: BlobStore;
  readonly bus: Bus;
  readonly clusters: readonly Cluster[];
  /** Observed health of their APIs; default: all healthy. */
  readonly health?: ClusterHealth;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: () => Date;
  /** Compiles large workflows; default: compiles on the main thread. */
  readonly compilerWorker?: Pick<CompilerWorker, "compile">;
  /** Launch slots; default: executions wait for a poll of the outbox. */
  readonly launchSlots?: LaunchSlots;
  /** Notifies all replicas of committed changes of these executions, by row id; the message may be lost. */
  readonly publishChanged?: (executionIds: readonly bigint[]) => void;
  /** Environment variables to which the configuration refers for secrets. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
}
