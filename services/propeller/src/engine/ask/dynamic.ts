import type { CompiledWorkflowClosure } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { ClosureModel, ExecutionOptions } from "@flyte-ts/workflow-crd";

/** What dynamic nodes ask. */
export interface DynamicQuestions {
  /** The graph that a task made, compiled. A fault of what the task made is a refusal. */
  readonly readDynamic: {
    readonly fields: {
      /** The folder of the attempt: `futures.pb` stands in it, and the compiled form is put there. */
      readonly attemptDir: string;
      /** Identifier of the workflow that it becomes. */
      readonly id: Identifier;
      /** The task that made it: its outputs are the graph's. */
      readonly parent: TaskTemplate;
      readonly options: Pick<ExecutionOptions, "resources">;
      /** It may have been compiled before: then that form counts, whatever it was made of has become since. */
      readonly compiledBefore: boolean;
    };
    readonly value: DynamicWorkflow;
  };
}

export interface DynamicWorkflow {
  readonly model: ClosureModel;
  /** For people to see; undefined when it is too large to travel: then it stands in the attempt's folder only. */
  readonly closure: CompiledWorkflowClosure | undefined;
}
