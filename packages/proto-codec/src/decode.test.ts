import { create, type DescMessage, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { IdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type Literal, LiteralMapSchema, LiteralSchema, type Primitive } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { ExecutionEventSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import { TaskEventSchema, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { messages } from "./any-message.fixture.js";
import { decodeMessage } from "./decode.js";

/** Result of decoding, or the text of its error. */
function result(decode: () => unknown): unknown {
  try {
    return { message: decode() };
  } catch (error) {
    return { error: String(error) };
  }
}

const ours = (schema: DescMessage, bytes: Uint8Array) => result(() => decodeMessage(schema, bytes));
const theirs = (schema: DescMessage, bytes: Uint8Array) => result(() => fromBinary(schema, bytes));

describe.each([TaskRequestSchema, TaskEventSchema, ExecutionEventSchema, LiteralMapSchema])("$typeName", (schema) => {
  const encoded = messages(schema, 4).map((message) => toBinary(schema, message as never));

  test("is decoded as by the library", () => {
    fc.assert(
      fc.property(encoded, (bytes) => {
        expect(ours(schema, bytes)).toEqual(theirs(schema, bytes));
        expect(Buffer.compare(toBinary(schema, decodeMessage(schema, bytes)), toBinary(schema, fromBinary(schema, bytes)))).toBe(0);
      }),
      { numRuns: 200 },
    );
  });

  test("is decoded or refused as by the library when it is concatenated, truncated or changed", () => {
    fc.assert(
      fc.property(encoded, encoded, fc.nat(), fc.nat(255), (first, second, place, value) => {
        expect(ours(schema, Buffer.concat([first, second]))).toEqual(theirs(schema, Buffer.concat([first, second])));
        expect(ours(schema, first.subarray(0, place % (first.length + 1)))).toEqual(
          theirs(schema, first.subarray(0, place % (first.length + 1))),
        );
        const changed = Uint8Array.from(first);
        if (changed.length > 0) changed[place % changed.length] = value;
        expect(ours(schema, changed)).toEqual(theirs(schema, changed));
      }),
      { numRuns: 200 },
    );
  });
});

const literal = (value: Primitive["value"] | undefined, generic = {}): MessageInitShape<typeof LiteralSchema> => ({
  value: {
    case: "scalar",
    value: { value: value === undefined ? { case: "generic", value: generic } : { case: "primitive", value: { value } } },
  },
});
const values = {
  literals: {
    a: literal({ case: "floatValue", value: 0.5 }),
    b: literal({ case: "integer", value: -1n }),
    c: literal(undefined, { d: [1] }),
  },
};

test.each([
  [TaskRequestSchema, { inputs: values, labels: { e: "é" }, template: { type: "t", custom: { f: 1 } }, pluginState: Uint8Array.of(1) }],
  [TaskEventSchema, { outputs: values, event: { phase: 3, occurredAt: { seconds: 2n ** 40n, nanos: 1 }, customInfo: {} } }],
  [ExecutionEventSchema, { inputs: values, event: { case: "node", value: { id: { nodeId: "n" }, isParent: true } }, sequence: 2n ** 60n }],
] as const)("$typeName is decoded without the library, which omits fields without a value", (schema, init) => {
  const bytes = toBinary(schema, create(schema, init as never) as never);
  expect(Object.keys(decodeMessage(schema, bytes)).length).toBe(schema.members.length + 1);
  expect(ours(schema, bytes)).toEqual(theirs(schema, bytes));
});

test.each([
  ["text that is not UTF-8", [0x22, 2, 0xc3, 0x28]],
  ["text with a byte order mark", [0x22, 4, 0xef, 0xbb, 0xbf, 0x61]],
  ["a negative number", [8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]],
  ["a number of more than 64 bits", [8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1]],
  ["a length beyond the end", [0x22, 0xff, 0xff, 0xff, 0xff, 0x0f]],
  ["field 0", [0, 1]],
  ["an unknown field", [0xf8, 6, 1]],
  ["a field with another wire type", [0x20, 1]],
])("%s is decoded or refused as by the library", (_, bytes) =>
  expect(ours(IdentifierSchema, Uint8Array.from(bytes))).toEqual(theirs(IdentifierSchema, Uint8Array.from(bytes))),
);

test("nested messages are decoded to the same depth as by the library", () => {
  let deep: Literal = create(LiteralSchema);
  for (let depth = 0; depth < 60; depth++) {
    deep = create(LiteralSchema, { value: { case: "collection", value: { literals: [deep] } } });
    expect(ours(LiteralSchema, toBinary(LiteralSchema, deep))).toEqual(theirs(LiteralSchema, toBinary(LiteralSchema, deep)));
  }
});

test("a map key that names an inherited property is an ordinary entry", () => {
  const bytes = (key: string) => Buffer.concat([Buffer.from([10, key.length + 4, 10, key.length]), Buffer.from(key), Buffer.from([18, 0])]);
  for (const key of ["__proto__", "constructor", "toString"]) {
    expect(Object.keys(decodeMessage(LiteralMapSchema, bytes(key)).literals)).toEqual([key]);
  }
});

test("lists and maps of different messages are distinct objects", () => {
  const one = decodeMessage(LiteralMapSchema, new Uint8Array());
  one.literals["a"] = create(LiteralSchema);
  expect(decodeMessage(LiteralMapSchema, new Uint8Array()).literals).toEqual({});
});
