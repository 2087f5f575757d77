import { setImmediate as nextTurn } from "node:timers/promises";
import { DesiredState, type TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { Effect } from "../../engine/types.js";
import { MinimumDelays } from "./minimum-delays.js";
import { RequestWindow } from "./request-window.js";

export interface OutboxOptions {
  /** Throws when the effect cannot be encoded. */
  readonly start: (key: string, effect: Effect) => void;
  /**
   * Called when an effect could not be started; the workflow's other queued effects are dropped.
   */
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
  /** Queued effects, from `nextIndex` on. */
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
/**
 * Time after which the outbox yields to the event loop, ms. Messages of one turn share batches, so
 * a turn is longer while no other workflow waits for it.
 */
const MAX_BLOCKING_MS = { alone: 20, shared: 2 };
/** Queue length of a workflow at which its graph starts no further nodes. */
const MAX_QUEUED = 1_000;
/** Interval at which blocked workflows ask for their pace and for expired requests again. */
const RECHECK_MS = 10;

/**
 * Starts effects, in order per workflow. A workflow with many effects is interleaved with others
 * and sends plugin services no more requests than they answer.
 */
export class Outbox {
  readonly #queues = new Map<string, EffectQueue>();
  /** Queues whose next effect may start, in round-robin order. */
  readonly #ready = new Set<EffectQueue>();
  /** Queues whose next effect waits for answers or for the pace of starts. */
  readonly #blocked = new Set<EffectQueue>();
  readonly #delays = new MinimumDelays();
  #running = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: OutboxOptions) {}

  /** Number of queued effects of all workflows. */
  get size(): number {
    let size = 0;
    for (const queue of [...this.#ready, ...this.#blocked]) size += queue.effects.length - queue.nextIndex;
    return size;
  }

  /** Starts the effects now or enqueues them. */
  execute(key: string, effects: readonly Effect[]): void {
    let queue = this.#queues.get(key);
    let started = 0;
    if (effects.length <= MAX_IMMEDIATE && (queue === undefined || queue.effects.length === 0)) {
      const until = performance.now() + MAX_BLOCKING_MS.shared;
      for (; started < effects.length && performance.now() < until; started++) {
        const effect = effects[started] as Effect;
        // The run is lost with its shard; the new holder derives the effects again.
        if (!this.options.holdsWorkflow(key)) return;
        if (effect.kind === "sendTaskRequest") {
          queue ??= this.#createQueue(key);
          if (!this.#admitRequest(queue, effect.request)) break;
        }
        this.options.start(key, effect);
      }
    }
    if (started === effects.length) return;
    queue ??= this.#createQueue(key);
    for (; started < effects.length; started++) queue.effects.push(effects[started] as Effect);
    if (this.#blocked.has(queue)) return;
    this.#ready.add(queue);
    void this.#run();
  }

  /** Notes that a plugin service has reported on the attempt. */
  onPluginReport(key: string, generatedName: string): void {
    const queue = this.#queues.get(key);
    if (queue === undefined) return;
    queue.window.onAnswer(generatedName, this.options.now());
    if (this.#blocked.delete(queue)) {
      this.#ready.add(queue);
      void this.#run();
    } else this.#dropIdle(queue);
  }

  /** True when the workflow's graph may start more nodes. */
  hasCapacity(key: string): boolean {
    const queue = this.#queues.get(key);
    return queue === undefined || queue.effects.length - queue.nextIndex < MAX_QUEUED;
  }

  /** Resolves when there is capacity for more of the workflow. */
  whenCapacity(key: string): Promise<void> {
    const queue = this.#queues.get(key);
    if (queue === undefined || this.hasCapacity(key)) return Promise.resolve();
    queue.capacity ??= Promise.withResolvers<void>();
    return queue.capacity.promise;
  }

  /** Lifts the request limit of a released workflow; its queued effects still start. */
  onRunReleased(key: string): void {
    const queue = this.#queues.get(key);
    if (queue === undefined) return;
    queue.released = true;
    queue.window.clear();
    if (this.#blocked.delete(queue)) this.#ready.add(queue);
    void this.#run();
    this.#dropIdle(queue);
  }

  #createQueue(key: string): EffectQueue {
    const queue: EffectQueue = {
      key,
      effects: [],
      nextIndex: 0,
      window: new RequestWindow(this.#delays),
      capacity: undefined,
      released: false,
    };
    this.#queues.set(key, queue);
    return queue;
  }

  #dropIdle(queue: EffectQueue): void {
    if (queue.effects.length === 0 && queue.window.isEmpty) this.#queues.delete(queue.key);
  }

  /** Counts a request that plugin services answer; false when it has to wait. */
  #admitRequest({ key, window, released }: EffectQueue, { desired, generatedName, template }: TaskRequest): boolean {
    if (released || (desired !== DesiredState.RUN && desired !== DesiredState.ABORT)) return true;
    const { now, isShared } = this.options;
    const request = { generatedName, taskType: template?.type ?? "", runs: desired === DesiredState.RUN };
    return window.admit(request, { now: now(), shared: isShared(key) });
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    for (let since = performance.now(); this.#ready.size > 0; ) {
      const [queue] = this.#ready;
      if (queue === undefined) break;
      this.#startNext(queue);
      const shared = this.#ready.size > 1 || this.options.isShared(queue.key);
      if (performance.now() < since + MAX_BLOCKING_MS[shared ? "shared" : "alone"]) continue;
      await nextTurn();
      since = performance.now();
    }
    this.#running = false;
  }

  /** Starts a burst of the queue's effects. */
  #startNext(queue: EffectQueue): void {
    this.#ready.delete(queue);
    if (!this.options.holdsWorkflow(queue.key)) queue.nextIndex = queue.effects.length;
    try {
      this.#startBurst(queue);
    } catch (error) {
      queue.nextIndex = queue.effects.length;
      this.options.onError(queue.key, error);
    }
    this.#compact(queue);
    if (queue.effects.length > 0 && !this.#blocked.has(queue)) this.#ready.add(queue);
    if (queue.capacity === undefined || !this.hasCapacity(queue.key)) return;
    queue.capacity.resolve();
    queue.capacity = undefined;
  }

  #startBurst(queue: EffectQueue): void {
    for (let started = 0; started < MAX_BURST && queue.nextIndex < queue.effects.length; started++) {
      const effect = queue.effects[queue.nextIndex] as Effect;
      if (effect.kind === "sendTaskRequest" && !this.#admitRequest(queue, effect.request)) {
        this.#block(queue);
        return;
      }
      queue.nextIndex++;
      this.options.start(queue.key, effect);
    }
  }

  /** Releases started effects, whose messages use memory. */
  #compact(queue: EffectQueue): void {
    if (queue.nextIndex === queue.effects.length) {
      queue.effects = [];
      queue.nextIndex = 0;
      this.#dropIdle(queue);
    } else if (queue.nextIndex >= MAX_QUEUED && queue.nextIndex * 2 > queue.effects.length) {
      queue.effects = queue.effects.slice(queue.nextIndex);
      queue.nextIndex = 0;
    }
  }

  #block(queue: EffectQueue): void {
    this.#blocked.add(queue);
    this.#timer ??= setInterval(() => this.#recheckBlocked(), RECHECK_MS).unref();
  }

  /** Continues at the pace of starts, and expires requests whose answers may never come. */
  #recheckBlocked(): void {
    if (this.#blocked.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    for (const queue of this.#blocked) this.#ready.add(queue);
    this.#blocked.clear();
    void this.#run();
  }
}
