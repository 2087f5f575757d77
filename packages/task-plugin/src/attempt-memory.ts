import type { BusMessage } from "./plugin-bus.js";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { TaskStatus } from "./status.js";

/** A request to carry out. */
export interface Delivery {
  readonly request: TaskRequest;
  /** What brought it; undefined once it is acknowledged and only this process holds the request. */
  readonly message: BusMessage | undefined;
  /** How often it was tried before. */
  readonly tries: number;
}

/** The newest thing that was told about an attempt. */
export interface Told {
  readonly phase: TaskStatus["phase"];
  readonly phaseVersion: number;
  readonly fingerprint: string;
  readonly subject: string;
  /** The event, for repeating it word for word. */
  readonly data: Uint8Array;
}

/** What this process knows of one attempt. */
export interface AttemptMemory {
  readonly key: string;
  /** desiredOrder of the furthest request seen; 0 before any. */
  desired: number;
  told: Told | undefined;
  /** That it ran, as first told: propeller may have missed it. */
  ran: Told | undefined;
  /** A request is being carried out. */
  busy: boolean;
  /** The newest request that came meanwhile. */
  waiting: Delivery | undefined;
  /** Calls off the next try of a postponed request. */
  callOffRetry: (() => void) | undefined;
}

export interface MemoryOptions {
  /** Ended attempts that are remembered; beyond it the longest ended are forgotten. */
  readonly endedLimit: number;
  /** Bytes of an ended attempt's last event worth keeping for a repeat. */
  readonly keepEventBytes: number;
}

/**
 * Memory of attempts: all that are under way, and as many ended ones as fit. Forgetting
 * an ended one is safe for plugins that can tell a repeated request's end again.
 */
export class AttemptMemories {
  readonly #live = new Map<string, AttemptMemory>();
  // In the order in which they ended.
  readonly #ended = new Map<string, AttemptMemory>();

  constructor(private readonly options: MemoryOptions) {}

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

  /** The attempt is over: it becomes one that may be forgotten. */
  end(memory: AttemptMemory): void {
    if ((memory.told?.data.length ?? 0) > this.options.keepEventBytes) memory.told = undefined;
    if ((memory.ran?.data.length ?? 0) > this.options.keepEventBytes) memory.ran = undefined;
    this.#live.delete(memory.key);
    this.#ended.delete(memory.key);
    this.#ended.set(memory.key, memory);
    for (const key of this.#ended.keys()) {
      if (this.#ended.size <= this.options.endedLimit) break;
      this.#ended.delete(key);
    }
  }
}
