import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Literal, LiteralSchema, ScalarSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type LiteralType, LiteralTypeSchema, SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isCastable } from "../type/castable.js";
import { simpleType } from "../type/simple.js";
import { typeToText } from "../type/text.js";
import {
  binaryLiteral,
  booleanLiteral,
  collectionLiteral,
  datetimeLiteral,
  durationLiteral,
  floatLiteral,
  integerLiteral,
  literalMap,
  mapLiteral,
  noneLiteral,
  stringLiteral,
  structLiteral,
  unionLiteral,
} from "./build.js";
import { literalsEqual } from "./equal.js";
import { literalFitsType } from "./fits.js";
import { literalTypeOf } from "./literal-type.js";

const scalar = (value: NonNullable<MessageInitShape<typeof ScalarSchema>["value"]>): Literal =>
  create(LiteralSchema, { value: { case: "scalar", value: create(ScalarSchema, { value }) } });
const list = (value: LiteralType) => create(LiteralTypeSchema, { type: { case: "collectionType", value } });
const union = (...variants: LiteralType[]) => create(LiteralTypeSchema, { type: { case: "unionType", value: { variants } } });
const int = simpleType(SimpleType.INTEGER);
const text = simpleType(SimpleType.STRING);

describe("literalTypeOf", () => {
  it.each<[string, Literal, string]>([
    ["an integer", integerLiteral(1), "simple:INTEGER"],
    ["a float", floatLiteral(1), "simple:FLOAT"],
    ["a text", stringLiteral(""), "simple:STRING"],
    ["a boolean", booleanLiteral(false), "simple:BOOLEAN"],
    ["a datetime", datetimeLiteral(new Date(0)), "simple:DATETIME"],
    ["a duration", durationLiteral(1500), "simple:DURATION"],
    ["none", noneLiteral(), "simple:NONE"],
    ["a primitive without a value", scalar({ case: "primitive", value: {} }), "simple:NONE"],
    ["a struct", structLiteral({}), "simple:STRUCT"],
    ["msgpack", binaryLiteral(Uint8Array.of(1), "msgpack"), "simple:STRUCT"],
    ["another binary", binaryLiteral(Uint8Array.of(1), ""), "simple:BINARY"],
    ["a union", unionLiteral(integerLiteral(1), int), "union_type:{variants:{simple:INTEGER}}"],
    ["a blob", scalar({ case: "blob", value: { metadata: { type: { format: "csv" } } } }), 'blob:{format:"csv"}'],
    ["a schema", scalar({ case: "schema", value: { type: { columns: [{ name: "x" }] } } }), 'schema:{columns:{name:"x"}}'],
    ["an empty list", collectionLiteral([]), "collection_type:{simple:NONE}"],
    ["an empty map", mapLiteral([]), "map_value_type:{simple:NONE}"],
    ["a list", collectionLiteral([integerLiteral(1), integerLiteral(2)]), "collection_type:{simple:INTEGER}"],
    [
      "elements of different types, sorted",
      collectionLiteral([stringLiteral("x"), integerLiteral(1), stringLiteral("y")]),
      "collection_type:{union_type:{variants:{simple:INTEGER} variants:{simple:STRING}}}",
    ],
    [
      "a list with an empty list",
      collectionLiteral([collectionLiteral([]), collectionLiteral([integerLiteral(1)])]),
      "collection_type:{collection_type:{simple:INTEGER}}",
    ],
    [
      "an empty list with a scalar",
      collectionLiteral([collectionLiteral([]), integerLiteral(1)]),
      "collection_type:{union_type:{variants:{collection_type:{simple:NONE}} variants:{simple:INTEGER}}}",
    ],
    ["empty lists only", collectionLiteral([collectionLiteral([])]), "collection_type:{collection_type:{simple:NONE}}"],
    [
      "an offloaded literal",
      create(LiteralSchema, { value: { case: "offloadedMetadata", value: { uri: "s3://b/k", inferredType: list(int) } } }),
      "collection_type:{simple:INTEGER}",
    ],
  ])("returns the type of %s", (_, literal, type) => expect(typeToText(literalTypeOf(literal))).toBe(type));

  it("returns undefined where a part has no value", () => {
    const empty = create(LiteralSchema);
    expect(literalTypeOf(empty)).toBeUndefined();
    expect(literalTypeOf(scalar({ case: undefined }))).toBeUndefined();
    expect(literalTypeOf(scalar({ case: "blob", value: { uri: "s3://b/k" } }))).toBeUndefined();
    expect(literalTypeOf(collectionLiteral([integerLiteral(1), empty]))).toBeUndefined();
    expect(literalTypeOf(mapLiteral([["k", empty]]))).toBeUndefined();
  });
});

describe("literalFitsType", () => {
  it("checks each element", () => {
    const mixed = collectionLiteral([integerLiteral(1), stringLiteral("x")]);
    expect(literalFitsType(mixed, list(union(int, text)))).toBe(true);
    expect(literalFitsType(mixed, list(int))).toBe(false);
    const rows = collectionLiteral([mapLiteral([]), mapLiteral([["a", integerLiteral(1)]])]);
    expect(literalFitsType(rows, list(create(LiteralTypeSchema, { type: { case: "mapValueType", value: int } })))).toBe(true);
    const nested = collectionLiteral([mixed, collectionLiteral([integerLiteral(2)])]);
    expect(literalFitsType(nested, list(list(union(int, text))))).toBe(true);
  });

  it("requires that a list fits exactly one variant of a union", () => {
    expect(literalFitsType(collectionLiteral([integerLiteral(1)]), union(list(int), list(text)))).toBe(true);
    expect(literalFitsType(collectionLiteral([]), union(list(int), list(text)))).toBe(false);
    expect(literalFitsType(collectionLiteral([]), union(list(int), text))).toBe(true);
    const withEmpty = collectionLiteral([collectionLiteral([]), collectionLiteral([integerLiteral(1)])]);
    expect(literalFitsType(withEmpty, list(union(list(int), list(text))))).toBe(true);
  });

  it("accepts blobs of several formats for a list of any format, also within a union", () => {
    const blob = (format: string) => scalar({ case: "blob", value: { metadata: { type: { format } } } });
    const anyBlob = create(LiteralTypeSchema, { type: { case: "blob", value: {} } });
    const blobs = collectionLiteral([blob("csv"), blob("png")]);
    expect(literalFitsType(blobs, list(anyBlob))).toBe(true);
    expect(literalFitsType(blobs, union(text, list(anyBlob), list(int)))).toBe(true);
    expect(literalFitsType(blobs, union(list(anyBlob), list(anyBlob)))).toBe(false);
    expect(literalFitsType(blobs, union(list(int), text))).toBe(false);
  });

  it("accepts nothing without a value, and nothing nested beyond the limit", () => {
    expect(literalFitsType(create(LiteralSchema), int)).toBe(false);
    let literal = integerLiteral(1);
    let type = int;
    for (let i = 0; i < 10_000; i++) [literal, type] = [collectionLiteral([literal]), list(type)];
    expect(literalFitsType(literal, type)).toBe(false);
    expect(literalTypeOf(literal)).toBeUndefined();
    expect(literalsEqual(literal, collectionLiteral([literal]))).toBe(false);
  });
});

const anyLiteral: fc.Arbitrary<Literal> = fc.letrec<{ literal: Literal }>((tie) => ({
  literal: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(integerLiteral),
    fc.double({ noNaN: true }).map(floatLiteral),
    fc.string().map(stringLiteral),
    fc.constant(noneLiteral()),
    fc.array(tie("literal"), { maxLength: 4 }).map(collectionLiteral),
    fc.array(fc.tuple(fc.string(), tie("literal")), { maxLength: 4 }).map(mapLiteral),
  ),
})).literal;

describe("any literal", () => {
  it("fits every type to which its own type is castable", () => {
    fc.assert(
      fc.property(anyLiteral, anyLiteral, (given, other) => {
        const [type, expected] = [literalTypeOf(given), literalTypeOf(other)];
        if (type === undefined || expected === undefined) throw new Error("every part has a value");
        expect(literalFitsType(given, expected) || !isCastable(type, expected)).toBe(true);
      }),
    );
  });

  it("equals its copy and no other literal", () => {
    fc.assert(
      fc.property(anyLiteral, anyLiteral, (a, b) => {
        expect(literalsEqual(a, structuredClone(a))).toBe(true);
        expect(literalsEqual(a, b)).toBe(literalsEqual(b, a));
        expect(literalsEqual(collectionLiteral([a]), collectionLiteral([a, b]))).toBe(false);
      }),
    );
  });
});

describe("literalMap", () => {
  it("is safe for any name", () => {
    const map = literalMap([["__proto__", integerLiteral(1)]]);
    expect(Object.keys(map.literals)).toEqual(["__proto__"]);
  });
});
