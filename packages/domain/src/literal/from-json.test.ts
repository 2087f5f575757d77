import { create, type JsonValue } from "@bufbuild/protobuf";
import { type LiteralType, LiteralTypeSchema, SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { expect, test } from "vitest";
import { literalFitsType } from "./fits.js";
import { resolveJsonPointer, JsonLiteralError, literalFromJson } from "./from-json.js";

const simple = (value: SimpleType): LiteralType => create(LiteralTypeSchema, { type: { case: "simple", value } });
const list = (value: LiteralType) => create(LiteralTypeSchema, { type: { case: "collectionType", value } });
const map = (value: LiteralType) => create(LiteralTypeSchema, { type: { case: "mapValueType", value } });
const union = (...variants: LiteralType[]) => create(LiteralTypeSchema, { type: { case: "unionType", value: { variants } } });
const colour = create(LiteralTypeSchema, { type: { case: "enumType", value: { values: ["red", "green"] } } });
const file = create(LiteralTypeSchema, { type: { case: "blob", value: { format: "csv" } } });
const table = create(LiteralTypeSchema, { type: { case: "structuredDatasetType", value: { format: "parquet" } } });
const { INTEGER, FLOAT, STRING, BOOLEAN, DATETIME, DURATION, STRUCT, NONE, BINARY } = SimpleType;
const optional = union(simple(INTEGER), simple(NONE));

/** Content of a literal, without the messages around it. */
function shown(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, each: unknown) => (key === "$typeName" ? undefined : typeof each === "bigint" ? `${each}n` : each)),
  );
}

test.each<[JsonValue, LiteralType, unknown]>([
  [7, simple(INTEGER), { case: "integer", value: "7n" }],
  ["-9223372036854775808", simple(INTEGER), { case: "integer", value: "-9223372036854775808n" }],
  [7, simple(FLOAT), { case: "floatValue", value: 7 }],
  ["", simple(STRING), { case: "stringValue", value: "" }],
  [false, simple(BOOLEAN), { case: "boolean", value: false }],
  ["2026-01-31T12:00:00.000000001+01:00", simple(DATETIME), { case: "datetime", value: { seconds: "1769857200n", nanos: 1 } }],
  ["1.5s", simple(DURATION), { case: "duration", value: { seconds: "1n", nanos: 500_000_000 } }],
  ["green", colour, { case: "stringValue", value: "green" }],
])("%j becomes a primitive", (value, type, expected) => {
  const literal = literalFromJson(value, type);
  expect(shown(literal.value)).toMatchObject({ case: "scalar", value: { value: { case: "primitive", value: { value: expected } } } });
  expect(literalFitsType(literal, type)).toBe(true);
});

test.each<[JsonValue, LiteralType]>([
  [{ a: [1, "b", null] }, simple(STRUCT)],
  [null, simple(NONE)],
  [[[1], []], list(list(simple(INTEGER)))],
  [{ "a/b": 1.5, __proto__x: 2 }, map(simple(FLOAT))],
  [null, optional],
  [3, optional],
  ["s3://b/x.csv", file],
  ["s3://b/x", table],
])("%j becomes a literal of the declared type", (value, type) => {
  expect(literalFitsType(literalFromJson(value, type), type)).toBe(true);
});

test.each<[JsonValue, LiteralType, string]>([
  [1.5, simple(INTEGER), "the value must be an integer, found number 1.5"],
  [2 ** 53, simple(INTEGER), "give it as a string"],
  ["9223372036854775808", simple(INTEGER), "64 bits"],
  ["x", simple(INTEGER), "must be an integer, found a text"],
  ["1", simple(FLOAT), "must be a number"],
  [1, simple(STRING), "must be a text"],
  ["true", simple(BOOLEAN), "must be true or false"],
  ["yesterday", simple(DATETIME), "2026-01-31T12:00:00Z"],
  ["1m", simple(DURATION), "1.5s"],
  [[], simple(STRUCT), "must be an object, found a list"],
  [0, simple(NONE), "must be null"],
  ["blue", colour, "one of red, green"],
  [{}, list(simple(INTEGER)), "must be a list, found an object"],
  [[1, [2]], list(simple(INTEGER)), "the value at /1 must be an integer, found a list"],
  [{ "a/b": ["x"] }, map(list(simple(INTEGER))), "the value at /a~1b/0 must be"],
  ["x", optional, "one of the variants of"],
  ["", file, "a string with a URI"],
  ["x", simple(BINARY), "cannot be made from JSON"],
])("%j is refused for the declared type", (value, type, message) => {
  expect(() => literalFromJson(value, type)).toThrow(JsonLiteralError);
  expect(() => literalFromJson(value, type)).toThrow(message);
});

test("pointers follow RFC 6901", () => {
  const value = { foo: ["bar", "baz"], "": 0, "a/b": 1, "m~n": 8, "0": { x: null } };
  const found = ["", "/foo/1", "/", "/a~1b", "/m~0n", "/0/x"].map((pointer) => resolveJsonPointer(value, pointer));
  expect(found).toEqual([value, "baz", 0, 1, 8, null]);
  for (const pointer of ["/nothing", "/foo/2", "/foo/01", "/foo/-", "/foo/length", "/toString", "/a~1b/x", "foo", "/m~n", "/m~2n"]) {
    expect(() => resolveJsonPointer(value, pointer)).toThrow(JsonLiteralError);
  }
  expect(() => resolveJsonPointer(value, "/foo/x")).toThrow('there is nothing at /foo/x: "x" is not in a list');
});
