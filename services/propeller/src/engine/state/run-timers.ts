import type { RuntimeNode } from "../graph/runtime.js";
import { TimerHeap } from "../time/timer-heap.js";

/** Subject of a timer: a node, a blob or the workflow itself. */
export type TimerSubject = RuntimeNode | BlobTimer | WorkflowTimer;
export interface BlobTimer {
  readonly blob: string;
}
interface WorkflowTimer {
  readonly workflow: true;
}

/** Timers of one run. */
export class RunTimers {
  readonly #heap = new TimerHeap<TimerSubject>();
  readonly #workflow: WorkflowTimer = { workflow: true };
  /** The single timer subject of each blob. */
  readonly #blobs = new Map<string, BlobTimer>();
  /** Nodes whose timers must be rescheduled at the end of the observation. */
  readonly #stale = new Set<RuntimeNode>();

  /** Earliest time at which a timer may be due, ms. */
  get next(): number | undefined {
    return this.#heap.next;
  }

  scheduleNode(node: RuntimeNode, at: number): void {
    this.#heap.schedule(node, at);
  }

  /** Schedules the retry of the blob's read or write. */
  scheduleBlob(uri: string, at: number): void {
    let timer = this.#blobs.get(uri);
    if (timer === undefined) {
      timer = { blob: uri };
      this.#blobs.set(uri, timer);
    }
    this.#heap.schedule(timer, at);
  }

  scheduleWorkflow(at: number): void {
    this.#heap.schedule(this.#workflow, at);
  }

  cancel(node: RuntimeNode): void {
    this.#heap.cancel(node);
  }

  /** Marks a node whose timers must be rescheduled at the end of the observation. */
  markStale(node: RuntimeNode): void {
    this.#stale.add(node);
  }

  /** Returns the nodes whose timers must be rescheduled, and clears them. */
  drainStale(): readonly RuntimeNode[] {
    if (this.#stale.size === 0) return [];
    const nodes = [...this.#stale];
    this.#stale.clear();
    return nodes;
  }

  /** Removes and returns the subjects due at `now`, each once. */
  popDue(now: number): TimerSubject[] {
    return this.#heap.popDue(now);
  }
}
