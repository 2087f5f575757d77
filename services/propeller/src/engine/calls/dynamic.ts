import type { CompiledWorkflowClosure } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import type { Identifier, WorkflowExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { ClosureModel, ExecutionOptions } from "@flyte-ts/workflow-crd";

/** Calls of dynamic nodes. */
export interface DynamicCalls {
  /** Reads the graph that a task produced, compiled. An invalid graph is refused. */
  readonly readDynamic: {
    readonly fields: {
      /** Folder of the attempt, which has `futures.pb` and gets the compiled form. */
      readonly attemptDir: string;
      /** Identifier of the resulting workflow. */
      readonly id: Identifier;
      /** Execution whose task produced the graph. */
      readonly execution: WorkflowExecutionIdentifier;
      /** Task that produced the graph; the graph's outputs are those of this task. */
      readonly parent: TaskTemplate;
      readonly options: Pick<ExecutionOptions, "resources">;
      /**
       * True: an earlier compiled form may exist. It is used even if its source has changed since.
       */
      readonly compiledBefore: boolean;
    };
    readonly value: DynamicWorkflow;
  };
}

export interface DynamicWorkflow {
  readonly model: ClosureModel;
  /**
   * Compiled form for events; undefined when it is too large: then it is only in the attempt's
   * folder.
   */
  readonly closure: CompiledWorkflowClosure | undefined;
}
