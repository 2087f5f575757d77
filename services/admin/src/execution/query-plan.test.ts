import { create } from "@bufbuild/protobuf";
import { SortSchema } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import type { Database } from "@flyte-ts/postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AdminDatabase, adminDatabase } from "../database.fixture.js";
import type { EntityDescription } from "../list/entity.js";
import { type Condition, planList, preparedPage, selectPage } from "../list/plan.js";
import { nodeExecutionEntity } from "../node-execution/list-entity.js";
import { executionEntity } from "./list-entity.js";

const ROWS = 60_000;
let database: AdminDatabase;
let db: Database;

/** Two domains; three hundred launch plans and workflows, some run often and some hardly ever. */
const executions = `INSERT INTO executions (execution_project, execution_domain, execution_name, created_at, updated_at, launch_plan_id,
    launch_plan_name, workflow_name, workflow_id, task_id, launch_entity, mode, principal, spec, launch, state, state_changed_ns, phase, started_ns,
    accepted_ns, updated_ns, duration, error_kind, error_code)
  SELECT 'p', CASE WHEN i % 2 = 0 THEN 'development' ELSE 'staging' END, 'e' || i, at, at, lp, 'n' || lp, 'n' || lp, lp,
    CASE WHEN i % 100 = 0 THEN 1 + i % 50 END, 'launch_plan', i % 3, 'user' || i % 20, '', '{}', (i % 25 = 0)::int, 1,
    CASE WHEN i % 40 = 0 THEN 'RUNNING' WHEN i % 7 = 0 THEN 'FAILED' ELSE 'SUCCEEDED' END, ns, ns, ns, i * 1000000::bigint,
    CASE WHEN i % 7 = 0 THEN 'USER' END, CASE WHEN i % 7 = 0 THEN 'C' END
  FROM (SELECT i, 1 + (300 * power((i::bigint * 7919 % ${ROWS})::float8 / ${ROWS}, 4))::int % 300 AS lp, now() - i * interval '1 second' AS at,
    (extract(epoch FROM now())::bigint - i) * 1000000000 AS ns FROM generate_series(1, ${ROWS}) AS i) AS r`;
const entity = "project, domain, name, version, digest, closure, created_at, updated_at";
const entities = `'p', 'development', 'n' || i, 'v', '', '', now(), now()`;

beforeAll(async () => {
  database = await adminDatabase();
  db = database.db;
  for (const text of [
    `INSERT INTO tasks (${entity}, type) SELECT ${entities}, 't' FROM generate_series(1, 300) AS i`,
    `INSERT INTO workflows (${entity}, typed_interface) SELECT ${entities}, '' FROM generate_series(1, 300) AS i`,
    `INSERT INTO launch_plans (${entity}, spec, workflow_id, state) SELECT ${entities}, '', i, 0 FROM generate_series(1, 300) AS i`,
    executions,
    `INSERT INTO execution_tags (execution_id, key, value) SELECT id, 'team', 't' || id % 500 FROM executions`,
    `INSERT INTO node_executions (execution_id, node_id, revision, phase, phase_order, first_ns, first_order, started_order, updated_ns,
        target_order, parent_node_id)
      SELECT 1 + i % 20, 'n' || i, 1, 'SUCCEEDED', 1, 1, 1, 1, 1, 1, CASE WHEN i % 3 = 0 THEN 'n1' END
      FROM generate_series(1, ${ROWS}) AS i`,
    "ANALYZE",
  ]) {
    await db.query({ text });
  }
}, 120_000);
afterAll(() => database.stop());

interface Node {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly Node[];
}

interface Listed {
  readonly filters?: string;
  readonly sort?: [key: string, direction: 0 | 1];
  readonly where?: readonly Condition[];
}

/** Rows that were touched, by table, and tables that were read whole. */
async function run(described: EntityDescription, { filters = "", sort, where = [] }: Listed) {
  const sortBy = sort && create(SortSchema, { key: sort[0], direction: sort[1] });
  const plan = planList(described, { rpc: "List", filters, limit: 100, token: "", where, ...(sortBy && { sortBy }) });
  const { text, values } = selectPage(described, plan, `${described.table}.id`);
  const { rows } = await db.query<{ "QUERY PLAN": [{ Plan: Node }] }>({ text: `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values });
  const all = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(all)];
  const root = rows[0]?.["QUERY PLAN"][0].Plan;
  const nodes = root === undefined ? [] : all(root).filter((node) => node["Relation Name"] === described.table);
  const touched = nodes.map((node) => (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"]);
  return { whole: nodes.some((node) => node["Node Type"] === "Seq Scan"), touched: Math.max(0, ...touched) };
}

const newest: [string, 0 | 1] = ["created_at", 0];
const listed: readonly Condition[] = [
  { sql: "executions.execution_project = $$", value: "p" },
  { sql: "executions.execution_domain = $$", value: "development" },
  { sql: "executions.state = $$", value: 0 },
];

test.each<[string, Listed]>([
  ["newest", { sort: newest }],
  ["oldest", { sort: ["created_at", 1] }],
  ["started last", { sort: ["started_at", 0] }],
  ["longest", { sort: ["duration", 0] }],
  ["changed last", { sort: ["updated_at", 0] }],
  ["created last by the engine's clock", { sort: ["execution_created_at", 0] }],
  ["failed", { filters: "eq(phase,FAILED)", sort: newest }],
  ["open", { filters: "value_in(phase,QUEUED;RUNNING)", sort: newest }],
  ["of a user", { filters: "eq(user,user3)", sort: newest }],
  ["of a mode", { filters: "eq(mode,1)", sort: newest }],
  ["in a window", { filters: "gte(created_at,2000-01-01T00:00:00Z)+lte(created_at,2001-01-01T00:00:00Z)", sort: newest }],
  [
    "started in a window",
    { filters: "gte(started_at,2000-01-01T00:00:00Z)+lte(started_at,2001-01-01T00:00:00Z)", sort: ["started_at", 0] },
  ],
  ["slow", { filters: "gte(duration,59s)", sort: ["duration", 0] }],
  ["of a busy workflow", { filters: "eq(workflow.name,n1)", sort: newest }],
  ["of a rare workflow", { filters: "eq(workflow.name,n290)", sort: newest }],
  ["of a rare launch plan", { filters: "eq(launch_plan.name,n290)", sort: newest }],
  ["of a busy launch plan", { filters: "eq(launch_plan.name,n1)+eq(launch_plan.version,v)", sort: newest }],
  ["of a task", { filters: "eq(task.name,n1)", sort: newest }],
  ["with an error code", { filters: "eq(error_code,C)+eq(error_kind,USER)", sort: newest }],
  ["one by name", { filters: "eq(execution_name,e4242)" }],
  ["with a tag", { filters: "eq(execution_tag.key,team)+eq(execution_tag.value,t77)", sort: newest }],
])("executions %s: only a part is read", async (_, request) => {
  const { whole, touched } = await run(executionEntity, { ...request, where: listed });
  expect(whole).toBe(false);
  expect(touched).toBeLessThanOrEqual(4_000);
});

test.each<[string, Listed]>([
  ["newest", { sort: newest }],
  ["oldest", { sort: ["created_at", 1] }],
])("executions %s: the plan that stands for all values reads an index in its order", async (_, { sort }) => {
  const sortBy = create(SortSchema, { key: sort?.[0] ?? "", direction: sort?.[1] ?? 0 });
  const equal = { execution_project: "p", execution_domain: "development" };
  const where = [{ sql: "executions.state = 0" }];
  const plan = planList(executionEntity, { rpc: "List", filters: "", limit: 100, token: "", equal, where, sortBy });
  const { text } = preparedPage(executionEntity, plan, "executions.id");
  const { rows } = await db.query<{ "QUERY PLAN": string }>({ text: `EXPLAIN (GENERIC_PLAN) ${text}` });
  const lines = rows.map((row) => row["QUERY PLAN"]).join("\n");
  expect(lines).toMatch(/Index (Only )?Scan/);
  expect(lines).not.toMatch(/Sort|Seq Scan/);
});

const ofOne: Condition = { sql: "node_executions.execution_id = $$", value: 7 };
const top: Condition = { sql: "node_executions.parent_node_id IS NULL AND node_executions.parent_task_key IS NULL" };
const inner: Condition = { sql: "node_executions.parent_node_id = $$", value: "n1" };

test.each<[string, Listed]>([
  ["oldest", { sort: ["created_at", 1], where: [ofOne, top] }],
  ["of a node", { sort: ["created_at", 1], where: [ofOne, inner] }],
  ["failed", { filters: "eq(phase,FAILED)", where: [ofOne, top] }],
  ["by an id", { filters: "eq(node_id,n27)", where: [ofOne] }],
])("nodes %s: no other execution's are read", async (_, request) => {
  const { whole, touched } = await run(nodeExecutionEntity, request);
  expect(whole).toBe(false);
  expect(touched).toBeLessThanOrEqual(ROWS / 20);
});
