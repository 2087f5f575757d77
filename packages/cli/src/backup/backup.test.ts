import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { backupCommand, restoreCommand } from "./command.js";
import { clustersOf, databasesOf } from "./config.js";
import { BackupError, type Manifest, readManifest, writeManifest } from "./manifest.js";
import { stripServerFields, importWorkflows } from "./workflows.js";

const folder = mkdtempSync(join(tmpdir(), "flyte-ts-backup-"));
afterAll(() => rmSync(folder, { recursive: true }));

const silent = () => undefined;

test("databases are dumped so that none is newer than one that refers to it", () => {
  const databases = { admin: "postgresql://a", scheduler: "postgresql://s" };
  expect(databasesOf({ databases, clusters: [] }).map(({ name }) => name)).toEqual(["scheduler", "admin"]);
  expect(clustersOf({ databases: {}, kubeconfig: "file", clusters: [{ name: "east", kubeconfig: "other" }] })).toEqual([
    { name: "local", kubeconfig: "file" },
    { name: "east", kubeconfig: "other" },
  ]);
});

test("server-managed fields are not restored, and other metadata are", () => {
  const metadata = { name: "e", namespace: "p-d", labels: { a: "b" }, finalizers: ["f"], uid: "u", resourceVersion: "7", generation: 3 };
  const workflow = { apiVersion: "v", kind: "k", metadata, status: { phase: 1 } };
  expect(stripServerFields(workflow)).toEqual({
    ...workflow,
    metadata: { name: "e", namespace: "p-d", labels: { a: "b" }, finalizers: ["f"] },
  });
});

test("an existing folder is not overwritten, and one without a manifest is not restored", async () => {
  await expect(backupCommand(["--to", folder, "--kubeconfig", "x"], silent)).rejects.toThrow(`${folder} exists already`);
  await expect(restoreCommand(["--from", folder, "--kubeconfig", "x"], silent)).rejects.toThrow("holds no complete backup");
  const times = { begunAt: "2026-01-01T00:00:00Z", endedAt: "2026-01-01T00:00:01Z" };
  writeManifest(folder, { format: 1, ...times, databases: [], clusters: [] });
  expect(readManifest(folder)).toMatchObject(times);
  await expect(restoreCommand(["--from", folder, "--kubeconfig", "x"], silent)).rejects.toThrow(
    new BackupError(`${folder} holds no backup of data plane local`),
  );
  expect(await backupCommand(["--to", join(folder, "new")], silent)).toBe(2);
});

test("a failed backup leaves nothing behind", async () => {
  const place = join(folder, "nightly", "today");
  const words = ["--to", `${place}/`, "--kubeconfig", join(folder, "no-kubeconfig")];
  for (let night = 0; night < 2; night++) await expect(backupCommand(words, silent)).rejects.toThrow(/no-kubeconfig/);
  expect(readdirSync(join(folder, "nightly"))).toEqual([]);
});

test("a truncated manifest is rejected", () => {
  const cut = join(folder, "cut");
  mkdirSync(cut);
  writeFileSync(join(cut, "manifest.json"), '{"format": 1, "beg');
  expect((): Manifest => readManifest(cut)).toThrow(BackupError);
});

test("a rejected resource and an unreadable file end the restore", async () => {
  const refused = Promise.withResolvers<void>();
  // The second namespace is created after the first workflow has been refused.
  const cluster = await startApi((text, answer) => {
    if (isWorkflow(text)) {
      answer(403, { kind: "Status", code: 403, reason: "Forbidden", message: "workflows are refused" });
      return refused.resolve();
    }
    const made = () => answer(201, { metadata: {} });
    if (text.includes('"second"')) void refused.promise.then(() => setTimeout(made, 50));
    else made();
  });
  const file = join(folder, "workflows.jsonl.gz");
  const content = gzipSync([line("first"), line("second")].join("\n"));
  writeFileSync(file, content);
  await expect(importWorkflows(cluster, file)).rejects.toThrow("workflows are refused");
  writeFileSync(file, content.subarray(0, 20));
  await expect(importWorkflows(cluster, file)).rejects.toThrow(`${file} cannot be read: unexpected end of file`);
  await expect(importWorkflows(cluster, `${file}.none`)).rejects.toThrow(BackupError);
});

test("line separators of Unicode in a workflow do not end its line", async () => {
  const created: unknown[] = [];
  const cluster = await startApi((text, answer) => {
    if (isWorkflow(text)) created.push(JSON.parse(text).spec);
    answer(201, { metadata: {} });
  });
  const file = join(folder, "separators.jsonl.gz");
  const spec = { inputs: "a\u2028b\u2029c\u0085d" };
  writeFileSync(file, gzipSync(`${line("first", spec)}\n${line("second", { inputs: "é".repeat(100_000) })}\n`));
  expect(await importWorkflows(cluster, file)).toEqual({ created: 2, existing: 0 });
  expect(created).toEqual(expect.arrayContaining([spec, { inputs: "é".repeat(100_000) }]));
});

const line = (namespace: string, spec: object = {}) => JSON.stringify({ kind: "FlyteWorkflow", metadata: { namespace, name: "e" }, spec });
const isWorkflow = (text: string) => text.includes('"kind":"FlyteWorkflow"') && !text.includes("CustomResourceDefinition");

/** Starts an API server that passes the bodies of creations to `create`, until the test ends. */
async function startApi(
  create: (text: string, answer: (status: number, body: object) => unknown) => unknown,
): Promise<{ name: string; kubeconfig: string }> {
  const api = createServer((request, response: ServerResponse) => {
    const answer = (status: number, body: object) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (request.method !== "POST") return answer(200, { metadata: {}, items: [] });
      return create(Buffer.concat(chunks).toString("utf8"), answer);
    });
  });
  await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    api.closeAllConnections();
    api.close();
  });
  const kubeconfig = join(folder, `kubeconfig-${(api.address() as AddressInfo).port}`);
  const server = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      clusters: [{ name: "c", cluster: { server } }],
      users: [{ name: "u", user: {} }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
    }),
  );
  return { name: "local", kubeconfig };
}
