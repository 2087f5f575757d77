import fc from "fast-check";
import { t } from "../type/t.js";
import type { AnyType, Fields } from "../type/type.js";

/** A type with a value as callers give it and as functions receive it. */
export interface TypedValue {
  readonly type: AnyType;
  readonly given: unknown;
  readonly received: unknown;
}

const name = fc.stringMatching(/^[a-z][a-z0-9]{0,7}$/);
/** Texts without half surrogates. */
const text = fc.string({ unit: "grapheme", maxLength: 20 });
const date = fc.date({ min: new Date("0001-01-01T00:00:00Z"), max: new Date("9999-12-31T23:59:59Z"), noInvalidDate: true });

const same = (type: AnyType, values: fc.Arbitrary<unknown>): fc.Arbitrary<TypedValue> =>
  values.map((value) => ({ type, given: value, received: value }));

const duration = fc.integer({ min: -86_400_000, max: 86_400_000 }).map((milliseconds) => {
  return { type: t.duration, given: `${milliseconds}ms`, received: { milliseconds } };
});
const enums = fc
  .uniqueArray(name, { minLength: 1, maxLength: 4 })
  .chain((names) => same(t.enum(...(names as [string, ...string[]])), fc.constantFrom(...names)));

const scalar = fc.oneof(
  same(t.int, fc.maxSafeInteger()),
  same(t.bigint, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
  same(t.float, fc.double()),
  same(t.string, text),
  same(t.boolean, fc.boolean()),
  same(t.datetime, date),
  duration,
  enums,
);

/** JSON values of a dict in Python: no -0, and numbers that are exact. */
const json = fc.dictionary(
  text,
  fc.oneof(
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
    text,
  ),
  { maxKeys: 4, noNullPrototype: true },
);

/** Generates types with values, nested up to a depth. */
export function typedValues(depth = 3): fc.Arbitrary<TypedValue> {
  if (depth === 0) return scalar;
  const inner = typedValues(depth - 1);
  return fc.oneof(
    { arbitrary: scalar, weight: 3 },
    { arbitrary: same(t.json, json), weight: 1 },
    { arbitrary: lists(inner), weight: 2 },
    { arbitrary: maps(inner), weight: 2 },
    { arbitrary: optionals(inner), weight: 2 },
    { arbitrary: objects(inner), weight: 3 },
  );
}

/** Repeats one type with as many values as the generator gives for it. */
function lists(inner: fc.Arbitrary<TypedValue>): fc.Arbitrary<TypedValue> {
  return fc.tuple(inner, fc.nat({ max: 3 })).map(([item, count]) => ({
    type: t.list(item.type),
    given: Array.from({ length: count }, () => item.given),
    received: Array.from({ length: count }, () => item.received),
  }));
}

function maps(inner: fc.Arbitrary<TypedValue>): fc.Arbitrary<TypedValue> {
  return fc.tuple(inner, fc.uniqueArray(text, { maxLength: 3 })).map(([item, keys]) => ({
    type: t.map(item.type),
    given: Object.fromEntries(keys.map((key) => [key, item.given])),
    received: Object.fromEntries(keys.map((key) => [key, item.received])),
  }));
}

function optionals(inner: fc.Arbitrary<TypedValue>): fc.Arbitrary<TypedValue> {
  return fc.tuple(inner, fc.constantFrom("value", "null", "absent")).map(([item, form]) => {
    const type = t.optional(item.type);
    if (form === "value") return { type, given: item.given, received: item.received };
    return { type, given: form === "null" ? null : undefined, received: null };
  });
}

function objects(inner: fc.Arbitrary<TypedValue>): fc.Arbitrary<TypedValue> {
  return fc.dictionary(name, inner, { minKeys: 1, maxKeys: 4, noNullPrototype: true }).map((members) => {
    const entries = Object.entries(members);
    const fields: Fields = Object.fromEntries(entries.map(([key, { type }]) => [key, type]));
    return {
      type: t.object(fields),
      given: Object.fromEntries(entries.map(([key, { given }]) => [key, given])),
      received: Object.fromEntries(entries.map(([key, { received }]) => [key, received])),
    };
  });
}
