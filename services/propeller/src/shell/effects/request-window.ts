import { TokenBucket } from "@flyte-ts/async";
import type { MinimumDelays } from "./minimum-delays.js";

/** A request to a plugin service, as counted by the window. */
interface CountedRequest {
  readonly generatedName: string;
  readonly taskType: string;
  /** True for a request to run an attempt, false for one to abort it. */
  readonly runs: boolean;
}

interface SentRequest {
  readonly taskType: string;
  readonly sentAt: number;
}

/** Initial size of the window: a short fan-out need not wait. */
const INITIAL_SIZE = 128;
/** Minimum size of the window, which applies while other workflows are active. */
const MIN_SIZE = 4;
/**
 * Maximum size, for the only active workflow: keeps a plugin service busy that answers 20,000 a
 * second within 50 ms.
 */
const MAX_SIZE = 1_000;
/**
 * Queueing delay that the window may cause: the larger of a time (ms) and a share of the minimum
 * delay. A request of another workflow waits for about as long.
 */
const TARGET_QUEUEING_DELAY = { ms: 1, part: 0.5 };
/**
 * Pace at which attempts start beside other workflows. An attempt takes about 1.5 ms of processor
 * time of all services together, so one workflow occupies about 0.6 cores. A short fan-out need not
 * wait.
 */
const START_PACE = { burst: 256, intervalMs: 2.5 };
/**
 * Age from which a request counts as answered, ms; a plugin service that answers nothing for so
 * long does not block.
 */
const UNANSWERED_TIMEOUT_MS = 5_000;

/**
 * Bounds one workflow's unanswered requests to plugin services, and beside other workflows also the
 * attempts that it starts in a second. Further requests wait in propeller:
 * on the bus they would be ahead of other workflows' requests. While other workflows are active the
 * bound follows the queueing delay, as in delay-based congestion control (LEDBAT, RFC 6817):
 * responses slower than the task type's minimum delay indicate a queue. As in CoDel (RFC 8289) the
 * minimum over a whole window of responses decides, so that varying response times are not mistaken
 * for load.
 */
export class RequestWindow {
  /** Generated names of the attempts, oldest request first. */
  readonly #unanswered = new Map<string, SentRequest>();
  #size = INITIAL_SIZE;
  /**
   * Responses since the last change of size, and whether one of them had a queueing delay within
   * the target.
   */
  #answers = 0;
  #onTime = false;
  #lastAnswerAt: number;

  constructor(
    private readonly delays: MinimumDelays,
    now: number,
    private readonly startPace: Pick<TokenBucket, "take"> = new TokenBucket(START_PACE),
  ) {
    this.#lastAnswerAt = now;
  }

  get isEmpty(): boolean {
    return this.#unanswered.size === 0;
  }

  /**
   * Counts a request; true when it may be sent now. `shared` is true while other workflows are
   * active.
   */
  admit({ generatedName, taskType, runs }: CountedRequest, { now, shared }: { readonly now: number; readonly shared: boolean }): boolean {
    const unanswered = this.#unanswered;
    const isNew = !unanswered.has(generatedName);
    if (unanswered.size >= (shared ? this.#size : MAX_SIZE) && isNew) {
      const [oldest] = unanswered;
      if (oldest !== undefined && now - oldest[1].sentAt < UNANSWERED_TIMEOUT_MS && now - this.#lastAnswerAt < UNANSWERED_TIMEOUT_MS)
        return false;
      if (oldest !== undefined) unanswered.delete(oldest[0]);
    }
    if (shared && runs && isNew && !this.startPace.take(now)) return false;
    unanswered.delete(generatedName);
    unanswered.set(generatedName, { taskType, sentAt: now });
    return true;
  }

  /** Notes that a plugin service has published an event of the attempt. */
  onAnswer(generatedName: string, now: number): void {
    this.#lastAnswerAt = now;
    const request = this.#unanswered.get(generatedName);
    if (request === undefined) return;
    this.#unanswered.delete(generatedName);
    const delay = now - request.sentAt;
    const minimum = this.delays.record(request.taskType, delay, now);
    if (delay <= minimum + Math.max(TARGET_QUEUEING_DELAY.ms, TARGET_QUEUEING_DELAY.part * minimum)) this.#onTime = true;
    if (++this.#answers < this.#size) return;
    this.#size = this.#onTime ? Math.min(MAX_SIZE, this.#size << 1) : Math.max(MIN_SIZE, this.#size >> 1);
    this.#answers = 0;
    this.#onTime = false;
  }

  clear(): void {
    this.#unanswered.clear();
  }
}
