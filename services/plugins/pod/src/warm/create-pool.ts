import type { Metrics } from "@flyte-ts/telemetry";
import { warmPodMetrics } from "./metrics.js";
import { WarmPool, type WarmPoolDeps } from "./pool.js";

/** Creates the pool of warm pods with its metrics; undefined where it is disabled. */
export function createWarmPool(deps: Omit<WarmPoolDeps, "metrics">, registry: Metrics): WarmPool | undefined {
  if (!deps.settings.enabled) return undefined;
  const metrics = warmPodMetrics(registry, () => pool.load);
  const pool: WarmPool = new WarmPool({ ...deps, metrics });
  return pool;
}
