import type { Endpoint } from "../endpoint/endpoint.js";
import type { LiveAttempt } from "./live-attempt.js";

/**
 * Attempts that cannot start: those without a route or an answer, and those without room at their
 * endpoint.
 */
export class WaitingAttempts {
  readonly #withoutRoute = new Set<LiveAttempt>();
  readonly #withoutRoom = new Map<Endpoint, Set<LiveAttempt>>();

  add(attempt: LiveAttempt, waitsFor: "route" | Endpoint): void {
    if (waitsFor === "route") {
      this.#withoutRoute.add(attempt);
      return;
    }
    const waiting = this.#withoutRoom.get(waitsFor) ?? new Set();
    this.#withoutRoom.set(waitsFor, waiting.add(attempt));
  }

  delete(attempt: LiveAttempt): void {
    this.#withoutRoute.delete(attempt);
    for (const waiting of this.#withoutRoom.values()) waiting.delete(attempt);
  }

  /** Number of attempts that wait for room at the endpoint. */
  countAt(endpoint: Endpoint): number {
    return this.#withoutRoom.get(endpoint)?.size ?? 0;
  }

  /** Attempts of these task types that wait for a route or an answer. */
  ofTypes(taskTypes: ReadonlySet<string>): readonly LiveAttempt[] {
    return taskTypes.size === 0 ? [] : [...this.#withoutRoute].filter(({ taskType }) => taskTypes.has(taskType));
  }

  /** Attempts that have a slot of the endpoint and wait for its answer. */
  forAnswerOf(endpoint: Endpoint): readonly LiveAttempt[] {
    return [...this.#withoutRoute].filter(({ slot }) => slot === endpoint);
  }

  /** The longest waiting attempt for which the endpoint has room. */
  nextAt(endpoint: Endpoint): LiveAttempt | undefined {
    for (const attempt of this.#withoutRoom.get(endpoint) ?? []) {
      if (endpoint.slots.fullReason(attempt.project) === undefined) return attempt;
    }
    return undefined;
  }
}
