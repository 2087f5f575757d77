import { create, toBinary } from "@bufbuild/protobuf";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { TaskEventSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { expect, test } from "vitest";
import { MessageLimitError, checkMessageLimits } from "./index.js";

/** A list of this many empty literals, each two bytes. */
function manyLiterals(count: number): Uint8Array {
  const literals = Buffer.alloc(2 * count);
  for (let at = 0; at < literals.length; at += 2) literals[at] = 0x0a;
  return literals;
}

/** Field `number` with these bytes. */
function field(number: number, bytes: Uint8Array): Uint8Array {
  const length: number[] = [];
  for (let rest = bytes.length; ; rest >>>= 7) {
    length.push(rest > 127 ? (rest & 127) | 128 : rest);
    if (rest <= 127) break;
  }
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), bytes]);
}

/** A task event whose one output is a collection of this many empty literals. */
function taskEvent(count: number): Uint8Array {
  const literal = field(2, manyLiterals(count));
  const outputs = TaskEventSchema.fields.find(({ name }) => name === "outputs")?.number ?? 0;
  return field(outputs, field(1, Buffer.concat([field(1, Buffer.from("a")), field(2, literal)])));
}

test("a message with too many elements is rejected with the limit", () => {
  expect(() => checkMessageLimits(TaskEventSchema, taskEvent(2_000_000))).toThrow(MessageLimitError);
  expect(() => checkMessageLimits(TaskEventSchema, taskEvent(2_000_000))).toThrow(
    "flytets.plugin.v1.TaskEvent: has more than 1000000 elements",
  );
});

test("messages nested beyond the limit are rejected", () => {
  let deep: Uint8Array = field(9, Buffer.alloc(70_000));
  for (let depth = 0; depth < 120; depth++) deep = field(depth % 2 === 0 ? 2 : 1, deep);
  expect(() => checkMessageLimits(LiteralMapSchema, field(1, field(2, field(2, deep))))).toThrow("is nested more than 100 levels deep");
});

test("a message within the limits is returned unchanged", () => {
  const large = taskEvent(100_000);
  expect(checkMessageLimits(TaskEventSchema, large)).toBe(large);
  const small = toBinary(TaskEventSchema, create(TaskEventSchema, { workflowKey: "a/b" }));
  expect(checkMessageLimits(TaskEventSchema, small)).toBe(small);
});
