import { create, type DescField, type DescMessage, type Message, ScalarType, toBinary } from "@bufbuild/protobuf";
import { LiteralMapSchema, type LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { IdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { ExecutionEventSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import { TaskEventSchema, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeMessage } from "./encode.js";

const text = fc.oneof(fc.string({ unit: "binary" }), fc.string(), fc.string({ minLength: 120, maxLength: 400 }), fc.constant("\ud800"));
const SCALARS: Readonly<Partial<Record<ScalarType, fc.Arbitrary<unknown>>>> = {
  [ScalarType.STRING]: text,
  [ScalarType.BYTES]: fc.uint8Array({ maxLength: 300 }),
  [ScalarType.BOOL]: fc.boolean(),
  [ScalarType.INT32]: fc.oneof(fc.integer(), fc.nat(300)),
  [ScalarType.UINT32]: fc.oneof(fc.nat(300), fc.integer({ min: 0, max: 0xffff_ffff })),
  [ScalarType.INT64]: fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.bigInt({ min: 0n, max: 2n ** 33n })),
  [ScalarType.UINT64]: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  [ScalarType.DOUBLE]: fc.double(),
  [ScalarType.FLOAT]: fc.double({ noNaN: true, min: -1e6, max: 1e6 }),
};

/** Any message of the kind, with so many messages inside each other. */
function messages(schema: DescMessage, depth: number): fc.Arbitrary<Message> {
  if (depth === 0) return fc.constant(create(schema) as Message);
  const fields = Object.fromEntries(schema.fields.map((field) => [field.localName, fc.option(valuesOf(field, depth), { freq: 2 })]));
  return fc.record(fields).map((given) => {
    const init: Record<string, unknown> = {};
    for (const field of schema.fields) {
      const value = given[field.localName] ?? undefined;
      if (value === undefined) continue;
      if (field.oneof === undefined) init[field.localName] = value;
      else init[field.oneof.localName] = { case: field.localName, value };
    }
    return create(schema, init as never) as Message;
  });
}

function valuesOf(field: DescField, depth: number): fc.Arbitrary<unknown> {
  const one = valueOf(field, depth);
  if (field.fieldKind === "list") return fc.array(one, { maxLength: 2 });
  return field.fieldKind === "map" ? fc.dictionary(fc.string(), one, { maxKeys: 2 }) : one;
}

function valueOf({ message, enum: names, scalar }: DescField, depth: number): fc.Arbitrary<unknown> {
  if (message?.typeName === "google.protobuf.Struct") return fc.constantFrom({}, { a: [1, { b: "c" }] });
  if (message !== undefined) return messages(message, depth - 1);
  if (names !== undefined) return fc.constantFrom(...names.values.map(({ number }) => number));
  return SCALARS[scalar as ScalarType] ?? fc.constant(undefined);
}

test.each([TaskRequestSchema, TaskEventSchema, ExecutionEventSchema, LiteralMapSchema])(
  "$typeName is encoded as the library does",
  (schema) => {
    fc.assert(
      fc.property(messages(schema, 4), (message) => {
        expect(Buffer.compare(encodeMessage(schema, message as never), toBinary(schema, message as never))).toBe(0);
      }),
      { numRuns: 200 },
    );
  },
);

test("what is long, and what is unknown here, is encoded too", () => {
  const literals = (length: number): LiteralMap =>
    create(LiteralMapSchema, {
      literals: {
        [`a${"é".repeat(length)}`]: { hash: "x".repeat(length), value: { case: "map", value: { literals: { b: { hash: "y" } } } } },
      },
      $unknown: [{ no: 99, wireType: 2, data: new Uint8Array([2, 1, 1]) }],
    });
  for (const length of [0, 40, 70, 8_000, 9_000, 1_100_000, 3_000_000]) {
    const message = literals(length);
    expect(Buffer.compare(encodeMessage(LiteralMapSchema, message), toBinary(LiteralMapSchema, message))).toBe(0);
  }
});

test("what was encoded stays as it was when others follow, and the library refuses what it cannot take", () => {
  const id = (name: string) => create(IdentifierSchema, { name });
  const first = encodeMessage(IdentifierSchema, id("first"));
  expect(() => encodeMessage(IdentifierSchema, create(LiteralMapSchema) as never)).toThrow("cannot use field");
  expect(() => encodeMessage(IdentifierSchema, { ...id("a"), resourceType: 0.5 })).toThrow("invalid int32");
  encodeMessage(IdentifierSchema, id("second"));
  expect(Buffer.compare(first, toBinary(IdentifierSchema, id("first")))).toBe(0);
});
