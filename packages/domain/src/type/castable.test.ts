import { create, type JsonObject, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type LiteralType,
  LiteralTypeSchema,
  SchemaType_SchemaColumn_SchemaColumnType as Column,
  SimpleType,
} from "@flyte-ts/idl/flyteidl/core/types_pb";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isCastable } from "./castable.js";
import { MAX_NESTING } from "./nesting.js";
import { simpleType } from "./simple.js";

type Init = MessageInitShape<typeof LiteralTypeSchema>;
const make = (init: Init): LiteralType => create(LiteralTypeSchema, init);

const none = simpleType(SimpleType.NONE);
const int = simpleType(SimpleType.INTEGER);
const float = simpleType(SimpleType.FLOAT);
const text = simpleType(SimpleType.STRING);
const list = (value: LiteralType) => make({ type: { case: "collectionType", value } });
const map = (value: LiteralType) => make({ type: { case: "mapValueType", value } });
const union = (...variants: LiteralType[]) => make({ type: { case: "unionType", value: { variants } } });
const oneOf = (...values: string[]) => make({ type: { case: "enumType", value: { values } } });
const blob = (format: string, dimensionality = 0) => make({ type: { case: "blob", value: { format, dimensionality } } });
const schema = (...columns: [string, Column][]) =>
  make({ type: { case: "schema", value: { columns: columns.map(([name, type]) => ({ name, type })) } } });
const dataset = (format: string, ...columns: [string, LiteralType][]) =>
  make({
    type: { case: "structuredDatasetType", value: { format, columns: columns.map(([name, literalType]) => ({ name, literalType })) } },
  });
const struct = (metadata?: JsonObject) => make({ type: { case: "simple", value: SimpleType.STRUCT }, metadata });
const tagged = (tag: string, { type }: LiteralType) => make({ type, structure: { tag } });

/** Numbers of the cases with a wrong answer. */
function wrong(cases: readonly (readonly [upstream: LiteralType, downstream: LiteralType, fits: boolean])[]): number[] {
  return cases.flatMap(([upstream, downstream, fits], i) => (isCastable(upstream, downstream) === fits ? [] : [i]));
}

describe("castable", () => {
  it("performs no numeric promotion", () => {
    expect(
      wrong([
        [int, int, true],
        [int, float, false],
        [float, int, false],
        [int, text, false],
        [none, int, false],
        [int, none, false],
        [none, none, true],
      ]),
    ).toEqual([]);
  });

  it("casts between an enum and a string, but not between different enums", () => {
    expect(
      wrong([
        [oneOf("a", "b"), text, true],
        [text, oneOf("a", "b"), true],
        [oneOf("a", "b"), oneOf("a", "b"), true],
        [oneOf("a", "b"), oneOf("b", "a"), false],
        [oneOf("a"), oneOf("a", "b"), false],
        [oneOf("a"), int, false],
      ]),
    ).toEqual([]);
  });

  it("compares elements of lists and maps, and casts empty ones to any", () => {
    expect(
      wrong([
        [list(int), list(int), true],
        [list(int), list(text), false],
        [list(int), int, false],
        [int, list(int), false],
        [list(int), map(int), false],
        [list(none), list(text), true],
        [map(none), map(list(int)), true],
        [list(none), map(int), false],
        [list(list(none)), list(list(int)), true],
        [none, list(int), false],
      ]),
    ).toEqual([]);
  });

  it("compares blob formats only if both have one, and never the dimensionality", () => {
    expect(
      wrong([
        [blob("csv"), blob("csv"), true],
        [blob("csv"), blob("png"), false],
        [blob("csv"), blob(""), true],
        [blob(""), blob("csv"), true],
        [blob("csv", 1), blob("csv", 0), true],
        [text, blob(""), false],
      ]),
    ).toEqual([]);
  });

  it("requires at least the expected columns of a schema", () => {
    const x: [string, Column] = ["x", Column.INTEGER];
    const y: [string, Column] = ["y", Column.STRING];
    expect(
      wrong([
        [schema(x, y), schema(x), true],
        [schema(x), schema(x, y), false],
        [schema(), schema(x), true],
        [schema(x), schema(), true],
        [schema(["x", Column.FLOAT]), schema(x), false],
        [none, schema(), false],
      ]),
    ).toEqual([]);
  });

  it("casts between schemas and structured datasets if the file can be parquet", () => {
    const x: [string, Column] = ["x", Column.INTEGER];
    expect(
      wrong([
        [schema(x), dataset("", ["x", int]), true],
        [schema(x), dataset("parquet", ["x", int]), true],
        [schema(x), dataset("csv", ["x", int]), false],
        [schema(x), dataset("", ["x", text]), false],
        [dataset("Parquet", ["x", int]), schema(x), true],
        [dataset("csv", ["x", int]), schema(x), false],
        [dataset("", ["y", int]), schema(x), false],
        [dataset("csv"), dataset("CSV"), true],
        [dataset("csv"), dataset("parquet"), false],
        [dataset("", ["x", int], ["y", list(text)]), dataset("", ["y", list(text)]), true],
        [dataset("", ["y", list(text)]), dataset("", ["y", list(int)]), false],
        [none, dataset(""), true],
        [int, dataset(""), false],
        [int, schema(), false],
        [blob("parquet"), dataset("parquet"), false],
      ]),
    ).toEqual([]);
  });

  it("requires that a plain type fits exactly one variant of a union", () => {
    expect(
      wrong([
        [int, union(int, text), true],
        [float, union(int, text), false],
        [int, union(int, int), false],
        [text, union(text, oneOf("a")), false],
        [none, union(int, none), true],
        [int, union(), false],
      ]),
    ).toEqual([]);
  });

  it("requires that every variant of the upstream union fits some downstream variant", () => {
    expect(
      wrong([
        [union(int, text), union(text, float, int), true],
        [union(int, text), union(int, none), false],
        [union(int, none), int, false],
        [union(), union(), true],
      ]),
    ).toEqual([]);
  });

  it("unwraps a union of one variant, at the top level only", () => {
    expect(
      wrong([
        [union(int), int, true],
        [union(int), text, false],
        [union(int), union(int, text), true],
        [list(union(int)), list(int), false],
      ]),
    ).toEqual([]);
  });

  it("requires the tag that upstream has", () => {
    expect(
      wrong([
        [tagged("a", int), tagged("a", int), true],
        [tagged("a", int), tagged("b", int), false],
        [tagged("a", int), int, false],
        [int, tagged("a", int), true],
        [union(tagged("a", int), tagged("b", int)), union(tagged("b", int), tagged("a", int)), true],
        [tagged("a", oneOf("x")), text, true],
      ]),
    ).toEqual([]);
  });

  it("ignores metadata and annotations of all types except structs", () => {
    const annotated = make({ type: int.type, metadata: { a: 1 }, annotation: { annotations: { b: 2 } } });
    expect(
      wrong([
        [annotated, int, true],
        [int, annotated, true],
      ]),
    ).toEqual([]);
  });

  it("compares structs by their schemas, and casts one without a schema to any", () => {
    const small = { type: "object", properties: { a: { type: "integer" } } };
    const large = { type: "object", properties: { a: { type: "integer" }, b: { type: "string" } } };
    expect(
      wrong([
        [struct(), struct(small), true],
        [struct(large), struct(), true],
        [struct(large), struct(small), true],
        [struct(small), struct(large), false],
        [struct(), map(int), false],
      ]),
    ).toEqual([]);
  });

  it("refuses types nested beyond the limit, without exhausting the stack", () => {
    const deep = (levels: number, wrap: (type: LiteralType) => LiteralType) => {
      let type = int;
      for (let i = 0; i < levels; i++) type = wrap(type);
      return type;
    };
    for (const wrap of [list, map, union, (type: LiteralType) => union(type, int), (type: LiteralType) => dataset("", ["x", type])]) {
      expect.soft(isCastable(deep(MAX_NESTING / 2, wrap), deep(MAX_NESTING / 2, wrap))).toBe(true);
      expect.soft(isCastable(deep(10_000, wrap), deep(10_000, wrap))).toBe(false);
    }
  });

  it("ends quickly for unions that multiply", () => {
    const wide = union(...Array.from({ length: 3000 }, (_, i) => oneOf(`v${i}`)));
    const reversed = union(...Array.from({ length: 3000 }, (_, i) => oneOf(`w${i}`)));
    expect(isCastable(wide, structuredClone(wide))).toBe(true);
    expect(isCastable(wide, reversed)).toBe(false);
  });
});

/** Types whose every part differs from its siblings, so that unions are never ambiguous. */
const anyType: fc.Arbitrary<LiteralType> = fc.letrec<{ type: LiteralType; leaf: LiteralType }>((tie) => ({
  leaf: fc.oneof(
    fc.integer({ min: 0, max: 9 }).map((simple) => simpleType(simple)),
    fc.uniqueArray(fc.string({ maxLength: 3 }), { maxLength: 3 }).map((values) => oneOf(...values)),
    fc.constantFrom("", "csv", "png").map((format) => blob(format)),
    fc.uniqueArray(fc.constantFrom("x", "y", "z")).map((names) => schema(...names.map((name, i): [string, Column] => [name, i]))),
  ),
  type: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    tie("leaf"),
    tie("type").map(list),
    tie("type").map(map),
    fc.array(tie("type"), { maxLength: 4 }).map((variants) => union(...variants)),
    fc
      .tuple(
        fc.constantFrom("", "csv", "parquet"),
        fc.uniqueArray(fc.tuple(fc.constantFrom("x", "y"), tie("type")), { selector: ([n]) => n }),
      )
      .map(([format, columns]) => dataset(format, ...columns)),
  ),
})).type;

describe("castable, for any types", () => {
  it("is reflexive", () => {
    fc.assert(
      fc.property(anyType, (type) => {
        expect(isCastable(type, type)).toBe(true);
      }),
    );
  });

  it("depends on content, not on identity", () => {
    fc.assert(
      fc.property(anyType, anyType, (a, b) => {
        expect(isCastable(structuredClone(a), structuredClone(b))).toBe(isCastable(a, b));
      }),
    );
  });

  it("is preserved by wrapping both sides in lists or maps, except that None fits as an element", () => {
    fc.assert(
      fc.property(anyType, anyType, (a, b) => {
        const isNone = a.type.case === "simple" && a.type.value === SimpleType.NONE;
        const single = a.type.case === "unionType" && a.type.value.variants.length === 1;
        fc.pre(!isNone && !single);
        expect(isCastable(list(a), list(b))).toBe(isCastable(a, b));
        expect(isCastable(map(a), map(b))).toBe(isCastable(a, b));
      }),
    );
  });

  it("casts a union to any union with more variants", () => {
    fc.assert(
      fc.property(fc.array(anyType, { maxLength: 4 }), fc.array(anyType), (some, more) => {
        expect(isCastable(union(...some), union(...more, ...some))).toBe(true);
      }),
    );
  });

  it("casts a plain type to a union through exactly one variant", () => {
    const plain = anyType.filter((type) => type.type.case !== "unionType");
    fc.assert(
      fc.property(plain, fc.array(anyType), (type, variants) => {
        const fitting = variants.filter((variant) => isCastable(type, variant)).length;
        expect(isCastable(type, union(...variants))).toBe(fitting === 1);
      }),
    );
  });
});
