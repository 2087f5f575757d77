import type { PendingCall } from "./pending-call.js";

/** Pending calls of one run by id, and the nodes that wait for wake-ups. */
export class CallTable<Node extends object> {
  readonly #calls = new Map<string, { readonly node: Node; readonly pending: PendingCall }>();
  readonly #listeners = new Map<string, Set<Node>>();
  #count = 0;

  /** `startedAt` (ms) distinguishes this run's calls from those of an earlier run. */
  constructor(private readonly startedAt: number) {}

  /** Unique id, so that results of an earlier run's calls are distinguished from this run's. */
  nextId(): string {
    return `${this.startedAt.toString(36)}-${this.#count++}`;
  }

  /** Registers a try of the call under the next id. */
  add(node: Node, pending: PendingCall): void {
    pending.callId = this.nextId();
    this.#calls.set(pending.callId, { node, pending });
  }

  /** Removes the call with this id; a result that arrives later is ignored. */
  remove(id: string): void {
    this.#calls.delete(id);
  }

  /** Removes and returns the call whose result arrived. */
  take(id: string): { readonly node: Node; readonly pending: PendingCall } | undefined {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    return call;
  }

  /** Nodes that wait for a wake-up. */
  listeners(key: string): Iterable<Node> {
    return this.#listeners.get(key) ?? [];
  }

  subscribe(node: Node, key: string): void {
    const listeners = this.#listeners.get(key);
    if (listeners === undefined) this.#listeners.set(key, new Set([node]));
    else listeners.add(node);
  }

  unsubscribe(node: Node, key: string): void {
    const listeners = this.#listeners.get(key);
    listeners?.delete(node);
    if (listeners?.size === 0) this.#listeners.delete(key);
  }
}
