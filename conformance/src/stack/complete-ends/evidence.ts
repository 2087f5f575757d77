/** Times are milliseconds since 1970; undefined where nothing is recorded. */
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
  /** Name of the cache status; empty where the node is no task. */
  readonly cache: string;
  /** Name of the execution that the node started. */
  readonly child: string | undefined;
  readonly attempts: readonly AttemptRecord[];
}

/** Everything that the API says of one execution. */
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

/** A row of an execution, of a node or of an attempt. */
export interface Row {
  /** `execution`, `execution/node` or `execution/node/attempt`. */
  readonly id: string;
  readonly phase: string;
  /** Nanoseconds since 1970. */
  readonly startedNs: bigint | undefined;
  readonly endedNs: bigint | undefined;
}

/** One beginning of an attempt's process, as the process itself has written it down. */
export interface JournalLine {
  readonly execution: string;
  readonly key: string;
  readonly attempt: number;
  readonly at: number;
}
