import type { Time } from "@flyte-ts/async";
import { encodeMessage, isTerminalTaskEvent, taskEventSubject } from "@flyte-ts/domain";
import { TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { DesiredState, TaskEventSchema, type TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { Logger } from "@flyte-ts/telemetry";
import { attemptFields } from "./attempt-fields.js";
import { attemptKey } from "./attempt-key.js";
import { AttemptMemories, type AttemptMemory, type Delivery, type Told } from "./attempt-memory.js";
import { redeliveryDelay } from "./backoff.js";
import { desiredOrder } from "./desired-order.js";
import { PermanentFailure, RetryableFailure } from "./failure.js";
import { statusFingerprint } from "./fingerprint.js";
import type { PluginMetrics } from "./metrics.js";
import { mintTaskEvent } from "./mint-event.js";
import { NotYet } from "./not-yet.js";
import type { Plugin, PluginHost } from "./plugin.js";
import type { BusMessage, PluginBus } from "./plugin-bus.js";
import { isEnded, isEndedPhase, phaseOrder, type ProgressPhase, type TaskStatus } from "./status.js";

export interface AttemptsParts {
  readonly plugin: Plugin;
  readonly bus: Pick<PluginBus, "publish">;
  readonly logger: Logger;
  readonly clock: Time;
  readonly random: () => number;
  readonly producerId: string;
  readonly endedLimit: number;
  readonly metrics?: PluginMetrics | undefined;
}

// Larger last events of ended attempts are rebuilt rather than kept.
const KEEP_EVENT_BYTES = 4 * 1024;

/**
 * Passes requests to the plugin and publishes its answers. The rules:
 *
 * - One verb at a time per attempt; of requests that arrive meanwhile only the newest is kept.
 * - The desired state only moves RUN → ABORT → FINALIZE; an overtaken request starts nothing.
 * - An attempt's phase never goes back, and within a phase the version only grows.
 * - A repeated request is answered with the current state, by the same event where it is kept; before an end, with
 * RUNNING, when the request shows that propeller missed it.
 * - A message is acknowledged when the attempt is under the plugin's control and the answer is stored.
 *
 * One case is unknown after a restart: an earlier process carried out an ABORT, and a RUN that it did not acknowledge
 * is redelivered. It shows as an event of an attempt that propeller considers ended; propeller answers such an event
 * with ABORT.
 */
export class Attempts implements PluginHost {
  readonly #memories: AttemptMemories;
  readonly #running = new Set<Promise<void>>();
  /** Accepted requests that are not yet handled, with the time, ms, at which the first of their attempt was accepted; oldest first. */
  readonly #open = new Map<AttemptMemory, number>();

  constructor(private readonly parts: AttemptsParts) {
    this.#memories = new AttemptMemories({ endedLimit: parts.endedLimit, keepEventBytes: KEEP_EVENT_BYTES });
  }

  get liveCount(): number {
    return this.#memories.liveCount;
  }

  /** Number of requests being handled now. */
  get inHand(): number {
    return this.#running.size;
  }

  /** Age, ms, of the oldest accepted request that is not yet handled; 0 without one. */
  get oldestOpenMs(): number {
    const [oldest] = this.#open.values();
    return oldest === undefined ? 0 : Math.max(0, this.parts.clock.now() - oldest);
  }

  /** Accepts a request and handles it asynchronously. */
  accept(request: TaskRequest, message: BusMessage): void {
    this.#begin({ request, message, tries: message.deliveries - 1 });
  }

  /** Accepts a request to stop all attempts of a workflow. It is acknowledged when none is left that may run. */
  acceptAbortAll(request: TaskRequest, message: BusMessage): void {
    this.#track(this.#abortAll(request, message));
  }

  /** Hands back postponed requests and resolves when no other is being handled. */
  async stop(): Promise<void> {
    for (const memory of this.#memories.live) memory.callOffRetry?.();
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }

  async report(request: TaskRequest, status: TaskStatus): Promise<void> {
    const memory = this.#memories.findOrAdd(attemptKey(request));
    if (memory.desired > desiredOrder(DesiredState.RUN)) return;
    const news = this.#note(memory, request, status);
    if (news !== undefined) await this.#send(news);
    if (isEnded(status) && !memory.busy) this.#memories.end(memory);
  }

  #begin(delivery: Delivery): void {
    this.#track(this.#take(delivery));
  }

  #track(work: Promise<void>): void {
    this.#running.add(work);
    void work.finally(() => this.#running.delete(work));
  }

  async #abortAll(request: TaskRequest, message: BusMessage): Promise<void> {
    const { plugin, logger, metrics, random } = this.parts;
    metrics?.requests.inc({ desired: DesiredState[request.desired] });
    try {
      const found = (await plugin.attemptsOf?.(request)) ?? [];
      await Promise.all(found.map((attempt) => this.#abortOne(attempt, request)));
      const left = found.length === 0 ? [] : ((await plugin.attemptsOf?.(request)) ?? []);
      if (left.length === 0) return message.ack();
      logger.info({ workflow: request.workflowKey, attempts: left.length }, "attempts to abort are left");
    } catch (error) {
      logger.warn({ workflow: request.workflowKey, error: stackOf(error) }, "attempts of a workflow cannot be aborted yet");
    }
    message.nak(redeliveryDelay(message.deliveries - 1, random));
  }

  /** An attempt without a known task is aborted without an event, which could not name it. */
  async #abortOne(attempt: TaskRequest, { abortReason, requestedAt }: TaskRequest): Promise<void> {
    const request: TaskRequest = { ...attempt, desired: DesiredState.ABORT, abortReason, requestedAt, deleteResources: true };
    if (request.id?.taskId === undefined) await this.parts.plugin.abort(request);
    else await this.#take({ request, message: undefined, tries: 0 });
  }

  async #take(delivery: Delivery): Promise<void> {
    const { request, message } = delivery;
    const memory = this.#memories.findOrAdd(attemptKey(request));
    const order = desiredOrder(request.desired);
    if (order < memory.desired) {
      // Overtaken by a later one: it must not start anything.
      await this.#repeat(memory).catch(() => undefined);
      message?.ack();
      return;
    }
    memory.desired = order;
    if (!this.#open.has(memory)) this.#open.set(memory, this.parts.clock.now());
    memory.callOffRetry?.();
    memory.callOffRetry = undefined;
    if (memory.busy) {
      memory.waiting?.message?.ack();
      memory.waiting = delivery;
      return;
    }
    memory.busy = true;
    for (let next: Delivery | undefined = delivery; next !== undefined; ) {
      memory.waiting = undefined;
      await this.#carryOut(memory, next);
      next = memory.waiting;
    }
    memory.busy = false;
    if (memory.callOffRetry === undefined && (hasEnded(memory) || memory.desired === desiredOrder(DesiredState.FINALIZE))) {
      this.#memories.end(memory);
    }
  }

  async #carryOut(memory: AttemptMemory, delivery: Delivery): Promise<void> {
    this.parts.metrics?.requests.inc({ desired: DesiredState[delivery.request.desired] });
    try {
      await this.#answer(memory, delivery.request);
      this.#open.delete(memory);
      delivery.message?.ack();
    } catch (error) {
      await this.#postpone(memory, delivery, error).catch((failed: unknown) => {
        // The bus is closed: the message is redelivered to the next process.
        this.parts.logger.warn({ ...attemptFields(delivery.request), error: String(failed) }, "request left for a later delivery");
      });
    }
  }

  async #answer(memory: AttemptMemory, request: TaskRequest): Promise<void> {
    if (request.desired === DesiredState.FINALIZE) {
      await this.parts.plugin.finalize?.(request);
      memory.told = undefined;
      memory.ran = undefined;
      return;
    }
    if (hasEnded(memory)) {
      if (request.desired === DesiredState.RUN && !knowsItRan(request) && memory.ran !== undefined) await this.#send(memory.ran);
      return this.#repeat(memory);
    }
    // Propeller knows the end: a RUN is then an old request.
    if (request.desired === DesiredState.RUN && isTerminalTaskEvent(request.knownPhase)) return;
    const status = await this.#ask(request);
    const news = this.#note(memory, request, status);
    if (news === undefined) await this.#repeat(memory);
    else await this.#send(news);
  }

  /** A failure that the plugin throws is an answer too. */
  async #ask(request: TaskRequest): Promise<TaskStatus> {
    const { plugin } = this.parts;
    try {
      return await (request.desired === DesiredState.ABORT ? plugin.abort(request) : plugin.reconcile(request));
    } catch (error) {
      if (error instanceof PermanentFailure || error instanceof RetryableFailure) return { phase: "FAILED", failure: error };
      throw error;
    }
  }

  /**
   * Retries the request later. RUN and ABORT are kept here and their messages acknowledged, so that many attempts
   * waiting for a quota do not exhaust the consumer's limit; a crash loses them, and propeller resends them. FINALIZE
   * has no answer whose absence would show, so its message stays on the bus.
   */
  async #postpone(memory: AttemptMemory, { request, message, tries }: Delivery, error: unknown): Promise<void> {
    const { logger, metrics, random, clock } = this.parts;
    metrics?.postponed.inc();
    const notYet = error instanceof NotYet ? error : undefined;
    if (notYet === undefined) logger.error({ ...attemptFields(request), error: stackOf(error) }, "plugin failed on a request");
    else logger.info({ ...attemptFields(request), reason: notYet.message }, "request postponed");
    const delay = notYet?.retryAfterMs ?? redeliveryDelay(tries, random);
    if (request.desired === DesiredState.FINALIZE) {
      // This process hands it back.
      this.#open.delete(memory);
      message?.nak(delay);
      return;
    }
    if (request.desired === DesiredState.RUN) {
      const phase = progressOf(memory.told?.phase) ?? progressOf(TaskExecution_Phase[request.knownPhase]) ?? "QUEUED";
      const status = notYet?.status ?? { phase, reason: error instanceof Error ? error.message : String(error) };
      const news = this.#note(memory, request, status);
      if (news !== undefined) await this.#send(news);
    }
    memory.callOffRetry = clock.schedule(delay, () => {
      memory.callOffRetry = undefined;
      this.#begin({ request, message: undefined, tries: tries + 1 });
    });
    message?.ack();
  }

  /** Records the status if it is newer than the last one; else returns undefined. */
  #note(memory: AttemptMemory, request: TaskRequest, status: TaskStatus): Told | undefined {
    const { plugin, clock, producerId } = this.parts;
    const fingerprint = statusFingerprint(status);
    if (!isNews(memory.told, request, { status, fingerprint })) return undefined;
    const phaseVersion = nextVersion(memory.told, request, status);
    const pluginIdentifier = plugin.identifierOf?.(request.template?.type ?? "") ?? plugin.name;
    const event = mintTaskEvent(request, status, { phaseVersion, pluginIdentifier, producerId, now: new Date(clock.now()) });
    memory.told = {
      phase: status.phase,
      phaseVersion,
      fingerprint,
      subject: taskEventSubject(request.shard),
      data: encodeMessage(TaskEventSchema, event),
    };
    if (status.phase === "RUNNING") memory.ran ??= memory.told;
    return memory.told;
  }

  async #send(told: Told): Promise<void> {
    this.parts.metrics?.events.inc({ phase: told.phase });
    await this.parts.bus.publish(told.subject, told.data);
  }

  async #repeat(memory: AttemptMemory): Promise<void> {
    if (memory.told !== undefined) await this.#send(memory.told);
  }
}

function hasEnded({ told }: AttemptMemory): boolean {
  return told !== undefined && isEndedPhase(told.phase);
}

function knowsItRan({ knownPhase }: TaskRequest): boolean {
  return knownPhase === TaskExecution_Phase.RUNNING || isTerminalTaskEvent(knownPhase);
}

function progressOf(phase: string | undefined): ProgressPhase | undefined {
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

function isNews(told: Told | undefined, request: TaskRequest, next: { status: TaskStatus; fingerprint: string }): boolean {
  const order = phaseOrder(next.status.phase);
  if (told === undefined) {
    // Memory may be lost; propeller's knowledge is the minimum.
    const known = progressOf(TaskExecution_Phase[request.knownPhase]);
    return known === undefined || order >= phaseOrder(known);
  }
  const step = order - phaseOrder(told.phase);
  return step > 0 || (step === 0 && !isEnded(next.status) && told.fingerprint !== next.fingerprint);
}

/** Exceeds every published version of this phase, also of an earlier process as far as propeller knows it. */
function nextVersion(told: Told | undefined, request: TaskRequest, status: TaskStatus): number {
  if (told?.phase === status.phase) return told.phaseVersion + 1;
  return request.knownPhase === TaskExecution_Phase[status.phase] ? request.knownPhaseVersion + 1 : 0;
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
