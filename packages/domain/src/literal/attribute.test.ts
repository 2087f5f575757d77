import { create } from "@bufbuild/protobuf";
import { type Literal, LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type PromiseAttribute, PromiseAttributeSchema, SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { describe, expect, it } from "vitest";
import { simpleType } from "../type/simple.js";
import { AttributeError, type OffloadedAt, resolveAttributes } from "./attribute.js";
import {
  binaryLiteral,
  booleanLiteral,
  collectionLiteral,
  floatLiteral,
  integerLiteral,
  mapLiteral,
  noneLiteral,
  stringLiteral,
  structLiteral,
  unionLiteral,
} from "./build.js";

const path = (...steps: (string | number)[]): PromiseAttribute[] =>
  steps.map((value) =>
    create(PromiseAttributeSchema, { value: typeof value === "string" ? { case: "stringValue", value } : { case: "intValue", value } }),
  );
const packed = (hex: string): Literal => binaryLiteral(Uint8Array.from(Buffer.from(hex.replaceAll(" ", ""), "hex")), "msgpack");
const at = (literal: Literal, ...steps: (string | number)[]): Literal | OffloadedAt => resolveAttributes(literal, path(...steps));

describe("resolveAttributes", () => {
  it("resolves paths through lists and maps", () => {
    const literal = mapLiteral([["k", collectionLiteral([integerLiteral(1), stringLiteral("x")])]]);
    expect(at(literal, "k", 1)).toEqual(stringLiteral("x"));
    expect(at(literal, "k")).toEqual(collectionLiteral([integerLiteral(1), stringLiteral("x")]));
  });

  it("resolves paths through unions, which need no path component", () => {
    const inner = collectionLiteral([unionLiteral(mapLiteral([["a", integerLiteral(7)]]), simpleType(SimpleType.NONE))]);
    expect(at(unionLiteral(inner, simpleType(SimpleType.NONE)), 0, "a")).toEqual(integerLiteral(7));
  });

  it("extracts primitives from msgpack values, floats as floats", () => {
    // {"i": 1, "f": 1.0, "s": "x", "b": true, "n": nil}
    const literal = packed("85 a169 01 a166 cb3ff0000000000000 a173 a178 a162 c3 a16e c0");
    expect(at(literal, "i")).toEqual(integerLiteral(1));
    expect(at(literal, "f")).toEqual(floatLiteral(1));
    expect(at(literal, "s")).toEqual(stringLiteral("x"));
    expect(at(literal, "b")).toEqual(booleanLiteral(true));
    expect(at(literal, "n")).toEqual(packed("c0"));
  });

  it("keeps the bytes of msgpack values, and converts lists to collections", () => {
    // {"d": {"x": 300 as 32 bits}, "l": [1, {"y": 2}]}
    const literal = packed("82 a164 81 a178 ce0000012c a16c 92 01 81 a179 02");
    expect(at(literal, "d")).toEqual(packed("81 a178 ce0000012c"));
    expect(at(literal, "l")).toEqual(collectionLiteral([packed("01"), packed("81 a179 02")]));
    expect(at(literal, "l", 1, "y")).toEqual(integerLiteral(2));
  });

  it("continues from literals into msgpack values, also where the path ends there", () => {
    const literal = collectionLiteral([packed("81 a161 05"), packed("92 01 02")]);
    expect(at(literal, 0, "a")).toEqual(integerLiteral(5));
    expect(at(literal, 1)).toEqual(collectionLiteral([packed("01"), packed("02")]));
  });

  it("finds integer keys by index, and the last of duplicate keys", () => {
    expect(at(packed("82 07 a173 a137 c3"), 7)).toEqual(stringLiteral("s"));
    expect(at(packed("82 a161 01 a161 02"), "a")).toEqual(integerLiteral(2));
  });

  it("resolves paths through structs, whose numbers are floats", () => {
    const literal = structLiteral({ a: { l: [1, "x", null, { b: true }] } });
    expect(at(literal, "a", "l", 0)).toEqual(floatLiteral(1));
    expect(at(literal, "a", "l", 2)).toEqual(noneLiteral());
    expect(at(literal, "a", "l", 3)).toEqual(structLiteral({ b: true }));
    expect(at(literal, "a", "l", 3, "b")).toEqual(booleanLiteral(true));
    expect(at(structLiteral({ l: [1, ["x"]] }), "l")).toEqual(
      collectionLiteral([floatLiteral(1), collectionLiteral([stringLiteral("x")])]),
    );
  });

  it("returns the URI of an offloaded literal until it is loaded", () => {
    const offloaded = (uri: string) => create(LiteralSchema, { value: { case: "offloadedMetadata", value: { uri } } });
    expect(resolveAttributes(offloaded("s3://b/x"), path(0))).toEqual({ uri: "s3://b/x" });
    const known = (uri: string) => (uri === "s3://b/x" ? collectionLiteral([integerLiteral(3)]) : undefined);
    expect(resolveAttributes(offloaded("s3://b/x"), path(0), known)).toEqual(integerLiteral(3));
    expect(() => resolveAttributes(offloaded("s3://b/x"), path(0), offloaded)).toThrow(AttributeError);
    const self = () => unionLiteral(offloaded("s3://b/x"), simpleType(SimpleType.NONE));
    expect(() => resolveAttributes(self(), path(0), self)).toThrow("deep");
  });

  it.each<[string, Literal, (string | number)[], RegExp]>([
    ["a missing key", mapLiteral([]), ["k"], /\.k meets a map without this key/],
    ["an inherited name", mapLiteral([]), ["constructor"], /without this key/],
    ["an index beyond the end", collectionLiteral([integerLiteral(1)]), [1], /a list of 1/],
    ["a negative index", collectionLiteral([integerLiteral(1)]), [-1], /a list of 1/],
    ["a key into a list", collectionLiteral([integerLiteral(1)]), ["k"], /index is a number/],
    ["an index into a map", mapLiteral([["0", noneLiteral()]]), [0], /keys are strings/],
    ["an attribute of a primitive", integerLiteral(1), ["k"], /primitive/],
    ["an attribute of a msgpack primitive", packed("81 a161 01"), ["a", "b"], /integer/],
    ["a missing msgpack key", packed("81 a161 01"), ["b"], /without this key/],
    ["a msgpack index beyond the end", packed("91 01"), [1], /a list of 1/],
    ["a missing field", structLiteral({}), ["toString"], /without this field/],
    ["a field of null", structLiteral({ a: null }), ["a", "b"], /null/],
    ["another binary format", binaryLiteral(Uint8Array.of(1), "pickle"), ["a"], /"pickle"/],
    ["broken msgpack", packed("82 a161"), ["a"], /ends at/],
    ["no bytes", packed(""), ["a"], /ends at 0/],
    ["an empty literal", create(LiteralSchema), ["a"], /no value/],
  ])("refuses %s", (_, literal, steps, message) => {
    expect(() => at(literal, ...steps)).toThrow(AttributeError);
    expect(() => at(literal, ...steps)).toThrow(message);
  });

  it("refuses integers beyond 64 bits with a sign", () => {
    expect(at(packed("81 a161 cf7fffffffffffffff"), "a")).toEqual(integerLiteral(2n ** 63n - 1n));
    expect(() => at(packed("81 a161 cf8000000000000000"), "a")).toThrow(expect.objectContaining({ code: "InvalidPrimitiveType" }));
  });
});
