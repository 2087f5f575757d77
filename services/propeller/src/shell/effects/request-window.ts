import { TokenBucket } from "@flyte-ts/async";
import type { MinimumDelays } from "./minimum-delays.js";
import { UnansweredRequests } from "./unanswered-requests.js";

/** A request to a plugin service, as counted by the window. */
interface CountedRequest {
  readonly generatedName: string;
  readonly taskType: string;
  /** True for a request to run an attempt, false for one to abort it. */
  readonly runs: boolean;
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
 * Bounds one workflow's unanswered requests to plugin services, and beside other workflows also the
 * attempts that it starts in a second. Further requests wait in propeller:
 * on the bus they would be ahead of other workflows' requests. While other workflows are active the
 * bound follows the queueing delay, as in delay-based congestion control (LEDBAT, RFC 6817):
 * responses slower than the task type's minimum delay indicate a queue. As in CoDel (RFC 8289) the
 * minimum over a whole window of responses decides, so that varying response times are not mistaken
 * for load.
 */
export class RequestWindow {
  readonly #unanswered = new UnansweredRequests();
  #size = INITIAL_SIZE;
  /**
   * Responses since the last change of size, and whether one of them had a queueing delay within
   * the target.
   */
  #answers = 0;
  #onTime = false;

  constructor(
    private readonly delays: MinimumDelays,
    private readonly startPace: Pick<TokenBucket, "take"> = new TokenBucket(START_PACE),
  ) {}

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
    if (isNew && !this.#hasRoom(taskType, { now, shared })) return false;
    if (shared && runs && isNew && !this.startPace.take(now)) return false;
    unanswered.add(generatedName, { taskType, sentAt: now });
    return true;
  }

  #hasRoom(taskType: string, { now, shared }: { readonly now: number; readonly shared: boolean }): boolean {
    const unanswered = this.#unanswered;
    const limit = shared ? this.#size : MAX_SIZE;
    if (unanswered.size >= limit) unanswered.expire(now);
    return unanswered.size < limit || unanswered.isSilent(taskType);
  }

  /** Notes that a plugin service has published an event of the attempt. */
  onAnswer(generatedName: string, now: number): void {
    const request = this.#unanswered.answered(generatedName, now);
    if (request === undefined) return;
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
