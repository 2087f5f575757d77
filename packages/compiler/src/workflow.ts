import type { CompiledTask, CompiledWorkflowClosure } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { ParameterMap, VariableMap } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { WorkflowTemplate } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import type { CompileErrors } from "./compile-error.js";

/** What a workflow needs to know of a launch plan that one of its nodes runs. */
export interface LaunchPlanInterface {
  readonly id: Identifier;
  readonly expectedInputs: ParameterMap;
  readonly fixedInputs: LiteralMap;
  readonly expectedOutputs: VariableMap;
}

export interface WorkflowSource {
  readonly template: WorkflowTemplate;
  readonly subWorkflows: readonly WorkflowTemplate[];
  /** At least those of `requirementsOf`; those that are not needed are left out of the closure. */
  readonly tasks: readonly CompiledTask[];
  readonly launchPlans: readonly LaunchPlanInterface[];
}

export type WorkflowCompilation =
  | { readonly ok: true; readonly closure: CompiledWorkflowClosure }
  | { readonly ok: false; readonly errors: CompileErrors };

/** Checks a workflow with everything that it refers to and links its graph. Its arguments are not changed. */
export function compileWorkflow(_source: WorkflowSource): WorkflowCompilation {
  throw new Error("not written yet");
}
