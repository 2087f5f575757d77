import { create, createRegistry, fromBinary, toBinary } from "@bufbuild/protobuf";
import { StructSchema, ValueSchema } from "@bufbuild/protobuf/wkt";
import { LiteralSchema, ScalarSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { expect, test } from "vitest";
import { writeJsonResponse } from "./json-response.js";

const options = { protoNames: true, registry: createRegistry() };

test("numbers that JSON has no words for are told as of doubles, in free-form data too", () => {
  const number = (value: number) => create(ValueSchema, { kind: { case: "numberValue", value } });
  const listed = create(ValueSchema, { kind: { case: "listValue", value: { values: [number(Number.NaN), number(1)] } } });
  const fields = { a: number(Number.NEGATIVE_INFINITY), b: listed, c: create(ValueSchema), d: number(2.5) };
  const struct = toBinary(StructSchema, create(StructSchema, { fields }));
  // Field 7 of a scalar, as it comes from the wire.
  const scalar = fromBinary(ScalarSchema, Uint8Array.from([0x3a, struct.length, ...struct]));
  const literal = create(LiteralSchema, { value: { case: "scalar", value: scalar } });
  expect(writeJsonResponse(LiteralSchema, literal, options)).toMatchObject({
    scalar: { generic: { a: "-Infinity", b: ["NaN", 1], c: null, d: 2.5 } },
  });
});
