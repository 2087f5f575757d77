import { setImmediate as othersTurn } from "node:timers/promises";
import { DesiredState, type TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { Effect } from "../engine/types.js";
import { LeastDelays } from "./least-delays.js";
import { RequestWindow } from "./request-window.js";

export interface OutboxOptions {
  /** Throws when the effect cannot be encoded. */
  readonly start: (key: string, effect: Effect) => void;
  /** Called when an effect could not be started; the workflow's other queued effects are dropped. */
  readonly failed: (key: string, error: unknown) => void;
  /** True while this process may act for a workflow (fencing). */
  readonly holds: (key: string) => boolean;
  /** True when other workflows are active besides this one. */
  readonly isShared: (key: string) => boolean;
  readonly now: () => number;
}

/** Queue of one workflow's effects. */
interface Lane {
  readonly key: string;
  /** Queued effects, from index `next` on. */
  waiting: Effect[];
  next: number;
  /** Requests that no plugin service has answered. */
  readonly window: RequestWindow;
  onRoom: PromiseWithResolvers<void> | undefined;
  /** The run was released: no window limits the requests. */
  forgotten: boolean;
}

/** Number of effects above which a workflow is interleaved with others. */
const AT_ONCE = 64;
/** Effects of one workflow before the next workflow continues. */
const BURST = 16;
/** Time after which the outbox yields to the event loop, ms. */
const SLICE_MS = 2;
/** Queue length of a workflow at which its graph starts no further nodes. */
const MOST_WAITING = 1_000;
const LOOK_EVERY_MS = 500;

/**
 * Starts effects, in order per workflow. A workflow with many effects is interleaved with others and sends plugin
 * services no more requests than they answer.
 */
export class Outbox {
  readonly #lanes = new Map<string, Lane>();
  /** Queues whose next effect may start, in round-robin order. */
  readonly #ready = new Set<Lane>();
  /** Queues whose next effect waits for answers. */
  readonly #blocked = new Set<Lane>();
  readonly #delays = new LeastDelays();
  #running = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: OutboxOptions) {}

  /** Number of queued effects of all workflows. */
  get size(): number {
    let size = 0;
    for (const lane of [...this.#ready, ...this.#blocked]) size += lane.waiting.length - lane.next;
    return size;
  }

  /** Starts the effects now or enqueues them. */
  perform(key: string, effects: readonly Effect[]): void {
    let lane = this.#lanes.get(key);
    let begun = 0;
    if (effects.length <= AT_ONCE && (lane === undefined || lane.waiting.length === 0)) {
      const until = performance.now() + SLICE_MS;
      for (; begun < effects.length && performance.now() < until; begun++) {
        const effect = effects[begun] as Effect;
        // The run is lost with its shard; the new holder derives the effects again.
        if (!this.options.holds(key)) return;
        if (effect.kind === "sendTaskRequest") {
          lane ??= this.#laneOf(key);
          if (!this.#mayAsk(lane, effect.request)) break;
        }
        this.options.start(key, effect);
      }
    }
    if (begun === effects.length) return;
    lane ??= this.#laneOf(key);
    for (; begun < effects.length; begun++) lane.waiting.push(effects[begun] as Effect);
    if (this.#blocked.has(lane)) return;
    this.#ready.add(lane);
    void this.#run();
  }

  /** Notes that a plugin service has reported on the attempt. */
  answered(key: string, generatedName: string): void {
    const lane = this.#lanes.get(key);
    if (lane === undefined) return;
    lane.window.answered(generatedName, this.options.now());
    if (this.#blocked.delete(lane)) {
      this.#ready.add(lane);
      void this.#run();
    } else this.#dropIdle(lane);
  }

  /** True when the workflow's graph may start more nodes. */
  hasRoom(key: string): boolean {
    const lane = this.#lanes.get(key);
    return lane === undefined || lane.waiting.length - lane.next < MOST_WAITING;
  }

  /** Resolves when there is capacity for more of the workflow. */
  room(key: string): Promise<void> {
    const lane = this.#lanes.get(key);
    if (lane === undefined || this.hasRoom(key)) return Promise.resolve();
    lane.onRoom ??= Promise.withResolvers<void>();
    return lane.onRoom.promise;
  }

  /** Lifts the request limit of a released workflow; its queued effects still start. */
  forget(key: string): void {
    const lane = this.#lanes.get(key);
    if (lane === undefined) return;
    lane.forgotten = true;
    lane.window.clear();
    if (this.#blocked.delete(lane)) this.#ready.add(lane);
    void this.#run();
    this.#dropIdle(lane);
  }

  #laneOf(key: string): Lane {
    const lane: Lane = {
      key,
      waiting: [],
      next: 0,
      window: new RequestWindow(this.#delays, this.options.now()),
      onRoom: undefined,
      forgotten: false,
    };
    this.#lanes.set(key, lane);
    return lane;
  }

  #dropIdle(lane: Lane): void {
    if (lane.waiting.length === 0 && lane.window.isEmpty) this.#lanes.delete(lane.key);
  }

  /** Counts a request that plugin services answer; false when too many are unanswered. */
  #mayAsk({ key, window, forgotten }: Lane, { desired, generatedName, template }: TaskRequest): boolean {
    if (forgotten || (desired !== DesiredState.RUN && desired !== DesiredState.ABORT)) return true;
    const { now, isShared } = this.options;
    return window.admit({ generatedName, taskType: template?.type ?? "" }, { now: now(), shared: isShared(key) });
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    for (let until = performance.now() + SLICE_MS; this.#ready.size > 0; ) {
      const [lane] = this.#ready;
      if (lane !== undefined) this.#startSome(lane);
      if (performance.now() < until) continue;
      await othersTurn();
      until = performance.now() + SLICE_MS;
    }
    this.#running = false;
  }

  /** Starts a burst of the queue's effects. */
  #startSome(lane: Lane): void {
    this.#ready.delete(lane);
    if (!this.options.holds(lane.key)) lane.next = lane.waiting.length;
    try {
      this.#startBurst(lane);
    } catch (error) {
      lane.next = lane.waiting.length;
      this.options.failed(lane.key, error);
    }
    this.#compact(lane);
    if (lane.waiting.length > 0 && !this.#blocked.has(lane)) this.#ready.add(lane);
    if (lane.onRoom === undefined || !this.hasRoom(lane.key)) return;
    lane.onRoom.resolve();
    lane.onRoom = undefined;
  }

  #startBurst(lane: Lane): void {
    for (let started = 0; started < BURST && lane.next < lane.waiting.length; started++) {
      const effect = lane.waiting[lane.next] as Effect;
      if (effect.kind === "sendTaskRequest" && !this.#mayAsk(lane, effect.request)) {
        this.#block(lane);
        return;
      }
      lane.next++;
      this.options.start(lane.key, effect);
    }
  }

  /** Releases started effects, whose messages use memory. */
  #compact(lane: Lane): void {
    if (lane.next === lane.waiting.length) {
      lane.waiting = [];
      lane.next = 0;
      this.#dropIdle(lane);
    } else if (lane.next >= MOST_WAITING && lane.next * 2 > lane.waiting.length) {
      lane.waiting = lane.waiting.slice(lane.next);
      lane.next = 0;
    }
  }

  #block(lane: Lane): void {
    this.#blocked.add(lane);
    this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  }

  /** Expires requests whose answers may never come. */
  #look(): void {
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
