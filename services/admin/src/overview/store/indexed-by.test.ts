import { afterAll, beforeAll, expect, test } from "vitest";
import type { Query, Queryable } from "@flyte-ts/postgres";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { explainQuery } from "../../list-tests/explain.fixture.js";
import { findFailures } from "./failures.js";
import { countByPhase } from "./phase-counts.js";
import { findWorkflowRuns } from "./workflow-runs.js";

const SCOPE = { project: "p", domain: "development" };
const FREQUENT_RUNS = 30_000;
/** Maximum of rows that a node of the plan may read: an index gives far fewer. */
const MAX_ROWS = 5_000;

let database: AdminDatabase;

async function insertRuns(workflow: string, phase: string, count: number): Promise<void> {
  await database.db.query({
    text: `INSERT INTO executions (execution_project, execution_domain, execution_name, created_at, updated_at, launch_plan_id,
        launch_plan_name, workflow_id, workflow_name, launch_entity, mode, principal, cluster, spec, closure, inputs_uri, launch, state,
        state_changed_ns, phase, started_ns, accepted_ns, updated_ns, ended_ns, duration, result, abort_cause, settled_at)
      SELECT $1, $2, $3 || i, at, at, 1, $3, 1, $3, 'launch_plan', 1, '', '', '\\x', '\\x', '', '{}', 0,
        1, $5, 1, 1, 1, 2, 1, 'outputs', '', now()
      FROM (SELECT i, now() - (1 + $4 - i) * interval '1 second' AS at FROM generate_series(1, $4::int) AS i) AS r`,
    values: [SCOPE.project, SCOPE.domain, workflow, count, phase],
  });
}

beforeAll(async () => {
  database = await adminDatabase();
  await insertRuns("app.frequent", "SUCCEEDED", FREQUENT_RUNS);
  await database.db.query({ text: "ANALYZE executions" });
  // The statistics know one name and one phase: the planner takes every value for that of all
  // executions.
  await insertRuns("app.rare", "FAILED", 1);
});
afterAll(() => database.stop());

/** Records the statements of a read. Resolves to its result and to its plans that read too much. */
async function readAndExplain<T>(read: (db: Queryable) => Promise<T>): Promise<{ readonly result: T; readonly large: readonly string[] }> {
  const queries: Query[] = [];
  const query: Queryable["query"] = async (given) => {
    queries.push(given);
    return database.db.query(given);
  };
  const result = await read({ query });
  const plans = await Promise.all(queries.map(async (each) => explainQuery(database.db, each)));
  expect(plans.length).toBeGreaterThan(0);
  return { result, large: plans.filter(({ rows }) => rows > MAX_ROWS).map(({ shape }) => shape) };
}

const DAY_AGO = new Date(Date.now() - 86_400_000);

test("the runs of a rare workflow are read from the index of names, beside very many of another", async () => {
  const { result, large } = await readAndExplain((db) => findWorkflowRuns(db, SCOPE));
  const counts = Map.groupBy(result, (run) => run.workflow_name);
  expect([counts.get("app.frequent")?.length, counts.get("app.rare")?.length]).toEqual([24, 1]);
  expect(large).toEqual([]);
});

test("a rare failure is read from the index of phases", async () => {
  const { result, large } = await readAndExplain((db) => findFailures(db, SCOPE, DAY_AGO));
  expect(result.map((row) => row.workflow_name)).toEqual(["app.rare"]);
  expect(large).toEqual([]);
});

test("executions of a rare phase are counted from the index of phases", async () => {
  const options = { phases: ["FAILED", "ABORTED"], since: DAY_AGO, bucketSeconds: 3_600 };
  const { result, large } = await readAndExplain((db) => countByPhase(db, SCOPE, options));
  expect(result.map(({ phase, count }) => [phase, count])).toEqual([["FAILED", 1]]);
  expect(large).toEqual([]);
});
