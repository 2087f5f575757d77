import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { ParameterMapSchema, type ParameterSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { type Literal, LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { simpleType } from "../type/simple.js";
import { integerLiteral, literalMap, noneLiteral, stringLiteral } from "./build.js";
import { checkInputs, checkLiterals } from "./inputs.js";

const int = { type: simpleType(SimpleType.INTEGER) };
const required: MessageInitShape<typeof ParameterSchema> = { var: int, behavior: { case: "required", value: true } };
const withDefault = (value: Literal): MessageInitShape<typeof ParameterSchema> => ({ var: int, behavior: { case: "default", value } });
const expected = (parameters: Record<string, MessageInitShape<typeof ParameterSchema>>) => create(ParameterMapSchema, { parameters });
const given = (literals: Record<string, Literal>) => literalMap(Object.entries(literals));

/** The errors as code and variable. */
function errorsOf(check: Parameters<typeof checkInputs>[0]): string[] {
  const result = checkInputs(check);
  return result.ok ? [] : result.errors.map(({ code, variable }) => `${code} ${variable}`);
}

describe("checkInputs", () => {
  it("joins given, default and fixed inputs", () => {
    const result = checkInputs({
      expected: expected({ a: required, b: withDefault(integerLiteral(2)), c: withDefault(integerLiteral(3)) }),
      fixed: given({ f: integerLiteral(9) }),
      given: given({ a: integerLiteral(1), c: integerLiteral(4) }),
    });
    const inputs = given({ a: integerLiteral(1), b: integerLiteral(2), c: integerLiteral(4), f: integerLiteral(9) });
    expect(result).toEqual({ ok: true, inputs });
  });

  it("accepts no inputs where none are declared", () => {
    expect(checkInputs({ expected: undefined, fixed: undefined, given: undefined })).toEqual({ ok: true, inputs: given({}) });
  });

  it("reports every error, in the order of the variables", () => {
    const errors = errorsOf({
      expected: expected({ a: required, d: required, w: required, t: required, e: required }),
      fixed: given({ f: integerLiteral(9) }),
      given: given({
        z: integerLiteral(1),
        w: stringLiteral("x"),
        f: integerLiteral(8),
        e: create(LiteralSchema),
        t: create(LiteralSchema, { value: { case: "scalar", value: {} } }),
        "": integerLiteral(1),
        d: create(LiteralSchema, {
          value: {
            case: "scalar",
            value: { value: { case: "primitive", value: { value: { case: "datetime", value: { seconds: 253_402_300_800n } } } } },
          },
        }),
      }),
    });
    expect(errors).toEqual([
      "MissingValue ",
      "MissingInput a",
      "InvalidDatetime d",
      "MissingValue e",
      "FixedInput f",
      "UnknownType t",
      "WrongType w",
      "UnknownInput z",
    ]);
  });

  it("names the variable and both types", () => {
    const result = checkInputs({ expected: expected({ v: required }), fixed: undefined, given: given({ v: noneLiteral() }) });
    expect(result).toMatchObject({ errors: [{ message: "input v has the wrong type: expected simple:INTEGER, got simple:NONE" }] });
  });

  it("omits inputs that are optional and have no default", () => {
    const optional: MessageInitShape<typeof ParameterSchema> = { var: int, behavior: { case: "required", value: false } };
    expect(checkInputs({ expected: expected({ a: optional }), fixed: undefined, given: undefined })).toEqual({
      ok: true,
      inputs: given({}),
    });
  });

  it("treats inherited property names as unknown inputs", () => {
    expect(errorsOf({ expected: expected({}), fixed: given({}), given: given({ constructor: integerLiteral(1) }) })).toEqual([
      "UnknownInput constructor",
    ]);
  });

  it("succeeds exactly when all required integers and no other inputs are given", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string()), fc.uniqueArray(fc.string()), (declared, names) => {
        const parameters = expected(Object.fromEntries(declared.map((name) => [name, required])));
        const literals = literalMap(names.map((name) => [name, integerLiteral(1)]));
        const ok = declared.length === names.length && names.every((name) => name !== "" && declared.includes(name));
        expect(checkInputs({ expected: parameters, fixed: undefined, given: literals }).ok).toBe(ok);
      }),
    );
  });
});

describe("checkLiterals", () => {
  it("requires names and values", () => {
    expect(checkLiterals(given({ a: integerLiteral(1) }))).toEqual([]);
    expect(checkLiterals(given({ a: create(LiteralSchema) }))).toMatchObject([{ code: "MissingValue", variable: "a" }]);
  });
});
