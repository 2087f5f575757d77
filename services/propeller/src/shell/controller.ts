import { setTimeout as sleep } from "node:timers/promises";
import { createInformer, type Informer, type KubeClient, type KubeObject, WorkerPool, WorkQueue } from "@flyte-ts/kubernetes";
import type { Bus } from "@flyte-ts/messaging";
import type { Logger } from "@flyte-ts/telemetry";
import { FLYTE_WORKFLOW_RESOURCE, NOT_TERMINATED_SELECTOR } from "@flyte-ts/workflow-crd";
import type { EngineConfig } from "../engine/config.js";
import type { PluginsKnown } from "../engine/plugin/known.js";
import { abortOfForgotten } from "../engine/request/zombie.js";
import type { Effect, Observation } from "../engine/types.js";
import type { StatusWrite } from "../shell-core/run-io.js";
import type { ActiveRun } from "./active-run.js";
import type { Answerers } from "./ask/answerers.js";
import { Effects } from "./effects.js";
import { giveUp } from "./give-up.js";
import type { WorkflowLoader } from "./load-workflow.js";
import type { PropellerMetrics } from "./metrics.js";
import { objectName } from "./object-name.js";
import type { OutputsStore } from "./outputs-store.js";
import type { SliceStore } from "./slice-store.js";
import { StatusWriter } from "./status-writer.js";
import { type TakenUp, takeUp } from "./take-up.js";

export interface ControllerOptions {
  readonly client: KubeClient;
  readonly bus: Pick<Bus, "publish">;
  readonly outputs: OutputsStore;
  readonly answerers: Answerers;
  readonly loader: WorkflowLoader;
  readonly slices: SliceStore;
  readonly engine: EngineConfig;
  readonly metrics: PropellerMetrics;
  readonly logger: Logger;
  readonly namespace: string | undefined;
  /** Which task types are served. */
  readonly plugins: () => PluginsKnown;
  readonly workers: number;
  readonly resyncMs: number;
  readonly now: () => number;
  readonly random: () => number;
}

/** Longest pause before a workflow that cannot be read or written is tried again. */
const LONGEST_BACKOFF_MS = 60_000;

/**
 * Reconciles FlyteWorkflow resources. A key comes into the queue when (1) its
 * resource is created or changed, (2) its periodic resync or a timer is due, (3) a
 * round failed, (4) something it waited for is done (a write, a read: a downstream
 * node may go on), (5) a plugin service reported a change. A worker takes one key,
 * shows the engine what has come in, and starts what the engine decides.
 *
 * Only metadata is watched: the resource is read in full once, when its run is
 * taken up; from then on this process is the one that changes it.
 */
export class Controller {
  readonly #queue = new WorkQueue();
  readonly #runs = new Map<string, ActiveRun>();
  /** Facts about workflows whose runs are not loaded yet. */
  readonly #early = new Map<string, Observation[]>();
  readonly #failures = new Map<string, number>();
  /** Workflows that are done, until the watch has taken them off the list. */
  readonly #finished = new Set<string>();
  readonly #writes = new Set<Promise<void>>();
  readonly #effects: Effects;
  readonly #writer: StatusWriter;
  #informer: Informer<KubeObject> | undefined;
  #pool: WorkerPool | undefined;
  #stopped = false;

  constructor(private readonly options: ControllerOptions) {
    const { client, bus, outputs, answerers, metrics, logger } = options;
    this.#writer = new StatusWriter({ client, slices: options.slices, metrics, logger });
    this.#effects = new Effects({
      bus,
      outputs,
      answerers,
      metrics,
      logger,
      observe: (key, observation) => this.observe(key, observation),
    });
  }

  get queueDepth(): number {
    return this.#queue.depth;
  }

  get queueLatencyMs(): number {
    return this.#queue.latencyMs;
  }

  get freeWorkers(): number {
    return this.#pool?.free ?? 0;
  }

  get runs(): number {
    return this.#runs.size;
  }

  get informerLagMs(): number | undefined {
    return this.#informer?.lagMs();
  }

  /** Resolves when the first list of workflows is known. */
  async start(): Promise<void> {
    const { client, namespace, logger, workers } = this.options;
    this.#informer = createInformer<KubeObject>({
      client,
      ref: FLYTE_WORKFLOW_RESOURCE,
      namespace,
      labelSelector: NOT_TERMINATED_SELECTOR,
      metadataOnly: true,
      logger,
      onEvent: ({ type, key, object, previous }) => {
        if (type === "deleted") {
          this.#forget(key);
          this.#finished.delete(key);
        } else if (type === "added" || (object.metadata.deletionTimestamp && !previous?.metadata.deletionTimestamp)) this.#wake(key);
      },
    });
    await this.#informer.synced;
    this.#pool = new WorkerPool({
      queue: this.#queue,
      workers,
      logger,
      work: (key) => this.#round(key),
      onError: (key) => {
        this.options.metrics.roundErrors.inc();
        this.#reload(key);
      },
    });
  }

  /** Takes no further work, lets running rounds, writes and effects end, and forgets everything. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#informer?.stop();
    await this.#pool?.stop();
    const ended = Promise.all(this.#writes).then(() => this.#effects.settled());
    await Promise.race([ended, sleep(5_000, undefined, { ref: false })]);
    this.#runs.clear();
  }

  /** Puts a fact before the run of a workflow; nothing happens for workflows that have ended. */
  observe(key: string, observation: Observation): void {
    if (this.#stopped) return;
    const active = this.#runs.get(key);
    if (active !== undefined) active.inbox.push(observation);
    else if (this.#finished.has(key) || this.#informer?.get(key) === undefined) return this.#answerForgotten(key, observation);
    else {
      const early = this.#early.get(key);
      if (early === undefined) this.#early.set(key, [observation]);
      else early.push(observation);
    }
    this.#queue.add(key);
  }

  /** Tells every run which task types are served now. */
  pluginsChanged(): void {
    for (const key of this.#runs.keys()) this.observe(key, { kind: "plugins", plugins: this.options.plugins() });
  }

  /** An attempt of a workflow that is over may have been begun again by an old request: it is told to end. */
  #answerForgotten(key: string, observation: Observation): void {
    if (observation.kind !== "taskEvent") return;
    const request = abortOfForgotten(observation.event, this.options.now());
    if (request !== undefined) this.#effects.perform(key, [{ kind: "sendTask", request }]);
  }

  #wake(key: string): void {
    this.#queue.add(key);
  }

  #forget(key: string): void {
    this.#runs.delete(key);
    this.#early.delete(key);
    this.#failures.delete(key);
    this.#queue.forget(key);
  }

  async #round(key: string): Promise<void> {
    const meta = this.#informer?.get(key)?.metadata;
    if (meta === undefined || this.#finished.has(key)) return this.#forget(key);
    const end = this.options.metrics.rounds.startTimer();
    const active = this.#runs.get(key) ?? (await this.#load(key));
    if (active === undefined) return;
    const now = this.options.now();
    if (meta.deletionTimestamp !== undefined) this.#decide(active, { kind: "abort" });
    if (active.resyncAt <= now) {
      active.resyncAt = this.#nextResync(now);
      this.#decide(active, { kind: "resync" });
    }
    // What arrives while this round runs comes in the next one.
    const inbox = active.inbox;
    active.inbox = [];
    for (const observation of inbox) this.#decide(active, observation);
    if (active.run.wakeAt !== undefined && active.run.wakeAt <= now) this.#decide(active, { kind: "timer" });
    this.#settle(key, active);
    end();
  }

  /** Reads the resource and walks it once. */
  async #load(key: string): Promise<ActiveRun | undefined> {
    const taken = await takeUp(key, this.options);
    switch (taken.kind) {
      case "unreadable":
        await this.#giveUp(key, taken);
        this.#finished.add(key);
        this.#forget(key);
        return undefined;
      case "gone":
        this.#forget(key);
        return undefined;
      case "run": {
        const { io } = taken;
        const active: ActiveRun = {
          run: io.run,
          io,
          inbox: this.#early.get(key) ?? [],
          resyncAt: this.#nextResync(this.options.now()),
        };
        this.#early.delete(key);
        this.#runs.set(key, active);
        this.#decide(active, { kind: "load" });
        this.#decide(active, { kind: "plugins", plugins: this.options.plugins() });
        return active;
      }
    }
  }

  /** Ends a workflow whose resource can never be read. Rejects when it is not any more what was read: then it is read again. */
  async #giveUp(key: string, { error, resourceVersion }: Extract<TakenUp, { kind: "unreadable" }>): Promise<void> {
    const { client, engine, logger, now } = this.options;
    logger.error({ key, error }, "workflow cannot be read, it fails");
    const meta = this.#informer?.get(key)?.metadata;
    if (meta === undefined) return;
    const { body, event } = giveUp({
      meta,
      resourceVersion,
      producerId: engine.producerId,
      code: "BadWorkflowSpecification",
      message: `the resource of the execution cannot be read: ${error}`,
      now: now(),
    });
    await client.mergePatch(FLYTE_WORKFLOW_RESOURCE, { ...objectName(key), body, metadataOnly: true });
    if (event !== undefined) this.#effects.perform(key, [{ kind: "publish", event }]);
  }

  #decide(active: ActiveRun, observation: Observation): void {
    this.#perform(active, active.io.admit(active.run.observe(observation, this.options.now())));
  }

  #perform(active: ActiveRun, effects: readonly Effect[]): void {
    this.#effects.perform(active.run.key, effects);
    if (!effects.some((effect) => effect.kind === "finish")) return;
    this.#finished.add(active.run.key);
    this.#forget(active.run.key);
  }

  /** Starts a write when there is something to write, and sets the alarm. */
  #settle(key: string, active: ActiveRun): void {
    const write = active.io.nextWrite();
    if (write !== undefined) {
      const writing = this.#write(key, active, write).finally(() => this.#writes.delete(writing));
      this.#writes.add(writing);
    }
    if (!this.#runs.has(key)) return;
    if (active.inbox.length > 0) this.#queue.add(key);
    this.#queue.forget(key);
    this.#queue.addAt(key, Math.min(active.run.wakeAt ?? Number.POSITIVE_INFINITY, active.resyncAt));
  }

  async #write(key: string, active: ActiveRun, write: StatusWrite): Promise<void> {
    const outcome = await this.#writer.write(key, write, () => !this.#stopped && this.#runs.get(key) === active);
    if (outcome.kind === "written") this.#failures.delete(key);
    if (this.#runs.get(key) !== active) return;
    switch (outcome.kind) {
      case "written": {
        const { revision, released } = active.io.written(outcome.resourceVersion);
        this.#perform(active, released);
        if (this.#runs.get(key) === active) this.observe(key, { kind: "persisted", revision });
        return;
      }
      case "tooLarge":
        // The stored status is older than this run: begin again from it, and fail from there.
        this.#early.set(key, [{ kind: "tooLarge", message: outcome.message }]);
        this.#reload(key);
        return;
      case "unknown":
        this.#reload(key);
    }
  }

  /** Drops the run; a later round reads the resource again, after a pause that grows. */
  #reload(key: string): void {
    this.#runs.delete(key);
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    const delay = Math.min(20 * 2 ** failures, LONGEST_BACKOFF_MS) * (0.5 + this.options.random() / 2);
    this.#queue.addAt(key, this.options.now() + delay);
  }

  #nextResync(now: number): number {
    return now + this.options.resyncMs * (0.75 + this.options.random() / 2);
  }
}
