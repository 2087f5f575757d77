import type { CompiledTask, CompiledWorkflowClosure } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { ParameterMap, VariableMap } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { WorkflowTemplate } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import type { CompileErrors } from "../error/compile-error.js";

/** What a workflow needs to know of a launch plan that one of its nodes runs. */
export interface LaunchPlanInterface {
  readonly id: Identifier;
  /** Those that a node may bind: required, or with a default. */
  readonly expectedInputs: ParameterMap;
  /** Those that no node may bind. */
  readonly fixedInputs: LiteralMap;
  readonly expectedOutputs: VariableMap;
}

export interface WorkflowSource {
  readonly template: WorkflowTemplate;
  readonly subWorkflows: readonly WorkflowTemplate[];
  /** At least those of `requirementsOf`; those that are not needed are left out of the closure. */
  readonly tasks: readonly CompiledTask[];
  readonly launchPlans: readonly LaunchPlanInterface[];
  /**
   * Whether an array node that says so (`is_original_sub_node_interface`) takes and gives lists of what its inner node does, but for
   * its bound inputs: what flytekit means when it maps over a launch plan. Flyte 1.16 never reads the flag and refuses such
   * workflows; so does this compiler unless asked.
   */
  readonly wrapOriginalInterfaces?: boolean;
  /** Nobody needs the templates afterwards: their nodes become those of the closure, without a copy of each. */
  readonly templatesMayChange?: boolean;
}

export type WorkflowCompilation =
  | { readonly ok: true; readonly closure: CompiledWorkflowClosure }
  | { readonly ok: false; readonly errors: CompileErrors };
