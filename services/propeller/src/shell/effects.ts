import { encodeMessage, taskEventSubject, taskRequestSubject } from "@flyte-ts/domain";
import { DesiredState, TaskEventSchema, type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { type Bus, BusClosed, MessageTooLarge, PublishCancelled } from "@flyte-ts/messaging";
import { buildTaskEvent, PermanentFailure } from "@flyte-ts/task-plugin";
import { type Logger, LogSampler } from "@flyte-ts/telemetry";
import type { Effect, Note, Observation } from "../engine/types.js";
import { EngineFault } from "../shell-core/engine-fault.js";
import { type Answerers, answerWith } from "./ask/answerers.js";
import type { AsLongAs, EventSink } from "./event-sink/event-sink.js";
import type { KubeEvents } from "./kube-events/kube-events.js";
import { countTransition, type PropellerMetrics } from "./metrics.js";
import { Outbox } from "./outbox.js";
import type { OutputsStore } from "./outputs-store.js";

export interface EffectsOptions {
  readonly bus: Pick<Bus, "publish">;
  readonly events: EventSink;
  readonly outputs: OutputsStore;
  readonly answerers: Answerers;
  readonly notes: Pick<KubeEvents, "record">;
  /** Producer id of the events that propeller sends on behalf of plugins. */
  readonly producerId: string;
  readonly metrics: PropellerMetrics;
  readonly logger: Logger;
  readonly now: () => number;
  /** True when other workflows are active besides this one. */
  readonly isShared: (key: string) => boolean;
  /** Checks before each effect that this process may act for the workflow: it may have been paused past its lease. */
  readonly holds: (key: string) => boolean;
  /** Receives the result of an effect, for the run of that key. */
  readonly observe: (key: string, observation: Observation) => void;
  /** Receives the failure to encode a queued effect. */
  readonly failed: (key: string, error: unknown) => void;
}

/**
 * Effects in flight plus deferred, over all workflows, beyond which large graphs start no further nodes. Each holds
 * several KiB until the bus has stored its message. More in flight take longer each and cost more garbage collection;
 * admin also writes a node once instead of twice when its start and running come close together. With half the limit, a
 * fan-out of 100,000 waits for the bus.
 */
const MOST = 1_000;

/** Every bus accepts requests below this size, bytes. */
const REFUSABLE_BYTES = 64 * 1024;

/** Executes the engine's effects. Reconciles do not await them: results return as observations. */
export class Effects {
  #running = 0;
  readonly #heldBy = new Map<string, number>();
  #held = 0;
  #room: PromiseWithResolvers<void> | undefined;
  #settled: PromiseWithResolvers<void> | undefined;

  readonly #sampler: LogSampler;
  readonly #outbox: Outbox;
  #last: (AsLongAs & { readonly key: string }) | undefined;

  constructor(private readonly options: EffectsOptions) {
    this.#outbox = new Outbox({
      start: (key, effect) => void this.#follow(key, effect, this.#asLongAs(key)),
      failed: (key, error) => options.failed(key, new EngineFault(error)),
      holds: (key) => options.holds(key),
      isShared: options.isShared,
      now: options.now,
    });
    this.#sampler = new LogSampler({ intervalMs: 1_000, now: options.now });
  }

  /** True when the workflow may start further nodes. */
  hasRoom(key: string): boolean {
    return this.#hasRoom && this.#outbox.hasRoom(key);
  }

  get #hasRoom(): boolean {
    return this.#running + this.#held < MOST;
  }

  /** Sets how many of the workflow's effects wait for its status write; they all start after it. */
  noteHeld(key: string, held: number): void {
    this.#held += held - (this.#heldBy.get(key) ?? 0);
    if (held === 0) this.#heldBy.delete(key);
    else this.#heldBy.set(key, held);
    this.#tellRoom();
  }

  /** Resolves when there may be capacity for more of the workflow. */
  room(key: string): Promise<void> {
    if (!this.#outbox.hasRoom(key)) return this.#outbox.room(key);
    if (this.#hasRoom) return Promise.resolve();
    this.#room ??= Promise.withResolvers<void>();
    return this.#room.promise;
  }

  /** Starts the effects in order, now or interleaved with other workflows'. The caller handles `finish`. */
  perform(key: string, effects: readonly Effect[]): void {
    this.#outbox.perform(key, effects);
  }

  /** Starts effects of a workflow without a run, whose results are not needed. */
  performWithoutRun(key: string, effects: readonly Effect[]): void {
    this.perform(key, effects);
    this.forget(key);
  }

  /** Notes that a plugin service has reported on the attempt. */
  answered(key: string, generatedName: string): void {
    this.#outbox.answered(key, generatedName);
  }

  /** Notes that the workflow's run was released. */
  forget(key: string): void {
    this.noteHeld(key, 0);
    this.#outbox.forget(key);
  }

  /** Fence for the effects of one workflow, which run in sequence. */
  #asLongAs(key: string): AsLongAs {
    if (this.#last?.key !== key) this.#last = { key, while: () => this.options.holds(key) };
    return this.#last;
  }

  /** Starts the effects as `perform` does. Resolves when all are executed; rejects when one failed. */
  async carryOut(key: string, effects: readonly Effect[], asLongAs: AsLongAs): Promise<void> {
    await Promise.all(effects.map(async (effect) => this.#follow(key, effect, asLongAs)));
  }

  #follow(key: string, effect: Effect, asLongAs: AsLongAs): Promise<void> | undefined {
    const work = this.#start(key, effect, asLongAs);
    if (work === undefined) return undefined;
    // The closure must not retain the effect: its message is already encoded, and very many may be in flight.
    const { kind } = effect;
    this.#running++;
    work.then(this.#ended, (error: unknown) => {
      this.options.metrics.effectErrors.inc({ effect: kind });
      if (!(error instanceof BusClosed || error instanceof PublishCancelled)) this.#tellFailure(key, kind, error);
      this.#ended();
    });
    return work;
  }

  /** Shared completion callback, so that an effect costs one promise and no closure. */
  readonly #ended = (): void => {
    this.#running--;
    this.#tellRoom();
    if (this.#running > 0 || this.#outbox.size > 0) return;
    this.#settled?.resolve();
    this.#settled = undefined;
  };

  #tellRoom(): void {
    if (this.#room === undefined || !this.#hasRoom) return;
    this.#room.resolve();
    this.#room = undefined;
  }

  /** During an outage of a shared dependency very many fail at once. */
  #tellFailure(key: string, kind: Effect["kind"], error: unknown): void {
    const left = this.#sampler.sample(kind);
    if (left !== undefined) this.options.logger.error({ workflow: key, effect: kind, error: String(error), left }, "effect failed");
  }

  #note(key: string, { type, reason, message }: Note): void {
    const level = type === "Warning" ? "info" : "debug";
    this.options.logger[level]({ workflow: key, reason, detail: message.slice(0, 500) }, "workflow noted");
    this.options.notes.record(key, { type, reason, message });
  }

  /** Fails the attempt on the plugin's behalf, also for admin, when its request cannot be sent; rethrows other errors. */
  async #refused(request: TaskRequest, error: unknown, asLongAs: AsLongAs): Promise<void> {
    if (!(error instanceof MessageTooLarge) || request.desired !== DesiredState.RUN) throw error;
    const { bus, producerId, now } = this.options;
    const failure = new PermanentFailure({ code: "EntityTooLarge", message: `the task cannot be sent to its plugin: ${error.message}` });
    const event = buildTaskEvent(
      request,
      { phase: "FAILED", failure },
      { phaseVersion: 0, pluginIdentifier: "propeller", producerId, now: new Date(now()) },
    );
    await bus.publish(taskEventSubject(request.shard), encodeMessage(TaskEventSchema, event), asLongAs);
  }

  /** Resolves when all started effects have ended. */
  async settled(): Promise<void> {
    while (this.#running > 0 || this.#outbox.size > 0) {
      this.#settled ??= Promise.withResolvers<void>();
      await this.#settled.promise;
    }
  }

  /**
   * A child execution names its parent node: it is created after the control plane has recorded that node, and never
   * after the shard was released.
   */
  #ask(key: string, { id, ask }: Extract<Effect, { kind: "ask" }>): Promise<void> {
    const { events, answerers, observe, holds } = this.options;
    const answer = (): Promise<void> => answerWith(answerers, ask).then((answer) => observe(key, { kind: "answered", id, answer }));
    const recorded = ask.kind === "createExecution" ? events.recorded?.(key) : undefined;
    return recorded === undefined ? answer() : recorded.then(() => (holds(key) ? answer() : undefined));
  }

  #start(key: string, effect: Effect, asLongAs: AsLongAs): Promise<void> | undefined {
    const { bus, events, outputs, observe, metrics } = this.options;
    switch (effect.kind) {
      case "sendTask": {
        const { request } = effect;
        const data = encodeMessage(TaskRequestSchema, request);
        const sent = bus.publish(taskRequestSubject(request.template?.type ?? "", request.shard), data, asLongAs);
        // Retains only requests so large that the bus may refuse them.
        return data.length < REFUSABLE_BYTES ? sent : sent.catch((error: unknown) => this.#refused(request, error, asLongAs));
      }
      case "publish":
        return events.publish(key, effect.event, asLongAs);
      case "readOutputs":
        return outputs.readOutputs(effect.uri).then((result) => observe(key, { kind: "outputsRead", uri: effect.uri, result }));
      case "readLiteral":
        return outputs.readLiteral(effect.uri).then((result) => observe(key, { kind: "literalRead", uri: effect.uri, result }));
      case "writeOutputs":
        return outputs
          .writeOutputs(effect.uri, effect.outputs)
          .then((error) => observe(key, { kind: "outputsWritten", uri: effect.uri, ...(error === undefined ? {} : { error }) }));
      case "ask":
        return this.#ask(key, effect);
      case "note":
        this.#note(key, effect.note);
        return undefined;
      case "count":
        countTransition(metrics, effect);
        return undefined;
      case "finish":
        return undefined;
    }
  }
}
