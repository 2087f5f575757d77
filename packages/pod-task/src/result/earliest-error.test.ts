import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { BlobError } from "@flyte-ts/blobstore";
import { ErrorDocumentSchema } from "@flyte-ts/idl/flyteidl/core/errors_pb";
import { TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { beforeEach, describe, expect, it } from "vitest";
import { MemoryStore } from "@flyte-ts/task-plugin/harness";
import { readEarliestError } from "./earliest-error.js";

const request = create(TaskRequestSchema, { outputPrefix: "s3://b/0" });
const limits = { maxOutputBytes: 10_000, inlineBytes: 1_000 };

describe("readEarliestError", () => {
  let store: MemoryStore;

  const write = (name: string, message: string, seconds?: number) => {
    const timestamp = seconds === undefined ? undefined : timestampFromDate(new Date(seconds * 1_000));
    const document = create(ErrorDocumentSchema, { error: { code: "E", message, timestamp } });
    store.blobs.set(`${request.outputPrefix}/${name}`, toBinary(ErrorDocumentSchema, document));
  };

  beforeEach(() => {
    store = new MemoryStore();
  });

  it("returns the error of the worker that failed first", async () => {
    write("error-1.pb", "second", 20);
    write("error-2.pb", "first", 10);
    write("error.pb", "without a time");
    expect((await readEarliestError(store, request, limits))?.message).toBe("first");
  });

  it("returns undefined without an error document", async () => {
    store.blobs.set("s3://b/0/errors/x.pb", new Uint8Array());
    store.blobs.set("s3://b/0/error.txt", new Uint8Array());
    expect(await readEarliestError(store, request, limits)).toBeUndefined();
  });

  it("reads error.pb alone from a store that refuses to list", async () => {
    write("error.pb", "only", 30);
    write("error-1.pb", "unseen", 10);
    store.list = () => {
      throw new BlobError("s3://b/0", "access denied");
    };
    expect((await readEarliestError(store, request, limits))?.message).toBe("only");
  });

  it("rejects while the store is unavailable", async () => {
    store.unavailable = true;
    await expect(readEarliestError(store, request, limits)).rejects.toThrow("ECONNREFUSED");
  });
});
