import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { DurationSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { ExecutionClosureSchema } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import type { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { IdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import fc from "fast-check";
import { expect, test } from "vitest";
import { durationOf, timestampOf } from "@flyte-ts/execution-state";
import { MessageWriter } from "./message-writer.js";
import { withoutField } from "./without-field.js";

const nanos = fc.bigInt({ min: -62_135_596_800_000_000_000n, max: 253_402_300_799_999_999_999n });
const text = fc.string({ unit: "grapheme", maxLength: 300 });

test("written messages are decoded unchanged and equal those of the library, for any sizes", () => {
  fc.assert(
    fc.property(fc.record({ project: text, name: text, phase: fc.nat(8), started: nanos, duration: nanos, room: fc.nat(64) }), (given) => {
      const id = create(IdentifierSchema, { project: given.project, name: given.name });
      const expected = create(ExecutionClosureSchema, {
        phase: given.phase as WorkflowExecution_Phase,
        startedAt: timestampOf(given.started),
        duration: durationOf(given.duration),
        workflowId: id,
      });
      const writer = new MessageWriter(given.room);
      writer.bytes(11, toBinary(IdentifierSchema, id));
      writer.duration(6, given.duration);
      writer.timestamp(5, given.started);
      writer.integer(4, given.phase);
      const bytes = writer.finish();
      expect(fromBinary(ExecutionClosureSchema, bytes)).toEqual(expected);
      expect(Buffer.from(bytes)).toEqual(Buffer.from(toBinary(ExecutionClosureSchema, expected)));
    }),
  );
});

test.each<[bigint]>([[0n], [1n], [-1n], [999_999_999n], [-999_999_999n], [1_000_000_000n], [-1_500_000_000n]])(
  "%s ns are written as a timestamp and as a duration",
  (value) => {
    const time = new MessageWriter();
    time.timestamp(1, value);
    expect(Buffer.from(time.finish())).toEqual(wrapped(toBinary(TimestampSchema, timestampOf(value))));
    const duration = new MessageWriter();
    duration.duration(1, value);
    expect(Buffer.from(duration.finish())).toEqual(wrapped(toBinary(DurationSchema, durationOf(value))));
  },
);

/** Encodes the message as field 1 of another message. */
function wrapped(message: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([0x0a, message.length]), message]);
}

test("an empty nested message is written, an empty string is omitted", () => {
  const writer = new MessageWriter();
  writer.string(4, "");
  writer.nested(5, 0);
  expect([...writer.finish()]).toEqual([0x2a, 0]);
});

test("a field is removed wherever and however often it occurs", () => {
  const id = (init: MessageInitShape<typeof IdentifierSchema>) => toBinary(IdentifierSchema, create(IdentifierSchema, init));
  const without = Buffer.concat([id({ resourceType: 1 }), id({ name: "n", version: "v" })]);
  expect(withoutField(without, 2)).toBe(without);
  const parts = [id({ project: "p" }), without, id({ project: "q" }), id({ org: "o" }), id({ project: "r" })];
  expect(fromBinary(IdentifierSchema, withoutField(Buffer.concat(parts), 2))).toEqual(
    create(IdentifierSchema, { resourceType: 1, name: "n", version: "v", org: "o" }),
  );
  expect(withoutField(id({ project: "p" }), 2)).toHaveLength(0);
});
