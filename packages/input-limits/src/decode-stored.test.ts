import { create, toBinary } from "@bufbuild/protobuf";
import { ErrorDocumentSchema } from "@flyte-ts/idl/flyteidl/core/errors_pb";
import { LiteralCollectionSchema, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { expect, test } from "vitest";
import { decodeStored, MAX_STORED_BYTES, readStored, StoredMessageError } from "./decode-stored.js";

test("ten megabytes of empty values are refused before they are built", () => {
  const bytes = Buffer.alloc(10_000_000, Buffer.from([0x0a, 0x00]));
  expect(() => decodeStored(LiteralCollectionSchema, bytes)).toThrow(StoredMessageError);
});

test("unknown fields count, by the limits of the caller too", () => {
  const bytes = Buffer.alloc(100_000, Buffer.from([0x78, 0x01]));
  expect(() => decodeStored(ErrorDocumentSchema, bytes, { elements: 10_000 })).toThrow(
    "flyteidl.core.ErrorDocument has more than 10000 elements",
  );
  expect(decodeStored(ErrorDocumentSchema, bytes)).toMatchObject({ $typeName: "flyteidl.core.ErrorDocument" });
});

test("outputs of the usual kind are decoded, broken ones are refused", () => {
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

test("a blob is read with the bound of its reader, and one that is missing is undefined", async () => {
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
