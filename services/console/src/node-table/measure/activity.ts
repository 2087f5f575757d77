import { NODE_STATES, NodeState } from "../table/node-state.js";
import type { NodeTable } from "../table/node-table.js";
import { type TimeFolds, UNFOLDED } from "./time-folds.js";

/** Equal parts of a span of folded time. */
export interface Buckets {
  readonly fromMs: number;
  readonly toMs: number;
  readonly count: number;
  readonly folds?: TimeFolds;
}

/** Numbers of nodes at once, the mean over each bucket. */
export interface Activity {
  readonly queued: Float32Array;
  /** Nodes that run and have not ended. */
  readonly running: Float32Array;
  /** Nodes that run and succeed later. */
  readonly succeeding: Float32Array;
  /** Nodes that run and fail or are aborted later. */
  readonly failing: Float32Array;
  /** Number of nodes that fail within the bucket. */
  readonly failures: Float32Array;
}

/** Kinds of running nodes by how they end. */
const OUTCOMES = ["running", "succeeding", "failing"] as const;

/** Index into OUTCOMES of each NodeState. */
const OUTCOME_OF_STATE = Uint8Array.from(
  NODE_STATES.map((state) => {
    if (state === "failed" || state === "aborted") return OUTCOMES.indexOf("failing");
    return state === "running" || state === "waiting" || state === "queued" ? OUTCOMES.indexOf("running") : OUTCOMES.indexOf("succeeding");
  }),
);

/**
 * Counts the nodes that are queued and that run in each bucket.
 *
 * @param rows rows of the table
 * @param nowMs end of what has not ended
 */
export function countActivity(table: NodeTable, rows: Int32Array, nowMs: number, buckets: Buckets): Activity {
  const { fromMs, toMs, count, folds = UNFOLDED } = buckets;
  const isFolded = folds.stretches.length > 0;
  const perMs = count / (toMs - fromMs);
  const bucketOf = (timeMs: number): number => ((isFolded ? folds.fold(timeMs) : timeMs) - fromMs) * perMs;
  const queued = new SpanCounter(count);
  const outcomes = OUTCOMES.map(() => new SpanCounter(count));
  const failures = new Float32Array(count);
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] as number;
    const end = Math.min(table.ended[row] as number, nowMs);
    const started = Math.min(table.started[row] as number, end);
    const [startBucket, endBucket] = [bucketOf(started), bucketOf(end)];
    queued.add(bucketOf(table.queued[row] as number), startBucket);
    const state = table.state[row] as number;
    (outcomes[OUTCOME_OF_STATE[state] as number] as SpanCounter).add(startBucket, endBucket);
    // A failure at the very end belongs to the last bucket.
    const bucket = Math.min(Math.floor(endBucket), count - 1);
    if (state === NodeState.failed && bucket >= 0 && endBucket <= count) failures[bucket] = (failures[bucket] as number) + 1;
  }
  const [running, succeeding, failing] = outcomes.map((each) => each.means()) as [Float32Array, Float32Array, Float32Array];
  return { queued: queued.means(), running, succeeding, failing, failures };
}

/** Counts spans of time by buckets, in the same time for long ones as for short ones. */
class SpanCounter {
  /** Sums of parts of buckets. */
  readonly #parts: Float64Array;
  /** Number of spans that cover a bucket, less those that cover the bucket before. */
  readonly #changes: Float64Array;

  constructor(count: number) {
    this.#parts = new Float64Array(count);
    this.#changes = new Float64Array(count + 1);
  }

  /** Adds a span, in buckets; parts outside do not count. */
  add(from: number, to: number): void {
    const count = this.#parts.length;
    const [start, end] = [Math.max(from, 0), Math.min(to, count)];
    if (!(end > start)) return;
    const [first, last] = [Math.floor(start), Math.min(Math.floor(end), count - 1)];
    if (first === last) {
      this.#parts[first] = (this.#parts[first] as number) + end - start;
      return;
    }
    this.#parts[first] = (this.#parts[first] as number) + first + 1 - start;
    this.#parts[last] = (this.#parts[last] as number) + end - last;
    this.#changes[first + 1] = (this.#changes[first + 1] as number) + 1;
    this.#changes[last] = (this.#changes[last] as number) - 1;
  }

  means(): Float32Array {
    const means = new Float32Array(this.#parts.length);
    let covering = 0;
    for (let bucket = 0; bucket < means.length; bucket++) {
      covering += this.#changes[bucket] as number;
      means[bucket] = (this.#parts[bucket] as number) + covering;
    }
    return means;
  }
}
