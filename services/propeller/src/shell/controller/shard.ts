import { setTimeout as sleep } from "node:timers/promises";
import { type Backoff, backoffDelay } from "@flyte-ts/async";
import { createInformer, type Informer, isTransient, KubeError, type KubeObject } from "@flyte-ts/kubernetes";
import { FLYTE_WORKFLOW_RESOURCE, NOT_TERMINATED_SELECTOR, SHARD_KEY_LABEL } from "@flyte-ts/workflow-crd";
import { zombieAbortRequest } from "../../engine/messages/zombie-abort.js";
import type { Effect, Observation, WorkflowRun } from "../../engine/types.js";
import { abortAttempts } from "../load/abort-attempts.js";
import { executionIdOf } from "../load/execution-id.js";
import { executionDataDir } from "../../engine/graph/paths.js";
import type { ActiveRun } from "./active-run.js";
import { buildAbandonPatch } from "../load/abandon-workflow.js";
import { yieldToEventLoop } from "../yield-to-event-loop.js";
import { objectName } from "../object-name.js";
import { EngineFault, FaultCounter, rethrowAsEngineFault } from "../../engine-io/engine-fault.js";
import { StartPause } from "./start-pause.js";
import { MAX_RECONCILE_MS, MAX_SHARED_RECONCILES, MAX_START_BATCHES } from "./reconcile-limits.js";
import type { ShardOptions } from "./shard-options.js";
import { loadBlockerEvent } from "../load/blocker-event.js";
import { type AbandonedWorkflow, loadForAbandon, loadRun } from "../load/load-run.js";

/** A workflow to abandon. */
interface AbandonRequest extends AbandonedWorkflow {
  readonly code: string;
  readonly errorKind?: "USER" | "SYSTEM";
  readonly message: string;
}

/** Backoff of a workflow whose reconciles fail. */
const RELOAD_BACKOFF: Backoff = { initialMs: 40, maxMs: 60_000, jitter: 0.5 };
/**
 * Backoff while the API server fails: an outage delays workflows by at most `maxMs` after its end.
 */
const OUTAGE_BACKOFF: Backoff = { initialMs: 40, maxMs: 5_000, jitter: 0.5 };

export interface RequeueOptions {
  /** The API server failed, not the workflow. */
  readonly apiServerFailed?: boolean;
  /** Delay that the server requested. */
  readonly afterMs?: number | undefined;
}

/** Interval at which a workflow that only a newer build can run is rechecked. */
const RECHECK_NEWER_MS = 10_000;

/** Delay before a workflow to abandon is rechecked while not all plugin services are known. */
const RECHECK_PLUGINS_MS = 3_000;

/** Timeout for storing abort requests before the workflow is reloaded, ms. */
const ABORT_PUBLISH_TIMEOUT_MS = 5_000;

/**
 * Consecutive failures, some seconds, after which the workflow's owner is informed: short outages
 * are not reported.
 */
const FAILURES_BEFORE_BLOCKER = 6;

/**
 * Workflows of one shard while this process holds it: their watch and their runs. Watches only
 * metadata: the resource is read in full once, when its run is loaded; from then on this process is
 * its only writer.
 */
export class Shard {
  readonly #runs = new Map<string, ActiveRun>();
  /** Observations of workflows whose runs are not loaded yet. */
  readonly #bufferedObservations = new Map<string, Observation[]>();
  readonly #consecutiveFailures = new Map<string, number>();
  readonly #engineFaults = new FaultCounter();
  /** Workflows whose owners were informed that they cannot be loaded. */
  readonly #blockedKeys = new Set<string>();
  /**
   * Workflows created while this process held the shard and not yet loaded: no other process has
   * loaded them.
   */
  readonly #neverLoadedKeys = new Set<string>();
  /** Ended workflows, until the watch reports their deletion. */
  readonly #finishedKeys = new Set<string>();
  readonly #writes = new Set<Promise<void>>();
  #informer: Informer<KubeObject> | undefined;
  readonly #stopping = Promise.withResolvers<void>();
  #isOpen = false;
  #isStarted = false;
  #isStopped = false;

  constructor(private readonly options: ShardOptions) {}

  get runs(): readonly WorkflowRun[] {
    return [...this.#runs.values()].map(({ run }) => run);
  }

  /** `uid` of a workflow's resource in the informer's cache. */
  uidOf(key: string): string | undefined {
    return this.#informer?.get(key)?.metadata.uid;
  }

  get informerLagMs(): number {
    return this.#informer?.lagMs() ?? 0;
  }

  /**
   * Resolves after the first list of workflows. Starts no run yet: their events must be consumed
   * first.
   */
  async open(): Promise<void> {
    const { client, namespace, logger, shard, queue } = this.options;
    this.#informer = createInformer<KubeObject>({
      client,
      ref: FLYTE_WORKFLOW_RESOURCE,
      namespace,
      labelSelector: `${SHARD_KEY_LABEL}=${shard},${NOT_TERMINATED_SELECTOR}`,
      metadataOnly: true,
      logger,
      onEvent: ({ type, key, object, previous }) => {
        if (type === "deleted") {
          this.#forgetKey(key);
          this.#finishedKeys.delete(key);
          return;
        }
        // A deletion request increments the generation without a change of the specification.
        if (type === "modified" && object.metadata.deletionTimestamp === undefined) this.#onSpecChange(key, object.metadata.generation);
        if (type === "added" && this.#isOpen) this.#neverLoadedKeys.add(key);
        if (type === "added" || (object.metadata.deletionTimestamp && !previous?.metadata.deletionTimestamp)) queue.add(key);
      },
    });
    await Promise.race([this.#informer.synced, this.#stopping.promise]);
    this.#isOpen = true;
  }

  /** Reloads a workflow when another client changed more of its resource than metadata. */
  #onSpecChange(key: string, generation = 0): void {
    const active = this.#runs.get(key);
    if (active === undefined) return;
    active.gate.onGeneration(generation);
    if (active.gate.isOverwritten) this.requeueFromStore(key);
  }

  /** Enqueues the workflows of the shard. */
  start(): void {
    if (this.#isStopped) return;
    this.#isStarted = true;
    for (const { metadata } of this.#informer?.list() ?? []) this.options.queue.add(`${metadata.namespace ?? ""}/${metadata.name}`);
  }

  /** Starts nothing more. Resolves when writes in flight have ended, or after 5 s. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopping.resolve();
    // Clears published blockers; the next holder publishes its own.
    for (const key of this.#blockedKeys) this.#clearBlocker(key);
    for (const key of [...this.#runs.keys(), ...this.#bufferedObservations.keys()]) this.#forgetKey(key);
    await Promise.race([Promise.all([...this.#writes, this.#informer?.stop()]), sleep(5_000, undefined, { ref: false })]);
  }

  /** Adds an observation to the inbox of a workflow; ignored for ended workflows. */
  observe(key: string, observation: Observation): void {
    if (this.#isStopped) return;
    const { backlog, effects } = this.options;
    if (observation.kind === "taskEvent") effects.onPluginReport(key, observation.event.event?.metadata?.generatedName ?? "");
    const active = this.#runs.get(key);
    if (active !== undefined) {
      active.inbox.push(observation);
      backlog.add(1);
    } else if (this.#finishedKeys.has(key) || this.#informer?.get(key) === undefined) return this.#abortZombie(key, observation);
    // Plugin services report again once the workflow is loaded and its requests are repeated.
    else if (this.#blockedKeys.has(key) && observation.kind === "taskEvent") return;
    else {
      const early = this.#bufferedObservations.get(key);
      if (early === undefined) this.#bufferedObservations.set(key, [observation]);
      else early.push(observation);
      backlog.add(1);
    }
    this.options.queue.add(key);
  }

  /** Adds an observation to every run of the shard. */
  observeAll(observation: Observation): void {
    for (const key of this.#runs.keys()) this.observe(key, observation);
  }

  /** Aborts an attempt that a delayed request may have started after its workflow ended. */
  #abortZombie(key: string, observation: Observation): void {
    if (observation.kind !== "taskEvent") return;
    const request = zombieAbortRequest(observation.event, this.options.now());
    if (request !== undefined) this.options.effects.executeWithoutRun(key, [{ kind: "sendTaskRequest", request }]);
  }

  #forgetKey(key: string): void {
    this.#dropRun(key);
    this.#dropBuffered(key);
    this.#consecutiveFailures.delete(key);
    this.#engineFaults.forget(key);
    this.#blockedKeys.delete(key);
    this.#neverLoadedKeys.delete(key);
    this.options.queue.cancelDelayed(key);
    this.options.queue.stopSharing(key);
  }

  #dropRun(key: string): void {
    const active = this.#runs.get(key);
    if (active === undefined) return;
    this.#runs.delete(key);
    this.options.backlog.add(-active.inbox.length);
    // A reconcile may hold this run: its observations must not be processed any more.
    active.inbox.length = 0;
    this.options.effects.onRunReleased(key);
  }

  #dropBuffered(key: string): void {
    this.options.backlog.add(-(this.#bufferedObservations.get(key)?.length ?? 0));
    this.#bufferedObservations.delete(key);
  }

  /** Gives the engine the workflow's observations and starts the effects. */
  async reconcile(key: string): Promise<void> {
    if (!this.#isStarted || this.#isStopped || !this.options.holdsShard()) return;
    const meta = this.#informer?.get(key)?.metadata;
    if (meta === undefined || this.#finishedKeys.has(key)) return this.#forgetKey(key);
    const startedAt = performance.now();
    const active = this.#runs.get(key) ?? (await this.#loadRun(key));
    if (active === undefined) return;
    const now = this.options.now();
    if (meta.deletionTimestamp !== undefined) this.#applyObservation(active, { kind: "abort" });
    if (active.resyncAt <= now) {
      active.resyncAt = this.#nextResync(now);
      this.#applyObservation(active, { kind: "resync" });
    }
    // Observations that arrive during this reconcile wait for the next one.
    const shared = this.options.queue.isContended(key);
    const until = now + MAX_RECONCILE_MS[shared ? "shared" : "alone"];
    this.#processInbox(active, until);
    if (active.run.nextTimerAt !== undefined && active.run.nextTimerAt <= now) this.#applyObservation(active, { kind: "timer" });
    if (!shared || active.startPause.until <= now) this.#startNodes(active, { until, shared });
    this.#scheduleWriteAndTimers(key, active);
    if (active.run.terminal) this.options.queue.stopSharing(key);
    this.options.metrics.reconcileSeconds.observe((performance.now() - startedAt) / 1_000);
  }

  /** Starts nodes until the deadline. Beside other workflows it then pauses. */
  #startNodes(active: ActiveRun, { until, shared }: { readonly until: number; readonly shared: boolean }): void {
    const { effects, now } = this.options;
    const startedAt = now();
    const observation: Observation = { kind: "capacity", ...(shared && { maxReconciles: MAX_SHARED_RECONCILES }) };
    const mayStart = () => active.run.needsCapacity && effects.hasCapacity(active.run.key) && now() < until;
    for (let batches = 0; batches < MAX_START_BATCHES && mayStart(); batches++) this.#applyObservation(active, observation);
    active.startPause.record({ startedAt, now: now(), shared });
  }

  /**
   * Processes observations until the deadline, at least one. Does not wait for outbox capacity:
   * plugin answers are what frees it.
   */
  #processInbox(active: ActiveRun, until: number): void {
    const { backlog, now } = this.options;
    const { inbox } = active;
    const arrived = inbox.length;
    let taken = 0;
    while (taken < Math.min(arrived, inbox.length) && (taken === 0 || now() < until))
      this.#applyObservation(active, inbox[taken++] as Observation);
    backlog.add(-inbox.splice(0, taken).length);
  }

  /** Loads the run and gives it its first observations. */
  async #loadRun(key: string): Promise<ActiveRun | undefined> {
    const fault = this.#engineFaults.abandonReason(key);
    // A new resource has no other writer, so the informer's version suffices.
    const minResourceVersion = this.#neverLoadedKeys.has(key) ? this.#informer?.get(key)?.metadata.resourceVersion : undefined;
    const loaded = await this.options.reads.run(() =>
      fault === undefined ? loadRun(key, { ...this.options, minResourceVersion }) : loadForAbandon(key, this.options, fault),
    );
    if (this.#isStopped) return undefined;
    switch (loaded.kind) {
      case "unreadable": {
        const message = `the resource of the execution cannot be read: ${loaded.error}`;
        await this.#abandon(key, { ...loaded, code: "BadWorkflowSpecification", message });
        return undefined;
      }
      case "tooLarge":
        await this.#abandon(key, { ...loaded, code: "WorkflowTooLarge", errorKind: "USER", message: loaded.error });
        return undefined;
      case "newer":
        this.#deferToNewerBuild(key, loaded.error);
        return undefined;
      case "faulty":
        await this.#abandon(key, { ...loaded, code: "EngineFault", message: fault ?? "" });
        return undefined;
      case "gone":
        this.#forgetKey(key);
        return undefined;
      case "run": {
        const { io } = loaded;
        this.#clearBlocker(key);
        const active: ActiveRun = {
          run: io.run,
          gate: io,
          inbox: this.#bufferedObservations.get(key) ?? [],
          resyncAt: this.#nextResync(this.options.now()),
          writeQueued: false,
          awaitingCapacity: false,
          startPause: new StartPause(),
        };
        this.#bufferedObservations.delete(key);
        this.#runs.set(key, active);
        this.#applyObservation(active, { kind: "plugins", plugins: this.options.plugins() });
        this.#applyObservation(active, { kind: "load", isNew: this.#neverLoadedKeys.delete(key) });
        return active;
      }
    }
  }

  /**
   * Leaves the workflow untouched: a newer build loads it when it gains the shard. Rechecks it
   * periodically.
   */
  #deferToNewerBuild(key: string, error: string): void {
    const { logger, queue, now, random } = this.options;
    queue.addAt(key, now() + RECHECK_NEWER_MS * (0.5 + random() / 2));
    if (this.#blockedKeys.has(key)) return;
    this.#blockedKeys.add(key);
    logger.warn({ workflow: key, error }, "workflow skipped: a newer version of propeller must run it");
    this.#publishBlocker(key, `the execution has waited for a newer version of propeller since ${new Date(now()).toISOString()}: ${error}`);
  }

  /**
   * Ends a workflow that can never run, after requesting the abort of its attempts. Rejects when
   * the resource has changed since it was read; it is then read again.
   */
  async #abandon(key: string, request: AbandonRequest): Promise<void> {
    const { client, engine, logger, namespaceTemplate, now } = this.options;
    const meta = this.#informer?.get(key)?.metadata;
    if (meta === undefined) return;
    const { resourceVersion, ended, code, errorKind, message } = request;
    if (!ended && !(await this.#abortAttempts(key, meta, request))) return;
    logger.error({ workflow: key, code, error: message }, "workflow cannot be run; marking it as failed");
    const { body, event } = buildAbandonPatch({
      meta,
      namespaceTemplate,
      resourceVersion,
      producerId: engine.producerId,
      code,
      errorKind,
      message,
      now: now(),
    });
    const { metadata } = body;
    await client.mergePatch(FLYTE_WORKFLOW_RESOURCE, { ...objectName(key), body: ended ? { metadata } : body, metadataOnly: true });
    this.#finishedKeys.add(key);
    this.#forgetKey(key);
    this.options.effects.execute(key, [
      { kind: "kubeEvent", kubeEvent: { type: "Warning", reason: "Failed", message } },
      // An end that is already in the resource needs no event: admin reads it from there.
      ...(event === undefined || ended ? [] : [{ kind: "publish" as const, event }]),
    ]);
  }

  /**
   * Requests the abort of all attempts of an abandoned workflow, before the resource is released,
   * so that a crash in between repeats it. Returns false while the plugin services that may run
   * attempts are unknown: the workflow is then read again.
   */
  async #abortAttempts(
    key: string,
    meta: KubeObject["metadata"],
    { taskTypes, maybeStarted, aborts, message }: AbandonRequest,
  ): Promise<boolean> {
    const { bus, effects, engine, holdsShard, namespaceTemplate, now, plugins, queue, random } = this.options;
    const until = now() + ABORT_PUBLISH_TIMEOUT_MS;
    const fence = { shouldSend: () => holdsShard() && now() < until };
    const { discoveryDone, available, stale } = plugins();
    await effects.executeAll(key, aborts, fence);
    const notified = new Set([...taskTypes, ...available, ...stale.keys()]);
    const executionId = executionIdOf(meta, namespaceTemplate);
    const executionDir = executionId && executionDataDir(engine.metadataPrefix, executionId);
    await abortAttempts({ bus, meta, taskTypes: notified, reason: message, executionDir, now: now() }, fence);
    if (discoveryDone || !maybeStarted) return true;
    queue.addAt(key, now() + RECHECK_PLUGINS_MS * (0.5 + random() / 2));
    return false;
  }

  /**
   * Handles an error of a reconcile or of a completed write: reloads the workflow or abandons it.
   */
  onReconcileError(key: string, error: unknown): void {
    const { effects, now } = this.options;
    effects.execute(key, [{ kind: "kubeEvent", kubeEvent: { type: "Warning", reason: "RoundFailed", message: String(error) } }]);
    if (error instanceof EngineFault) this.#engineFaults.record(key, error, now());
    this.requeueFromStore(key, {
      apiServerFailed: isTransient(error),
      afterMs: error instanceof KubeError ? error.retryAfterMs : undefined,
    });
    if ((this.#consecutiveFailures.get(key) ?? 0) < FAILURES_BEFORE_BLOCKER || this.#blockedKeys.has(key)) return;
    this.#blockedKeys.add(key);
    const since = new Date(now()).toISOString();
    this.#publishBlocker(key, `the execution could not be loaded since ${since} and is retried with backoff: ${String(error)}`);
  }

  /** Dated 1 ms earlier, so that a blocker which the run publishes next replaces it. */
  #clearBlocker(key: string): void {
    if (this.#blockedKeys.delete(key)) this.#publishBlocker(key, "", -1);
  }

  #publishBlocker(key: string, reason: string, offsetMs = 0): void {
    const meta = this.#informer?.get(key)?.metadata;
    const { namespaceTemplate, now } = this.options;
    const event = meta && loadBlockerEvent(meta, { namespaceTemplate, reason, now: now() + offsetMs });
    if (event !== undefined) this.options.effects.execute(key, [{ kind: "publish", event }]);
  }

  #applyObservation(active: ActiveRun, observation: Observation): void {
    this.#executeEffects(
      active,
      rethrowAsEngineFault(() => active.gate.admit(active.run.observe(observation, this.options.now()))),
    );
  }

  #executeEffects(active: ActiveRun, effects: readonly Effect[]): void {
    // A failure to encode an effect is permanent, so it counts as a fault of the engine.
    rethrowAsEngineFault(() => this.options.effects.execute(active.run.key, effects));
    // Released runs write nothing.
    if (this.#runs.get(active.run.key) === active) this.options.effects.setDeferred(active.run.key, active.gate.deferredCount);
    if (!effects.some((effect) => effect.kind === "finalize")) return;
    this.#finishedKeys.add(active.run.key);
    this.#forgetKey(active.run.key);
  }

  /** Starts a pending write and schedules the next timer. */
  #scheduleWriteAndTimers(key: string, active: ActiveRun): void {
    if (!active.writeQueued && active.gate.wantsWrite(this.options.now(), this.options.queue.isContended(key))) {
      active.writeQueued = true;
      const writing = this.options.writes
        .run(() => this.#write(key, active))
        .catch((error: unknown) => this.onReconcileError(key, error))
        .finally(() => this.#writes.delete(writing));
      this.#writes.add(writing);
    }
    if (!this.#runs.has(key)) return;
    if (active.inbox.length > 0) this.options.queue.add(key);
    const { needsCapacity } = active.run;
    const pausesUntil = needsCapacity && active.startPause.until > this.options.now() ? active.startPause.until : Number.POSITIVE_INFINITY;
    if (needsCapacity && pausesUntil === Number.POSITIVE_INFINITY) this.#requeueOnCapacity(key, active);
    const { nextTimerAt = Number.POSITIVE_INFINITY } = active.run;
    // A queued write needs no timer.
    const { nextWriteAt = Number.POSITIVE_INFINITY } = active.writeQueued ? {} : active.gate;
    this.options.queue.rescheduleAt(key, Math.min(nextTimerAt, nextWriteAt, active.resyncAt, pausesUntil));
  }

  /** Enqueues the workflow when there is capacity. */
  #requeueOnCapacity(key: string, active: ActiveRun): void {
    if (active.awaitingCapacity) return;
    active.awaitingCapacity = true;
    const capacity = this.options.effects.whenCapacity(key);
    void capacity.then(yieldToEventLoop).then(() => {
      active.awaitingCapacity = false;
      if (this.#runs.get(key) === active) this.options.queue.add(key);
    });
  }

  /** Writes once a write slot is free, including changes made until then. */
  async #write(key: string, active: ActiveRun): Promise<void> {
    active.writeQueued = false;
    if (this.#runs.get(key) !== active) return;
    const write = rethrowAsEngineFault(() => active.gate.nextWrite(this.options.now()));
    if (write === undefined) return;
    const outcome = await this.options.writer.write(key, write, () => this.options.holdsShard() && this.#runs.get(key) === active);
    if (outcome.kind === "written") this.#consecutiveFailures.delete(key);
    if (this.#runs.get(key) !== active) return;
    switch (outcome.kind) {
      case "written": {
        const { revision, released } = active.gate.onWritten(outcome.stored, this.options.now());
        this.#executeEffects(active, released);
        if (this.#runs.get(key) !== active) return;
        if (active.gate.isOverwritten) this.requeueFromStore(key);
        else this.observe(key, { kind: "persisted", revision });
        return;
      }
      case "tooLarge":
        // The stored status is older than this run: reloads it and fails from there.
        this.#dropBuffered(key);
        this.#bufferedObservations.set(key, [{ kind: "tooLarge", message: outcome.message }]);
        this.options.backlog.add(1);
        this.requeueFromStore(key);
        return;
      case "unknown":
        this.requeueFromStore(key, { apiServerFailed: true, afterMs: outcome.afterMs });
    }
  }

  /** Drops the run; a later reconcile reads the resource again, after a backoff. */
  requeueFromStore(key: string, { apiServerFailed = false, afterMs = 0 }: RequeueOptions = {}): void {
    if (this.#isStopped) return;
    this.#dropRun(key);
    const failures = (this.#consecutiveFailures.get(key) ?? 0) + 1;
    this.#consecutiveFailures.set(key, failures);
    const delayMs = backoffDelay(apiServerFailed ? OUTAGE_BACKOFF : RELOAD_BACKOFF, failures - 1, this.options.random);
    this.options.queue.addAt(key, this.options.now() + Math.max(delayMs, afterMs));
  }

  #nextResync(now: number): number {
    return now + this.options.resyncMs * (0.75 + this.options.random() / 2);
  }
}
