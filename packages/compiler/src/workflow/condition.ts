import { equals } from "@bufbuild/protobuf";
import { simpleTypeOfPrimitive } from "@flyte-ts/domain/literal";
import { simpleType } from "@flyte-ts/domain/type";
import type { BooleanExpression, Operand } from "@flyte-ts/idl/flyteidl/core/condition_pb";
import { type LiteralType, LiteralTypeSchema } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { branchHasNoCondition, mismatchingTypes, valueRequired, variableNotFound } from "../error/errors.js";
import type { NodeBuilder, WorkflowBuilder } from "./builder.js";

/**
 * Checks a branch's condition: its variables are bound to the branch, and the two sides of a
 * comparison have one type.
 */
export function checkCondition(workflow: WorkflowBuilder, branch: NodeBuilder, expression: BooleanExpression | undefined): void {
  const { errors } = workflow;
  const nodeId = branch.node.id;
  if (expression === undefined) return errors.add(branchHasNoCondition(nodeId));
  const { expr } = expression;
  switch (expr.case) {
    case "comparison": {
      const right = operandType(workflow, branch, { field: "RightValue", operand: expr.value.rightValue });
      const left = operandType(workflow, branch, { field: "LeftValue", operand: expr.value.leftValue });
      if (right !== undefined && left !== undefined && !equals(LiteralTypeSchema, right, left)) {
        errors.add(mismatchingTypes(nodeId, "RightValue", right, left));
      }
      return;
    }
    case "conjunction":
      checkCondition(workflow, branch, expr.value.leftExpression);
      checkCondition(workflow, branch, expr.value.rightExpression);
      return;
    case undefined:
      errors.add(valueRequired(nodeId, "Expr"));
  }
}

interface ComparisonOperand {
  readonly field: "LeftValue" | "RightValue";
  readonly operand: Operand | undefined;
}

/** Undefined after an error, and where the variable's binding has an error already. */
function operandType({ errors }: WorkflowBuilder, branch: NodeBuilder, { field, operand }: ComparisonOperand): LiteralType | undefined {
  const { node } = branch;
  if (operand === undefined) {
    errors.add(valueRequired(node.id, field));
  } else if (operand.val.case === "primitive") {
    return simpleType(simpleTypeOfPrimitive(operand.val.value));
  } else if (operand.val.case !== "var" || operand.val.value === "") {
    errors.add(valueRequired(node.id, `${field}.Val`));
  } else if (branch.interface === undefined) {
    errors.add(valueRequired(node.id, operand.val.value));
  } else {
    const name = operand.val.value;
    const variable = branch.interface.inputs.get(name);
    if (variable === undefined && !node.inputs.some((binding) => binding.var === name)) errors.add(variableNotFound(node.id, name));
    return variable?.type;
  }
  return undefined;
}
