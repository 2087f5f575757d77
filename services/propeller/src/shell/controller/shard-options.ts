import type { Semaphore } from "@flyte-ts/async";
import type { KubeClient, WorkQueue } from "@flyte-ts/kubernetes";
import type { Bus } from "@flyte-ts/messaging";
import type { Logger } from "@flyte-ts/telemetry";
import type { EngineConfig } from "../../engine/config.js";
import type { PluginHealth } from "../../engine/plugin-health.js";
import type { EffectExecutor } from "../effects/effect-executor.js";
import type { WorkflowLoader } from "../load/load-workflow.js";
import type { PropellerMetrics } from "../metrics.js";
import type { ObservationBacklog } from "./observation-backlog.js";
import type { StatusWriter } from "../status/status-writer.js";

/** Dependencies of a shard; most are shared by all shards. */
export interface ShardOptions {
  readonly shard: number;
  readonly client: KubeClient;
  readonly bus: Pick<Bus, "publish">;
  readonly loader: WorkflowLoader;
  readonly engine: EngineConfig;
  readonly metrics: PropellerMetrics;
  readonly logger: Logger;
  readonly namespace: string | undefined;
  /** Template of the namespace of a project and domain. */
  readonly namespaceTemplate: string;
  /** Availability of the plugin services. */
  readonly plugins: () => PluginHealth;
  readonly resyncMs: number;
  readonly now: () => number;
  readonly random: () => number;
  /** Shared by all shards. */
  readonly queue: WorkQueue;
  readonly effects: EffectExecutor;
  /** Counts unprocessed observations. */
  readonly backlog: ObservationBacklog;
  readonly writer: StatusWriter;
  /** Bounds concurrent reads of resources. */
  readonly reads: Semaphore;
  /** Bounds concurrent writes. */
  readonly writes: Semaphore;
  /** True while this process may act for the shard (fencing). */
  readonly holdsShard: () => boolean;
}
