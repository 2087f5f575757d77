import { create, createRegistry, fromBinary, toBinary } from "@bufbuild/protobuf";
import { DurationSchema, StructSchema, TimestampSchema, ValueSchema } from "@bufbuild/protobuf/wkt";
import { TaskExecutionClosureSchema } from "@flyte-ts/idl/flyteidl/admin/task_execution_pb";
import { LiteralSchema, PrimitiveSchema, ScalarSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { expect, test } from "vitest";
import { writeJsonResponse } from "./json-response.js";

const options = { protoNames: true, registry: createRegistry() };

test("NaN and infinities are written as text, also in free-form data", () => {
  const number = (value: number) => create(ValueSchema, { kind: { case: "numberValue", value } });
  const listed = create(ValueSchema, { kind: { case: "listValue", value: { values: [number(Number.NaN), number(1)] } } });
  const fields = { a: number(Number.NEGATIVE_INFINITY), b: listed, c: create(ValueSchema), d: number(2.5) };
  const struct = toBinary(StructSchema, create(StructSchema, { fields }));
  // Field 7 of a scalar, in wire format.
  const scalar = fromBinary(ScalarSchema, Uint8Array.from([0x3a, struct.length, ...struct]));
  const literal = create(LiteralSchema, { value: { case: "scalar", value: scalar } });
  expect(writeJsonResponse(LiteralSchema, literal, options)).toMatchObject({
    scalar: { generic: { a: "-Infinity", b: ["NaN", 1], c: null, d: 2.5 } },
  });
});

test.each([
  [1n, -1, "1970-01-01T00:00:00.999999999Z"],
  [0n, -1, "1969-12-31T23:59:59.999999999Z"],
  [1n, 2_000_000_003, "1970-01-01T00:00:03.000000003Z"],
  [2n ** 63n - 1n, 0, "9999-12-31T23:59:59.999999999Z"],
  [-(2n ** 63n), 0, "0001-01-01T00:00:00Z"],
])("a timestamp out of range, %s s and %s ns, is written as the nearest valid one", (seconds, nanos, written) => {
  const reasons = [{ message: "why", occurredAt: create(TimestampSchema, { seconds, nanos }) }];
  // Data that only resembles a time is kept.
  const customInfo = { $typeName: "google.protobuf.Timestamp", seconds: 1 };
  expect(writeJsonResponse(TaskExecutionClosureSchema, create(TaskExecutionClosureSchema, { reasons, customInfo }), options)).toMatchObject(
    {
      reasons: [{ message: "why", occurred_at: written }],
      custom_info: { seconds: 1 },
    },
  );
});

test.each([
  [1n, -1, "0.999999999s"],
  [1n, 1_000_000_000, "2s"],
  [2n ** 63n - 1n, 0, "315576000000s"],
])("a duration out of range, %s s and %s ns, is written as the nearest valid one", (seconds, nanos, written) => {
  const value = { case: "duration" as const, value: create(DurationSchema, { seconds, nanos }) };
  expect(writeJsonResponse(PrimitiveSchema, create(PrimitiveSchema, { value }), options)).toEqual({ duration: written });
});
