import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { BlobHead, PresignPutOptions } from "@flyte-ts/blobstore";
import { CreateUploadLocationRequestSchema } from "@flyte-ts/idl/flyteidl/service/dataproxy_pb";
import { Code } from "@flyte-ts/rpc";
import { beforeEach, describe, expect, test } from "vitest";
import { createUploadLocation, type UploadDeps } from "./upload.js";

const MD5 = Buffer.from("9a0364b9e99bb480dd25e1f0284c8555", "hex");
const FOLDER = "TIBWJOPJTO2IBXJF4HYCQTEFKU======";
const BASE = "s3://bucket/p/development";

let stored: Map<string, Partial<BlobHead>>;
let signed: { uri: string; options: PresignPutOptions }[];
beforeEach(() => {
  stored = new Map();
  signed = [];
});
const deps = {
  blobs: {
    head: (uri: string) => Promise.resolve(stored.has(uri) ? { metadata: {}, etag: "", ...stored.get(uri) } : undefined),
    presignPut: (uri: string, options: PresignPutOptions) => {
      signed.push({ uri, options });
      return Promise.resolve({ url: `https://x/${uri}`, headers: {} });
    },
  },
  config: {
    storage: { container: "s3://bucket" },
    dataProxy: { upload: { maxExpiresInSeconds: 3600, defaultFileNameLength: 20, storagePrefix: "" } },
  },
  clock: () => new Date(0),
  random: () => 0,
} as unknown as UploadDeps;
const upload = (request: MessageInitShape<typeof CreateUploadLocationRequestSchema>) =>
  createUploadLocation(deps, create(CreateUploadLocationRequestSchema, { project: "p", domain: "development", ...request }));
const refused = (field: string) => ({ code: Code.INVALID_ARGUMENT, message: expect.stringContaining(field) as string });

describe("content stored below its MD5", () => {
  const bundle = { filename: "fast.tar.gz", contentMd5: MD5 };

  test("has its MD5 in the signed URL", async () => {
    const { nativeUrl, headers } = await upload(bundle);
    expect(nativeUrl).toBe(`${BASE}/${FOLDER}/fast.tar.gz`);
    expect(signed).toEqual([{ uri: nativeUrl, options: { expiresInSeconds: 3600, contentMd5: MD5.toString("base64") } }]);
    expect(headers).toMatchObject({ "Content-MD5": MD5.toString("base64") });
  });

  test.each([
    ["by its ETag", { etag: MD5.toString("hex") }],
    ["by its metadata", { etag: "encrypted", metadata: { flytecontentmd5: MD5.toString("base64") } }],
  ])("is not written again if it exists, known %s: a repeated upload goes to a copy", async (_how, head) => {
    stored.set(`${BASE}/${FOLDER}/fast.tar.gz`, head);
    const { nativeUrl } = await upload(bundle);
    expect(nativeUrl).toBe(`${BASE}/${FOLDER}/fast.tar.gz`);
    expect(signed).toMatchObject([{ uri: `${BASE}/.repeats/${FOLDER}/fast.tar.gz`, options: { contentMd5: MD5.toString("base64") } }]);
  });

  test("is replaced only by the right content, if it differs", async () => {
    stored.set(`${BASE}/${FOLDER}/fast.tar.gz`, { etag: "00" });
    await upload(bundle);
    expect(signed).toMatchObject([{ uri: `${BASE}/${FOLDER}/fast.tar.gz`, options: { contentMd5: MD5.toString("base64") } }]);
  });

  test.each([FOLDER, FOLDER.replaceAll("=", ""), `/${FOLDER}`, `${FOLDER}/more`])(
    "cannot be replaced by uploads of other content into the folder %s, whose URLs sign their MD5",
    async (filenameRoot) => {
      await expect(upload({ filename: "fast.tar.gz", filenameRoot })).rejects.toMatchObject(refused("filename_root"));
      await upload({ filename: "f", filenameRoot, contentMd5: Buffer.alloc(16) });
      await upload({ filename: "f", filenameRoot, contentMd5: MD5 });
      expect(signed[0]?.options).toMatchObject({ contentMd5: Buffer.alloc(16).toString("base64"), createOnly: true });
      expect(signed[1]?.options.createOnly).toBeUndefined();
    },
  );

  test("is not replaced by other content", async () => {
    stored.set(`${BASE}/${FOLDER}/fast.tar.gz`, { etag: MD5.toString("hex") });
    const evil = upload({ filename: "fast.tar.gz", filenameRoot: FOLDER, contentMd5: Buffer.alloc(16) });
    await expect(evil).rejects.toMatchObject({ code: Code.ALREADY_EXISTS });
    expect(signed).toEqual([]);
  });

  test("has an MD5 of 16 bytes", () =>
    expect(upload({ filename: "f", contentMd5: Buffer.alloc(15) })).rejects.toMatchObject(refused("content_md5")));
});

test("has its MD5 in the signed URL also below a chosen root", async () => {
  await upload({ filename: "f", filenameRoot: "r", contentMd5: MD5 });
  expect(signed).toMatchObject([{ uri: `${BASE}/r/f`, options: { contentMd5: MD5.toString("base64") } }]);
});

test.each([
  ["filename", { filename: "f".repeat(3_000), contentMd5: MD5 }],
  ["filename_root", { filename: "f", filenameRoot: "é".repeat(500) }],
])("is refused if its URL is longer than a blob store accepts, by %s", async (field, request) => {
  await expect(upload(request)).rejects.toMatchObject(refused(field));
  expect(signed).toEqual([]);
});

test("cannot be uploaded into the folder of copies", async () => {
  await expect(upload({ filename: "f", filenameRoot: `.repeats/${FOLDER}` })).rejects.toMatchObject(refused("filename_root"));
});
