/** Codes of compile errors, as Flyte clients know them. */
export type CompileErrorCode =
  | "AmbiguousBindingUnionValue"
  | "BranchNodeHasNoCondition"
  | "BranchNodeHasNoDefault"
  | "BranchNodeIdNotFound"
  | "CycleDetected"
  | "DuplicateAlias"
  | "DuplicateId"
  | "FieldNotFound"
  | "IllegalEnumValue"
  | "IncompatibleBindingUnionValue"
  | "InvalidValue"
  | "MismatchingBindings"
  | "MismatchingTypes"
  | "NoConditionFound"
  | "NoNodesFound"
  | "NodeReferenceNotFound"
  | "ParameterBoundMoreThanOnce"
  | "ParameterNotBound"
  | "SyntaxError"
  | "TaskReferenceNotFound"
  | "UnreachableNodes"
  | "UnrecognizedValue"
  | "ValueRequired"
  | "VariableNameNotFound"
  | "WorkflowReferenceNotFound";

export interface CompileError {
  readonly code: CompileErrorCode;
  /** The node at fault, or `root`, `container`, … where there is no node. */
  readonly nodeId: string;
  readonly description: string;
}

/** Every error found, each once, in order of code, then of node and description. Never empty. */
export type CompileErrors = readonly CompileError[];

/** The text that clients show: a count, then one indented line for each error. */
export function formatCompileErrors(errors: CompileErrors): string {
  const lines = errors.map((error, i) => `\tError ${i}: ${errorLine(error)}\n`);
  return `Collected Errors: ${errors.length}\n${lines.join("")}`;
}

/** One error on one line. */
export function errorLine({ code, nodeId, description }: CompileError): string {
  return `Code: ${code}, Node Id: ${nodeId}, Description: ${description}`;
}
