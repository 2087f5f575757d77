import type { Database, Queryable } from "@flyte-ts/postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AdminDatabase, adminDatabase } from "../../../database.fixture.js";
import { bareExecution } from "../../execution/bare-execution.fixture.js";
import { findExecutionId } from "../execution/find.js";
import { insertExecution } from "../execution/insert.js";
import { PAGE, readNodeTable } from "./read.js";

const NODES = PAGE + 100;
let database: AdminDatabase;

beforeAll(async () => {
  database = await adminDatabase();
});
afterAll(() => database.stop());

/** Inserts nodes of which each second one encloses the next, each with an attempt. */
async function insertPairs(name: string): Promise<void> {
  const { db } = database;
  await insertExecution(db, bareExecution(name));
  const values = [await findExecutionId(db, { project: "p", domain: "d", name }), NODES];
  await db.query({
    text: `INSERT INTO node_executions (execution_id, node_id, parent_node_id, spec_node_id, phase, revision, phase_order, first_order,
        started_order, target_order, first_ns, updated_ns)
      SELECT $1, 'n' || i, CASE WHEN i % 2 = 1 THEN 'n' || (i - 1) END, 'n', 'SUCCEEDED', 1, 0, 0, 0, 0, 0, 0
      FROM generate_series(0, $2::int - 1) AS i`,
    values,
  });
  await db.query({
    text: `INSERT INTO task_executions (execution_id, node_id, project, domain, name, version, retry_attempt, revision, phase, phase_version,
        phase_order, first_ns, first_order, started_order, updated_ns)
      SELECT $1, 'n' || i, 'p', 'd', 't', 'v', 0, 1, 'SUCCEEDED', 0, 0, 0, 0, 0, 0 FROM generate_series(0, $2::int - 1) AS i`,
    values,
  });
}

/** Database that adds the plan of each page's statement to `plans`. */
function explaining(db: Database, plans: string[]): Database {
  const explain = (tx: Queryable): Queryable => ({
    query: async (statement) => {
      if (statement.name === "node-table-page") {
        const plan = await tx.query<{ "QUERY PLAN": string }>({ text: `EXPLAIN ${statement.text}`, values: statement.values ?? [] });
        plans.push(plan.rows.map((row) => row["QUERY PLAN"]).join("\n"));
      }
      return tx.query(statement);
    },
  });
  return { ...db, transaction: (work) => db.transaction((tx) => work(explain(tx))) };
}

test("a page joins as many parents and attempts as nodes without a nested loop", async () => {
  await insertPairs("pairs");
  const plans: string[] = [];
  const nodes: { readonly key: number; readonly parent: number; readonly attempts: number; readonly entity: string }[] = [];
  await readNodeTable(
    explaining(database.db, plans),
    { project: "p", domain: "d", name: "pairs" },
    {
      onOpen: () => undefined,
      onPage: ({ length, key, parent, attempts, entity }) => {
        for (let index = 0; index < length; index++) {
          nodes.push({ key: key[index] ?? 0, parent: parent[index] ?? -1, attempts: attempts[index] ?? 0, entity: entity[index] ?? "" });
        }
      },
    },
  );
  expect(plans).toHaveLength(2);
  expect(plans.join("\n")).not.toContain("Nested Loop");
  expect(nodes).toHaveLength(NODES);
  const parents = nodes.map((_, index) => (index % 2 === 1 ? nodes[index - 1]?.key : 0));
  expect(nodes.map(({ parent }) => parent)).toEqual(parents);
  expect(nodes.every(({ attempts, entity }) => attempts === 1 && entity === "t")).toBe(true);
});
