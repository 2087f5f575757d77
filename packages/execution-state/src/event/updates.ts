import type { NodeExecution_Phase, TaskExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";

/** Error of a failure. */
export interface ErrorColumns {
  /** core.ExecutionError, encoded. */
  readonly bytes: Uint8Array;
  /** Name of core.ExecutionError.Kind. */
  readonly kind: string;
  readonly code: string;
}

/**
 * Facts from one workflow event. Times are nanoseconds since the epoch; values are encoded
 * core.LiteralMaps.
 */
export interface WorkflowUpdate {
  readonly phase: WorkflowExecution_Phase;
  readonly occurredAt: bigint;
  /** Start of the execution, set in a terminal event in case no other event reported it. */
  readonly startedAt?: bigint | undefined;
  readonly outputUri?: string | undefined;
  readonly outputs?: Uint8Array | undefined;
  readonly error?: ErrorColumns | undefined;
}

/** A blocker of an execution; an empty reason clears it. */
export interface BlockerUpdate {
  readonly reason: string;
  readonly occurredAt: bigint;
}

/** Facts common to events of nodes and of task attempts. */
export interface CommonUpdate {
  readonly occurredAt: bigint;
  readonly reportedAt: bigint;
  /** Start, set in a terminal event in case no other event reported it. */
  readonly startedAt?: bigint | undefined;
  readonly inputUri: string;
  readonly inputs?: Uint8Array | undefined;
  readonly outputUri?: string | undefined;
  readonly outputs?: Uint8Array | undefined;
  /** Set when admin itself assumes an end that was not reported: the reason. */
  readonly inferredReason?: string | undefined;
}

/** Facts from one node event. */
export interface NodeUpdate extends CommonUpdate {
  readonly phase: NodeExecution_Phase;
  readonly error?: ErrorColumns | undefined;
  readonly deckUri: string;
  readonly target?: NodeTarget | undefined;
  readonly dynamicJobSpecUri: string;
  /** core.CompiledWorkflowClosure, encoded. */
  readonly dynamicWorkflow?: Uint8Array | undefined;
  /** URI of the compiled workflow, when it is too large for the row. */
  readonly dynamicWorkflowUri: string;
  readonly parentNodeId?: string | undefined;
  readonly parentTaskKey?: string | undefined;
  readonly retryGroup: string;
  readonly specNodeId: string;
  readonly eventVersion: number;
  readonly isParent: boolean;
  readonly isDynamic: boolean;
  readonly isArray: boolean;
}

/** The task or the execution that a node runs. */
export interface NodeTarget {
  /** admin.NodeExecutionClosure with only target_metadata, encoded. */
  readonly bytes: Uint8Array;
  /** A child execution, which never changes once it is reported. */
  readonly isExecution: boolean;
  /** Name of core.CatalogCacheStatus, if the node was cached. */
  readonly cacheStatus?: string | undefined;
}

/**
 * Facts from one event of a task attempt that the row stores; the rest is read from the event when
 * needed.
 */
export interface TaskUpdate extends CommonUpdate {
  readonly phase: TaskExecution_Phase;
  readonly phaseVersion: number;
  /** event.TaskExecutionEvent without values, encoded. */
  readonly event: Uint8Array;
}
