import { BinaryHeap } from "@flyte-ts/async/collections";
import type { RuntimeNode, Scope } from "../graph/runtime.js";
import type { ReconcileQueue } from "./resync.js";

/** Queues of nodes and graphs to reconcile, and of nodes that may start. */
export class WorkQueues implements ReconcileQueue {
  /**
   * The observation has reached its limit of starts; further nodes wait for `capacity`, see
   * `maxStartsPerObservation`.
   */
  startsThrottled = false;
  readonly #nodes = new BinaryHeap<RuntimeNode>(byTopologicalOrder);
  readonly #scopes = new BinaryHeap<Scope>(deepestFirst);
  readonly #queuedScopes = new Set<Scope>();
  /** Ready task nodes without a slot, in graph order. */
  readonly #slotWaiters = new BinaryHeap<RuntimeNode>(byTopologicalOrder);
  /** Items of arrays that may start. */
  readonly #itemStarts = new BinaryHeap<RuntimeNode>(byTopologicalOrder);

  enqueueNode(node: RuntimeNode): void {
    if (node.lifecycle.inNodeQueue || node.ended) return;
    node.lifecycle.setInNodeQueue(true);
    this.#nodes.push(node);
  }

  /** Dequeues the next node to reconcile. */
  dequeueNode(): RuntimeNode | undefined {
    const node = this.#nodes.pop();
    if (node !== undefined) node.lifecycle.setInNodeQueue(false);
    return node;
  }

  enqueueScope(scope: Scope): void {
    if (this.#queuedScopes.has(scope)) return;
    this.#queuedScopes.add(scope);
    this.#scopes.push(scope);
  }

  /** Dequeues the next graph to reconcile as a whole. */
  dequeueScope(): Scope | undefined {
    for (let scope = this.#scopes.pop(); scope !== undefined; scope = this.#scopes.pop()) {
      if (this.#queuedScopes.delete(scope)) return scope;
    }
    return undefined;
  }

  /** Removes a discarded graph from the queue. */
  removeScope(scope: Scope): void {
    this.#queuedScopes.delete(scope);
  }

  /** True while nodes or graphs are queued. */
  get hasWork(): boolean {
    return this.#nodes.size + this.#queuedScopes.size > 0;
  }

  /** Puts a ready node in the queue for capacity. */
  enqueueStart(node: RuntimeNode, needsSlot: boolean): void {
    node.lifecycle.setInStartQueue(true);
    (needsSlot ? this.#slotWaiters : this.#itemStarts).push(node);
  }

  /** Dequeues the next node that may start; one that needs a slot only if `hasFreeSlot`. */
  dequeueStart(hasFreeSlot: boolean): RuntimeNode | undefined {
    const node = this.#itemStarts.pop() ?? (hasFreeSlot ? this.#slotWaiters.pop() : undefined);
    if (node !== undefined) node.lifecycle.setInStartQueue(false);
    return node;
  }

  /** Number of task nodes that are ready and wait for a slot. */
  get slotWaiters(): number {
    return this.#slotWaiters.size;
  }

  /** True while nodes wait to start. */
  get hasStarts(): boolean {
    return this.#slotWaiters.size + this.#itemStarts.size > 0;
  }

  /** Lets no further node start in this observation. */
  throttleStarts(): void {
    this.startsThrottled = true;
  }

  /** Continues starts: the shell has capacity for further effects. */
  resumeStarts(): void {
    this.startsThrottled = false;
  }
}

/** Graph order, so that decisions do not depend on the order of discovery. */
function byTopologicalOrder(a: RuntimeNode, b: RuntimeNode): boolean {
  return a.topologicalKey < b.topologicalKey;
}

/**
 * Nested graphs before the one that contains them: a nested graph that fails in the same
 * observation as its parent has failed by itself, and is not shown as aborted.
 */
function deepestFirst(a: Scope, b: Scope): boolean {
  if (a.depth !== b.depth) return a.depth > b.depth;
  return (a.owner?.topologicalKey ?? "") < (b.owner?.topologicalKey ?? "");
}
