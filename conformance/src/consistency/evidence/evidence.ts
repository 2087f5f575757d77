/** Times are milliseconds since 1970; undefined when not recorded. */
export interface AttemptRecord {
  /** Name of the attempt in its data plane. */
  readonly key: string;
  readonly attempt: number;
  readonly phase: string;
  readonly startedAt: number | undefined;
  readonly updatedAt: number | undefined;
  readonly hasError: boolean;
  readonly output: string | undefined;
}

export interface NodeRecord {
  readonly node: string;
  readonly phase: string;
  readonly startedAt: number | undefined;
  readonly updatedAt: number | undefined;
  readonly hasError: boolean;
  readonly output: string | undefined;
  /** Name of the cache status; empty when the node is not a task. */
  readonly cache: string;
  /** Name of the execution that the node started. */
  readonly child: string | undefined;
  readonly attempts: readonly AttemptRecord[];
}

/** Everything that the API returns about one execution. */
export interface ExecutionRecord {
  readonly name: string;
  readonly phase: string;
  readonly createdAt: number | undefined;
  readonly startedAt: number | undefined;
  readonly updatedAt: number | undefined;
  readonly error: string;
  readonly output: string | undefined;
  readonly nodes: readonly NodeRecord[];
}

/** A row of an execution, a node or an attempt. */
export interface Row {
  /** `execution`, `execution/node` or `execution/node/attempt`. */
  readonly id: string;
  readonly phase: string;
  /** Nanoseconds since 1970. */
  readonly startedNs: bigint | undefined;
  readonly endedNs: bigint | undefined;
}

/** A start of an attempt's process, written by the process itself. */
export interface JournalLine {
  readonly execution: string;
  readonly key: string;
  readonly attempt: number;
  readonly at: number;
}
