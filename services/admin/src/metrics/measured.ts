import type { CompiledWorkflowClosure } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import type {
  NodeExecutionIdentifier,
  TaskExecutionIdentifier,
  WorkflowExecutionIdentifier,
} from "@flyte-ts/idl/flyteidl/core/identifier_pb";

/** When something was, nanoseconds since the epoch. */
export interface Times {
  readonly createdAt: bigint;
  /** When it was last heard of; of what has ended: when its end was reported. */
  readonly updatedAt: bigint;
  readonly startedAt: bigint | undefined;
  readonly endedAt: bigint | undefined;
}

export interface MeasuredTask extends Times {
  readonly id: TaskExecutionIdentifier;
}

export interface MeasuredNode extends Times {
  readonly id: NodeExecutionIdentifier;
  /** Id in the graph. */
  readonly specNodeId: string;
  /** Attempts of its task, in the order of time. */
  readonly tasks: readonly MeasuredTask[];
  /** What it made, when it is dynamic. */
  readonly dynamic: CompiledWorkflowClosure | undefined;
  /** The execution that it launched. */
  readonly launched: MeasuredExecution | undefined;
}

/** What is known of an execution, to tell where its time went. */
export interface MeasuredExecution extends Times {
  readonly id: WorkflowExecutionIdentifier;
  /** Undefined when the workflow is not registered any more. */
  readonly workflow: CompiledWorkflowClosure | undefined;
  /** Nodes by the unique id of the node that they run in, empty at the top; in the order of time. */
  readonly nodes: ReadonlyMap<string, readonly MeasuredNode[]>;
}
