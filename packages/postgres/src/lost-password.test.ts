import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "@flyte-ts/local-servers";
import { Client } from "pg";
import { afterAll, expect, test } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "lost-password-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ["has lost its content", (file: string) => writeFileSync(file, "")],
  ["is gone", (file: string) => rmSync(file)],
])("PostgreSQL gets a new password when the file of the old one %s, as after a power cut, and keeps its data", async (_, lose) => {
  const dataDir = join(folder, "password");
  const client = async ({ url }: { url: string }) => {
    const connected = new Client({ connectionString: url });
    await connected.connect();
    return connected;
  };
  const first = await startPostgres({ dataDir });
  const before = await client(first);
  await before.query("CREATE TABLE IF NOT EXISTS kept AS SELECT 1 AS n");
  await before.end();
  await first.kill();
  lose(join(dataDir, "password"));
  const second = await startPostgres({ dataDir });
  const after = await client(second);
  expect((await after.query("SELECT n FROM kept")).rows).toEqual([{ n: 1 }]);
  await after.end();
  await second.stop();
  expect(new URL(second.url).password).not.toBe(new URL(first.url).password);
  expect(readdirSync(dataDir).sort()).toEqual(["data", "password"]);
});
