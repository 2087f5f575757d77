import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { BlobStore } from "../blob-store.js";
import { createBlobStore } from "../create-blob-store.js";
import { BlobUnavailableError } from "../errors.js";
import { type ScriptedServer, scriptedServer } from "../scripted-server.fixture.js";

// Answers of services other than those that run here.
let server: ScriptedServer;
let blobs: BlobStore;
beforeAll(async () => {
  server = await scriptedServer();
});
beforeEach(() => {
  server.received.splice(0);
  blobs = createBlobStore({ s3: { endpoint: server.url, accessKeyId: "id", secretAccessKey: "secret" } });
});
afterAll(() => server.close());

const xml = (status: number, body: string) => ({ status, headers: { "content-type": "application/xml" }, body });
const refusal = (status: number, code: string) => xml(status, `<Error><Code>${code}</Code><Message>no</Message></Error>`);
const seen = () => server.received.map(({ method, url }) => `${method} ${url.replace(/[?=].*/, "")}`);

test("blobs are deleted with one request per bucket, with the MD5 that older services require", async () => {
  server.answer = () => xml(200, "<DeleteResult/>");
  await blobs.deleteAll(["s3://one/a", "s3://two/b&<ü>", "s3://one/c"]);
  expect(seen()).toEqual(["POST /one/", "POST /two/"]);
  for (const { headers, body } of server.received) expect(headers["content-md5"]).toBe(createHash("md5").update(body).digest("base64"));
});

test("a key that XML cannot represent is deleted by a separate request", async () => {
  server.answer = ({ method }) => (method === "POST" ? xml(200, "<DeleteResult/>") : { status: 204 });
  await blobs.deleteAll(["s3://one/a", "s3://one/\u0001"]);
  expect(seen()).toEqual(["POST /one/", "DELETE /one/%01"]);
});

test.each([
  [501, "NotImplemented"],
  [405, "MethodNotAllowed"],
])("after a batch deletion is answered with %i %s, keys are deleted one by one and no further batch is tried", async (status, code) => {
  server.answer = ({ method }) => (method === "POST" ? refusal(status, code) : { status: 204 });
  await blobs.deleteAll(["s3://one/a", "s3://one/b"]);
  await blobs.deleteAll(["s3://one/c"]);
  expect(new Set(seen())).toEqual(new Set(["POST /one/", "DELETE /one/a", "DELETE /one/b", "DELETE /one/c"]));
  const before = seen().filter((each) => each.startsWith("POST")).length;
  await blobs.deleteAll(["s3://one/d"]);
  expect(seen().filter((each) => each.startsWith("POST"))).toHaveLength(before);
});

test("an error of one key of a batch is classified as transient or permanent", async () => {
  const answered = (code: string) =>
    xml(200, `<DeleteResult><Error><Key>b</Key><Code>${code}</Code><Message>no</Message></Error></DeleteResult>`);
  server.answer = () => answered("InternalError");
  await expect(blobs.deleteAll(["s3://one/a", "s3://one/b"])).rejects.toBeInstanceOf(BlobUnavailableError);
  server.answer = () => answered("AccessDenied");
  const refused = blobs.deleteAll(["s3://one/a", "s3://one/b"]);
  await expect(refused).rejects.toThrow("s3://one/b: AccessDenied: no, as 1 of 2");
  await expect(refused).rejects.not.toBeInstanceOf(BlobUnavailableError);
});
