import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { checkExternalBlobStore, externalBlobStore } from "./blob-store.js";

const keys = { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret" };

test("another S3 service is used with the keys of the environment", () => {
  expect(externalBlobStore("http://10.0.0.1:9000/", "data", { ...keys, AWS_REGION: "eu-1" })).toEqual({
    endpoint: "http://10.0.0.1:9000",
    region: "eu-1",
    accessKeyId: "id",
    secretAccessKey: "secret",
    bucket: "data",
    managed: false,
  });
});

test.each([
  [{}, "AWS_ACCESS_KEY_ID"],
  [{ ...keys, AWS_SECRET_ACCESS_KEY: "" }, "AWS_SECRET_ACCESS_KEY"],
  [{ ...keys, AWS_SESSION_TOKEN: "t" }, "AWS_SESSION_TOKEN"],
])("unusable keys are rejected by name", (env, name) => {
  expect(() => externalBlobStore("http://10.0.0.1:9000", "data", env)).toThrow(name);
});

test("an unreachable S3 service and a missing bucket are reported before the start", async () => {
  const server = createServer(({ url }, response) => void response.writeHead(url === "/data" ? 403 : 404).end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const at = (bucket: string) => externalBlobStore(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, bucket, keys);
  await expect(checkExternalBlobStore(at("data"))).resolves.toBeUndefined();
  await expect(checkExternalBlobStore(at("other"))).rejects.toThrow("bucket other does not exist");
  await expect(checkExternalBlobStore({ ...at("data"), endpoint: "http://127.0.0.1:1" })).rejects.toThrow("no S3 service answers");
});
