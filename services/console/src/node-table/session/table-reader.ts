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
  hasEnded = false;
  /** Time of the last event, milliseconds since the creation. */
  lastMs = 0;
  #texts = new ConnectionTexts(this.table);

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
    return this.hasEnded || createdAtMs === 0 ? this.lastMs : Math.max(serverTimeMs - createdAtMs, this.lastMs);
  }

  #empty(): void {
    [this.table, this.isComplete, this.lastMs] = [new NodeTable(), false, 0];
    this.#texts = new ConnectionTexts(this.table);
  }

  #note(times: Float64Array): void {
    for (const time of times) if (time > this.lastMs && time < Number.POSITIVE_INFINITY) this.lastMs = time;
  }
}
