import { applyChunk, ConnectionTexts, type TableChange } from "../table/apply-chunk.js";
import { NodeTable } from "../table/node-table.js";
import type { NodeCounts, NodeTableChunk } from "../wire/read-chunk.js";
import type { ExecutionState } from "../wire/read-execution.js";

/** Reads the messages of a node table's stream into a table, over any number of connections. */
export class TableReader {
  /** Table that is read; another one after a `reset`. */
  table = new NodeTable();
  /** Position after the last message. */
  cursor = "";
  counts: NodeCounts | undefined;
  execution: ExecutionState | undefined;
  isComplete = false;
  /** The stream has ended. */
  hasEnded = false;
  /** Time of the last event of a node that has been read, milliseconds since the creation. */
  #lastEventMs = 0;
  #texts = new ConnectionTexts(this.table);

  /** Time stands still: the execution has ended. */
  get isOver(): boolean {
    return this.hasEnded || this.execution?.hasEnded === true;
  }

  /**
   * Time of the last event, milliseconds since the creation. Of an execution that has ended it is
   * known before all nodes are read.
   */
  get lastMs(): number {
    const { execution } = this;
    if (this.isComplete || execution?.hasEnded !== true || execution.startedAtMs === 0) return this.#lastEventMs;
    return Math.max(this.#lastEventMs, execution.startedAtMs + execution.durationMs - execution.createdAtMs);
  }

  /** Forgets everything, to read another execution. */
  restart(): void {
    [this.cursor, this.counts, this.execution, this.hasEnded] = ["", undefined, undefined, false];
    this.#empty();
  }

  /** Texts of a connection count from its first message. */
  beginConnection(): void {
    this.#texts = new ConnectionTexts(this.table);
  }

  apply(chunk: NodeTableChunk): TableChange {
    if (chunk.reset && this.table.length > 0) this.#empty();
    const change = applyChunk(this.table, this.#texts, chunk);
    for (const times of [chunk.nodes?.queued, chunk.nodes?.started, chunk.nodes?.ended]) this.#note(times ?? new Float64Array());
    if (chunk.cursor !== "") this.cursor = chunk.cursor;
    this.isComplete ||= chunk.complete;
    this.hasEnded ||= chunk.ended;
    this.counts = chunk.counts ?? this.counts;
    this.execution = chunk.execution ?? this.execution;
    return change;
  }

  /**
   * Converts the server's time, milliseconds of the epoch, to milliseconds since the creation of
   * the execution. Time stands still at the last event when the execution has ended, or its
   * creation is not known.
   */
  nowMs(serverTimeMs: number): number {
    const createdAtMs = this.execution?.createdAtMs ?? 0;
    return this.isOver || createdAtMs === 0 ? this.lastMs : Math.max(serverTimeMs - createdAtMs, this.lastMs);
  }

  #empty(): void {
    [this.table, this.isComplete, this.#lastEventMs] = [new NodeTable(), false, 0];
    this.#texts = new ConnectionTexts(this.table);
  }

  #note(times: Float64Array): void {
    for (const time of times) if (time > this.#lastEventMs && time < Number.POSITIVE_INFINITY) this.#lastEventMs = time;
  }
}
