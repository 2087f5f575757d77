import { t } from "@flyte-ts/sdk";
import type { AnyType, Duration, FlyteDirectory, FlyteFile } from "@flyte-ts/sdk";
import type { Fields } from "@flyte-ts/sdk/types";
import fc from "fast-check";

/** A type that both languages have, as JSON for the program in Python. */
export type Shape =
  | { readonly kind: "int" | "bigint" | "float" | "string" | "boolean" | "datetime" | "duration" | "json" | "file" | "directory" }
  | { readonly kind: "enum"; readonly names: readonly string[] }
  | { readonly kind: "list" | "map" | "optional"; readonly of: Shape }
  | { readonly kind: "union"; readonly of: readonly Shape[] }
  | { readonly kind: "object"; readonly fields: Readonly<Record<string, Shape>> };

/** Returns the type of the SDK. */
export function typeOfShape(shape: Shape): AnyType {
  switch (shape.kind) {
    case "file":
      return t.file("csv");
    case "directory":
      return t.directory();
    case "enum":
      return t.enum(...(shape.names as readonly [string, ...string[]]));
    case "list":
      return t.list(typeOfShape(shape.of));
    case "map":
      return t.map(typeOfShape(shape.of));
    case "optional":
      return t.optional(typeOfShape(shape.of));
    case "union":
      return t.union(...(shape.of.map(typeOfShape) as [AnyType, AnyType]));
    case "object":
      return t.object(fieldsOfShapes(shape.fields));
    default:
      return t[shape.kind];
  }
}

function fieldsOfShapes(shapes: Readonly<Record<string, Shape>>): Fields {
  return Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, typeOfShape(shape)]));
}

const name = fc.stringMatching(/^f[a-z0-9]{1,6}$/);
const text = fc.string({ unit: "grapheme", maxLength: 12 });
const scalarKinds = ["int", "bigint", "float", "string", "boolean", "datetime", "duration"] as const;
const enumShape = fc.uniqueArray(name, { minLength: 1, maxLength: 4 }).map((names): Shape => ({ kind: "enum", names }));
const scalarShape = fc.oneof(
  { arbitrary: fc.constantFrom(...scalarKinds).map((kind): Shape => ({ kind })), weight: 6 },
  { arbitrary: enumShape, weight: 1 },
);

/**
 * Variants that flytekit tells apart. Within a data class it reads `true` as a timedelta where a
 * union has both.
 */
const unionShape = fc.constantFrom<Shape>(
  { kind: "union", of: [{ kind: "int" }, { kind: "string" }] },
  { kind: "union", of: [{ kind: "float" }, { kind: "string" }, { kind: "list", of: { kind: "int" } }] },
  { kind: "union", of: [{ kind: "datetime" }, { kind: "duration" }] },
  { kind: "union", of: [{ kind: "boolean" }, { kind: "datetime" }] },
  { kind: "union", of: [{ kind: "object", fields: { fa: { kind: "int" } } }, { kind: "string" }] },
);

/** Generates shapes, nested up to a depth. */
export function shapes(depth: number): fc.Arbitrary<Shape> {
  if (depth === 0) return scalarShape;
  const inner = shapes(depth - 1);
  const within = (kind: "list" | "map") => inner.map((of): Shape => ({ kind, of }));
  return fc.oneof(
    { arbitrary: scalarShape, weight: 4 },
    { arbitrary: fc.constantFrom<Shape>({ kind: "json" }, { kind: "file" }, { kind: "directory" }), weight: 1 },
    { arbitrary: unionShape, weight: 1 },
    { arbitrary: within("list"), weight: 2 },
    { arbitrary: within("map"), weight: 2 },
    // Python has no optional of an optional.
    { arbitrary: inner.map((of): Shape => (of.kind === "optional" || of.kind === "union" ? of : { kind: "optional", of })), weight: 2 },
    {
      arbitrary: fc
        .dictionary(name, inner, { minKeys: 1, maxKeys: 4, noNullPrototype: true })
        .map((fields): Shape => ({ kind: "object", fields })),
      weight: 3,
    },
  );
}

const json = fc.dictionary(
  text,
  fc.oneof(
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Object.is(number, -0)),
    text,
    fc.array(fc.integer(), { maxLength: 3 }),
  ),
  { maxKeys: 4, noNullPrototype: true },
);

/** Generates values of a shape, as callers give them. */
export function valuesOfShape(shape: Shape): fc.Arbitrary<unknown> {
  switch (shape.kind) {
    case "int":
      return fc.maxSafeInteger();
    case "bigint":
      return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    case "float":
      return fc.double();
    case "string":
      return text;
    case "boolean":
      return fc.boolean();
    case "datetime":
      return fc.date({ min: new Date("0002-01-01T00:00:00Z"), max: new Date("9998-12-31T00:00:00Z"), noInvalidDate: true });
    case "duration":
      return fc.integer({ min: -86_400_000, max: 86_400_000_000 }).map((milliseconds): Duration => ({ milliseconds }));
    case "json":
      return json;
    case "file":
      return name.map((part) => ({ uri: `s3://bucket/${part}.csv` }));
    case "directory":
      return name.map((part) => ({ uri: `s3://bucket/${part}` }));
    case "enum":
      return fc.constantFrom(...shape.names);
    case "list":
      return fc.array(valuesOfShape(shape.of), { maxLength: 3 });
    case "map":
      return fc.dictionary(text, valuesOfShape(shape.of), { maxKeys: 3, noNullPrototype: true });
    case "optional":
      return fc.option(valuesOfShape(shape.of));
    case "union":
      return fc.oneof(...shape.of.map(valuesOfShape));
    case "object":
      return fc.record(Object.fromEntries(Object.entries(shape.fields).map(([field, of]) => [field, valuesOfShape(of)])), {
        noNullPrototype: true,
      });
  }
}

export type Canonical = null | boolean | string | readonly Canonical[] | { readonly [key: string]: Canonical };

/**
 * Returns a value in a form that both languages write alike: numbers with their kind, floats by
 * their bits.
 */
export function canonical(value: unknown): Canonical {
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "bigint") return { int: String(value) };
  if (typeof value === "number") return { number: bitsOf(value) };
  if (value instanceof Date) return { milliseconds: String(value.getTime()) };
  if (Array.isArray(value)) return value.map(canonical);
  if (isDuration(value)) return { microseconds: String(Math.round(value.milliseconds * 1000)) };
  if (isAddress(value)) return { uri: value.uri };
  return Object.fromEntries(Object.entries(value as object).map(([key, item]) => [key, canonical(item)]));
}

function isDuration(value: unknown): value is Duration {
  return typeof value === "object" && Object.keys(value ?? {}).join() === "milliseconds";
}

function isAddress(value: unknown): value is FlyteFile | FlyteDirectory {
  return typeof value === "object" && value !== null && typeof (value as { uri?: unknown }).uri === "string";
}

function bitsOf(value: number): string {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return view.getBigUint64(0).toString(16).padStart(16, "0");
}
