import type { RowKey } from "./cursor.js";

/** One row as watchers see it. */
export interface WatchedRow {
  readonly key: RowKey;
  /** Transactions that wrote what is shown. */
  readonly writers: readonly number[];
  /** Its field of WatchExecutionResponse, encoded. */
  readonly bytes: Uint8Array;
  /** It has not ended. */
  readonly open: boolean;
}

/** What one look at an execution gave. */
export interface WatchedChanges {
  readonly rows: readonly WatchedRow[];
  /** When the execution ended, milliseconds since 1970; undefined when it has not, or its row did not change. */
  readonly endedAt: number | undefined;
}
