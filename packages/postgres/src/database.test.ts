import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LocalServer, startPostgres } from "@flyte-ts/local-servers";
import { createLogger, type Logger } from "@flyte-ts/telemetry";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createPool, type Database, isUnavailable, isUniqueViolation, isInvalidText } from "./index.js";

const logger = createLogger({ service: "test", level: "silent" });
const folder = mkdtempSync(join(tmpdir(), "postgres-"));
let server: LocalServer;
let db: Database;

beforeAll(async () => {
  server = await startPostgres({ dataDir: join(folder, "data"), durable: false });
  db = createPool({ url: server.url, logger });
});
afterAll(async () => {
  await db.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

function migrations(files: Record<string, string>): string {
  const directory = mkdtempSync(join(folder, "sql-"));
  for (const [name, sql] of Object.entries(files)) writeFileSync(join(directory, name), sql);
  return directory;
}

test("a migration that waits for a locked table lets other statements pass, and is applied when the lock ends", async () => {
  const name = `locked_${process.pid}`;
  await db.query({ text: `CREATE DATABASE ${name}` });
  const own = createPool({ url: server.url.replace(/\/[^/]*$/, `/${name}`), logger });
  await own.query({ text: "CREATE TABLE locked (id int)" });
  const retried = Promise.withResolvers<void>();
  const observed = { ...logger, info: () => undefined, warn: () => retried.resolve() } as unknown as Logger;
  let migrated: Promise<void> = Promise.resolve();
  await own.transaction(async (backup) => {
    await backup.query({ text: "SELECT * FROM locked" });
    const directory = migrations({ "0001_locked.sql": "ALTER TABLE locked ADD COLUMN name text" });
    migrated = own.migrate({ directory, logger: observed });
    await retried.promise;
    expect((await own.query({ text: "SELECT * FROM locked" })).rowCount).toBe(0);
  });
  await migrated;
  expect((await own.query({ text: "SELECT name FROM locked" })).rowCount).toBe(0);
  await own.close();
});

test("replicas that migrate concurrently apply each file once; changed, misnamed and late files are refused", async () => {
  const files = {
    "0001_a.sql": "CREATE TABLE a (id int PRIMARY KEY);",
    "0002_b.sql": "CREATE TABLE b (id int); INSERT INTO b VALUES (1);",
  };
  const directory = migrations(files);
  await Promise.all(Array.from({ length: 5 }, () => db.migrate({ directory, logger })));
  expect((await db.query({ text: "SELECT * FROM b" })).rowCount).toBe(1);
  await expect(db.migrate({ directory: migrations({ ...files, "0001_a.sql": "SELECT 1" }), logger })).rejects.toThrow(
    "0001_a.sql was changed",
  );
  await expect(db.migrate({ directory: migrations({ ...files, "3_c.sql": "" }), logger })).rejects.toThrow("3_c.sql");
  await expect(db.migrate({ directory: migrations({ ...files, "0002_a.sql": "" }), logger })).rejects.toThrow("used twice");
  await expect(db.migrate({ directory: migrations({ ...files, "0000_z.sql": "" }), logger })).rejects.toThrow("older");
  await expect(
    db.migrate({ directory: migrations({ ...files, "0003_c.sql": "CREATE TABLE c (id int); SELECT nonsense;" }), logger }),
  ).rejects.toThrow("0003_c.sql failed");
  expect((await db.query({ text: "SELECT to_regclass('c') AS c" })).rows).toEqual([{ c: null }]);
});

test("a build starts on a schema with later additions, but not when a later migration removed parts that it uses", async () => {
  const [first, second] = [{ "0001_a.sql": "CREATE TABLE a2 (id int);" }, { "0002_b.sql": "ALTER TABLE a2 ADD COLUMN b int;" }];
  const third = { "0003_c.sql": "-- contract after 0002: id is unused since 0002\nALTER TABLE a2 DROP COLUMN id;" };
  const name = `versions_${process.pid}`;
  await db.query({ text: `CREATE DATABASE ${name}` });
  const own = createPool({ url: server.url.replace(/\/[^/]*$/, `/${name}`), logger });
  const build = (files: Record<string, string>) => own.migrate({ directory: migrations(files), logger });
  await build(first);
  await build({ ...first, ...second });
  await build(first);
  await build({ ...first, ...second, ...third });
  await build({ ...first, ...second });
  await expect(build(first)).rejects.toThrow("0003_c.sql removed what this build uses: run a build that includes migration 0002");
  await own.close();
});

test("a transaction is committed completely or not at all", async () => {
  await db.query({ text: "CREATE TABLE t (id int PRIMARY KEY)" });
  const twice = db.transaction(async (tx) => {
    await tx.query({ text: "INSERT INTO t VALUES ($1)", values: [1] });
    await tx.query({ text: "INSERT INTO t VALUES ($1)", values: [1] });
  });
  const error: unknown = await twice.catch((e: unknown) => e);
  expect(isUniqueViolation(error)).toEqual({ constraint: "t_pkey" });
  expect((await db.query({ text: "SELECT * FROM t" })).rowCount).toBe(0);
});

test("a NUL character in a text is distinguished from other errors, as a value and inside JSON", async () => {
  const refused = (text: string, value: string) => db.query({ text, values: [value] }).catch((thrown: unknown) => thrown);
  expect(isInvalidText(await refused("SELECT $1::text", "a\0b"))).toBe(true);
  expect(isInvalidText(await refused("SELECT $1::jsonb", JSON.stringify({ a: "\0" })))).toBe(true);
  expect(isInvalidText(await refused("SELECT $1::integer", "x"))).toBe(false);
});

test("a connection that breaks inside a transaction fails that transaction, and the pool continues", async () => {
  const cut = db.transaction(async (tx) => {
    const { rows } = await tx.query<{ pid: number }>({ text: "SELECT pg_backend_pid() AS pid" });
    await db.query({ text: "SELECT pg_terminate_backend($1)", values: [rows[0]?.pid] });
    await tx.query({ text: "SELECT 1" });
  });
  await expect(cut).rejects.toSatisfy(isUnavailable);
  expect((await db.query({ text: "SELECT 1 AS one" })).rows).toEqual([{ one: 1 }]);
});

test("a listener survives a lost connection and reports that notifications may have been missed", async () => {
  const notifications: string[] = [];
  let wake: () => void = () => undefined;
  const next = () => new Promise<void>((resolve) => (wake = resolve));
  const listening = await db.listen("things", (payload) => {
    notifications.push(payload);
    wake();
  });
  const first = next();
  await db.query({ text: "SELECT pg_notify('things', 'x')" });
  await first;
  const again = next();
  await db.query({ text: "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'flyte-ts listen things'" });
  await again;
  expect(notifications).toEqual(["", "x", ""]);
  await listening.close();
});
