import { BoundedMap } from "@flyte-ts/async";
import type { BusMessage } from "./plugin-bus.js";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { TaskStatus } from "./status.js";

/** A request to handle. */
export interface Delivery {
  readonly request: TaskRequest;
  /** Its message; undefined once it is acknowledged and only this process holds the request. */
  readonly message: BusMessage | undefined;
  /** Number of earlier tries. */
  readonly tries: number;
}

/** The newest published event of an attempt. */
export interface Told {
  readonly phase: TaskStatus["phase"];
  readonly phaseVersion: number;
  readonly fingerprint: string;
  readonly subject: string;
  /** The encoded event, for exact repetition. */
  readonly data: Uint8Array;
}

/** State of one attempt in this process. */
export interface AttemptMemory {
  readonly key: string;
  /** Highest desiredOrder of the requests seen; 0 before any. */
  desired: number;
  told: Told | undefined;
  /** The first event with phase RUNNING: propeller may have missed it. */
  ran: Told | undefined;
  /** True while a request is handled. */
  busy: boolean;
  /** The newest request that arrived meanwhile. */
  waiting: Delivery | undefined;
  /** Cancels the next try of a postponed request. */
  callOffRetry: (() => void) | undefined;
}

export interface MemoryOptions {
  /** Maximum of remembered ended attempts; beyond it the oldest are dropped. */
  readonly endedLimit: number;
  /** Maximum size of an ended attempt's last event to keep for a repeat, bytes. */
  readonly keepEventBytes: number;
}

/**
 * Remembers all live attempts and a bounded number of ended ones. Dropping an ended one is safe for plugins that can
 * report its end again.
 */
export class AttemptMemories {
  readonly #live = new Map<string, AttemptMemory>();
  // In order of their end.
  readonly #ended: BoundedMap<string, AttemptMemory>;

  constructor(private readonly options: MemoryOptions) {
    this.#ended = new BoundedMap(options.endedLimit);
  }

  get liveCount(): number {
    return this.#live.size;
  }

  find(key: string): AttemptMemory | undefined {
    return this.#live.get(key) ?? this.#ended.get(key);
  }

  findOrAdd(key: string): AttemptMemory {
    const known = this.find(key);
    if (known !== undefined) return known;
    const added: AttemptMemory = {
      key,
      desired: 0,
      told: undefined,
      ran: undefined,
      busy: false,
      waiting: undefined,
      callOffRetry: undefined,
    };
    this.#live.set(key, added);
    return added;
  }

  get live(): Iterable<AttemptMemory> {
    return this.#live.values();
  }

  /** Marks an attempt as ended, which may be dropped. */
  end(memory: AttemptMemory): void {
    if ((memory.told?.data.length ?? 0) > this.options.keepEventBytes) memory.told = undefined;
    if ((memory.ran?.data.length ?? 0) > this.options.keepEventBytes) memory.ran = undefined;
    this.#live.delete(memory.key);
    this.#ended.set(memory.key, memory);
  }
}
