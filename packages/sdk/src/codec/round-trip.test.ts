import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { literalFitsType } from "@flyte-ts/domain/literal";
import { isCastable } from "@flyte-ts/domain/type";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { interfaceOf } from "../entity/definition.js";
import { LocalFileStore } from "../file/local-store.js";
import { t } from "../type/t.js";
import type { AnyType } from "../type/type.js";
import { decodeInputs, encodeInputs } from "./interface-values.js";
import { literalTypeOf } from "./literal-type.js";
import { typeOfLiteralType } from "./literal-type-reader.js";
import { typedValues } from "./values.fixture.js";

const files = new LocalFileStore("/nonexistent");

async function carried(type: AnyType, given: unknown): Promise<unknown> {
  const own = interfaceOf({ value: type }, undefined);
  const literals = await encodeInputs(own, { value: given }, files);
  const wire = fromBinary(LiteralMapSchema, toBinary(LiteralMapSchema, literals));
  return (await decodeInputs(own, wire, files))["value"];
}

describe("values and literals", () => {
  test("a value is received as its type says", async () => {
    await fc.assert(
      fc.asyncProperty(typedValues(), async ({ type, given, received }) => {
        expect(await carried(type, given)).toEqual(received);
      }),
      { numRuns: 500 },
    );
  });

  test("a type is castable to itself, and its literals fit it", async () => {
    await fc.assert(
      fc.asyncProperty(typedValues(), async ({ type, given }) => {
        const declared = literalTypeOf(type);
        expect(isCastable(declared, declared)).toBe(true);
        const literals = await encodeInputs(interfaceOf({ value: type }, undefined), { value: given }, files);
        expect(literalFitsType(literals.literals["value"] as never, declared)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test("the type that is read from a LiteralType is castable both ways", () => {
    fc.assert(
      fc.property(typedValues(), ({ type }) => {
        const declared = literalTypeOf(type);
        const read = literalTypeOf(typeOfLiteralType(declared));
        expect(isCastable(declared, read)).toBe(true);
        expect(isCastable(read, declared)).toBe(true);
      }),
    );
  });

  test("variants of a union are found again", async () => {
    const type = t.union(t.int, t.string, t.list(t.float), t.object({ a: t.int }), t.datetime, t.boolean);
    const now = new Date("2026-01-02T03:04:05.678Z");
    for (const value of [3, "x", [1.5], { a: 1 }, now, true]) expect(await carried(type, value)).toEqual(value);
    await expect(carried(type, { b: 1 })).rejects.toThrow("value must be one of int, string, list, object, datetime, boolean");
  });

  test("defaults take the place of what is left out, also within objects", async () => {
    const Hyper = t.object({ C: t.float, maxIterations: t.default(t.int, 2500), note: t.optional(t.string) });
    expect(await carried(Hyper, { C: 1 })).toEqual({ C: 1, maxIterations: 2500, note: null });
    const type = t.default(t.object({ wait: t.default(t.duration, "90s") }), {});
    expect(await carried(type, undefined)).toEqual({ wait: { milliseconds: 90_000 } });
  });

  test("bytes are carried whole", async () => {
    expect(await carried(t.bytes, new Uint8Array([0, 255]))).toEqual(new Uint8Array([0, 255]));
    expect(await carried(t.object({ b: t.bytes }), { b: new Uint8Array([1]) })).toEqual({ b: new Uint8Array([1]) });
    await expect(carried(t.bytes, new Uint8Array((1 << 20) + 1))).rejects.toThrow("more than 1 MiB belongs in a t.file()");
  });
});

describe("values that do not fit", () => {
  const cases: readonly (readonly [string, AnyType, unknown, string])[] = [
    ["a fraction for an int", t.int, 1.5, "input value must be an integer, found 1.5"],
    ["an unsafe integer", t.int, 2 ** 53, "declare it as t.bigint"],
    ["a bigint of 65 bits", t.bigint, 2n ** 63n, "does not fit 64 bits"],
    ["a text for a float", t.object({ C: t.list(t.float) }), { C: [1, "2"] }, 'input value.C[1] must be a number, found "2"'],
    ["a field too many", t.object({ a: t.int }), { a: 1, b: 2 }, "value.b is not declared"],
    ["a field too few", t.object({ a: t.int }), {}, "value.a must be an integer, found undefined"],
    ["an unknown name of an enum", t.enum("a", "b"), "c", 'must be one of "a", "b", found "c"'],
    ["an invalid Date", t.datetime, new Date(Number.NaN), "invalid Date"],
    ["a time before the year 1", t.datetime, new Date(-8.64e15), "years 1 to 9999"],
    ["a duration without a unit", t.duration, "90", "is not a duration"],
    ["half a surrogate pair", t.string, "\ud800", "half of a surrogate pair"],
    ["a function in JSON", t.json, { a: () => 1 }, "must be a JSON value, found a function"],
    ["a value for none", t.none, 1, "must be null"],
    ["nothing for a list", t.list(t.int), null, "must be a list, found null"],
  ];
  test.each(cases)("%s is refused with its place", async (_title, type, value, message) => {
    await expect(carried(type, value)).rejects.toThrow(message);
  });

  test("names of inputs are checked", async () => {
    const own = interfaceOf({ a: t.int }, undefined);
    await expect(encodeInputs(own, { a: 1, b: 2 }, files)).rejects.toThrow("input b is not declared; declared: a");
    await expect(encodeInputs(own, {}, files)).rejects.toThrow("input a is missing; declared: a");
  });
});
