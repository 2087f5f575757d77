import { encodeMessage, taskEventSubject, taskRequestSubject } from "@flyte-ts/domain";
import { DesiredState, TaskEventSchema, type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { type Bus, BusClosed, MessageTooLarge, PublishGivenUp } from "@flyte-ts/messaging";
import { mintTaskEvent, PermanentFailure } from "@flyte-ts/task-plugin";
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
  /** Of events that propeller sends in the place of others. */
  readonly producerId: string;
  readonly metrics: PropellerMetrics;
  readonly logger: Logger;
  readonly now: () => number;
  /** Tells whether other workflows are active beside this one. */
  readonly isShared: (key: string) => boolean;
  /** Whether this process may act for a workflow at this moment; it may have slept beyond its time. */
  readonly holds: (key: string) => boolean;
  /** Takes what an effect led to, for the run of that key. */
  readonly observe: (key: string, observation: Observation) => void;
  /** Takes that an effect whose turn came later could not be put into a message. */
  readonly failed: (key: string, error: unknown) => void;
}

/**
 * Effects under way and those that wait for a write, of all workflows, from which on large graphs begin no further nodes:
 * several KiB each, for a message stands in memory until the bus has taken it. The more are under way, the longer each
 * takes and the more of what it made is copied by the garbage collector; admin too writes a node once rather than
 * twice when its beginning and its running come close together. With half as many a fan-out of 100,000 waits for the bus.
 */
const MOST = 1_000;

/** Smaller requests any bus takes, bytes. */
const REFUSABLE_BYTES = 64 * 1024;

/** Carries out what the engine decided. Nothing is awaited by a round: results come back as observations. */
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

  /** Whether more of the workflow may begin. */
  hasRoom(key: string): boolean {
    return this.#hasRoom && this.#outbox.hasRoom(key);
  }

  get #hasRoom(): boolean {
    return this.#running + this.#held < MOST;
  }

  /** So many of the workflow's effects wait for its status to be written, and then go out all at once. */
  noteHeld(key: string, held: number): void {
    this.#held += held - (this.#heldBy.get(key) ?? 0);
    if (held === 0) this.#heldBy.delete(key);
    else this.#heldBy.set(key, held);
    this.#tellRoom();
  }

  /** Resolves when there may be room for more of the workflow. */
  room(key: string): Promise<void> {
    if (!this.#outbox.hasRoom(key)) return this.#outbox.room(key);
    if (this.#hasRoom) return Promise.resolve();
    this.#room ??= Promise.withResolvers<void>();
    return this.#room.promise;
  }

  /** Starts the effects in their order, now or in turn with those of other workflows. `finish` is the caller's. */
  perform(key: string, effects: readonly Effect[]): void {
    this.#outbox.perform(key, effects);
  }

  /** Starts effects of a workflow that has no run: none waits for answers to them. */
  performWithoutRun(key: string, effects: readonly Effect[]): void {
    this.perform(key, effects);
    this.forget(key);
  }

  /** A plugin service has told something of the attempt. */
  answered(key: string, generatedName: string): void {
    this.#outbox.answered(key, generatedName);
  }

  /** The workflow's run is let go. */
  forget(key: string): void {
    this.noteHeld(key, 0);
    this.#outbox.forget(key);
  }

  /** Effects of one workflow come one after the other. */
  #asLongAs(key: string): AsLongAs {
    if (this.#last?.key !== key) this.#last = { key, while: () => this.options.holds(key) };
    return this.#last;
  }

  /** Starts the effects as `perform` does. Resolves when all have been carried out; rejects when one failed. */
  async carryOut(key: string, effects: readonly Effect[], asLongAs: AsLongAs): Promise<void> {
    await Promise.all(effects.map(async (effect) => this.#follow(key, effect, asLongAs)));
  }

  #follow(key: string, effect: Effect, asLongAs: AsLongAs): Promise<void> | undefined {
    const work = this.#start(key, effect, asLongAs);
    if (work === undefined) return undefined;
    // Nothing here may hold on to the effect: its message is on the way as bytes, and very many may be.
    const { kind } = effect;
    this.#running++;
    work.then(this.#ended, (error: unknown) => {
      this.options.metrics.effectErrors.inc({ effect: kind });
      if (!(error instanceof BusClosed || error instanceof PublishGivenUp)) this.#tellFailure(key, kind, error);
      this.#ended();
    });
    return work;
  }

  /** One for all: of each effect there is a promise and no more. */
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

  /** When something that all need is away, very many fail at once. */
  #tellFailure(key: string, kind: Effect["kind"], error: unknown): void {
    const left = this.#sampler.take(kind);
    if (left !== undefined) this.options.logger.error({ workflow: key, effect: kind, error: String(error), left }, "effect failed");
  }

  #note(key: string, { type, reason, message }: Note): void {
    const level = type === "Warning" ? "info" : "debug";
    this.options.logger[level]({ workflow: key, reason, detail: message.slice(0, 500) }, "workflow noted");
    this.options.notes.record(key, { type, reason, message });
  }

  /** What cannot be sent to its plugin fails in the plugin's place, for admin too; what else went wrong is thrown on. */
  async #refused(request: TaskRequest, error: unknown, asLongAs: AsLongAs): Promise<void> {
    if (!(error instanceof MessageTooLarge) || request.desired !== DesiredState.RUN) throw error;
    const { bus, producerId, now } = this.options;
    const failure = new PermanentFailure({ code: "EntityTooLarge", message: `the task cannot be sent to its plugin: ${error.message}` });
    const event = mintTaskEvent(
      request,
      { phase: "FAILED", failure },
      { phaseVersion: 0, pluginIdentifier: "propeller", producerId, now: new Date(now()) },
    );
    await bus.publish(taskEventSubject(request.shard), encodeMessage(TaskEventSchema, event), asLongAs);
  }

  /** Resolves when all that was started has ended. */
  async settled(): Promise<void> {
    while (this.#running > 0 || this.#outbox.size > 0) {
      this.#settled ??= Promise.withResolvers<void>();
      await this.#settled.promise;
    }
  }

  /** A child names its parent's node: it is created when the control plane knows that, and not after the workflow was given away. */
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
        // Few are so large that the bus may refuse them: only these are held on to.
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
