/** A row in the form that watchers receive. */
export interface WatchedRow {
  readonly key: RowKey;
  /** Transactions that wrote the row and its events. */
  readonly writers: readonly number[];
  /** Encoded field of WatchExecutionResponse. */
  readonly bytes: Uint8Array;
  /** Not terminal. */
  readonly open: boolean;
}

/** Result of one poll of an execution. */
export interface WatchedChanges {
  readonly rows: readonly WatchedRow[];
  /**
   * End of the execution, milliseconds since the epoch; undefined when it has not ended, or its row
   * did not change.
   */
  readonly endedAt: number | undefined;
}

/** Position of a row in messages: the execution, then nodes, then task attempts, each by row id. */
export interface RowKey {
  readonly kind: "execution" | "node" | "task";
  readonly id: number;
}
