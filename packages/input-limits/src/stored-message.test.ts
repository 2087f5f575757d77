import { create, toBinary } from "@bufbuild/protobuf";
import { ErrorDocumentSchema } from "@flyte-ts/idl/flyteidl/core/errors_pb";
import { LiteralCollectionSchema, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { expect, test } from "vitest";
import { decodeStored, MAX_STORED_BYTES, readStored, StoredMessageError } from "./stored-message.js";

test("ten megabytes of empty values are rejected before they are decoded", () => {
  const bytes = Buffer.alloc(10_000_000, Buffer.from([0x0a, 0x00]));
  expect(() => decodeStored(LiteralCollectionSchema, bytes)).toThrow(StoredMessageError);
});

test("unknown fields count as elements, also under limits of the caller", () => {
  const bytes = Buffer.alloc(100_000, Buffer.from([0x78, 0x01]));
  expect(() => decodeStored(ErrorDocumentSchema, bytes, { elements: 10_000 })).toThrow(
    "flyteidl.core.ErrorDocument has more than 10000 elements",
  );
  expect(decodeStored(ErrorDocumentSchema, bytes)).toMatchObject({ $typeName: "flyteidl.core.ErrorDocument" });
});

test("ordinary outputs are decoded and malformed ones are rejected", () => {
  const literals = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`o${i}`, { hash: "h" }]));
  const bytes = toBinary(LiteralMapSchema, create(LiteralMapSchema, { literals }));
  expect(Object.keys(decodeStored(LiteralMapSchema, bytes).literals)).toHaveLength(10_000);
  expect(() => decodeStored(LiteralMapSchema, Buffer.alloc(100_000, 0xff))).toThrow(/not well-formed/);
  expect(() => decodeStored(LiteralMapSchema, Buffer.alloc(100, 0xff))).toThrow(StoredMessageError);
  expect(() => decodeStored(LiteralMapSchema, Buffer.alloc(100, 0xff))).toThrow(/LiteralMap cannot be decoded: .*varint/);
});

test.each([
  ["a group", [0x7b, 0x7c]],
  ["a field in another wire type", [0x08, 0x00]],
])("%s does not keep ten megabytes of empty values behind it from being counted", (_, head) => {
  const bytes = Buffer.concat([Buffer.from(head), Buffer.alloc(10_000_000, Buffer.from([0x0a, 0x00]))]);
  expect(() => decodeStored(LiteralCollectionSchema, bytes)).toThrow(StoredMessageError);
});

test("a blob is read with the caller's size limit, and a missing one is undefined", async () => {
  const bounds: number[] = [];
  const stored = new Map([["s3://b/small", toBinary(LiteralMapSchema, create(LiteralMapSchema, { literals: { o: { hash: "h" } } }))]]);
  const blobs = {
    get: async (uri: string, { maxBytes }: { readonly maxBytes: number }) => {
      bounds.push(maxBytes);
      return stored.get(uri);
    },
  };
  expect(await readStored(blobs, { uri: "s3://b/small", schema: LiteralMapSchema })).toMatchObject({ literals: { o: { hash: "h" } } });
  expect(await readStored(blobs, { uri: "s3://b/none", schema: LiteralMapSchema, limits: { bytes: 1_000 } })).toBeUndefined();
  expect(bounds).toEqual([MAX_STORED_BYTES, 1_000]);
});
