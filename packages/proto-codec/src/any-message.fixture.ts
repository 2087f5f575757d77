import { create, type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import fc from "fast-check";

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

/** Generates messages of the type, nested up to `depth`. */
export function messages(schema: DescMessage, depth: number): fc.Arbitrary<Message> {
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
