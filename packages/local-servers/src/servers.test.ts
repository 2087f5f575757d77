import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { isPortInUse } from "@flyte-ts/host";
import { ServerStartError, startNats, startPostgres } from "./index.js";
import { dropPrivileges } from "./postgres/drop-privileges.js";

// mkdtemp creates the folder with mode 0700: as root this also tests a closed parent folder.
const folder = mkdtempSync(join(tmpdir(), "local-servers-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("PostgreSQL starts, keeps its folder and survives a crash", async () => {
  const dataDir = join(folder, "postgres");
  const first = await startPostgres({ dataDir });
  expect(first.url).toMatch(/^postgres:\/\/flyte:.+@127\.0\.0\.1:\d+\/postgres$/);
  await first.kill();
  const second = await startPostgres({ dataDir });
  // The password of the first start: the cluster was kept.
  expect(new URL(second.url).password).toBe(new URL(first.url).password);
  await second.stop();
  expect(await isPortInUse(second.port)).toBe(false);
});

test("an interrupted initialization of a data directory, or of the template that others are copied from, is repeated", async () => {
  const cache = join(folder, "cache");
  vi.stubEnv("FLYTE_TS_CACHE", cache);
  try {
    const first = await startPostgres({ dataDir: join(folder, "first"), durable: false });
    await first.stop();
    const kept = readdirSync(cache);
    expect(kept).toEqual([expect.stringMatching(/^postgresql-data-[\d.]+.*-[0-9a-f]{8}$/)]);
    // Create what remains when the creation of the template and that of a data folder are killed.
    const copy = join(cache, kept[0] ?? "");
    renameSync(copy, `${copy}.new`);
    rmSync(join(`${copy}.new`, "PG_VERSION"));
    const dataDir = join(folder, "second");
    mkdirSync(join(dataDir, "data.new", "base"), { recursive: true });
    const second = await startPostgres({ dataDir, durable: false });
    await second.stop();
    expect(readdirSync(cache)).toEqual(kept);
    expect(readdirSync(dataDir).sort()).toEqual(["data", "password"]);
    expect(new URL(second.url).password).not.toBe(new URL(first.url).password);
  } finally {
    vi.unstubAllEnvs();
  }
});

test("PostgreSQL takes its data directory over from a server that is still running", async () => {
  const dataDir = join(folder, "postgres");
  const leftover = await startPostgres({ dataDir });
  const server = await startPostgres({ dataDir });
  expect(await leftover.ended).toContain("status 0");
  await server.stop();
});

test.each([
  ["names another process of this user", (lines: string[], other: number) => [String(other), ...lines.slice(1)].join("\n")],
  ["is empty", () => ""],
])("PostgreSQL starts on a folder whose postmaster.pid %s, as after a power cut", async (_, left) => {
  const dataDir = join(folder, "power-cut");
  const first = await startPostgres({ dataDir });
  // A process of the user that PostgreSQL runs as, since it ignores those of others.
  const { command, args, ...ids } = dropPrivileges("sleep", ["600"], []);
  const other = spawn(command, args, ids);
  const note = join(dataDir, "data", "postmaster.pid");
  const lines = readFileSync(note, "utf8").split("\n");
  await first.kill();
  writeFileSync(note, left(lines, other.pid as number));
  try {
    const second = await startPostgres({ dataDir });
    await second.stop();
    expect(other.exitCode ?? other.signalCode).toBeNull();
  } finally {
    other.kill("SIGKILL");
  }
});

test("a start of PostgreSQL can be aborted", async () => {
  const ending = new AbortController();
  ending.abort();
  await expect(startPostgres({ dataDir: join(folder, "aborted"), signal: ending.signal })).rejects.toThrow(ServerStartError);
});

test("NATS starts with JetStream", async () => {
  const dataDir = join(folder, "nats");
  const server = await startNats({ dataDir });
  await server.stop();
  expect(existsSync(dataDir)).toBe(true);
  expect(await server.ended).toContain("NATS ended");
});
