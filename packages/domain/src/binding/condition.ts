import {
  type BooleanExpression,
  type ComparisonExpression,
  ComparisonExpression_Operator as Operator,
  ConjunctionExpression_LogicalOperator as LogicalOperator,
  type Operand,
} from "@flyte-ts/idl/flyteidl/core/condition_pb";
import type { LiteralMap, Primitive } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { MAX_NESTING } from "../type/nesting.js";
import { compareText } from "../type/order.js";

export interface ConditionError {
  /** An error of the user's specification: the node fails and is not retried. */
  readonly code: "MalformedBranchUserError";
  readonly message: string;
}

export type ConditionResult = { readonly value: boolean } | { readonly error: ConditionError };

/**
 * Evaluates a branch's condition over the branch node's inputs. Only primitives of one kind
 * compare; booleans compare for equality only. Both sides of `and` and `or` are evaluated, so an
 * error on either side shows. Datetimes and durations compare to the nanosecond; texts by their
 * code points.
 */
export function evaluateCondition(expression: BooleanExpression, inputs: LiteralMap | undefined): ConditionResult {
  try {
    return { value: evaluate(expression, inputs, 0) };
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    return { error: { code: "MalformedBranchUserError", message: error.message } };
  }
}

/** Unwinds the evaluation; never leaves this file. */
class Malformed extends Error {
  override readonly name = "Malformed";
}

function evaluate(expression: BooleanExpression | undefined, inputs: LiteralMap | undefined, depth: number): boolean {
  if (depth > MAX_NESTING) throw new Malformed(`the condition nests deeper than ${MAX_NESTING} levels`);
  const expr = expression?.expr;
  switch (expr?.case) {
    case "comparison":
      return compare(expr.value, inputs);
    case "conjunction": {
      const left = evaluate(expr.value.leftExpression, inputs, depth + 1);
      const right = evaluate(expr.value.rightExpression, inputs, depth + 1);
      return expr.value.operator === LogicalOperator.OR ? left || right : left && right;
    }
    case undefined:
      throw new Malformed("the condition has neither a comparison nor a conjunction");
  }
}

function compare({ operator, leftValue, rightValue }: ComparisonExpression, inputs: LiteralMap | undefined): boolean {
  const left = primitiveOf(leftValue, inputs);
  const right = primitiveOf(rightValue, inputs);
  const order = orderOf(left.value, right.value);
  switch (operator) {
    case Operator.EQ:
      return order === 0;
    case Operator.NEQ:
      return order !== 0;
    case Operator.GT:
    case Operator.GTE:
    case Operator.LT:
    case Operator.LTE:
      if (left.value.case === "boolean") throw new Malformed(`booleans have no order: ${Operator[operator]} cannot compare them`);
      return (
        (order > 0 && (operator === Operator.GT || operator === Operator.GTE)) ||
        (order < 0 && (operator === Operator.LT || operator === Operator.LTE)) ||
        (order === 0 && (operator === Operator.GTE || operator === Operator.LTE))
      );
    default:
      throw new Malformed(`comparison operator ${String(operator)} is unknown`);
  }
}

function primitiveOf(operand: Operand | undefined, inputs: LiteralMap | undefined): Primitive {
  if (operand?.val.case === "primitive") return operand.val.value;
  const name = operand?.val.case === "var" ? operand.val.value : "";
  const literal = inputs !== undefined && Object.hasOwn(inputs.literals, name) ? inputs.literals[name] : undefined;
  if (literal === undefined) throw new Malformed(`variable [${name}] of the condition is not among the node's inputs`);
  const scalar = literal.value.case === "scalar" ? literal.value.value.value : undefined;
  if (scalar?.case !== "primitive") throw new Malformed(`variable [${name}] is not a primitive; only primitives can be compared`);
  return scalar.value;
}

/** Negative, zero or positive; NaN where the two have no order. */
function orderOf(left: Primitive["value"], right: Primitive["value"]): number {
  if (left.case === "integer" && right.case === "integer") return sign(left.value, right.value);
  if (left.case === "floatValue" && right.case === "floatValue") {
    return left.value === right.value ? 0 : left.value < right.value ? -1 : left.value > right.value ? 1 : Number.NaN;
  }
  if (left.case === "boolean" && right.case === "boolean") return Number(left.value) - Number(right.value);
  if (left.case === "stringValue" && right.case === "stringValue") return compareText(left.value, right.value);
  if ((left.case === "datetime" && right.case === "datetime") || (left.case === "duration" && right.case === "duration")) {
    return sign(left.value.seconds, right.value.seconds) || left.value.nanos - right.value.nanos;
  }
  throw new Malformed(`a ${left.case ?? "missing value"} cannot be compared with a ${right.case ?? "missing value"}`);
}

function sign(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
