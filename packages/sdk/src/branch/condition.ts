import { create } from "@bufbuild/protobuf";
import {
  type BooleanExpression,
  BooleanExpressionSchema,
  ComparisonExpression_Operator as Operator,
  ConjunctionExpression_LogicalOperator as Logical,
  type Operand,
  OperandSchema,
} from "@flyte-ts/idl/flyteidl/core/condition_pb";
import { encodeValue } from "../codec/encode.js";
import { graphEncoding } from "../codec/encoding.js";
import { rootPlace } from "../codec/place.js";
import { GraphError } from "../entity/errors.js";
import type { BigInteger, Bool, Float, InOf, Instant, Int, Json, Span, Str } from "../type/type.js";
import { type ReferenceSource, referenceIn, referenceText } from "../graph/reference.js";
import type { Reference } from "../graph/reference-type.js";

/** A comparison of references, for `when`. */
export interface Condition {
  readonly condition: true;
}

/**
 * Types that conditions compare. Flyte's compiler refuses an enum beside a string: a task makes a
 * string or boolean of it.
 */
export type Comparable = Str | Int | BigInteger | Float | Bool | Instant | Span | Json<string | number | boolean>;
export type Ordered = Exclude<Comparable, Bool>;
/** A literal or reference that may be compared with a reference of this type. */
export type Other<T extends Comparable> = InOf<T> | Reference<T>;

/** References that a branch compares, by their names in its condition. */
export type ConditionVariables = Map<string, ReferenceSource>;

class GraphCondition implements Condition {
  readonly condition = true;

  constructor(readonly express: (variables: ConditionVariables) => BooleanExpression) {}
}

/** Builds the expression of a condition; adds its references to `variables`. */
export function expressionOf(condition: Condition, variables: ConditionVariables): BooleanExpression {
  if (condition instanceof GraphCondition) return condition.express(variables);
  throw new GraphError("when() takes a condition: eq, ne, gt, ge, lt, le, isTrue, and, or");
}

/** Holds when both are equal. */
export function eq<T extends Comparable>(left: Reference<T>, right: Other<T>): Condition {
  return compare(Operator.EQ, left, right);
}

/** Holds when both differ. */
export function ne<T extends Comparable>(left: Reference<T>, right: Other<T>): Condition {
  return compare(Operator.NEQ, left, right);
}

/** Holds when the left is greater. */
export function gt<T extends Ordered>(left: Reference<T>, right: Other<T>): Condition {
  return compare(Operator.GT, left, right);
}

/** Holds when the left is greater or both are equal. */
export function ge<T extends Ordered>(left: Reference<T>, right: Other<T>): Condition {
  return compare(Operator.GTE, left, right);
}

/** Holds when the left is less. */
export function lt<T extends Ordered>(left: Reference<T>, right: Other<T>): Condition {
  return compare(Operator.LT, left, right);
}

/** Holds when the left is less or both are equal. */
export function le<T extends Ordered>(left: Reference<T>, right: Other<T>): Condition {
  return compare(Operator.LTE, left, right);
}

/** Holds for true. */
export function isTrue(value: Reference<Bool>): Condition {
  return compare(Operator.EQ, value, true);
}

/** Holds when all conditions hold. */
export function and(...all: readonly [Condition, Condition, ...Condition[]]): Condition {
  return combine(Logical.AND, all);
}

/** Holds when any condition holds. */
export function or(...any: readonly [Condition, Condition, ...Condition[]]): Condition {
  return combine(Logical.OR, any);
}

function combine(operator: Logical, conditions: readonly Condition[]): Condition {
  return new GraphCondition((variables) => {
    const [first, ...rest] = conditions.map((condition) => expressionOf(condition, variables));
    if (first === undefined) throw new GraphError("and() and or() take conditions");
    return rest.reduce(
      (leftExpression, rightExpression) =>
        create(BooleanExpressionSchema, { expr: { case: "conjunction", value: { operator, leftExpression, rightExpression } } }),
      first,
    );
  });
}

function compare(operator: Operator, left: unknown, right: unknown): Condition {
  return new GraphCondition((variables) => {
    const source = referenceIn(left);
    if (source === undefined) throw new GraphError("the left side of a comparison must be a reference");
    const leftValue = operandOf(source, left, variables);
    const rightValue = operandOf(source, right, variables);
    return create(BooleanExpressionSchema, { expr: { case: "comparison", value: { operator, leftValue, rightValue } } });
  });
}

function operandOf(compared: ReferenceSource, value: unknown, variables: ConditionVariables): Operand {
  const source = referenceIn(value);
  if (source !== undefined) {
    const name = [source.nodeId, source.variable, ...source.path].join(".");
    variables.set(name, source);
    return create(OperandSchema, { val: { case: "var", value: name } });
  }
  const literal = encodeValue(compared.type, value, graphEncoding, rootPlace(referenceText(compared)));
  const scalar = literal.value.case === "scalar" ? literal.value.value.value : undefined;
  if (scalar?.case !== "primitive") throw new GraphError(`${referenceText(compared)} has no primitive value that can be compared`);
  return create(OperandSchema, { val: { case: "primitive", value: scalar.value } });
}
