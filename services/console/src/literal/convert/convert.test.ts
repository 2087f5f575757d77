import type { LiteralJson } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { LiteralTypeJson } from "@flyte-ts/idl/flyteidl/core/types_pb";
import type { JsonObject } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toBase64 } from "../data/base64.js";
import type { Data } from "../data/data.js";
import { encodeMsgpack } from "../data/encode-msgpack.js";
import type { FormValue, Problem } from "../form-value.js";
import { readType } from "../type/read-type.js";
import { typeName } from "../type/type-name.js";
import { fromLiteral } from "./from-literal.js";
import { startValue } from "./start-value.js";
import { toLiteral } from "./to-literal.js";

/** A type with a literal of it, in the form that the console writes. */
interface Typed {
  readonly type: LiteralTypeJson;
  readonly literal: LiteralJson;
}

const text = fc.string({ unit: "grapheme" }).filter((value) => value.isWellFormed());
const name = fc.stringMatching(/^[a-z][a-z_]{0,6}$/);
const primitive = (simple: LiteralTypeJson["simple"], value: fc.Arbitrary<object>): fc.Arbitrary<Typed> =>
  value.map((each) => ({ type: { simple } as LiteralTypeJson, literal: { scalar: { primitive: each } } }));
const float = fc
  .double()
  .map((value) => (Number.isNaN(value) ? "NaN" : Number.isFinite(value) ? value : value > 0 ? "Infinity" : "-Infinity"));
const datetime = fc
  .tuple(
    fc.date({ min: new Date("0001-01-02"), max: new Date("9999-12-30"), noInvalidDate: true }),
    fc.constantFrom("", ".5", ".000000001"),
  )
  .map(([date, fraction]) => `${date.toISOString().slice(0, 19)}${fraction}Z`);
const duration = fc
  .tuple(fc.bigInt({ min: -(10n ** 11n), max: 10n ** 11n }), fc.constantFrom("", ".5", ".000000001"))
  .map(([seconds, fraction]) => `${seconds === 0n ? "0" : seconds}${fraction}s`);

const leaf: fc.Arbitrary<Typed> = fc.oneof(
  primitive(
    "INTEGER",
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value) => ({ integer: String(value) })),
  ),
  primitive(
    "FLOAT",
    float.map((floatValue) => ({ floatValue })),
  ),
  primitive(
    "STRING",
    text.map((stringValue) => ({ stringValue })),
  ),
  primitive(
    "BOOLEAN",
    fc.boolean().map((boolean) => ({ boolean })),
  ),
  primitive(
    "DATETIME",
    datetime.map((each) => ({ datetime: each })),
  ),
  primitive(
    "DURATION",
    duration.filter((each) => !/^0\.?0*s$/.test(each) || each === "0s").map((each) => ({ duration: each })),
  ),
  fc.constant<Typed>({ type: { simple: "NONE" }, literal: { scalar: { noneType: {} } } }),
  fc
    .tuple(text, text)
    .map(([message, failedNodeId]) => ({ type: { simple: "ERROR" } as const, literal: { scalar: { error: { message, failedNodeId } } } })),
  fc
    .uniqueArray(name, { minLength: 1 })
    .map((values) => ({ type: { enumType: { values } }, literal: { scalar: { primitive: { stringValue: values[0] ?? "" } } } })),
  fc.tuple(name, fc.constantFrom("SINGLE", "MULTIPART")).map(([format, dimensionality]) => ({
    type: { blob: { format, dimensionality } },
    literal: { scalar: { blob: { metadata: { type: { format, dimensionality } }, uri: `s3://b/${format}` } } },
  })) as fc.Arbitrary<Typed>,
  name.map((format) => {
    const structuredDatasetType = { columns: [{ name: "a", literalType: { simple: "INTEGER" } }], format };
    return {
      type: { structuredDatasetType },
      literal: { scalar: { structuredDataset: { uri: "s3://b/t", metadata: { structuredDatasetType } } } },
    };
  }) as unknown as fc.Arbitrary<Typed>,
  fc.constant<Typed>({
    type: { schema: { columns: [{ name: "a" }] } },
    literal: { scalar: { schema: { uri: "gs://b/t", type: { columns: [{ name: "a" }] } } } },
  }),
);

/** JSON schema with a value of it. */
const described: fc.Memo<{ readonly schema: Record<string, unknown>; readonly data: Data }> = fc.memo((depth) =>
  depth <= 1
    ? fc.oneof(
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((data) => ({ schema: { type: "integer" }, data })),
        fc.double().map((data) => ({ schema: { type: "number" }, data })),
        text.map((data) => ({ schema: { type: "string" }, data })),
        fc.boolean().map((data) => ({ schema: { type: "boolean" }, data })),
        fc.constant({ schema: { anyOf: [{ type: "string" }, { type: "null" }], default: null }, data: null }),
        name.map((data) => ({ schema: { enum: ["other value", data] }, data })),
      )
    : fc.oneof(
        described(1),
        fc.array(described(depth - 1), { maxLength: 1 }).map((items) => ({
          schema: { type: "array", items: items[0]?.schema ?? { type: "string" } },
          data: items.map(({ data }) => data),
        })),
        fc
          .tuple(
            text.filter((key) => key !== "__proto__"),
            described(depth - 1),
          )
          .map(([key, each]) => ({
            schema: { type: "object", additionalProperties: each.schema },
            data: { [key]: each.data },
          })),
        fc.dictionary(name, described(depth - 1)).map((fields) => ({
          schema: {
            type: "object",
            title: "T",
            properties: Object.fromEntries(Object.entries(fields).map(([key, { schema }]) => [key, schema])),
            required: Object.keys(fields),
          },
          data: Object.fromEntries(Object.entries(fields).map(([key, { data }]) => [key, data])),
        })),
      ),
);
const annotation = { annotations: { "cache-key-metadata": { "serialization-format": "msgpack" } } };
const dataclass: fc.Arbitrary<Typed> = fc.dictionary(name, described(3), { minKeys: 1 }).map((fields) => {
  const properties = Object.fromEntries(Object.entries(fields).map(([key, { schema }]) => [key, schema]));
  const data = Object.fromEntries(Object.entries(fields).map(([key, each]) => [key, each.data]));
  return {
    type: { simple: "STRUCT", metadata: { type: "object", title: "D", properties } as unknown as JsonObject, annotation },
    literal: { scalar: { binary: { value: toBase64(encodeMsgpack(data)), tag: "msgpack" } } },
  };
});

const typed: fc.Memo<Typed> = fc.memo((depth) =>
  depth <= 1
    ? fc.oneof(leaf, dataclass)
    : fc.oneof(
        leaf,
        typed(depth - 1).map(({ type, literal }) => ({
          type: { collectionType: type },
          literal: { collection: { literals: [literal, literal] } },
        })),
        fc
          .tuple(
            text.filter((key) => key !== "__proto__"),
            typed(depth - 1),
          )
          .map(([key, { type, literal }]) => ({
            type: { mapValueType: type },
            literal: { map: { literals: { [key]: literal } } },
          })),
        fc.tuple(leaf, typed(depth - 1), fc.boolean()).map(([a, b, first]) => {
          const variants = [a, b].map(({ type }, index) => ({ ...type, structure: { tag: `t${index}` } }));
          const chosen = first ? 0 : 1;
          return {
            type: { unionType: { variants } },
            literal: { scalar: { union: { value: [a, b][chosen]?.literal, type: variants[chosen] } } } as LiteralJson,
          };
        }),
      ),
);

function convert(type: LiteralTypeJson, value: FormValue): { literal: LiteralJson | undefined; problems: readonly Problem[] } {
  const problems: Problem[] = [];
  return { literal: toLiteral(readType(type), value, "x", problems), problems };
}

test.each(["UTC", "Europe/Berlin", "America/St_Johns"])("a literal of any type stays the same by way of a form, in %s", (zone) => {
  fc.assert(
    fc.property(typed(3), ({ type, literal }) => {
      const form = fromLiteral(readType(type), literal, zone);
      expect(JSON.stringify(form)).not.toMatch(/"raw":/);
      const { literal: again, problems } = convert(type, form);
      expect(problems).toEqual([]);
      expect(again).toEqual(literal);
      expect(fromLiteral(readType(type), again ?? {}, zone)).toEqual(form);
      expect(typeName(readType(type))).not.toBe("");
    }),
  );
});

test("none is a value of its type, not a literal that does not fit", () => {
  expect(fromLiteral(readType({ simple: "NONE" }), { scalar: { noneType: {} } })).toBeNull();
});

test("a form survives JSON, as drafts and addresses hold it", () => {
  fc.assert(
    fc.property(typed(3), ({ type, literal }) => {
      const form = fromLiteral(readType(type), literal);
      expect(JSON.parse(JSON.stringify(form))).toEqual(form);
    }),
  );
});

test("a literal that does not fit its type, or has a hash, stays as it is in JSON", () => {
  const number: LiteralJson = { scalar: { primitive: { integer: "1" } } };
  const hashed: LiteralJson = { ...number, hash: "h" };
  const cases: readonly (readonly [LiteralTypeJson, LiteralJson])[] = [
    [{ simple: "STRING" }, number],
    [{ simple: "INTEGER" }, hashed],
    [{ simple: "BINARY" }, { scalar: { binary: { value: "AAA=", tag: "other" } } }],
    [{ collectionType: { simple: "STRING" } }, { collection: { literals: [number] } }],
    [{ simple: "INTEGER" }, { offloadedMetadata: { uri: "s3://b/o", sizeBytes: "5" } }],
  ];
  for (const [type, literal] of cases) {
    const form = fromLiteral(readType(type), literal);
    expect(JSON.stringify(form)).toMatch(/"raw":/);
    expect(convert(type, form)).toEqual({ literal, problems: [] });
  }
});

describe("answers of REST with fields that are not set", () => {
  test("are read", () => {
    const literal = {
      scalar: {
        union: {
          value: { scalar: { primitive: { integer: "1" } }, hash: "", metadata: {} },
          type: { simple: "INTEGER", metadata: null, structure: { tag: "int", dataclassType: {} } },
        },
      },
      hash: "",
    };
    const variants = [
      { simple: "STRING", structure: { tag: "str", dataclassType: {} } },
      { simple: "INTEGER", structure: { tag: "int", dataclassType: {} } },
    ];
    const form = fromLiteral(readType({ unionType: { variants } } as LiteralTypeJson), literal as unknown as LiteralJson);
    expect(form).toEqual({ variant: 1, value: "1" });
  });
});

test("a dataclass without the annotation of msgpack is a struct, whose whole numbers are floats of the schema", () => {
  const metadata = { type: "object", title: "D", properties: { rate: { type: "number" }, depth: { type: "integer" } } };
  const type = { simple: "STRUCT", metadata: metadata as unknown as JsonObject } as const;
  const form = fromLiteral(readType(type), { scalar: { generic: { rate: 1, depth: 8 } as unknown as JsonObject } });
  expect(form).toEqual({ fields: { rate: "1", depth: "8" } });
  expect(convert(type, form).literal).toEqual({ scalar: { generic: { rate: 1, depth: 8 } } });
  expect(convert(type, { fields: { rate: "nan", depth: "9007199254740993" } }).problems).toMatchObject([{ path: "x" }]);
});

test("schemas of Pydantic with references to themselves, defaults and bounds have forms", () => {
  const metadata = {
    $ref: "#/$defs/Node",
    $defs: {
      Node: {
        type: "object",
        title: "Node",
        properties: {
          depth: { type: "integer", exclusiveMinimum: 0, maximum: 32, default: 8 },
          next: { anyOf: [{ $ref: "#/$defs/Node" }, { type: "null" }], default: null },
          names: { type: "array", items: { type: "string" } },
        },
        required: ["names"],
      },
    },
  };
  const type = { simple: "STRUCT", metadata: metadata as unknown as JsonObject, annotation } as const;
  const read = readType(type);
  expect(startValue(read)).toEqual({ fields: { depth: "8", next: { variant: 1, value: null }, names: { items: [] } } });
  expect(convert(type, { fields: { depth: "0", names: { items: [] } } }).problems).toEqual([
    { path: "x.depth", text: "Below the least value: write 1 or more." },
  ]);
  expect(convert(type, { fields: {} }).problems).toEqual([{ path: "x.names", text: "Needs a value.", isEmpty: true }]);
});

test("schemas of marshmallow, draft 7, are read by their references", () => {
  const metadata = {
    $schema: "http://json-schema.org/draft-07/schema#",
    definitions: {
      FooSchema: { type: "object", properties: { x: { type: "number", format: "integer", title: "x" }, y: { type: ["string", "null"] } } },
    },
    $ref: "#/definitions/FooSchema",
  };
  const read = readType({ simple: "STRUCT", metadata: metadata as unknown as JsonObject });
  expect(typeName(read)).toBe("dataclass FooSchema");
  expect(read.kind === "object" && read.fields().map(({ name: field, type }) => [field, typeName(type)])).toEqual([
    ["x", "float"],
    ["y", "string | none"],
  ]);
});

test.each<readonly [LiteralTypeJson, FormValue, string]>([
  [{ simple: "INTEGER" }, "", "Write a whole number."],
  [{ simple: "INTEGER" }, "1.5", "Not a whole number: write 1 without what follows it."],
  [{ simple: "INTEGER" }, "9223372036854775808", "Above the greatest value: write 9223372036854775807 or less."],
  [{ simple: "FLOAT" }, "0.05,", "Not a number: write 0.05 without the comma."],
  [{ simple: "FLOAT" }, "0,5", "Not a number: write 0.5 with a point."],
  [{ simple: "DURATION" }, "90", "A duration needs a unit: write 90s for seconds."],
  [{ simple: "DATETIME" }, { at: "2026-02-30", zone: "UTC" }, "There is no such time: check 2026-02-30 00:00:00."],
  [
    { blob: { dimensionality: "SINGLE" } },
    { address: "data.csv", format: "" },
    "Not an address: write it with its scheme, such as s3://bucket/data.csv.",
  ],
  [{ enumType: { values: ["a"] } }, "b", "Choose one of the values."],
  [{ simple: "STRUCT" }, "[1]", 'Not an object: write it in braces, such as {"name": 1}.'],
  [{ simple: "BINARY" }, { raw: "{}" }, "Not a literal: write an object with one of scalar, collection, map, offloadedMetadata."],
])("%j does not take %j", (type, value, problem) => {
  expect(convert(type, value)).toMatchObject({ literal: undefined, problems: [{ path: "x", text: problem }] });
});

test("keys of a map differ", () => {
  const entry = { key: "a", value: "1" };
  expect(convert({ mapValueType: { simple: "INTEGER" } }, { entries: [entry, entry] }).problems).toEqual([
    { path: "x.1.key", text: 'The key "a" is there twice: keys must differ.' },
  ]);
});
