import { expect, test } from "vitest";
import { cloudBlobs } from "./cloud-blobs.js";

test("a listing of a cloud that fails is a failure of a blob", async () => {
  const list = async () => {
    for await (const _ of cloudBlobs().list("abfs://container@account/key")) break;
  };
  await expect(list()).rejects.toMatchObject({ name: "BlobFailure", message: expect.stringContaining("abfs://container@account/key: ") });
});

test("an error of the source of a write to a cloud stays what it is", async () => {
  const error = new TypeError("the source failed");
  const pieces = (async function* () {
    yield Buffer.from("half");
    throw error;
  })();
  await expect(cloudBlobs().writeStream("gs://bucket/key", pieces)).rejects.toBe(error);
});
