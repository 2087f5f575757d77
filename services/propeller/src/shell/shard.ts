import { setTimeout as sleep } from "node:timers/promises";
import { type Backoff, backoffDelay } from "@flyte-ts/async";
import {
  createInformer,
  type Informer,
  isTransient,
  type KubeClient,
  KubeError,
  type KubeObject,
  type WorkQueue,
} from "@flyte-ts/kubernetes";
import type { Bus } from "@flyte-ts/messaging";
import type { Logger } from "@flyte-ts/telemetry";
import { FLYTE_WORKFLOW_RESOURCE, NOT_TERMINATED_SELECTOR, SHARD_KEY_LABEL } from "@flyte-ts/workflow-crd";
import type { EngineConfig } from "../engine/config.js";
import type { PluginsKnown } from "../engine/plugin/known.js";
import { abortOfForgotten } from "../engine/request/zombie.js";
import type { Effect, Observation, WorkflowRun } from "../engine/types.js";
import { abortAttempts } from "./abort-attempts.js";
import type { ActiveRun } from "./active-run.js";
import type { Backlog } from "./backlog.js";
import type { Limit } from "./ask/limit.js";
import type { Effects } from "./effects.js";
import { giveUp } from "./give-up.js";
import type { WorkflowLoader } from "./load-workflow.js";
import type { PropellerMetrics } from "./metrics.js";
import { othersTurn } from "./in-turns.js";
import { objectName } from "./object-name.js";
import type { StatusWriter } from "./status-writer.js";
import { EngineFault, Faults, inEngine } from "../shell-core/engine-fault.js";
import { LONGEST_ROUND_MS, MOST_ROOMS } from "./round-limits.js";
import { shellNotice } from "./shell-notice.js";
import { type GivenUpWorkflow, takeLeave, takeUp } from "./take-up.js";

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
  readonly plugins: () => PluginsKnown;
  readonly resyncMs: number;
  readonly now: () => number;
  readonly random: () => number;
  /** Shared by all shards. */
  readonly queue: WorkQueue;
  readonly effects: Effects;
  /** Counts unprocessed observations. */
  readonly backlog: Backlog;
  readonly writer: StatusWriter;
  /** Bounds concurrent reads of resources. */
  readonly reads: Limit;
  /** Bounds concurrent writes. */
  readonly writes: Limit;
  /** True while this process may act for the shard (fencing). */
  readonly holds: () => boolean;
}

/** A workflow to abandon. */
interface Lost extends GivenUpWorkflow {
  readonly code: string;
  readonly errorKind?: "USER" | "SYSTEM";
  readonly message: string;
}

/** Backoff of a workflow whose reconciles fail. */
const RELOAD_BACKOFF: Backoff = { initialMs: 40, maxMs: 60_000, jitter: 0.5 };
/** Backoff while the API server fails: an outage delays workflows by at most `maxMs` after its end. */
const OUTAGE_BACKOFF: Backoff = { initialMs: 40, maxMs: 5_000, jitter: 0.5 };

export interface ReloadPause {
  /** The API server failed, not the workflow. */
  readonly outage?: boolean;
  /** Delay that the server requested. */
  readonly afterMs?: number | undefined;
}

/** Interval at which a workflow that only a newer build can run is rechecked. */
const NEWER_AGAIN_MS = 10_000;

/** Delay before a workflow to abandon is rechecked while not all plugin services are known. */
const PLUGINS_AGAIN_MS = 3_000;

/** Timeout for storing abort requests before the workflow is reloaded, ms. */
const ABORTS_STORED_WITHIN_MS = 5_000;

/** Consecutive failures, some seconds, after which the workflow's owner is informed: short outages are not reported. */
const PATIENCE = 6;

/**
 * Workflows of one shard while this process holds it: their watch and their runs. Watches only metadata: the resource
 * is read in full once, when its run is loaded; from then on this process is its only writer.
 */
export class Shard {
  readonly #runs = new Map<string, ActiveRun>();
  /** Observations of workflows whose runs are not loaded yet. */
  readonly #early = new Map<string, Observation[]>();
  readonly #failures = new Map<string, number>();
  readonly #faults = new Faults();
  /** Workflows whose owners were informed that they cannot be loaded. */
  readonly #hindered = new Set<string>();
  /** Workflows created while this process held the shard and not yet loaded: no other process has loaded them. */
  readonly #isNew = new Set<string>();
  /** Ended workflows, until the watch reports their deletion. */
  readonly #finished = new Set<string>();
  readonly #writes = new Set<Promise<void>>();
  #informer: Informer<KubeObject> | undefined;
  #drop: () => void = () => undefined;
  readonly #dropped = new Promise<void>((resolve) => {
    this.#drop = resolve;
  });
  #opened = false;
  #began = false;
  #stopped = false;

  constructor(private readonly options: ShardOptions) {}

  get runs(): readonly WorkflowRun[] {
    return [...this.#runs.values()].map(({ run }) => run);
  }

  /** `uid` of a workflow's resource in the informer's cache. */
  uidOf(key: string): string | undefined {
    return this.#informer?.get(key)?.metadata.uid;
  }

  get informerLagMs(): number | undefined {
    return this.#informer?.lagMs();
  }

  /** Resolves after the first list of workflows. Starts no run yet: their events must be consumed first. */
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
          this.#forget(key);
          this.#finished.delete(key);
          return;
        }
        // A deletion request increments the generation too.
        if (type === "modified" && object.metadata.deletionTimestamp === undefined) this.#noteChange(key, object.metadata.generation);
        if (type === "added" && this.#opened) this.#isNew.add(key);
        if (type === "added" || (object.metadata.deletionTimestamp && !previous?.metadata.deletionTimestamp)) queue.add(key);
      },
    });
    await Promise.race([this.#informer.synced, this.#dropped]);
    this.#opened = true;
  }

  /** Reloads a workflow when another client changed more of its resource than metadata. */
  #noteChange(key: string, generation = 0): void {
    const active = this.#runs.get(key);
    if (active === undefined) return;
    active.io.saw(generation);
    if (active.io.overtaken) this.reload(key);
  }

  /** Enqueues the workflows of the shard. */
  begin(): void {
    if (this.#stopped) return;
    this.#began = true;
    for (const { metadata } of this.#informer?.list() ?? []) this.options.queue.add(`${metadata.namespace ?? ""}/${metadata.name}`);
  }

  /** Starts nothing more. Resolves when writes in flight have ended, or after 5 s. */
  async drop(): Promise<void> {
    this.#stopped = true;
    this.#drop();
    // Clears published blockers; the next holder publishes its own.
    for (const key of this.#hindered) this.#takeBackNotice(key);
    for (const key of [...this.#runs.keys(), ...this.#early.keys()]) this.#forget(key);
    await Promise.race([Promise.all([...this.#writes, this.#informer?.stop()]), sleep(5_000, undefined, { ref: false })]);
  }

  /** Adds an observation to the inbox of a workflow; ignored for ended workflows. */
  observe(key: string, observation: Observation): void {
    if (this.#stopped) return;
    const { backlog, effects } = this.options;
    if (observation.kind === "taskEvent") effects.answered(key, observation.event.event?.metadata?.generatedName ?? "");
    const active = this.#runs.get(key);
    if (active !== undefined) {
      active.inbox.push(observation);
      backlog.add(1);
    } else if (this.#finished.has(key) || this.#informer?.get(key) === undefined) return this.#answerForgotten(key, observation);
    else {
      const early = this.#early.get(key);
      if (early === undefined) this.#early.set(key, [observation]);
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
  #answerForgotten(key: string, observation: Observation): void {
    if (observation.kind !== "taskEvent") return;
    const request = abortOfForgotten(observation.event, this.options.now());
    if (request !== undefined) this.options.effects.performWithoutRun(key, [{ kind: "sendTask", request }]);
  }

  #forget(key: string): void {
    this.#dropRun(key);
    this.#dropEarly(key);
    this.#failures.delete(key);
    this.#faults.forget(key);
    this.#hindered.delete(key);
    this.#isNew.delete(key);
    this.options.queue.forget(key);
  }

  #dropRun(key: string): void {
    const active = this.#runs.get(key);
    if (active === undefined) return;
    this.#runs.delete(key);
    this.options.backlog.add(-active.inbox.length);
    // A reconcile may hold this run: its observations must not be processed any more.
    active.inbox.length = 0;
    this.options.effects.forget(key);
  }

  #dropEarly(key: string): void {
    this.options.backlog.add(-(this.#early.get(key)?.length ?? 0));
    this.#early.delete(key);
  }

  /** Gives the engine the workflow's observations and starts the effects. */
  async round(key: string): Promise<void> {
    if (!this.#began || this.#stopped || !this.options.holds()) return;
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
    // Observations that arrive during this reconcile wait for the next one.
    const until = now + LONGEST_ROUND_MS[this.options.queue.isShared(key) ? "shared" : "alone"];
    this.#takeFacts(active, until);
    if (active.run.wakeAt !== undefined && active.run.wakeAt <= now) this.#decide(active, { kind: "timer" });
    const mayBegin = () => active.run.wantsRoom && this.options.effects.hasRoom(key) && this.options.now() < until;
    for (let rooms = 0; rooms < MOST_ROOMS && mayBegin(); rooms++) this.#decide(active, { kind: "room" });
    this.#settle(key, active);
    end();
  }

  /** Processes observations until the deadline, at least one. Does not wait for outbox capacity: plugin answers are what frees it. */
  #takeFacts(active: ActiveRun, until: number): void {
    const { backlog, now } = this.options;
    const { inbox } = active;
    const arrived = inbox.length;
    let taken = 0;
    while (taken < Math.min(arrived, inbox.length) && (taken === 0 || now() < until)) this.#decide(active, inbox[taken++] as Observation);
    backlog.add(-inbox.splice(0, taken).length);
  }

  /** Loads the run and gives it its first observations. */
  async #load(key: string): Promise<ActiveRun | undefined> {
    const fault = this.#faults.verdict(key);
    // A new resource has no other writer.
    const notOlderThan = this.#isNew.has(key) ? this.#informer?.get(key)?.metadata.resourceVersion : undefined;
    const taken = await this.options.reads.run(() =>
      fault === undefined ? takeUp(key, { ...this.options, notOlderThan }) : takeLeave(key, this.options, fault),
    );
    if (this.#stopped) return undefined;
    switch (taken.kind) {
      case "unreadable": {
        const message = `the resource of the execution cannot be read: ${taken.error}`;
        await this.#giveUp(key, { ...taken, code: "BadWorkflowSpecification", message });
        return undefined;
      }
      case "tooLarge":
        await this.#giveUp(key, { ...taken, code: "WorkflowTooLarge", errorKind: "USER", message: taken.error });
        return undefined;
      case "newer":
        this.#leaveToNewer(key, taken.error);
        return undefined;
      case "faulty":
        await this.#giveUp(key, { ...taken, code: "EngineFault", message: fault ?? "" });
        return undefined;
      case "gone":
        this.#forget(key);
        return undefined;
      case "run": {
        const { io } = taken;
        this.#takeBackNotice(key);
        const active: ActiveRun = {
          run: io.run,
          io,
          inbox: this.#early.get(key) ?? [],
          resyncAt: this.#nextResync(this.options.now()),
          awaitsWrite: false,
          awaitsRoom: false,
        };
        this.#early.delete(key);
        this.#runs.set(key, active);
        this.#decide(active, { kind: "plugins", plugins: this.options.plugins() });
        this.#decide(active, { kind: "load", isNew: this.#isNew.delete(key) });
        return active;
      }
    }
  }

  /** Leaves the workflow untouched: a newer build loads it when it gains the shard. Rechecks it periodically. */
  #leaveToNewer(key: string, error: string): void {
    const { logger, queue, now, random } = this.options;
    queue.addAt(key, now() + NEWER_AGAIN_MS * (0.5 + random() / 2));
    if (this.#hindered.has(key)) return;
    this.#hindered.add(key);
    logger.warn({ workflow: key, error }, "workflow is left to a newer version");
    this.#tell(key, `the execution waits for a newer version of propeller since ${new Date(now()).toISOString()}: ${error}`);
  }

  /**
   * Ends a workflow that can never run, after requesting the abort of its attempts. Rejects when the resource has
   * changed since it was read; it is then read again.
   */
  async #giveUp(key: string, lost: Lost): Promise<void> {
    const { client, engine, logger, namespaceTemplate, now } = this.options;
    const meta = this.#informer?.get(key)?.metadata;
    if (meta === undefined) return;
    const { resourceVersion, ended, code, errorKind, message } = lost;
    if (!ended && !(await this.#abortAttempts(key, meta, lost))) return;
    logger.error({ workflow: key, code, error: message }, "workflow cannot be run, it fails");
    const { body, event } = giveUp({
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
    this.#finished.add(key);
    this.#forget(key);
    this.options.effects.perform(key, [
      { kind: "note", note: { type: "Warning", reason: "Failed", message } },
      // Admin reads an end that is already stored from the resource.
      ...(event === undefined || ended ? [] : [{ kind: "publish" as const, event }]),
    ]);
  }

  /**
   * Requests the abort of all attempts of an abandoned workflow, before the resource is released, so that a crash in
   * between repeats it. Returns false while the plugin services that may run attempts are unknown: the workflow is then
   * read again.
   */
  async #abortAttempts(key: string, meta: KubeObject["metadata"], { taskTypes, mayHaveBegun, aborts, message }: Lost): Promise<boolean> {
    const { bus, effects, holds, now, plugins, queue, random } = this.options;
    const until = now() + ABORTS_STORED_WITHIN_MS;
    const asLongAs = { while: () => holds() && now() < until };
    const { complete, served, silent } = plugins();
    await effects.carryOut(key, aborts, asLongAs);
    const asked = new Set([...taskTypes, ...served, ...silent.keys()]);
    await abortAttempts({ bus, meta, taskTypes: asked, reason: message, now: now() }, asLongAs);
    if (complete || !mayHaveBegun) return true;
    queue.addAt(key, now() + PLUGINS_AGAIN_MS * (0.5 + random() / 2));
    return false;
  }

  /** Handles an error of a reconcile or of a completed write: reloads the workflow or abandons it. */
  failed(key: string, error: unknown): void {
    const { effects, now } = this.options;
    effects.perform(key, [{ kind: "note", note: { type: "Warning", reason: "RoundFailed", message: String(error) } }]);
    if (error instanceof EngineFault) this.#faults.note(key, error, now());
    this.reload(key, { outage: isTransient(error), afterMs: error instanceof KubeError ? error.retryAfterMs : undefined });
    if ((this.#failures.get(key) ?? 0) < PATIENCE || this.#hindered.has(key)) return;
    this.#hindered.add(key);
    const since = new Date(now()).toISOString();
    this.#tell(key, `the execution cannot be taken up since ${since} and is tried again, less and less often: ${String(error)}`);
  }

  /** Dated 1 ms earlier, so that a blocker which the run publishes next replaces it. */
  #takeBackNotice(key: string): void {
    if (this.#hindered.delete(key)) this.#tell(key, "", -1);
  }

  #tell(key: string, reason: string, offsetMs = 0): void {
    const meta = this.#informer?.get(key)?.metadata;
    const { namespaceTemplate, now } = this.options;
    const event = meta && shellNotice(meta, { namespaceTemplate, reason, now: now() + offsetMs });
    if (event !== undefined) this.options.effects.perform(key, [{ kind: "publish", event }]);
  }

  #decide(active: ActiveRun, observation: Observation): void {
    this.#perform(
      active,
      inEngine(() => active.io.admit(active.run.observe(observation, this.options.now()))),
    );
  }

  #perform(active: ActiveRun, effects: readonly Effect[]): void {
    // An effect that cannot be encoded never can.
    inEngine(() => this.options.effects.perform(active.run.key, effects));
    // Released runs write nothing.
    if (this.#runs.get(active.run.key) === active) this.options.effects.noteHeld(active.run.key, active.io.held);
    if (!effects.some((effect) => effect.kind === "finish")) return;
    this.#finished.add(active.run.key);
    this.#forget(active.run.key);
  }

  /** Starts a pending write and schedules the next timer. */
  #settle(key: string, active: ActiveRun): void {
    if (!active.awaitsWrite && active.io.wantsWrite(this.options.now())) {
      active.awaitsWrite = true;
      const writing = this.options.writes
        .run(() => this.#write(key, active))
        .catch((error: unknown) => this.failed(key, error))
        .finally(() => this.#writes.delete(writing));
      this.#writes.add(writing);
    }
    if (!this.#runs.has(key)) return;
    this.options.queue.forget(key);
    if (active.inbox.length > 0) this.options.queue.add(key);
    if (active.run.wantsRoom) this.#awaitRoom(key, active);
    const { wakeAt = Number.POSITIVE_INFINITY } = active.run;
    const { writeAt = Number.POSITIVE_INFINITY } = active.io;
    this.options.queue.addAt(key, Math.min(wakeAt, writeAt, active.resyncAt));
  }

  /** Enqueues the workflow when there is capacity. */
  #awaitRoom(key: string, active: ActiveRun): void {
    if (active.awaitsRoom) return;
    active.awaitsRoom = true;
    const room = this.options.effects.room(key);
    void room.then(othersTurn).then(() => {
      active.awaitsRoom = false;
      if (this.#runs.get(key) === active) this.options.queue.add(key);
    });
  }

  /** Writes once a write slot is free, including changes made until then. */
  async #write(key: string, active: ActiveRun): Promise<void> {
    active.awaitsWrite = false;
    if (this.#runs.get(key) !== active) return;
    const write = inEngine(() => active.io.nextWrite(this.options.now()));
    if (write === undefined) return;
    const outcome = await this.options.writer.write(key, write, () => this.options.holds() && this.#runs.get(key) === active);
    if (outcome.kind === "written") this.#failures.delete(key);
    if (this.#runs.get(key) !== active) return;
    switch (outcome.kind) {
      case "written": {
        const { revision, released } = active.io.written(outcome.stored, this.options.now());
        this.#perform(active, released);
        if (this.#runs.get(key) !== active) return;
        if (active.io.overtaken) this.reload(key);
        else this.observe(key, { kind: "persisted", revision });
        return;
      }
      case "tooLarge":
        // The stored status is older than this run: reloads it and fails from there.
        this.#dropEarly(key);
        this.#early.set(key, [{ kind: "tooLarge", message: outcome.message }]);
        this.options.backlog.add(1);
        this.reload(key);
        return;
      case "unknown":
        this.reload(key, { outage: true, afterMs: outcome.afterMs });
    }
  }

  /** Drops the run; a later reconcile reads the resource again, after a backoff. */
  reload(key: string, { outage = false, afterMs = 0 }: ReloadPause = {}): void {
    if (this.#stopped) return;
    this.#dropRun(key);
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    const delayMs = backoffDelay(outage ? OUTAGE_BACKOFF : RELOAD_BACKOFF, failures - 1, this.options.random);
    this.options.queue.addAt(key, this.options.now() + Math.max(delayMs, afterMs));
  }

  #nextResync(now: number): number {
    return now + this.options.resyncMs * (0.75 + this.options.random() / 2);
  }
}
