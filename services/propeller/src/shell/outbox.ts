import { setImmediate as othersTurn } from "node:timers/promises";
import { DesiredState, type TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { Effect } from "../engine/types.js";
import { LeastDelays } from "./least-delays.js";
import { RequestWindow } from "./request-window.js";

export interface OutboxOptions {
  /** Throws what cannot be put into a message. */
  readonly start: (key: string, effect: Effect) => void;
  /** An effect could not be started; what else waited of the workflow is dropped. */
  readonly failed: (key: string, error: unknown) => void;
  /** Whether this process may act for a workflow at this moment. */
  readonly holds: (key: string) => boolean;
  /** Tells whether other workflows are active beside this one. */
  readonly isShared: (key: string) => boolean;
  readonly now: () => number;
}

/** Effects of one workflow on their way out. */
interface Lane {
  readonly key: string;
  /** Effects that wait for their turn, from `next` on. */
  waiting: Effect[];
  next: number;
  /** Requests that no plugin service has answered. */
  readonly window: RequestWindow;
  onRoom: PromiseWithResolvers<void> | undefined;
  /** Nobody hears answers any more: nothing waits for them. */
  forgotten: boolean;
}

/** More effects at a time take turns with those of other workflows. */
const AT_ONCE = 64;
/** Effects of one workflow before the next one has its turn. */
const BURST = 16;
/** Time after which the event loop has its turn, ms. */
const SLICE_MS = 2;
/** Effects of a workflow that wait here before its graph begins no further nodes. */
const MOST_WAITING = 1_000;
const LOOK_EVERY_MS = 500;

/**
 * Starts effects, those of each workflow in their order. A workflow with many shares the time with others, and asks no more of plugin
 * services than they answer.
 */
export class Outbox {
  readonly #lanes = new Map<string, Lane>();
  /** Lanes with effects that may start, in the order of their turns. */
  readonly #ready = new Set<Lane>();
  /** Lanes whose next effect waits for answers. */
  readonly #blocked = new Set<Lane>();
  readonly #delays = new LeastDelays();
  #running = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: OutboxOptions) {}

  /** Effects that wait, of all workflows. */
  get size(): number {
    let size = 0;
    for (const lane of [...this.#ready, ...this.#blocked]) size += lane.waiting.length - lane.next;
    return size;
  }

  /** Starts the effects now, or when it is their turn. */
  perform(key: string, effects: readonly Effect[]): void {
    let lane = this.#lanes.get(key);
    let begun = 0;
    if (effects.length <= AT_ONCE && (lane === undefined || lane.waiting.length === 0)) {
      const until = performance.now() + SLICE_MS;
      for (; begun < effects.length && performance.now() < until; begun++) {
        const effect = effects[begun] as Effect;
        // The run is lost with its shard; who takes it over finds out again what is to be done.
        if (!this.options.holds(key)) return;
        if (effect.kind === "sendTask") {
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

  /** A plugin service has told something of the attempt. */
  answered(key: string, generatedName: string): void {
    const lane = this.#lanes.get(key);
    if (lane === undefined) return;
    lane.window.answered(generatedName, this.options.now());
    if (this.#blocked.delete(lane)) {
      this.#ready.add(lane);
      void this.#run();
    } else this.#dropIdle(lane);
  }

  /** Whether the workflow's graph may begin more nodes. */
  hasRoom(key: string): boolean {
    const lane = this.#lanes.get(key);
    return lane === undefined || lane.waiting.length - lane.next < MOST_WAITING;
  }

  /** Resolves when there is room for more of the workflow. */
  room(key: string): Promise<void> {
    const lane = this.#lanes.get(key);
    if (lane === undefined || this.hasRoom(key)) return Promise.resolve();
    lane.onRoom ??= Promise.withResolvers<void>();
    return lane.onRoom.promise;
  }

  /** Nobody waits for answers to the workflow's requests any more; what waits is started all the same. */
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

  /** Counts a request that plugin services answer; false when too many wait for their answers. */
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

  /** The lane's turn. */
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
      if (effect.kind === "sendTask" && !this.#mayAsk(lane, effect.request)) {
        this.#block(lane);
        return;
      }
      lane.next++;
      this.options.start(lane.key, effect);
    }
  }

  /** Lets go of effects that were started: their messages take memory. */
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

  /** Answers may be missing for good. */
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
