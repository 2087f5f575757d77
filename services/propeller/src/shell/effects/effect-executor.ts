import { taskEventSubject, taskRequestSubject } from "@flyte-ts/bus-contract";
import { encodeMessage } from "@flyte-ts/proto-codec";
import { DesiredState, TaskEventSchema, type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { type Bus, BusClosed, MessageTooLarge, PublishCancelled } from "@flyte-ts/messaging";
import { buildTaskEvent, PermanentFailure } from "@flyte-ts/task-plugin";
import { type Logger, LogSampler } from "@flyte-ts/telemetry";
import type { Effect, KubeEvent, Observation } from "../../engine/types.js";
import { EngineFault } from "../../engine-io/engine-fault.js";
import { type CallHandlers, executeCall } from "../calls/handlers.js";
import type { Fence, EventSink } from "../event-sink/event-sink.js";
import type { KubeEvents } from "../kube-events/kube-events.js";
import { countTransition, type PropellerMetrics } from "../metrics.js";
import { EffectsInFlight } from "./effects-in-flight.js";
import { Outbox } from "./outbox.js";
import type { OutputsStore } from "./outputs-store.js";

export interface EffectExecutorOptions {
  readonly bus: Pick<Bus, "publish">;
  readonly events: EventSink;
  readonly outputs: OutputsStore;
  readonly callHandlers: CallHandlers;
  readonly kubeEvents: Pick<KubeEvents, "record">;
  /** Producer id of the events that propeller sends on behalf of plugins. */
  readonly producerId: string;
  readonly metrics: PropellerMetrics;
  readonly logger: Logger;
  readonly now: () => number;
  /** True when other workflows are active besides this one. */
  readonly isShared: (key: string) => boolean;
  /**
   * Checks before each effect that this process may act for the workflow: it may have been paused
   * past its lease.
   */
  readonly holdsWorkflow: (key: string) => boolean;
  /** Receives the result of an effect, for the run of that key. */
  readonly observe: (key: string, observation: Observation) => void;
  /** Receives the failure to encode a queued effect. */
  readonly onEncodingError: (key: string, error: unknown) => void;
}

/** Effects that wait for other services than the bus, and hold no message. */
const CALLS: ReadonlySet<Effect["kind"]> = new Set(["call", "readOutputs", "readLiteral"]);

/** Every bus accepts requests below this size, bytes. */
const MAYBE_TOO_LARGE_BYTES = 64 * 1024;

/** Executes the engine's effects. Reconciles do not await them: results return as observations. */
export class EffectExecutor {
  readonly #inFlight = new EffectsInFlight(() => this.#onEnded());
  #drained: PromiseWithResolvers<void> | undefined;

  readonly #sampler: LogSampler;
  readonly #outbox: Outbox;
  #lastFence: (Fence & { readonly key: string }) | undefined;

  constructor(private readonly options: EffectExecutorOptions) {
    this.#outbox = new Outbox({
      start: (key, effect) => void this.#track(key, effect, this.#fenceFor(key)),
      onError: (key, error) => options.onEncodingError(key, new EngineFault(error)),
      holdsWorkflow: (key) => options.holdsWorkflow(key),
      isShared: options.isShared,
      now: options.now,
    });
    this.#sampler = new LogSampler({ intervalMs: 1_000, now: options.now });
  }

  /** True when the workflow may start further nodes. */
  hasCapacity(key: string): boolean {
    return this.#inFlight.hasCapacity(key) && this.#outbox.hasCapacity(key);
  }

  /** Sets how many of the workflow's effects wait for its status write; they all start after it. */
  setDeferred(key: string, deferred: number): void {
    this.#inFlight.setDeferred(key, deferred);
  }

  /** Resolves when there may be capacity for more of the workflow. */
  whenCapacity(key: string): Promise<void> {
    return this.#outbox.hasCapacity(key) ? this.#inFlight.whenCapacity(key) : this.#outbox.whenCapacity(key);
  }

  /**
   * Starts the effects in order, now or interleaved with other workflows'. The caller handles
   * `finalize`.
   */
  execute(key: string, effects: readonly Effect[]): void {
    this.#outbox.execute(key, effects);
  }

  /** Starts effects of a workflow without a run, whose results are not needed. */
  executeWithoutRun(key: string, effects: readonly Effect[]): void {
    this.execute(key, effects);
    this.onRunReleased(key);
  }

  /** Notes that a plugin service has reported on the attempt. */
  onPluginReport(key: string, generatedName: string): void {
    this.#outbox.onPluginReport(key, generatedName);
  }

  /** Notes that the workflow's run was released. */
  onRunReleased(key: string): void {
    this.setDeferred(key, 0);
    this.#outbox.onRunReleased(key);
  }

  /** Fence for the effects of one workflow, which run in sequence. */
  #fenceFor(key: string): Fence {
    if (this.#lastFence?.key !== key) this.#lastFence = { key, shouldSend: () => this.options.holdsWorkflow(key) };
    return this.#lastFence;
  }

  /**
   * Starts the effects at once, past the outbox. Resolves when all are executed; rejects when one
   * failed.
   */
  async executeAll(key: string, effects: readonly Effect[], fence: Fence): Promise<void> {
    await Promise.all(effects.map(async (effect) => this.#track(key, effect, fence)));
  }

  #track(key: string, effect: Effect, fence: Fence): Promise<void> | undefined {
    const work = this.#start(key, effect, fence);
    if (work === undefined) return undefined;
    // The closure must not retain the effect: its message is already encoded, and very many may be
    // in flight.
    const { kind } = effect;
    const onEnded = CALLS.has(kind) ? this.#inFlight.startCall(key) : this.#inFlight.startMessage();
    work.then(onEnded, (error: unknown) => {
      this.options.metrics.effectErrors.inc({ effect: kind });
      if (!(error instanceof BusClosed || error instanceof PublishCancelled)) this.#logFailure(key, kind, error);
      onEnded();
    });
    return work;
  }

  #onEnded(): void {
    if (!this.#inFlight.isEmpty || this.#outbox.size > 0) return;
    this.#drained?.resolve();
    this.#drained = undefined;
  }

  /**
   * Logs only a sample, since very many effects fail at once during an outage of a shared
   * dependency.
   */
  #logFailure(key: string, kind: Effect["kind"], error: unknown): void {
    const suppressed = this.#sampler.sample(kind);
    if (suppressed !== undefined)
      this.options.logger.error({ workflow: key, effect: kind, error: String(error), left: suppressed }, "effect failed");
  }

  #recordKubeEvent(key: string, { type, reason, message }: KubeEvent): void {
    const level = type === "Warning" ? "info" : "debug";
    this.options.logger[level]({ workflow: key, reason, detail: message.slice(0, 500) }, "workflow noted");
    this.options.kubeEvents.record(key, { type, reason, message });
  }

  /**
   * Fails the attempt on the plugin's behalf, also for admin, when its request cannot be sent;
   * rethrows other errors.
   */
  async #onRequestRefused(request: TaskRequest, error: unknown, fence: Fence): Promise<void> {
    if (!(error instanceof MessageTooLarge) || request.desired !== DesiredState.RUN) throw error;
    const { bus, producerId, now } = this.options;
    const failure = new PermanentFailure({
      code: "EntityTooLarge",
      message: `the task request cannot be sent to its plugin service: ${error.message}`,
    });
    const event = buildTaskEvent(
      request,
      { phase: "FAILED", failure },
      { phaseVersion: 0, pluginIdentifier: "propeller", producerId, now: new Date(now()) },
    );
    await bus.publish(taskEventSubject(request.shard), encodeMessage(TaskEventSchema, event), fence);
  }

  /** Resolves when all started effects have ended. */
  async drained(): Promise<void> {
    while (!this.#inFlight.isEmpty || this.#outbox.size > 0) {
      this.#drained ??= Promise.withResolvers<void>();
      await this.#drained.promise;
    }
  }

  /**
   * A child execution names its parent node: it is created after the control plane has recorded
   * that node, and never after the shard was released.
   */
  #executeCall(key: string, { id, call }: Extract<Effect, { kind: "call" }>): Promise<void> {
    const { events, callHandlers, observe, holdsWorkflow } = this.options;
    const execute = (): Promise<void> =>
      executeCall(callHandlers, call, key).then((result) => observe(key, { kind: "callResult", id, result }));
    const recorded = call.kind === "createExecution" ? events.whenRecorded?.(key) : undefined;
    return recorded === undefined ? execute() : recorded.then(() => (holdsWorkflow(key) ? execute() : undefined));
  }

  #start(key: string, effect: Effect, fence: Fence): Promise<void> | undefined {
    const { bus, events, outputs, observe, metrics } = this.options;
    switch (effect.kind) {
      case "sendTaskRequest": {
        const { request } = effect;
        const data = encodeMessage(TaskRequestSchema, request);
        const sent = bus.publish(taskRequestSubject(request.template?.type ?? "", request.shard), data, fence);
        // Retains only requests so large that the bus may refuse them.
        return data.length < MAYBE_TOO_LARGE_BYTES ? sent : sent.catch((error: unknown) => this.#onRequestRefused(request, error, fence));
      }
      case "publish":
        return events.publish(key, effect.event, fence);
      case "readOutputs":
        return outputs.readOutputs(effect.uri).then((result) => observe(key, { kind: "outputsRead", uri: effect.uri, result }));
      case "readLiteral":
        return outputs.readLiteral(effect.uri).then((result) => observe(key, { kind: "literalRead", uri: effect.uri, result }));
      case "writeOutputs":
        return outputs
          .writeOutputs(effect.uri, effect.outputs)
          .then((error) => observe(key, { kind: "outputsWritten", uri: effect.uri, ...(error === undefined ? {} : { error }) }));
      case "call": {
        const executed = this.#executeCall(key, effect);
        if (effect.call.kind !== "awaitSignal") return executed;
        // Reads of signals wait for their turn, which takes nothing from other workflows.
        executed.catch((error: unknown) => this.#logFailure(key, effect.kind, error));
        return undefined;
      }
      case "kubeEvent":
        this.#recordKubeEvent(key, effect.kubeEvent);
        return undefined;
      case "metric":
        countTransition(metrics, effect);
        return undefined;
      case "finalize":
        return undefined;
    }
  }
}
