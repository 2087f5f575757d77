import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findKeys } from "./credentials.js";
import { type ScriptedS3, scriptedS3 } from "./scripted-s3.fixture.js";

let server: ScriptedS3;
let folder: string;
beforeEach(async () => {
  server = await scriptedS3();
  folder = mkdtempSync(join(tmpdir(), "flyte-ts-keys-"));
});
afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

const future = () => new Date(Date.now() + 3_600_000).toISOString();

test("the keys of the deployment come before those of AWS", async () => {
  const aws = { AWS_ACCESS_KEY_ID: "aws", AWS_SECRET_ACCESS_KEY: "s", AWS_SESSION_TOKEN: "t" };
  expect(await findKeys(aws)()).toEqual({ accessKeyId: "aws", secretAccessKey: "s", sessionToken: "t" });
  const flyte = { FLYTE_AWS_ACCESS_KEY_ID: "flyte", FLYTE_AWS_SECRET_ACCESS_KEY: "f" };
  expect(await findKeys({ ...aws, ...flyte })()).toMatchObject({ accessKeyId: "flyte", secretAccessKey: "f" });
});

test("a service account's role is assumed once while its credentials are valid", async () => {
  const tokenFile = join(folder, "token");
  writeFileSync(tokenFile, "signed-token\n");
  server.answers = [
    (response) =>
      response.end(
        `<Credentials><AccessKeyId>temporary</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>${future()}</Expiration></Credentials>`,
      ),
  ];
  const keys = findKeys({ AWS_ROLE_ARN: "arn:role", AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile, AWS_ENDPOINT_URL_STS: server.url });
  expect(await keys()).toEqual({ accessKeyId: "temporary", secretAccessKey: "s", sessionToken: "t" });
  await keys();
  expect(server.received.length).toBe(1);
  expect(server.received[0]?.body).toContain("WebIdentityToken=signed-token");
});

test("credentials that end soon are replaced", async () => {
  const soon = new Date(Date.now() + 60_000).toISOString();
  server.answers = [
    (response) => response.end(JSON.stringify({ AccessKeyId: "first", SecretAccessKey: "s", Expiration: soon })),
    (response) => response.end(JSON.stringify({ AccessKeyId: "second", SecretAccessKey: "s", Expiration: future() })),
  ];
  const keys = findKeys({ AWS_CONTAINER_CREDENTIALS_FULL_URI: `${server.url}/keys`, AWS_CONTAINER_AUTHORIZATION_TOKEN: "bearer" });
  expect((await keys())?.accessKeyId).toBe("first");
  expect((await keys())?.accessKeyId).toBe("second");
  expect(server.received[0]?.headers["authorization"]).toBe("bearer");
});

test("a container's token is not sent to another host without TLS", async () => {
  const keys = findKeys({ AWS_CONTAINER_CREDENTIALS_FULL_URI: "http://example.org/keys", AWS_CONTAINER_AUTHORIZATION_TOKEN: "bearer" });
  await expect(keys()).rejects.toThrow("example.org needs https");
});

test("an instance's role is read with a session token", async () => {
  server.answers = [
    (response) => response.end("session"),
    (response) => response.end("a-role"),
    (response) => response.end(JSON.stringify({ AccessKeyId: "instance", SecretAccessKey: "s", Token: "t", Expiration: future() })),
  ];
  const keys = findKeys({ AWS_EC2_METADATA_SERVICE_ENDPOINT: server.url });
  expect(await keys()).toEqual({ accessKeyId: "instance", secretAccessKey: "s", sessionToken: "t" });
  expect(server.received.map(({ method, url }) => `${method} ${url}`)).toEqual([
    "PUT /latest/api/token",
    "GET /latest/meta-data/iam/security-credentials/",
    "GET /latest/meta-data/iam/security-credentials/a-role",
  ]);
  expect(server.received[2]?.headers["x-aws-ec2-metadata-token"]).toBe("session");
});

test("without any source there are no keys", async () => {
  expect(await findKeys({ AWS_EC2_METADATA_DISABLED: "true" })()).toBeUndefined();
});
