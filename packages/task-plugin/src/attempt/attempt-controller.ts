import type { Time } from "@flyte-ts/async";
import { taskEventSubject } from "@flyte-ts/bus-contract";
import { isTerminalTaskEvent } from "@flyte-ts/domain/phase";
import { encodeMessage } from "@flyte-ts/proto-codec";
import { TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { DesiredState, TaskEventSchema, type TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { Logger } from "@flyte-ts/telemetry";
import { attemptLogFields } from "./attempt-log-fields.js";
import { attemptKey } from "./attempt-key.js";
import { AttemptCache, type AttemptRecord, type Delivery, type PublishedStatus } from "./attempt-cache.js";
import { redeliveryDelay } from "./backoff.js";
import { desiredRank } from "./desired-rank.js";
import { endOfPredecessor, isOfEarlierOwner, isOfOtherOwner, requestedAtMs } from "./owner.js";
import { PermanentFailure, RetryableFailure } from "../failure.js";
import { statusFingerprint } from "./fingerprint.js";
import type { PluginMetrics } from "../service/metrics.js";
import { buildTaskEvent } from "../event/build-event.js";
import { RetryLater } from "../retry-later.js";
import type { Plugin, PluginHost } from "../plugin.js";
import type { BusMessage, PluginBus } from "../service/plugin-bus.js";
import { isTerminalStatus, isTerminalPhase, phaseRank, type ProgressPhase, type TaskStatus } from "../status.js";

export interface AttemptControllerDeps {
  readonly plugin: Plugin;
  readonly bus: Pick<PluginBus, "publish">;
  readonly logger: Logger;
  readonly clock: Time;
  readonly random: () => number;
  readonly producerId: string;
  readonly maxTerminalAttempts: number;
  readonly metrics?: PluginMetrics | undefined;
}

// Larger last events of terminal attempts are rebuilt rather than kept.
const MAX_CACHED_EVENT_BYTES = 4 * 1024;

/**
 * Passes requests to the plugin and publishes the resulting events. The rules:
 *
 * - One call of the plugin at a time per attempt; of requests that arrive meanwhile only the newest
 *   is kept.
 * - The desired state only moves RUN → ABORT → FINALIZE; an outdated request starts nothing.
 * - An attempt's phase never goes back, and within a phase the version only grows.
 * - A repeated request is answered with the current state, by the same event where it is kept;
 *   before a terminal event, with
 * RUNNING, when the request shows that propeller missed it.
 * - A message is acknowledged when the plugin controls the attempt and the event is stored.
 * - A request of another owner begins another attempt, since an execution may get the name of a
 *   deleted one. What the earlier attempt left is ended first; its late requests and reports are
 *   ignored.
 *
 * One case is unknown after a restart: an earlier process carried out an ABORT, and a RUN that it
 * did not acknowledge is redelivered. It shows as an event of an attempt that propeller considers
 * ended; propeller answers such an event with ABORT.
 */
export class AttemptController implements Pick<PluginHost, "publishStatus"> {
  readonly #cache: AttemptCache;
  #stopped = false;
  readonly #inProgress = new Set<Promise<void>>();
  /** Attempts with an unhandled request, oldest first. */
  readonly #unhandled = new Set<AttemptRecord>();

  constructor(private readonly deps: AttemptControllerDeps) {
    this.#cache = new AttemptCache({ maxTerminal: deps.maxTerminalAttempts, maxEventBytes: MAX_CACHED_EVENT_BYTES });
  }

  get activeCount(): number {
    return this.#cache.activeCount;
  }

  /** Number of requests in progress. */
  get inProgress(): number {
    return this.#inProgress.size;
  }

  /** Age, ms, of the oldest accepted request that is not yet handled; 0 without one. */
  get oldestPendingMs(): number {
    for (const { unhandled } of this.#unhandled) if (unhandled !== undefined) return Math.max(0, this.deps.clock.now() - unhandled.since);
    return 0;
  }

  /** Accepts a request and handles it asynchronously. */
  accept(request: TaskRequest, message: BusMessage): void {
    this.#start({ request, message, retries: message.deliveries - 1 });
  }

  /**
   * Accepts a request to stop all attempts of a workflow. Acknowledges it when no attempt is left
   * that may run.
   */
  acceptAbortAll(request: TaskRequest, message: BusMessage): void {
    this.#track(this.#abortAll(request, message));
  }

  /** Cancels the retries of requeued requests. Resolves when no request is being handled. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const record of this.#cache.active) record.cancelRetry?.();
    while (this.#inProgress.size > 0) await Promise.allSettled(this.#inProgress);
  }

  async publishStatus(request: TaskRequest, status: TaskStatus): Promise<void> {
    const key = attemptKey(request);
    const known = this.#cache.find(key);
    if (known !== undefined && isOfOtherOwner(known, request)) return;
    const record = known ?? this.#cache.add(key, request.owner?.uid ?? "");
    if (record.desiredRank > desiredRank(DesiredState.RUN)) return;
    const published = this.#recordStatus(record, request, status);
    if (published !== undefined) await this.#publish(published);
    if (isTerminalStatus(status) && record.handling === undefined) this.#cache.markTerminal(record);
  }

  #start(delivery: Delivery): void {
    this.#track(this.#receive(delivery));
  }

  #track(handling: Promise<void>): void {
    this.#inProgress.add(handling);
    void handling.finally(() => this.#inProgress.delete(handling));
  }

  async #abortAll(request: TaskRequest, message: BusMessage): Promise<void> {
    const { logger, metrics, random } = this.deps;
    metrics?.requests.inc({ desired: DesiredState[request.desired] });
    try {
      const attempts = await this.#listAttempts(request);
      await Promise.all(attempts.map((attempt) => this.#abortOne(attempt, request)));
      const remaining = attempts.length === 0 ? [] : await this.#listAttempts(request);
      if (remaining.length === 0) return message.ack();
      logger.info(
        { workflow: request.workflowKey, attempts: remaining.length },
        "some attempts of the workflow still run; the abort is retried",
      );
    } catch (error) {
      const { workflowKey: workflow } = request;
      if (error instanceof RetryLater)
        logger.info({ workflow, reason: error.message }, "the abort of a workflow's attempts is retried later");
      else if (message.deliveries === 1)
        logger.warn({ workflow, error: errorStack(error) }, "cannot abort the attempts of a workflow; retrying");
    }
    message.nak(redeliveryDelay(message.deliveries - 1, random));
  }

  /**
   * Lists the workflow's attempts that may run: those that the plugin finds, and those whose
   * requests are not yet handled, because they wait for a quota or are being started.
   */
  async #listAttempts(request: TaskRequest): Promise<readonly TaskRequest[]> {
    const attempts = new Map<string, TaskRequest>();
    for (const { key, unhandled } of this.#unhandled) {
      const pending = unhandled?.request;
      if (pending?.workflowKey === request.workflowKey && pending.owner?.uid === request.owner?.uid) attempts.set(key, pending);
    }
    for (const attempt of (await this.deps.plugin.listAttempts?.(request)) ?? []) attempts.set(attemptKey(attempt), attempt);
    return [...attempts.values()];
  }

  /** An attempt without a known task is aborted without an event, which could not name it. */
  async #abortOne(attempt: TaskRequest, { abortReason, requestedAt }: TaskRequest): Promise<void> {
    const request: TaskRequest = { ...attempt, desired: DesiredState.ABORT, abortReason, requestedAt, deleteResources: true };
    if (request.id?.taskId === undefined) await this.deps.plugin.abort(request);
    else await this.#receive({ request, message: undefined, retries: 0 });
  }

  async #receive(delivery: Delivery): Promise<void> {
    const { request, message } = delivery;
    const record = this.#recordOf(request);
    if (record === undefined) return message?.ack();
    const rank = desiredRank(request.desired);
    if (rank < record.desiredRank) {
      // A newer request arrived earlier: this outdated one must not start anything.
      await this.#republish(record).catch(() => undefined);
      message?.ack();
      return;
    }
    record.desiredRank = rank;
    this.#markUnhandled(record, request);
    record.cancelRetry?.();
    record.cancelRetry = undefined;
    if (record.handling !== undefined) {
      record.pendingDelivery?.message?.ack();
      record.pendingDelivery = delivery;
      return;
    }
    record.handling = this.#processAll(record, delivery);
    await record.handling;
  }

  /** Returns the attempt's record; undefined for a request of a replaced owner. */
  #recordOf(request: TaskRequest): AttemptRecord | undefined {
    const key = attemptKey(request);
    const uid = request.owner?.uid ?? "";
    const known = this.#cache.find(key);
    if (known !== undefined && isOfEarlierOwner(known, request)) return undefined;
    if (known !== undefined && isOfOtherOwner(known, request)) this.#drop(known);
    const record = known === undefined || isOfOtherOwner(known, request) ? this.#cache.add(key, uid, known) : known;
    if (record.ownerUid === "") record.ownerUid = uid;
    record.requestedAtMs = Math.max(record.requestedAtMs, requestedAtMs(request) ?? 0);
    return record;
  }

  /** Drops the requests of an attempt that another one replaces. */
  #drop(record: AttemptRecord): void {
    record.cancelRetry?.();
    record.cancelRetry = undefined;
    record.pendingDelivery?.message?.ack();
    record.pendingDelivery = undefined;
    if (record.unhandled !== undefined && record.unhandled.request.desired !== DesiredState.RUN)
      record.unfinishedEnd = record.unhandled.request;
    this.#markHandled(record);
  }

  /** Processes the request, and then the newest one that arrived meanwhile. Never rejects. */
  async #processAll(record: AttemptRecord, delivery: Delivery): Promise<void> {
    for (let next: Delivery | undefined = delivery; next !== undefined; ) {
      record.pendingDelivery = undefined;
      await this.#process(record, next);
      next = record.pendingDelivery;
    }
    record.handling = undefined;
    if (record.cancelRetry === undefined && (isTerminal(record) || record.desiredRank === desiredRank(DesiredState.FINALIZE))) {
      this.#cache.markTerminal(record);
    }
  }

  #markUnhandled(record: AttemptRecord, request: TaskRequest): void {
    if (record.unhandled !== undefined) record.unhandled.request = request;
    else {
      record.unhandled = { request, since: this.deps.clock.now() };
      this.#unhandled.add(record);
    }
  }

  #markHandled(record: AttemptRecord): void {
    record.unhandled = undefined;
    this.#unhandled.delete(record);
  }

  async #process(record: AttemptRecord, delivery: Delivery): Promise<void> {
    this.deps.metrics?.requests.inc({ desired: DesiredState[delivery.request.desired] });
    try {
      await this.#endPredecessor(record, delivery.request);
      await this.#handle(record, delivery.request);
      record.unfinishedEnd = undefined;
      this.#markHandled(record);
      record.lastError = undefined;
      delivery.message?.ack();
    } catch (error) {
      await this.#requeue(record, delivery, error).catch((publishError: unknown) => {
        // The bus is closed; it redelivers the message to the next process.
        this.deps.logger.warn(
          { ...attemptLogFields(delivery.request), error: String(publishError) },
          "cannot requeue the request; the bus will redeliver it",
        );
      });
    }
  }

  /**
   * Ends what the attempt of an earlier owner has left: both have the same names.
   *
   * @throws RetryLater, or another error, when that has to be tried again
   */
  async #endPredecessor(record: AttemptRecord, request: TaskRequest): Promise<void> {
    const { predecessor } = record;
    if (predecessor === undefined) return;
    // One call of the plugin at a time.
    await predecessor.handling;
    await this.#endPredecessor(predecessor, request);
    const end = endOfPredecessor(predecessor, request);
    if (end?.desired === DesiredState.ABORT) await this.#invokePlugin(end);
    if (end?.desired === DesiredState.FINALIZE) await this.deps.plugin.finalize?.(end);
    record.predecessor = undefined;
  }

  async #handle(record: AttemptRecord, request: TaskRequest): Promise<void> {
    if (request.desired === DesiredState.FINALIZE) {
      await this.deps.plugin.finalize?.(request);
      record.lastPublished = undefined;
      record.firstRunning = undefined;
      return;
    }
    if (isTerminal(record)) {
      if (request.desired === DesiredState.RUN && !knowsRunning(request) && record.firstRunning !== undefined)
        await this.#publish(record.firstRunning);
      return this.#republish(record);
    }
    // Propeller already knows a terminal phase, so this RUN is outdated.
    if (request.desired === DesiredState.RUN && isTerminalTaskEvent(request.knownPhase)) return;
    const status = await this.#invokePlugin(request);
    if (record.isReplaced) return;
    const published = this.#recordStatus(record, request, status);
    if (published === undefined) await this.#republish(record);
    else await this.#publish(published);
  }

  /** Returns a failure that the plugin throws as a status. */
  async #invokePlugin(request: TaskRequest): Promise<TaskStatus> {
    const { plugin } = this.deps;
    try {
      return await (request.desired === DesiredState.ABORT ? plugin.abort(request) : plugin.reconcile(request));
    } catch (error) {
      if (error instanceof PermanentFailure || error instanceof RetryableFailure) return { phase: "FAILED", failure: error };
      throw error;
    }
  }

  /**
   * Retries the request later. RUN and ABORT are kept here and their messages acknowledged, so that
   * many attempts waiting for a quota do not exhaust the consumer's limit; a crash loses them, and
   * propeller resends them. Propeller expects no answer to FINALIZE and would not notice its loss,
   * so its message stays on the bus.
   */
  async #requeue(record: AttemptRecord, { request, message, retries }: Delivery, error: unknown): Promise<void> {
    const { logger, metrics, random, clock } = this.deps;
    if (request.desired !== DesiredState.RUN) record.unfinishedEnd = request;
    // Its successor ends it.
    if (record.isReplaced) return message?.ack();
    metrics?.requeued.inc();
    const retryLater = error instanceof RetryLater ? error : undefined;
    if (retryLater === undefined) this.#logError(record, request, error);
    else logger.info({ ...attemptLogFields(request), reason: retryLater.message }, "the request is retried later");
    const delay = retryLater?.retryAfterMs ?? redeliveryDelay(retries, random);
    if (request.desired === DesiredState.FINALIZE) {
      // Returns the request to the bus, so that it is no longer pending in this process.
      this.#markHandled(record);
      message?.nak(delay);
      return;
    }
    if (request.desired === DesiredState.RUN) {
      const phase = toProgressPhase(record.lastPublished?.phase) ?? toProgressPhase(TaskExecution_Phase[request.knownPhase]) ?? "QUEUED";
      const status = retryLater?.status ?? { phase, reason: error instanceof Error ? error.message : String(error) };
      const published = this.#recordStatus(record, request, status);
      if (published !== undefined) await this.#publish(published);
    }
    // The message stays on the bus for the next process.
    if (this.#stopped) return;
    record.cancelRetry = clock.schedule(delay, () => {
      record.cancelRetry = undefined;
      this.#start({ request, message: undefined, retries: retries + 1 });
    });
    message?.ack();
  }

  /** Logs an error of the plugin; one that is repeated at each retry only once. */
  #logError(record: AttemptRecord, request: TaskRequest, error: unknown): void {
    const text = String(error);
    if (record.lastError === text) return;
    record.lastError = text;
    this.deps.logger.error(
      { ...attemptLogFields(request), error: errorStack(error) },
      "the plugin threw an error; the request is retried, and the error is logged again when it changes",
    );
  }

  /** Records the status if it is newer than the last one; else returns undefined. */
  #recordStatus(record: AttemptRecord, request: TaskRequest, status: TaskStatus): PublishedStatus | undefined {
    const { plugin, clock, producerId } = this.deps;
    const fingerprint = statusFingerprint(status);
    if (!isNewer(record.lastPublished, request, { status, fingerprint })) return undefined;
    const phaseVersion = nextPhaseVersion(record.lastPublished, request, status);
    const pluginIdentifier = plugin.pluginIdentifierFor?.(request.template?.type ?? "") ?? plugin.name;
    const event = buildTaskEvent(request, status, { phaseVersion, pluginIdentifier, producerId, now: new Date(clock.now()) });
    record.lastPublished = {
      phase: status.phase,
      phaseVersion,
      fingerprint,
      subject: taskEventSubject(request.shard),
      data: encodeMessage(TaskEventSchema, event),
    };
    if (status.phase === "RUNNING") record.firstRunning ??= record.lastPublished;
    return record.lastPublished;
  }

  async #publish(published: PublishedStatus): Promise<void> {
    this.deps.metrics?.events.inc({ phase: published.phase });
    await this.deps.bus.publish(published.subject, published.data);
  }

  async #republish(record: AttemptRecord): Promise<void> {
    if (record.lastPublished !== undefined) await this.#publish(record.lastPublished);
  }
}

function isTerminal({ lastPublished }: AttemptRecord): boolean {
  return lastPublished !== undefined && isTerminalPhase(lastPublished.phase);
}

function knowsRunning({ knownPhase }: TaskRequest): boolean {
  return knownPhase === TaskExecution_Phase.RUNNING || isTerminalTaskEvent(knownPhase);
}

function toProgressPhase(phase: string | undefined): ProgressPhase | undefined {
  switch (phase) {
    case "WAITING_FOR_RESOURCES":
    case "QUEUED":
    case "INITIALIZING":
    case "RUNNING":
      return phase;
    default:
      return undefined;
  }
}

function isNewer(published: PublishedStatus | undefined, request: TaskRequest, next: { status: TaskStatus; fingerprint: string }): boolean {
  const rank = phaseRank(next.status.phase);
  if (published === undefined) {
    // The cache may be lost in a restart; the phase that propeller knows is the lower bound.
    const known = toProgressPhase(TaskExecution_Phase[request.knownPhase]);
    return known === undefined || rank >= phaseRank(known);
  }
  const step = rank - phaseRank(published.phase);
  return step > 0 || (step === 0 && !isTerminalStatus(next.status) && published.fingerprint !== next.fingerprint);
}

/**
 * Returns a version above every published one of this phase, including those of an earlier process
 * as far as propeller knows them.
 */
function nextPhaseVersion(published: PublishedStatus | undefined, request: TaskRequest, status: TaskStatus): number {
  if (published?.phase === status.phase) return published.phaseVersion + 1;
  return request.knownPhase === TaskExecution_Phase[status.phase] ? request.knownPhaseVersion + 1 : 0;
}

function errorStack(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
