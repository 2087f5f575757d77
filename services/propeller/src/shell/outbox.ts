import { setImmediate as othersTurn } from "node:timers/promises";
import { DesiredState, type TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { Effect } from "../engine/types.js";
import { MinimumDelays } from "./least-delays.js";
import { RequestWindow } from "./request-window.js";

export interface OutboxOptions {
  /** Throws when the effect cannot be encoded. */
  readonly start: (key: string, effect: Effect) => void;
  /** Called when an effect could not be started; the workflow's other queued effects are dropped. */
  readonly onError: (key: string, error: unknown) => void;
  /** True while this process may act for a workflow (fencing). */
  readonly holdsWorkflow: (key: string) => boolean;
  /** True when other workflows are active besides this one. */
  readonly isShared: (key: string) => boolean;
  readonly now: () => number;
}

/** Queue of one workflow's effects. */
interface EffectQueue {
  readonly key: string;
  /** Queued effects, from index `next` on. */
  effects: Effect[];
  nextIndex: number;
  /** Requests that no plugin service has answered. */
  readonly window: RequestWindow;
  capacity: PromiseWithResolvers<void> | undefined;
  /** The run was released: no window limits the requests. */
  released: boolean;
}

/** Number of effects above which a workflow is interleaved with others. */
const MAX_IMMEDIATE = 64;
/** Effects of one workflow before the next workflow continues. */
const MAX_BURST = 16;
/** Time after which the outbox yields to the event loop, ms. */
const MAX_BLOCKING_MS = 2;
/** Queue length of a workflow at which its graph starts no further nodes. */
const MAX_QUEUED = 1_000;
const RECHECK_MS = 500;

/**
 * Starts effects, in order per workflow. A workflow with many effects is interleaved with others and sends plugin
 * services no more requests than they answer.
 */
export class Outbox {
  readonly #queues = new Map<string, EffectQueue>();
  /** Queues whose next effect may start, in round-robin order. */
  readonly #ready = new Set<EffectQueue>();
  /** Queues whose next effect waits for answers. */
  readonly #blocked = new Set<EffectQueue>();
  readonly #delays = new MinimumDelays();
  #running = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: OutboxOptions) {}

  /** Number of queued effects of all workflows. */
  get size(): number {
    let size = 0;
    for (const lane of [...this.#ready, ...this.#blocked]) size += lane.effects.length - lane.nextIndex;
    return size;
  }

  /** Starts the effects now or enqueues them. */
  execute(key: string, effects: readonly Effect[]): void {
    let lane = this.#queues.get(key);
    let started = 0;
    if (effects.length <= MAX_IMMEDIATE && (lane === undefined || lane.effects.length === 0)) {
      const until = performance.now() + MAX_BLOCKING_MS;
      for (; started < effects.length && performance.now() < until; started++) {
        const effect = effects[started] as Effect;
        // The run is lost with its shard; the new holder derives the effects again.
        if (!this.options.holdsWorkflow(key)) return;
        if (effect.kind === "sendTaskRequest") {
          lane ??= this.#createQueue(key);
          if (!this.#admitRequest(lane, effect.request)) break;
        }
        this.options.start(key, effect);
      }
    }
    if (started === effects.length) return;
    lane ??= this.#createQueue(key);
    for (; started < effects.length; started++) lane.effects.push(effects[started] as Effect);
    if (this.#blocked.has(lane)) return;
    this.#ready.add(lane);
    void this.#run();
  }

  /** Notes that a plugin service has reported on the attempt. */
  onPluginReport(key: string, generatedName: string): void {
    const lane = this.#queues.get(key);
    if (lane === undefined) return;
    lane.window.onAnswer(generatedName, this.options.now());
    if (this.#blocked.delete(lane)) {
      this.#ready.add(lane);
      void this.#run();
    } else this.#dropIdle(lane);
  }

  /** True when the workflow's graph may start more nodes. */
  hasCapacity(key: string): boolean {
    const lane = this.#queues.get(key);
    return lane === undefined || lane.effects.length - lane.nextIndex < MAX_QUEUED;
  }

  /** Resolves when there is capacity for more of the workflow. */
  whenCapacity(key: string): Promise<void> {
    const lane = this.#queues.get(key);
    if (lane === undefined || this.hasCapacity(key)) return Promise.resolve();
    lane.capacity ??= Promise.withResolvers<void>();
    return lane.capacity.promise;
  }

  /** Lifts the request limit of a released workflow; its queued effects still start. */
  onRunReleased(key: string): void {
    const lane = this.#queues.get(key);
    if (lane === undefined) return;
    lane.released = true;
    lane.window.clear();
    if (this.#blocked.delete(lane)) this.#ready.add(lane);
    void this.#run();
    this.#dropIdle(lane);
  }

  #createQueue(key: string): EffectQueue {
    const lane: EffectQueue = {
      key,
      effects: [],
      nextIndex: 0,
      window: new RequestWindow(this.#delays, this.options.now()),
      capacity: undefined,
      released: false,
    };
    this.#queues.set(key, lane);
    return lane;
  }

  #dropIdle(lane: EffectQueue): void {
    if (lane.effects.length === 0 && lane.window.isEmpty) this.#queues.delete(lane.key);
  }

  /** Counts a request that plugin services answer; false when too many are unanswered. */
  #admitRequest({ key, window, released: forgotten }: EffectQueue, { desired, generatedName, template }: TaskRequest): boolean {
    if (forgotten || (desired !== DesiredState.RUN && desired !== DesiredState.ABORT)) return true;
    const { now, isShared } = this.options;
    return window.admit({ generatedName, taskType: template?.type ?? "" }, { now: now(), shared: isShared(key) });
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    for (let until = performance.now() + MAX_BLOCKING_MS; this.#ready.size > 0; ) {
      const [lane] = this.#ready;
      if (lane !== undefined) this.#startNext(lane);
      if (performance.now() < until) continue;
      await othersTurn();
      until = performance.now() + MAX_BLOCKING_MS;
    }
    this.#running = false;
  }

  /** Starts a burst of the queue's effects. */
  #startNext(lane: EffectQueue): void {
    this.#ready.delete(lane);
    if (!this.options.holdsWorkflow(lane.key)) lane.nextIndex = lane.effects.length;
    try {
      this.#startBurst(lane);
    } catch (error) {
      lane.nextIndex = lane.effects.length;
      this.options.onError(lane.key, error);
    }
    this.#compact(lane);
    if (lane.effects.length > 0 && !this.#blocked.has(lane)) this.#ready.add(lane);
    if (lane.capacity === undefined || !this.hasCapacity(lane.key)) return;
    lane.capacity.resolve();
    lane.capacity = undefined;
  }

  #startBurst(lane: EffectQueue): void {
    for (let started = 0; started < MAX_BURST && lane.nextIndex < lane.effects.length; started++) {
      const effect = lane.effects[lane.nextIndex] as Effect;
      if (effect.kind === "sendTaskRequest" && !this.#admitRequest(lane, effect.request)) {
        this.#block(lane);
        return;
      }
      lane.nextIndex++;
      this.options.start(lane.key, effect);
    }
  }

  /** Releases started effects, whose messages use memory. */
  #compact(lane: EffectQueue): void {
    if (lane.nextIndex === lane.effects.length) {
      lane.effects = [];
      lane.nextIndex = 0;
      this.#dropIdle(lane);
    } else if (lane.nextIndex >= MAX_QUEUED && lane.nextIndex * 2 > lane.effects.length) {
      lane.effects = lane.effects.slice(lane.nextIndex);
      lane.nextIndex = 0;
    }
  }

  #block(lane: EffectQueue): void {
    this.#blocked.add(lane);
    this.#timer ??= setInterval(() => this.#recheckBlocked(), RECHECK_MS).unref();
  }

  /** Expires requests whose answers may never come. */
  #recheckBlocked(): void {
    if (this.#blocked.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    for (const lane of this.#blocked) this.#ready.add(lane);
    this.#blocked.clear();
    void this.#run();
  }
}
