import type { NodeExecution_Phase, TaskExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";

/** How something failed. */
export interface ErrorFact {
  /** core.ExecutionError, encoded. */
  readonly bytes: Uint8Array;
  /** Name of core.ExecutionError.Kind. */
  readonly kind: string;
  readonly code: string;
}

/** What one workflow event tells. Times are nanoseconds since the epoch; values are encoded core.LiteralMaps. */
export interface WorkflowFact {
  readonly phase: WorkflowExecution_Phase;
  readonly occurredAt: bigint;
  /** With an end: when the execution started, for where no event told of that. */
  readonly startedAt?: bigint | undefined;
  readonly outputUri?: string | undefined;
  readonly outputs?: Uint8Array | undefined;
  readonly error?: ErrorFact | undefined;
}

/** What is in an execution's way; an empty reason: nothing any more. */
export interface NoticeFact {
  readonly reason: string;
  readonly occurredAt: bigint;
}

/** What the events of nodes and of task attempts have in common. */
export interface ProgressFact {
  readonly occurredAt: bigint;
  readonly reportedAt: bigint;
  /** With an end: when it started, for where no event told of that. */
  readonly startedAt?: bigint | undefined;
  readonly inputUri: string;
  readonly inputs?: Uint8Array | undefined;
  readonly outputUri?: string | undefined;
  readonly outputs?: Uint8Array | undefined;
  /** No event: admin itself ends what nobody reported the end of, and says why. */
  readonly settled?: string | undefined;
}

/** What one node event tells. */
export interface NodeFact extends ProgressFact {
  readonly phase: NodeExecution_Phase;
  readonly error?: ErrorFact | undefined;
  readonly deckUri: string;
  readonly target?: NodeTargetFact | undefined;
  readonly dynamicJobSpecUri: string;
  /** core.CompiledWorkflowClosure, encoded. */
  readonly dynamicWorkflow?: Uint8Array | undefined;
  /** Where that stands, when it is too large for the row. */
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

/** The task or the execution that a node stands for. */
export interface NodeTargetFact {
  /** admin.NodeExecutionClosure with target_metadata alone, encoded. */
  readonly bytes: Uint8Array;
  /** A child execution; it never changes once it is told. */
  readonly isExecution: boolean;
  /** Name of core.CatalogCacheStatus, where the node was cached. */
  readonly cacheStatus?: string | undefined;
}

/** What one event of a task attempt tells for the row; the rest is read from the event when it is wanted. */
export interface TaskFact extends ProgressFact {
  readonly phase: TaskExecution_Phase;
  readonly phaseVersion: number;
  /** event.TaskExecutionEvent without values, encoded. */
  readonly event: Uint8Array;
}
