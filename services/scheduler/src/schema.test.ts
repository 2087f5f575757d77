import { fileURLToPath } from "node:url";
import type { Database } from "@flyte-ts/postgres";
import { findIncompatibleMigrations, type MigratedDatabase, migratedDatabase, schemaSnapshot } from "@flyte-ts/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

const directory = fileURLToPath(new URL("../migrations", import.meta.url));
let database: MigratedDatabase;
let db: Database;
beforeAll(async () => {
  // Replicas start together: each may find the database missing.
  database = await migratedDatabase(directory, { name: "scheduler of tests" });
  ({ db } = database);
});
afterAll(() => database.stop());

test("migrations keep the previous build working, or declare from which build on they do not", () => {
  expect(findIncompatibleMigrations(directory)).toEqual([]);
});

test("the migrations give the documented schema", async () => {
  const { schema, committed: written, hint } = await schemaSnapshot(db, directory);
  expect(schema, hint).toBe(written);
});
