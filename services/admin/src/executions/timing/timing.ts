import type { CompiledWorkflowClosure } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import type {
  NodeExecutionIdentifier,
  TaskExecutionIdentifier,
  WorkflowExecutionIdentifier,
} from "@flyte-ts/idl/flyteidl/core/identifier_pb";

/** Timestamps, nanoseconds since the epoch. */
export interface Timestamps {
  readonly createdAt: bigint;
  /** Last event; for terminal objects the time of the report of the end. */
  readonly updatedAt: bigint;
  readonly startedAt: bigint | undefined;
  readonly endedAt: bigint | undefined;
}

export interface AttemptTiming extends Timestamps {
  readonly id: TaskExecutionIdentifier;
}

export interface NodeTiming extends Timestamps {
  readonly id: NodeExecutionIdentifier;
  /** Node id in the graph. */
  readonly specNodeId: string;
  /** Attempts of its task, in order of time. */
  readonly tasks: readonly AttemptTiming[];
  /** Compiled workflow of a dynamic node. */
  readonly dynamic: CompiledWorkflowClosure | undefined;
  /** Child execution. */
  readonly launched: ExecutionTiming | undefined;
}

/** Data of an execution from which spans are computed. */
export interface ExecutionTiming extends Timestamps {
  readonly id: WorkflowExecutionIdentifier;
  /** Undefined when the workflow is not registered any more. */
  readonly workflow: CompiledWorkflowClosure | undefined;
  /** Nodes by the unique id of their parent node, empty at the top level; in order of time. */
  readonly nodes: ReadonlyMap<string, readonly NodeTiming[]>;
}
