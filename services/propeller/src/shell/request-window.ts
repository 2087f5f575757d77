import type { LeastDelays } from "./least-delays.js";

/** A request to a plugin service, as the window counts it. */
interface CountedRequest {
  readonly generatedName: string;
  readonly taskType: string;
}

interface Unanswered {
  readonly taskType: string;
  readonly sentAt: number;
}

/** Size of the window at first: a fan-out that is over soon need not wait. */
const FIRST = 128;
/** Least size of the window, which bounds requests while other workflows are active. */
const LEAST = 4;
/** Bound of the window of a workflow that is active alone: keeps a plugin service busy that answers 20,000 a second within 50 ms. */
const MOST = 1_000;
/** Queueing delay that the window may cause, the larger of a time (ms) and a part of the least delay: a hop of another workflow waits for about as long. */
const TARGET = { ms: 1, part: 0.5 };
/** Age from which a request counts as answered, ms; a plugin service that has answered nothing for so long is not waited for. */
const SILENT_MS = 5_000;

/**
 * Bounds the requests of one workflow that plugin services have not answered. What else the workflow asks of them waits in propeller: on
 * the bus it would stand before the requests of others.
 *
 * Beside others the bound follows the queueing delay, as in delay-based congestion control (LEDBAT, RFC 6817): answers that come later than
 * the task type's least delay show a queue. As in CoDel (RFC 8289) the least of a whole window of answers decides, so that a plugin service
 * whose answers merely vary is not taken for one that is busy.
 */
export class RequestWindow {
  /** Generated names of the attempts, the oldest request first. */
  readonly #unanswered = new Map<string, Unanswered>();
  #size = FIRST;
  /** Answers since the size was last decided, and whether one of them came without a queueing delay above the target. */
  #answers = 0;
  #onTime = false;
  #heardAt: number;

  constructor(
    private readonly delays: LeastDelays,
    now: number,
  ) {
    this.#heardAt = now;
  }

  get isEmpty(): boolean {
    return this.#unanswered.size === 0;
  }

  /** Counts a request and tells whether it may be sent now. `shared` tells whether other workflows are active. */
  admit({ generatedName, taskType }: CountedRequest, { now, shared }: { readonly now: number; readonly shared: boolean }): boolean {
    const unanswered = this.#unanswered;
    if (unanswered.size >= (shared ? this.#size : MOST) && !unanswered.has(generatedName)) {
      const [oldest] = unanswered;
      if (oldest !== undefined && now - oldest[1].sentAt < SILENT_MS && now - this.#heardAt < SILENT_MS) return false;
      if (oldest !== undefined) unanswered.delete(oldest[0]);
    }
    unanswered.delete(generatedName);
    unanswered.set(generatedName, { taskType, sentAt: now });
    return true;
  }

  /** Notes that a plugin service has published an event of the attempt. */
  answered(generatedName: string, now: number): void {
    this.#heardAt = now;
    const request = this.#unanswered.get(generatedName);
    if (request === undefined) return;
    this.#unanswered.delete(generatedName);
    const delay = now - request.sentAt;
    const least = this.delays.least(request.taskType, delay, now);
    if (delay <= least + Math.max(TARGET.ms, TARGET.part * least)) this.#onTime = true;
    if (++this.#answers < this.#size) return;
    this.#size = this.#onTime ? Math.min(MOST, this.#size << 1) : Math.max(LEAST, this.#size >> 1);
    this.#answers = 0;
    this.#onTime = false;
  }

  clear(): void {
    this.#unanswered.clear();
  }
}
