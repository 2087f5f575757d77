import type { CompiledTask, CompiledWorkflowClosure } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { ParameterMap, VariableMap } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { WorkflowTemplate } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import type { CompileErrors } from "../error/compile-error.js";

/** The parts of a launch plan that a workflow with a node for it needs. */
export interface LaunchPlanInterface {
  readonly id: Identifier;
  /** Inputs that a node may bind: required, or with a default. */
  readonly expectedInputs: ParameterMap;
  /** Inputs that no node may bind. */
  readonly fixedInputs: LiteralMap;
  readonly expectedOutputs: VariableMap;
}

export interface WorkflowSource {
  readonly template: WorkflowTemplate;
  readonly subWorkflows: readonly WorkflowTemplate[];
  /** At least those of `compileDependencies`; the closure omits unused ones. */
  readonly tasks: readonly CompiledTask[];
  readonly launchPlans: readonly LaunchPlanInterface[];
  /**
   * True when an array node with `is_original_sub_node_interface` takes and returns lists of its
   * inner node's inputs and outputs, except for its bound inputs: flytekit's meaning when it maps
   * over a launch plan. Flyte 1.16 never reads the flag and rejects such workflows, as does this
   * compiler by default.
   */
  readonly liftArrayInterfaces?: boolean;
  /**
   * The caller does not need the templates afterwards: their nodes are reused in the closure
   * without a copy.
   */
  readonly mutateTemplates?: boolean;
}

export type WorkflowCompilation =
  | { readonly ok: true; readonly closure: CompiledWorkflowClosure }
  | { readonly ok: false; readonly errors: CompileErrors };
