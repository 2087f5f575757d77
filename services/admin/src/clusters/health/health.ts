import { KubeError } from "@flyte-ts/kubernetes";
import type { Logger } from "@flyte-ts/telemetry";
import { FLYTE_WORKFLOW_RESOURCE } from "@flyte-ts/workflow-crd";
import type { Cluster } from "../kube/cluster.js";
import { type Breaker, nextBreakerState, newBreaker } from "./breaker.js";
import type { ClusterHealthConfig } from "../config-schema.js";

/** Observed health of the clusters' APIs. */
export interface ClusterHealth {
  /**
   * Returns why a cluster gets no new work, in words for users; undefined when it gets work or is
   * not watched.
   */
  unhealthyReason(cluster: string): string | undefined;
  breaker(cluster: string): Breaker | undefined;
  /** Triggers an immediate probe after a failed request. */
  probeNow(cluster: string): void;
  /** Awaits `work`, but rejects as soon as the cluster becomes unhealthy; `work` continues. */
  raceWithHealth<T>(cluster: string, work: Promise<T>): Promise<T>;
}

export interface WatchedHealth extends ClusterHealth {
  close(): Promise<void>;
}

/** The cluster became unhealthy during a call; the outcome of the call is unknown. */
export class ClusterUnhealthyError extends Error {
  override readonly name = "ClusterUnhealthyError";
}

export interface HealthOptions {
  readonly clusters: readonly { readonly name: string; readonly kube: Pick<Cluster["kube"], "get"> }[];
  readonly limits: ClusterHealthConfig;
  readonly logger: Logger;
  /** Current time, milliseconds. */
  readonly now: () => number;
  /** Called when a cluster gets work again. */
  readonly onRecovered: (cluster: string) => void;
  /** Called for each probe, for metrics; `failure` is its error. */
  readonly onProbe?: (cluster: string, failure: string | undefined) => void;
}

/** Probe interval of an unhealthy cluster, ms. */
const FAILING_MS = 1_000;

/**
 * Probes the API of each cluster periodically until it is closed. Resolves after the first probe of
 * each.
 */
export async function watchClusters(options: HealthOptions): Promise<WatchedHealth> {
  const probes = new Map(options.clusters.map((cluster) => [cluster.name, new ClusterProbe(cluster, options)]));
  await Promise.all([...probes.values()].map((probe) => probe.start()));
  return {
    unhealthyReason: (cluster) => probes.get(cluster)?.unhealthyReason,
    breaker: (cluster) => probes.get(cluster)?.breaker,
    probeNow: (cluster) => probes.get(cluster)?.probeNow(),
    raceWithHealth: (cluster, work) => probes.get(cluster)?.raceWithHealth(work) ?? work,
    close: async () => void (await Promise.all([...probes.values()].map((probe) => probe.close()))),
  };
}

class ClusterProbe {
  #breaker: Breaker;
  #closed = false;
  #wake: () => void = () => undefined;
  #running: Promise<void> = Promise.resolve();
  readonly #waiting = new Set<(trouble: ClusterUnhealthyError) => void>();

  constructor(
    private readonly cluster: HealthOptions["clusters"][number],
    private readonly options: HealthOptions,
  ) {
    this.#breaker = newBreaker(options.now(), options.limits);
  }

  get breaker(): Breaker {
    return this.#breaker;
  }

  get unhealthyReason(): string | undefined {
    const { state, since, reason } = this.#breaker;
    if (state === "closed") return undefined;
    const what = state === "half-open" ? "is recovering" : `is down since ${new Date(since).toISOString()}: ${reason}`;
    return `data plane ${this.cluster.name} ${what}`;
  }

  async start(): Promise<void> {
    await this.#probe();
    this.#running = this.#run();
  }

  probeNow(): void {
    if (this.#breaker.state === "closed") this.#wake();
  }

  async raceWithHealth<T>(work: Promise<T>): Promise<T> {
    let give: (trouble: ClusterUnhealthyError) => void = () => undefined;
    const trouble = new Promise<never>((_, reject) => {
      give = reject;
    });
    this.#waiting.add(give);
    try {
      return await Promise.race([work, trouble]);
    } finally {
      this.#waiting.delete(give);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      const { state, count } = this.#breaker;
      await this.#pause(state === "closed" && count === 0 ? this.options.limits.intervalMs : FAILING_MS);
      if (!this.#closed) await this.#probe();
    }
  }

  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.min(ms, this.options.limits.intervalMs));
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = () => undefined;
  }

  async #probe(): Promise<void> {
    const { limits, now, logger, onProbe, onRecovered } = this.options;
    const { name } = this.cluster;
    const failure = await this.#probeError();
    onProbe?.(name, failure);
    const before = this.#breaker.state;
    this.#breaker = nextBreakerState(this.#breaker, limits, { failure, now: now() });
    const { state, reason } = this.#breaker;
    if (state === before) return;
    if (state === "closed") {
      logger.info({ cluster: name }, "data plane accepts executions again");
      onRecovered(name);
    } else if (state === "open" && before === "closed") {
      logger.warn({ cluster: name, reason }, "data plane is down: no new executions are sent to it");
      const trouble = new ClusterUnhealthyError(this.unhealthyReason);
      for (const give of this.#waiting) give(trouble);
    }
  }

  /** Probes by reading a resource that does not exist: any regular response counts as healthy. */
  async #probeError(): Promise<string | undefined> {
    const { limits, logger } = this.options;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new KubeError(`no answer within ${limits.timeoutMs} ms`, { status: 0 })), limits.timeoutMs);
    });
    const probe = this.cluster.kube.get(FLYTE_WORKFLOW_RESOURCE, { namespace: "default", name: "flyte-admin-probe", metadataOnly: true });
    try {
      await Promise.race([probe, late]);
      return undefined;
    } catch (error) {
      probe.catch(() => undefined);
      const failure = apiFailureReason(error);
      if (failure !== undefined) logger.debug({ cluster: this.cluster.name, error: String(error) }, "data plane failed a health check");
      return failure;
    } finally {
      clearTimeout(timer);
    }
  }
}

/**
 * Classifies an error as a failure of the whole API, in words without addresses; undefined when the
 * API works.
 */
export function apiFailureReason(error: unknown): string | undefined {
  if (!(error instanceof KubeError)) return "its API cannot be reached";
  const { status } = error;
  if (status === 0) return "its API does not answer";
  if (status === 401) return "its API does not accept admin's credentials";
  if (status === 429 || status >= 500) return `its API answers with HTTP ${status}`;
  return undefined;
}
