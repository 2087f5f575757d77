import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { ExecutionError_ErrorKind, ExecutionErrorSchema } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { truncateUtf8 } from "@flyte-ts/rpc";
import fc from "fast-check";
import { expect, test } from "vitest";
import { truncateField } from "./truncate-field.js";

test("the message of an error is shortened as its text alone would be, and all other fields are kept", () => {
  const text = fc.string({ unit: "grapheme", maxLength: 200 });
  fc.assert(
    fc.property(text, text, fc.nat({ max: 300 }), (message, code, maxBytes) => {
      const error = create(ExecutionErrorSchema, { code, message, errorUri: "s3://b/error.pb", kind: ExecutionError_ErrorKind.USER });
      const cut = truncateField(toBinary(ExecutionErrorSchema, error), 2, maxBytes);
      expect(fromBinary(ExecutionErrorSchema, cut)).toEqual({ ...error, message: truncateUtf8(message, maxBytes) });
    }),
  );
});

test("a short message keeps the same bytes", () => {
  const bytes = toBinary(ExecutionErrorSchema, create(ExecutionErrorSchema, { code: "c".repeat(300), message: "m".repeat(100) }));
  expect(truncateField(bytes, 2, 100)).toBe(bytes);
});
