import { DesiredState } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { afterEach, beforeEach, expect, it } from "vitest";
import { trinoOver } from "../stand-in/apis.fixture.js";
import { FakeTrino } from "../stand-in/fake-trino.fixture.js";
import { lostConnection } from "../stand-in/faults.fixture.js";
import { MemoryStore } from "@flyte-ts/task-plugin/harness";
import { Stage } from "../stand-in/stage.fixture.js";
import { prestoRequest, taskRequest } from "../stand-in/tasks.fixture.js";
import { createTableStatement, resultTable } from "./result-table.js";

let stage: Stage;
let trino: FakeTrino;
beforeEach(async () => {
  trino = new FakeTrino();
  const store = new MemoryStore();
  stage = await new Stage({ taskTypes: ["presto"], api: trinoOver(trino, store), store }).start();
});
afterEach(() => stage.stop());

const TABLE = '"hive"."flyte_temporary_tables"."flyte_a1b2c3d4e5f6g7h8i9j0_n0_0_00000000"';
const LOCATION = "s3://bucket/data/ab/a1b2c3d4e5f6g7h8i9j0-n0-0";

it("writes the results as Parquet at the raw output prefix, and removes the table around them", async () => {
  await stage.send(prestoRequest());
  await stage.clock.advance(5_000);
  expect(stage.state(prestoRequest())).toBe("RUNNING: Query is RUNNING");
  const [query] = trino.queries;
  expect(query?.statement).toBe(`CREATE TABLE ${TABLE} WITH (format = 'PARQUET', external_location = '${LOCATION}') AS (SELECT 1\n)`);
  expect(query?.headers.get("x-trino-schema")).toBe("db");
  expect(query?.headers.get("x-trino-catalog")).toBe("hive");
  expect(query?.headers.get("x-trino-user")).toBe("flyte");
  trino.finish();
  await stage.clock.advance(10_000);
  expect(trino.queries[1]).toMatchObject({ statement: `DROP TABLE IF EXISTS ${TABLE}`, started: true });
  expect(stage.last(prestoRequest())?.outputs?.literals.results?.value.value).toMatchObject({
    value: { case: "structuredDataset", value: { uri: LOCATION, metadata: { structuredDatasetType: { format: "parquet" } } } },
  });
  expect(stage.last(prestoRequest())?.event?.metadata?.pluginIdentifier).toBe("presto");
});

it("runs a statement without results as it is", async () => {
  const request = taskRequest({ type: "presto", custom: { statement: "INSERT INTO t SELECT 1", schema: "db", catalog: "c" } });
  await stage.send(request);
  await stage.clock.advance(5_000);
  trino.finish();
  await stage.clock.advance(10_000);
  expect(trino.queries.map(({ statement }) => statement)).toEqual(["INSERT INTO t SELECT 1"]);
  expect(stage.state(request)).toContain("SUCCEEDED");
});

it("starts nothing with a statement whose answer was lost", async () => {
  await stage.clock.advance(120_000);
  trino.faults.add({ kind: "lose", error: lostConnection() });
  await stage.send(prestoRequest());
  await stage.clock.advance(30_000);
  expect(trino.queries).toHaveLength(2);
  expect(trino.startsOf("SELECT 1")).toBe(1);
});

it("records each answer, so that a later process continues to read", async () => {
  await stage.send(prestoRequest());
  await stage.clock.advance(20_000);
  await stage.restart();
  await stage.sendAgain(prestoRequest());
  await stage.clock.advance(20_000);
  expect(stage.state(prestoRequest())).toBe("RUNNING: Query is RUNNING");
  trino.finish();
  await stage.clock.advance(20_000);
  expect(stage.state(prestoRequest())).toContain("SUCCEEDED");
  expect(trino.startsOf("SELECT 1")).toBe(1);
});

it("follows a query by its state when its answers are lost", async () => {
  await stage.send(prestoRequest());
  await stage.clock.advance(20_000);
  const [query] = trino.queries;
  if (query !== undefined) query.token += 5;
  await stage.clock.advance(20_000);
  expect(stage.state(prestoRequest())).toContain("its answers were lost in a restart");
  trino.finish();
  await stage.clock.advance(20_000);
  expect(stage.state(prestoRequest())).toContain("SUCCEEDED");
});

it.each([
  ["USER_ERROR", "SYNTAX_ERROR", "permanent USER SYNTAX_ERROR"],
  ["INSUFFICIENT_RESOURCES", "EXCEEDED_MEMORY_LIMIT", "retryable SYSTEM EXCEEDED_MEMORY_LIMIT"],
  ["INTERNAL_ERROR", "GENERIC_INTERNAL_ERROR", "retryable SYSTEM GENERIC_INTERNAL_ERROR"],
])("a query that fails with a %s fails: %s", async (errorType, errorName, expected) => {
  await stage.send(prestoRequest());
  await stage.clock.advance(5_000);
  trino.finish({ message: "why", errorName, errorType });
  await stage.clock.advance(20_000);
  expect(stage.state(prestoRequest())).toBe(`FAILED: ${expected}: why`);
});

it("cancels a query, also one that has not been read yet", async () => {
  await stage.send(prestoRequest());
  await stage.send({ ...prestoRequest(), abortReason: "enough" }, DesiredState.ABORT);
  await stage.clock.advance(20_000);
  expect(stage.state(prestoRequest())).toBe("ABORTED: enough");
  expect(trino.queries.every(({ state }) => state === "FAILED" || state === "FINISHED")).toBe(true);
});

it("quotes names and locations, and drops a final semicolon", () => {
  expect(resultTable(prestoRequest({ generatedName: 'x"-y' }), { resultCatalog: 'c"', resultSchema: "s" })).toBe(
    '"c"""."s"."flyte_x_y_00000000"',
  );
  expect(createTableStatement("t", " SELECT ';' ; ", "s3://b/it's")).toBe(
    "CREATE TABLE t WITH (format = 'PARQUET', external_location = 's3://b/it''s') AS (SELECT ';' \n)",
  );
});
