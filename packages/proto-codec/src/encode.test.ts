import { create, toBinary } from "@bufbuild/protobuf";
import { LiteralMapSchema, type LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { IdentifierSchema, type ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { ExecutionEventSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import { TaskEventSchema, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import fc from "fast-check";
import { expect, test } from "vitest";
import { messages } from "./any-message.fixture.js";
import { encodeMessage } from "./encode.js";

test.each([TaskRequestSchema, TaskEventSchema, ExecutionEventSchema, LiteralMapSchema])(
  "$typeName is encoded as by the library",
  (schema) => {
    fc.assert(
      fc.property(messages(schema, 4), (message) => {
        expect(Buffer.compare(encodeMessage(schema, message as never), toBinary(schema, message as never))).toBe(0);
      }),
      { numRuns: 200 },
    );
  },
);

test("long values and unknown fields are encoded, too", () => {
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

test("encoded bytes stay unchanged by later calls, and values that the library refuses are refused", () => {
  const id = (name: string) => create(IdentifierSchema, { name });
  const first = encodeMessage(IdentifierSchema, id("first"));
  expect(() => encodeMessage(IdentifierSchema, create(LiteralMapSchema) as never)).toThrow("cannot use field");
  expect(() => encodeMessage(IdentifierSchema, { ...id("a"), resourceType: 0.5 as number as ResourceType })).toThrow("invalid int32");
  encodeMessage(IdentifierSchema, id("second"));
  expect(Buffer.compare(first, toBinary(IdentifierSchema, id("first")))).toBe(0);
});
