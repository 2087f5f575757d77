import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { WorkflowTemplate } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import type { CompileErrors } from "./compile-error.js";

/** What must be loaded before a workflow can be compiled; both lists are sorted and hold each id once. */
export interface Requirements {
  readonly tasks: Identifier[];
  readonly launchPlans: Identifier[];
  /** Two sub-workflows with one id; then both lists are empty. */
  readonly errors: CompileErrors;
}

/** The tasks and launch plans that a workflow and the sub-workflows it uses refer to. */
export function requirementsOf(_template: WorkflowTemplate, _subWorkflows: readonly WorkflowTemplate[]): Requirements {
  throw new Error("not written yet");
}
