import { create, fromBinary, type JsonObject, toBinary } from "@bufbuild/protobuf";
import { literalFitsType } from "@flyte-ts/domain/literal";
import { isCastable } from "@flyte-ts/domain/type";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { TypeStructureSchema } from "@flyte-ts/idl/flyteidl/core/types_pb";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { interfaceOf } from "../entity/definition.js";
import { LocalFileStore } from "../file/local-store.js";
import { t } from "../type/t.js";
import type { AnyType } from "../type/type.js";
import { fromPlain } from "./from-plain.js";
import { decodeInputs, encodeInputs } from "./interface-values.js";
import { literalTypeOf } from "./literal-type.js";
import { typeOfLiteralType } from "./literal-type-reader.js";
import { rootPlace } from "./place.js";
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

  test("an explicit null is carried where the type has it, and is the default where it has not", async () => {
    const type = t.object({
      limit: t.default(t.optional(t.int), 10),
      choice: t.default(t.union(t.int, t.none), 11),
      note: t.default(t.json, "none"),
      nested: t.default(t.default(t.optional(t.int), 12), 13),
    });
    const nothing = { limit: null, choice: null, note: null, nested: null };
    expect(await carried(type, nothing)).toEqual(nothing);
    expect(await carried(type, {})).toEqual({ limit: 10, choice: 11, note: "none", nested: 13 });
    expect(fromPlain(t.object({ count: t.default(t.int, 3) }), { count: null }, files, rootPlace("o0"))).toEqual({ count: 3 });
  });

  test("defaults of a dataclass have the types of their fields", async () => {
    const schema = (properties: JsonObject) => ({ title: "Run", type: "object", properties });
    const properties: JsonObject = {
      wait: { type: "number", format: "time-delta", default: 90 },
      start: { type: "string", format: "date-time", default: "2026-01-02T03:04:05+00:00" },
      waits: { type: "array", items: { type: "number", format: "time-delta" }, default: [1.5] },
      model: { title: "FlyteFile", type: "object", properties: {}, default: { path: "s3://models/m", metadata: null } },
      note: { anyOf: [{ type: "string" }, { type: "null" }], default: null },
      inner: { ...schema({ pause: { type: "number", format: "time-delta", default: 2 } }), default: { pause: 3 } },
    };
    const { metadata: _, ...plain } = literalTypeOf(t.json);
    const type = typeOfLiteralType({ ...plain, metadata: schema(properties) });
    const received = {
      wait: { milliseconds: 90_000 },
      start: new Date("2026-01-02T03:04:05Z"),
      waits: [{ milliseconds: 1500 }],
      model: { uri: "s3://models/m" },
      note: null,
      inner: { pause: { milliseconds: 3000 } },
    };
    expect(await carried(type, {})).toMatchObject(received);
    const structure = create(TypeStructureSchema, {
      dataclassType: { wait: literalTypeOf(t.duration), start: literalTypeOf(t.datetime), note: literalTypeOf(t.optional(t.string)) },
    });
    expect(await carried(typeOfLiteralType({ ...plain, metadata: schema(properties), structure }), {})).toMatchObject(received);
  });

  test("a default of a dataclass that does not fit its field is dropped", async () => {
    const metadata = { title: "Run", type: "object", properties: { start: { type: "string", format: "date-time", default: "soon" } } };
    await expect(carried(typeOfLiteralType({ ...literalTypeOf(t.json), metadata }), {})).rejects.toThrow("value.start must be a Date");
  });

  test("defaults of an object are found again in its LiteralType", async () => {
    const start = new Date("2026-01-02T03:04:05.678Z");
    const type = t.object({
      start: t.default(t.datetime, start),
      wait: t.default(t.duration, { milliseconds: 1500 }),
      waits: t.default(t.list(t.duration), ["1s"]),
    });
    expect(await carried(typeOfLiteralType(literalTypeOf(type)), {})).toEqual({
      start,
      wait: { milliseconds: 1500 },
      waits: [{ milliseconds: 1000 }],
    });
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
