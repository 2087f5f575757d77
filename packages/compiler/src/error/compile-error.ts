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
  /** The faulty node, or `root`, `container`, … where there is no node. */
  readonly nodeId: string;
  readonly description: string;
}

/** All errors, each once, in order of code, then of node and description. Never empty. */
export type CompileErrors = readonly CompileError[];

/** Formats errors as clients show them: a count, then one indented line per error. */
export function formatCompileErrors(errors: CompileErrors): string {
  const lines = errors.map((error, i) => `\tError ${i}: ${errorLine(error)}\n`);
  return `Collected Errors: ${errors.length}\n${lines.join("")}`;
}

/** Formats one error on one line. */
export function errorLine({ code, nodeId, description }: CompileError): string {
  return `Code: ${code}, Node Id: ${nodeId}, Description: ${description}`;
}
