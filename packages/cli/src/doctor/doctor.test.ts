import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type KubernetesFixture, kubernetesFixture, kubernetesSkipReason, natsFixture, postgresFixture } from "@flyte-ts/testing";
import { findVersitygw, startVersitygw } from "@flyte-ts/test-servers";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { doctorCommand } from "./command.js";
import { clockFinding } from "./finding.js";

const noGateway = await findVersitygw().then(
  () => false,
  () => true,
);

async function doctor(...argv: string[]): Promise<{ status: number; text: string }> {
  let text = "";
  const status = await doctorCommand(argv, (part) => {
    text += part;
  });
  return { status, text };
}

test("healthy endpoints pass all checks", async () => {
  const [postgres, nats] = await Promise.all([postgresFixture(), natsFixture()]);
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-doctor-"));
  onTestFinished(async () => {
    await Promise.all([postgres.stop(), nats.stop()]);
    rmSync(folder, { recursive: true, force: true });
  });
  const { status, text } = await doctor("--database", postgres.url, "--nats", nats.url, "--blobs", `file://${folder}`);
  expect(text).toMatch(/^ok {7}database: postgres on PostgreSQL 1\d$/m);
  expect(text).toMatch(/^ok {7}database: clock/m);
  expect(text).toContain("JetStream is enabled");
  expect(text).toContain("can be written, read and deleted from");
  expect(status).toBe(0);
});

test("unreachable endpoints are reported with a remedy and without passwords", async () => {
  const unusedAddress = "127.0.0.1:1";
  const services = [
    "--admin",
    unusedAddress,
    "--database",
    `postgresql://u:secret@${unusedAddress}/x`,
    "--nats",
    `nats://u:secret@${unusedAddress}`,
  ];
  const blobs = ["--blobs", "s3://bucket", "--s3", `http://${unusedAddress}`];
  const { status, text } = await doctor(...services, ...blobs, "--patience", "1");
  expect(status).toBe(1);
  for (const what of ["admin", "database", "message bus", "blob store"])
    expect(text).toMatch(new RegExp(`^error {4}${what}: .+\\n +→ .+$`, "m"));
  expect(text).not.toContain("secret");
});

test.each([
  ["s3://bucket", ["--s3", "http://127.0.0.1:1"], "AWS_ACCESS_KEY_ID"],
  ["gs://bucket/prefix", [], "GOOGLE_APPLICATION_CREDENTIALS"],
  ["abfs://container", [], "--azureAccount or AZURE_STORAGE_ACCOUNT_NAME"],
  ["abfs://container", ["--azureAccount", "one", "--azure", "http://127.0.0.1:1"], "Storage Blob Data Contributor"],
])("missing requirements of %s with %j are reported with a remedy", async (place, words, message) => {
  vi.stubEnv("GOOGLE_APPLICATION_CREDENTIALS", "/no/such/file");
  onTestFinished(() => void vi.unstubAllEnvs());
  const { status, text } = await doctor("--blobs", place, ...words);
  expect([status, text]).toEqual([1, expect.stringMatching(/^error {4}blob store: writing below /) as string]);
  expect(text).toContain(message);
});

test("an unsupported blob URI is rejected", async () => {
  await expect(doctor("--blobs", "ftp://host/folder")).rejects.toThrow("a place for blobs is named as s3://bucket/prefix, gs://");
});

test.skipIf(noGateway)("presigned URLs of S3 are checked by using them", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "flyte-ts-doctor-"));
  const server = await startVersitygw({ dataDir, buckets: ["bucket"], accessKeyId: "doctor", secretAccessKey: "doctor-secret" });
  vi.stubEnv("AWS_ACCESS_KEY_ID", "doctor");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "doctor-secret");
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  expect(await doctor("--blobs", "s3://bucket/prefix", "--s3", server.url)).toEqual({
    status: 0,
    text: "ok       blob store: s3://bucket/prefix can be written, read and deleted from\nok       blob store: presigned URLs work\n",
  });
});

test("an unreachable presigned URL is reported after the timeout", async () => {
  let written = Buffer.alloc(0);
  const server = createServer(async (request, response) => {
    if (request.method === "PUT") written = Buffer.concat(await request.toArray());
    // A request with a signed address has no authorization header.
    if (request.method === "GET" && request.headers.authorization === undefined) return;
    response.writeHead(request.method === "DELETE" ? 204 : 200).end(request.method === "GET" ? written : "");
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  vi.stubEnv("AWS_ACCESS_KEY_ID", "doctor");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "doctor-secret");
  onTestFinished(() => {
    vi.unstubAllEnvs();
    server.closeAllConnections();
    server.close();
  });
  const s3 = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { status, text } = await doctor("--blobs", "s3://bucket", "--s3", s3, "--patience", "1");
  expect(text).toMatch(/^warning {2}blob store: signing: .*timeout/m);
  expect(status).toBe(0);
});

test("a call without endpoints is a usage error", async () => {
  expect(await doctor()).toEqual({ status: 2, text: expect.stringContaining("--admin") as string });
});

test("another service at the endpoint is reported", async () => {
  const server = createServer((_, response) => void response.writeHead(404).end());
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  const { status, text } = await doctor("--admin", `127.0.0.1:${(server.address() as AddressInfo).port}`, "--patience", "2");
  expect([status, text.startsWith("error")]).toEqual([1, true]);
});

test.each([
  [1_900, 0, "ok"],
  [-2_400, 500, "ok"],
  [-2_600, 500, "warning"],
  [60_000, 500, "warning"],
])("a clock that differs by %i ms, known to %i ms, is %s", (difference, uncertaintyMs, verdict) => {
  expect(clockFinding("x", difference, uncertaintyMs).severity).toBe(verdict);
});

describe.skipIf(await kubernetesSkipReason())("a data plane", () => {
  let kubernetes: KubernetesFixture;
  beforeAll(async () => {
    kubernetes = await kubernetesFixture();
  });
  afterAll(() => kubernetes.stop());

  test("without the resource definition", async () => {
    const { status, text } = await doctor("--kubeconfig", kubernetes.kubeconfig);
    expect(text).toMatch(/^error {4}data plane: answers, but the FlyteWorkflow CRD is missing\n +→ kubectl apply/m);
    for (const role of ["flyteadmin", "flyteadmin-cluster-resources", "flytepropeller", "flyte-plugin-pod"])
      expect(text).toContain(`sufficient for ${role}\n`);
    expect(status).toBe(1);
  });
});
