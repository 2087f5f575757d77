import { BlobTooLargeError, type GetOptions } from "@flyte-ts/blobstore";
import { expect, test } from "vitest";
import { OutputsStore } from "./outputs-store.js";

const URI = "s3://bucket/outputs.pb";

/** A blob store with one blob that enforces the reader's size limit, as all drivers do. */
function storeOf(bytes: Uint8Array, size = bytes.length): OutputsStore {
  return new OutputsStore({
    get: (uri: string, { maxBytes = Number.POSITIVE_INFINITY }: GetOptions = {}) =>
      size > maxBytes ? Promise.reject(new BlobTooLargeError(uri, size, maxBytes)) : Promise.resolve(bytes),
    put: () => Promise.reject(new Error("nothing is written here")),
  });
}

test("outputs that a task replaced with gigabytes are not read", async () => {
  expect(await storeOf(new Uint8Array(), 5_000_000_000).readOutputs(URI)).toEqual({
    kind: "corrupt",
    message: expect.stringContaining("more than the 268435456 allowed"),
  });
});

test("outputs of ten megabytes of empty values are refused before decoding", async () => {
  const bomb = Buffer.alloc(10_000_000, Buffer.from([0x0a, 0x00]));
  expect(await storeOf(bomb).readOutputs(URI)).toEqual({
    kind: "corrupt",
    message: expect.stringContaining("flyteidl.core.LiteralMap has more than 4000000 elements"),
  });
});
