/**
 * Messages in flight plus deferred, over all workflows, beyond which large graphs start no further
 * nodes. Each holds several KiB until the bus has stored its message. More in flight take longer
 * each and cost more garbage collection; admin also writes a node once instead of twice when its
 * start and running come close together. With half the limit, a fan-out of 100,000 waits for the
 * bus.
 */
const MAX_MESSAGES = 1_000;
/**
 * Unanswered calls and reads of one workflow beyond which its graph starts no further nodes. They
 * are not part of the common limit: others need only the bus, while admin or the blob store hangs.
 */
const MAX_CALLS = 1_000;

type Signal = PromiseWithResolvers<void>;

/** Counts the effects that have not ended, and tells when workflows may start further nodes. */
export class EffectsInFlight {
  #messages = 0;
  readonly #deferredByKey = new Map<string, number>();
  #deferred = 0;
  readonly #callsByKey = new Map<string, number>();
  #calls = 0;
  #capacity: Signal | undefined;
  readonly #capacityByKey = new Map<string, Signal>();

  /** @param onEnded called at the end of each effect */
  constructor(private readonly onEnded: () => void) {}

  get isEmpty(): boolean {
    return this.#messages + this.#calls === 0;
  }

  hasCapacity(key: string): boolean {
    return this.#hasRoomForMessages && this.#hasRoomForCalls(key);
  }

  /** Resolves when there may be capacity for more of the workflow. */
  whenCapacity(key: string): Promise<void> {
    if (!this.#hasRoomForCalls(key)) {
      const signal = this.#capacityByKey.get(key) ?? Promise.withResolvers<void>();
      this.#capacityByKey.set(key, signal);
      return signal.promise;
    }
    if (this.#hasRoomForMessages) return Promise.resolve();
    this.#capacity ??= Promise.withResolvers<void>();
    return this.#capacity.promise;
  }

  /** Sets how many of the workflow's effects wait for its status write; they all start after it. */
  setDeferred(key: string, deferred: number): void {
    this.#deferred += deferred - (this.#deferredByKey.get(key) ?? 0);
    if (deferred === 0) this.#deferredByKey.delete(key);
    else this.#deferredByKey.set(key, deferred);
    this.#signalMessages();
  }

  /** Counts a message, or what holds as much memory; returns the callback for its end. */
  startMessage(): () => void {
    this.#messages++;
    return this.#onMessageEnded;
  }

  /** Counts a call or a read of the workflow; returns the callback for its end. */
  startCall(key: string): () => void {
    this.#calls++;
    this.#callsByKey.set(key, (this.#callsByKey.get(key) ?? 0) + 1);
    return () => this.#onCallEnded(key);
  }

  /** Shared callback, so that a message costs no closure. */
  readonly #onMessageEnded = (): void => {
    this.#messages--;
    this.#signalMessages();
    this.onEnded();
  };

  #onCallEnded(key: string): void {
    this.#calls--;
    const left = (this.#callsByKey.get(key) ?? 1) - 1;
    if (left === 0) this.#callsByKey.delete(key);
    else this.#callsByKey.set(key, left);
    if (this.#hasRoomForCalls(key)) {
      this.#capacityByKey.get(key)?.resolve();
      this.#capacityByKey.delete(key);
    }
    this.onEnded();
  }

  get #hasRoomForMessages(): boolean {
    return this.#messages + this.#deferred < MAX_MESSAGES;
  }

  #hasRoomForCalls(key: string): boolean {
    return (this.#callsByKey.get(key) ?? 0) < MAX_CALLS;
  }

  #signalMessages(): void {
    if (this.#capacity === undefined || !this.#hasRoomForMessages) return;
    this.#capacity.resolve();
    this.#capacity = undefined;
  }
}
