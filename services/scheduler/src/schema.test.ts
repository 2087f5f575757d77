import { fileURLToPath } from "node:url";
import { createPool, type Database, ensureDatabase } from "@flyte-ts/postgres";
import { createLogger } from "@flyte-ts/telemetry";
import { postgresFixture, schemaSnapshot, type ServerFixture } from "@flyte-ts/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

const logger = createLogger({ service: "test", level: "silent" });
const directory = fileURLToPath(new URL("../migrations", import.meta.url));

let postgres: ServerFixture;
let db: Database;
beforeAll(async () => {
  postgres = await postgresFixture();
  const url = new URL(postgres.url);
  url.pathname = "/scheduler of tests";
  // Replicas start together: each may find the database missing.
  await Promise.all([1, 2, 3, 4].map(() => ensureDatabase(url.href)));
  await ensureDatabase(url.href);
  db = createPool({ url: url.href, logger });
  await Promise.all([1, 2].map(() => db.migrate({ directory, logger })));
});
afterAll(async () => {
  await db.close();
  await postgres.stop();
});

test("the migrations give the schema that is written down", async () => {
  const { schema, written, hint } = await schemaSnapshot(db, directory);
  expect(schema, hint).toBe(written);
});
