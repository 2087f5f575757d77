import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { backupCommand, restoreCommand } from "./command.js";
import { clustersOf, databasesOf } from "./config.js";
import { BackupError, readManifest, writeManifest } from "./manifest.js";
import { asNew } from "./workflows.js";

const folder = mkdtempSync(join(tmpdir(), "flyte-ts-backup-"));
afterAll(() => rmSync(folder, { recursive: true }));

const silent = () => undefined;

test("databases are taken in the order in which none is newer than what refers to it", () => {
  const databases = { admin: "postgresql://a", scheduler: "postgresql://s" };
  expect(databasesOf({ databases, clusters: [] }).map(({ name }) => name)).toEqual(["scheduler", "admin"]);
  expect(clustersOf({ databases: {}, kubeconfig: "file", clusters: [{ name: "east", kubeconfig: "other" }] })).toEqual([
    { name: "local", kubeconfig: "file" },
    { name: "east", kubeconfig: "other" },
  ]);
});

test("what the server gave an object is not restored, what others rely on is", () => {
  const metadata = { name: "e", namespace: "p-d", labels: { a: "b" }, finalizers: ["f"], uid: "u", resourceVersion: "7", generation: 3 };
  const workflow = { apiVersion: "v", kind: "k", metadata, status: { phase: 1 } };
  expect(asNew(workflow)).toEqual({
    ...workflow,
    metadata: { name: "e", namespace: "p-d", labels: { a: "b" }, finalizers: ["f"] },
  });
});

test("a folder that is there is not written to, one without its manifest is not read", async () => {
  await expect(backupCommand(["--to", folder, "--kubeconfig", "x"], silent)).rejects.toThrow(`${folder} is there already`);
  await expect(restoreCommand(["--from", folder, "--kubeconfig", "x"], silent)).rejects.toThrow("holds no whole backup");
  const times = { begunAt: "2026-01-01T00:00:00Z", endedAt: "2026-01-01T00:00:01Z" };
  writeManifest(folder, { format: 1, ...times, databases: [], clusters: [] });
  expect(readManifest(folder)).toMatchObject(times);
  await expect(restoreCommand(["--from", folder, "--kubeconfig", "x"], silent)).rejects.toThrow(
    new BackupError(`${folder} holds nothing of data plane local`),
  );
  expect(await backupCommand(["--to", join(folder, "new")], silent)).toBe(2);
});
