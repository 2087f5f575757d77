import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { bareExecution } from "../execution/bare-execution.fixture.js";
import { insertExecution } from "./execution/insert.js";
import { analyzeNewTables, startInitialAnalyze } from "./initial-analyze.js";

let database: AdminDatabase;
beforeAll(async () => {
  database = await adminDatabase();
});
afterAll(() => database.stop());

async function known(): Promise<string[]> {
  const { rows } = await database.db.query<{ tablename: string }>({
    text: "SELECT DISTINCT tablename FROM pg_stats WHERE schemaname = 'public'",
  });
  return rows.map(({ tablename }) => tablename);
}

test("a table is analyzed once it has rows, and the search ends when all tables have been", async () => {
  const { db } = database;
  expect((await analyzeNewTables(db)).toSorted()).toEqual(["executions", "node_executions", "task_executions"]);
  for (let i = 0; i < 60; i++) await insertExecution(db, { ...bareExecution(`e${i}`), inputs: Buffer.alloc(1_500, i) });
  expect((await analyzeNewTables(db)).toSorted()).toEqual(["node_executions", "task_executions"]);
  expect(await known()).toContain("executions");
  const running = startInitialAnalyze(db, createLogger({ service: "test", level: "silent" }));
  for (const table of ["node_executions", "task_executions"]) {
    await db.query({ text: `UPDATE pg_class SET reltuples = 1000 WHERE relname = '${table}'` });
  }
  expect(await analyzeNewTables(db)).toEqual([]);
  await running.close();
});
