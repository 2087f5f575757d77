import { afterAll, beforeAll, expect, test } from "vitest";
import type { Query } from "@flyte-ts/postgres";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { explainQuery } from "../../list-tests/explain.fixture.js";
import { findWorkflowRuns } from "./workflow-runs.js";

const SCOPE = { project: "p", domain: "development" };
const FREQUENT_RUNS = 30_000;
/** Maximum of rows that a node of the plan may read: an index gives far fewer. */
const MAX_ROWS = 5_000;

let database: AdminDatabase;

async function insertRuns(workflow: string, count: number): Promise<void> {
  await database.db.query({
    text: `INSERT INTO executions (execution_project, execution_domain, execution_name, created_at, updated_at, launch_plan_id,
        launch_plan_name, workflow_id, workflow_name, launch_entity, mode, principal, cluster, spec, closure, inputs_uri, launch, state,
        state_changed_ns, phase, started_ns, accepted_ns, updated_ns, ended_ns, duration, result, abort_cause, settled_at)
      SELECT $1, $2, $3 || i, at, at, 1, $3, 1, $3, 'launch_plan', 1, '', '', '\\x', '\\x', '', '{}', 0,
        1, 'SUCCEEDED', 1, 1, 1, 2, 1, 'outputs', '', now()
      FROM (SELECT i, now() - (1 + $4 - i) * interval '1 second' AS at FROM generate_series(1, $4::int) AS i) AS r`,
    values: [SCOPE.project, SCOPE.domain, workflow, count],
  });
}

beforeAll(async () => {
  database = await adminDatabase();
  await insertRuns("app.frequent", FREQUENT_RUNS);
  await database.db.query({ text: "ANALYZE executions" });
  // The statistics know one name: the planner takes every name for that of all executions.
  await insertRuns("app.rare", 1);
});
afterAll(() => database.stop());

test("the runs of a rare workflow are read from the index of names, beside very many of another", async () => {
  const queries: Query[] = [];
  const recording: AdminDatabase["db"]["query"] = async (query) => {
    queries.push(query);
    return database.db.query(query);
  };
  const runs = await findWorkflowRuns({ query: recording }, SCOPE);
  const counts = Map.groupBy(runs, (run) => run.workflow_name);
  expect(new Map([...counts].map(([name, { length }]) => [name, length]))).toEqual(
    new Map([
      ["app.frequent", 24],
      ["app.rare", 1],
    ]),
  );
  for (const query of queries) {
    const { rows, shape } = await explainQuery(database.db, query);
    expect(rows, shape).toBeLessThan(MAX_ROWS);
  }
});
