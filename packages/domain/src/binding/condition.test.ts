import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type BooleanExpression,
  BooleanExpressionSchema,
  ComparisonExpression_Operator as Op,
  ConjunctionExpression_LogicalOperator as Logic,
  type OperandSchema,
} from "@flyte-ts/idl/flyteidl/core/condition_pb";
import type { Literal, PrimitiveSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { collectionLiteral, integerLiteral, literalMap } from "../literal/build.js";
import { evaluateCondition } from "./condition.js";

type Primitive = NonNullable<MessageInitShape<typeof PrimitiveSchema>["value"]>;
type Operand = MessageInitShape<typeof OperandSchema>;
const constant = (value: Primitive): Operand => ({ val: { case: "primitive", value: { value } } });
const variable = (value: string): Operand => ({ val: { case: "var", value } });
const compare = (leftValue: Operand | undefined, operator: Op, rightValue: Operand | undefined): BooleanExpression =>
  create(BooleanExpressionSchema, { expr: { case: "comparison", value: { leftValue, operator, rightValue } } });
const both = (operator: Logic, leftExpression?: BooleanExpression, rightExpression?: BooleanExpression): BooleanExpression =>
  create(BooleanExpressionSchema, { expr: { case: "conjunction", value: { operator, leftExpression, rightExpression } } });
const int = (value: number): Operand => constant({ case: "integer", value: BigInt(value) });
const evaluate = (expression: BooleanExpression, inputs: Record<string, Literal> = {}) =>
  evaluateCondition(expression, literalMap(Object.entries(inputs)));

/** Lists the operators among EQ, NEQ, GT, GTE, LT, LTE that hold. */
function holding(left: Primitive, right: Primitive): string {
  const operators = [Op.EQ, Op.NEQ, Op.GT, Op.GTE, Op.LT, Op.LTE];
  return operators
    .filter((operator) => {
      const result = evaluate(compare(constant(left), operator, constant(right)));
      return "value" in result && result.value;
    })
    .map((operator) => Op[operator])
    .join(" ");
}

const less = "NEQ LT LTE";
const greater = "NEQ GT GTE";
const equal = "EQ GTE LTE";

describe("evaluateCondition", () => {
  it.each<[string, Primitive, Primitive, string]>([
    ["integers", { case: "integer", value: 2n ** 60n }, { case: "integer", value: 2n ** 60n + 1n }, less],
    ["floats", { case: "floatValue", value: 1.5 }, { case: "floatValue", value: 1.5 }, equal],
    ["not-a-number", { case: "floatValue", value: Number.NaN }, { case: "floatValue", value: Number.NaN }, "NEQ"],
    ["texts", { case: "stringValue", value: "b" }, { case: "stringValue", value: "ab" }, greater],
    ["texts beyond U+FFFF", { case: "stringValue", value: "\uffff" }, { case: "stringValue", value: "😀" }, less],
    ["datetimes", { case: "datetime", value: { seconds: 5n, nanos: 1 } }, { case: "datetime", value: { seconds: 5n, nanos: 2 } }, less],
    ["durations", { case: "duration", value: { seconds: 6n } }, { case: "duration", value: { seconds: 5n, nanos: 9 } }, greater],
    ["equal booleans", { case: "boolean", value: true }, { case: "boolean", value: true }, "EQ"],
    ["unlike booleans", { case: "boolean", value: true }, { case: "boolean", value: false }, "NEQ"],
  ])("compares %s", (_, left, right, holds) => expect(holding(left, right)).toBe(holds));

  it("looks up variables on either side", () => {
    const inputs = { a: integerLiteral(3), b: integerLiteral(4) };
    expect(evaluate(compare(variable("a"), Op.LT, variable("b")), inputs)).toEqual({ value: true });
    expect(evaluate(compare(int(3), Op.EQ, variable("a")), inputs)).toEqual({ value: true });
    expect(evaluate(compare(variable("b"), Op.LT, int(4)), inputs)).toEqual({ value: false });
  });

  it("joins with and and or", () => {
    const [yes, no] = [compare(int(1), Op.EQ, int(1)), compare(int(1), Op.EQ, int(2))];
    expect(evaluate(both(Logic.AND, yes, no))).toEqual({ value: false });
    expect(evaluate(both(Logic.OR, no, yes))).toEqual({ value: true });
    expect(evaluate(both(Logic.AND, both(Logic.OR, no, yes), yes))).toEqual({ value: true });
  });

  it.each<[string, BooleanExpression, RegExp]>([
    ["unbound variables", compare(variable("zz"), Op.EQ, int(1)), /\[zz\]/],
    ["inherited names", compare(variable("constructor"), Op.EQ, int(1)), /\[constructor\]/],
    ["an absent operand", compare(undefined, Op.EQ, int(1)), /\[\]/],
    ["lists", compare(variable("l"), Op.EQ, int(1)), /\[l\] is not a primitive/],
    ["an integer with a float", compare(int(1), Op.EQ, constant({ case: "floatValue", value: 1 })), /integer.*floatValue/],
    [
      "the order of booleans",
      compare(constant({ case: "boolean", value: true }), Op.GT, constant({ case: "boolean", value: false })),
      /GT/,
    ],
    ["an operator that does not exist", compare(int(1), 77 as Op, int(1)), /77/],
    ["an empty expression", create(BooleanExpressionSchema), /neither/],
    ["half of a conjunction", both(Logic.AND, compare(int(1), Op.EQ, int(1))), /neither/],
    [
      "an error on the side that is not decisive",
      both(Logic.OR, compare(int(1), Op.EQ, int(1)), compare(variable("zz"), Op.EQ, int(1))),
      /zz/,
    ],
  ])("refuses %s", (_, expression, message) => {
    const result = evaluate(expression, { l: collectionLiteral([]) });
    expect(result).toEqual({ error: { code: "MalformedBranchUserError", message: expect.stringMatching(message) } });
  });

  it("refuses a condition nested beyond the limit", () => {
    let expression = compare(int(1), Op.EQ, int(1));
    for (let i = 0; i < 10_000; i++) expression = both(Logic.AND, expression, expression);
    expect(evaluate(expression)).toMatchObject({ error: { message: expect.stringContaining("deeper") } });
  });

  it("finds exactly one of less, equal and greater true for any two values", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -5n, max: 5n }), fc.bigInt({ min: -5n, max: 5n }), (a, b) => {
        expect(holding({ case: "integer", value: a }, { case: "integer", value: b })).toBe(a < b ? less : a > b ? greater : equal);
      }),
    );
  });
});
