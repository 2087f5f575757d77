import { setTimeout as sleep } from "node:timers/promises";
import { Semaphore } from "@flyte-ts/async";
import { shardOf } from "@flyte-ts/domain/name";
import { type KubeClient, WorkerPool, WorkQueue } from "@flyte-ts/kubernetes";
import type { Bus } from "@flyte-ts/messaging";
import type { Logger } from "@flyte-ts/telemetry";
import type { EngineConfig } from "../../engine/config.js";
import type { PluginHealth } from "../../engine/plugin-health.js";
import type { Observation } from "../../engine/types.js";
import type { CallHandlers } from "../calls/handlers.js";
import { ObservationBacklog } from "./observation-backlog.js";
import { EffectExecutor } from "../effects/effect-executor.js";
import type { WorkflowLoader } from "../load/load-workflow.js";
import type { EventSink } from "../event-sink/event-sink.js";
import type { KubeEvents } from "../kube-events/kube-events.js";
import { type LoadSnapshot, sumLoad, type PropellerMetrics } from "../metrics.js";
import { objectName } from "../object-name.js";
import type { OutputsStore } from "../effects/outputs-store.js";
import type { SliceStore } from "../status/slice-store.js";
import { Shard } from "./shard.js";
import type { ExecutionSpans } from "../tracing/execution-spans.js";
import { StatusWriter } from "../status/status-writer.js";

export interface ControllerOptions {
  readonly client: KubeClient;
  readonly bus: Pick<Bus, "publish">;
  readonly events: EventSink;
  readonly outputs: OutputsStore;
  readonly kubeEvents: Pick<KubeEvents, "record">;
  readonly spans?: Pick<ExecutionSpans, "onStatusWrite"> | undefined;
  readonly callHandlers: CallHandlers;
  readonly loader: WorkflowLoader;
  readonly slices: SliceStore;
  readonly engine: EngineConfig;
  readonly metrics: PropellerMetrics;
  readonly logger: Logger;
  readonly namespace: string | undefined;
  /** Template of the namespace of a project and domain. */
  readonly namespaceTemplate: string;
  /** Availability of the plugin services. */
  readonly plugins: () => PluginHealth;
  readonly workers: number;
  /** Maximum of concurrent reads and writes of resources. */
  readonly concurrency: { readonly reads: number; readonly writes: number };
  readonly resyncMs: number;
  readonly now: () => number;
  readonly random: () => number;
  /** True while this process may act for a shard (fencing). */
  readonly holdsShard: (shard: number) => boolean;
}

/**
 * Reconciles the FlyteWorkflow resources of the shards that this process holds. A key is enqueued
 * when (1) its resource is created or changed, (2) its periodic resync or a timer is due, (3) a
 * reconcile failed, (4) an operation it waited for completed (a write, a read: a downstream node
 * may start), (5) a plugin service reported a change. A worker dequeues a key, gives the engine its
 * observations and starts the effects.
 */
export class Controller {
  readonly #queue = new WorkQueue();
  readonly #shards = new Map<number, Shard>();
  readonly #effects: EffectExecutor;
  readonly #backlog = new ObservationBacklog();
  readonly #writer: StatusWriter;
  readonly #reads: Semaphore;
  readonly #writes: Semaphore;
  readonly #pool: WorkerPool;

  constructor(private readonly options: ControllerOptions) {
    const { client, bus, events, outputs, callHandlers, kubeEvents, slices, metrics, logger, workers, concurrency } = options;
    const holds = (key: string) => options.holdsShard(shardOfKey(key));
    this.#reads = new Semaphore(concurrency.reads);
    this.#writes = new Semaphore(concurrency.writes);
    this.#writer = new StatusWriter({
      client,
      slices,
      metrics,
      logger,
      spans: options.spans,
      now: options.now,
    });
    this.#effects = new EffectExecutor({
      bus,
      events,
      outputs,
      callHandlers,
      kubeEvents,
      producerId: options.engine.producerId,
      metrics,
      logger,
      now: options.now,
      holdsWorkflow: holds,
      isShared: (key) => this.isContended(key),
      observe: (key, observation) => this.observe(key, observation),
      onEncodingError: (key, error) => this.#shardOf(key)?.onReconcileError(key, error),
    });
    this.#pool = new WorkerPool({
      queue: this.#queue,
      workers,
      logger,
      reconcile: (key) => this.#shardOf(key)?.reconcile(key) ?? Promise.resolve(),
      onError: (key, error) => {
        metrics.reconcileErrors.inc();
        this.#shardOf(key)?.onReconcileError(key, error);
      },
    });
  }

  /**
   * Resolves when there is capacity for more observations, or after one second: runs that wait for
   * an unavailable service must not stop consumption.
   */
  async whenCapacity(): Promise<void> {
    if (this.#backlog.hasCapacity) return;
    const timeout = new AbortController();
    const expired = sleep(1_000, undefined, { signal: timeout.signal }).catch(() => undefined);
    await Promise.race([this.#backlog.whenCapacity(), expired]);
    timeout.abort();
  }

  get queueDepth(): number {
    return this.#queue.depth;
  }

  /** True when other workflows are active besides this one. */
  isContended(key: string): boolean {
    return this.#queue.isContended(key);
  }

  get queueLatencyMs(): number {
    return this.#queue.latencyMs;
  }

  get freeWorkers(): number {
    return this.#pool.idleWorkers;
  }

  get loadSnapshot(): LoadSnapshot {
    return sumLoad([...this.#shards.values()].flatMap((shard) => [...shard.runs]));
  }

  /** `uid` of a workflow's resource in the informer's cache. */
  uidOf(key: string): string | undefined {
    return this.#shardOf(key)?.uidOf(key);
  }

  get shards(): ReadonlySet<number> {
    return new Set(this.#shards.keys());
  }

  /** Greatest time since the last message of a shard's watch, ms; 0 without shards. */
  get informerLagMs(): number {
    return Math.max(0, ...[...this.#shards.values()].map(({ informerLagMs }) => informerLagMs));
  }

  /** Starts the watch of a shard. `start` of the result starts its runs. */
  async openShard(shard: number): Promise<Shard> {
    const opened = new Shard({
      ...this.options,
      shard,
      queue: this.#queue,
      effects: this.#effects,
      backlog: this.#backlog,
      writer: this.#writer,
      reads: this.#reads,
      writes: this.#writes,
      holdsShard: () => this.options.holdsShard(shard),
    });
    this.#shards.set(shard, opened);
    await opened.open();
    return opened;
  }

  /** Starts nothing more for the shard. Resolves when work in progress has ended. */
  async closeShard(shard: number): Promise<void> {
    const dropped = this.#shards.get(shard);
    this.#shards.delete(shard);
    await dropped?.stop();
  }

  /** Drains: accepts no work and waits for running reconciles and effects. */
  async stop(): Promise<void> {
    await this.#pool.stop();
    await Promise.all([...this.#shards.keys()].map((shard) => this.closeShard(shard)));
    await this.#effects.drained();
  }

  /**
   * Adds an observation to the inbox of a workflow; ignored for other shards and ended workflows.
   */
  observe(key: string, observation: Observation): void {
    this.#shardOf(key)?.observe(key, observation);
  }

  /** Gives every run the current availability of plugin services. */
  onPluginHealth(): void {
    for (const shard of this.#shards.values()) shard.observeAll({ kind: "plugins", plugins: this.options.plugins() });
  }

  /** Informs every run that a process now serves these task types. */
  onPluginStarted(taskTypes: ReadonlySet<string>): void {
    for (const shard of this.#shards.values()) shard.observeAll({ kind: "pluginStarted", taskTypes });
  }

  #shardOf(key: string): Shard | undefined {
    return this.#shards.get(shardOfKey(key));
  }
}

function shardOfKey(key: string): number {
  return shardOf(objectName(key).name);
}
