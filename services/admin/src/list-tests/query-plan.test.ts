import { create } from "@bufbuild/protobuf";
import { SortSchema } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import type { Database } from "@flyte-ts/postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AdminDatabase, adminDatabase } from "../database.fixture.js";
import { launchPlanEntity } from "../registry/store/launch-plans.js";
import { namedEntityEntity } from "../registry/store/named-entities.js";
import { taskEntity } from "../registry/store/tasks.js";
import { workflowEntity } from "../registry/store/workflows.js";
import type { ListEntity } from "../platform/list-query/entity.js";
import { type ListRequest, planList, selectPage } from "../platform/list-query/plan.js";

const ROWS = 40_000;
let database: AdminDatabase;
let db: Database;

/** Two projects with two domains each, names with twenty versions each. */
const identity = `'p' || i % 2 AS project, CASE WHEN i / 2 % 2 = 0 THEN 'development' ELSE 'staging' END AS domain,
  'n' || i / 80 AS name, 'v' || i AS version, now() - i * interval '1 second' AS at`;
const rows = `(SELECT i, ${identity} FROM generate_series(1, ${ROWS}) AS i) AS r`;
const versioned = "project, domain, name, version, digest, closure, created_at, updated_at";
const values = "project, domain, name, version, '', '', at, at";

beforeAll(async () => {
  database = await adminDatabase();
  db = database.db;
  for (const text of [
    `INSERT INTO tasks (${versioned}, type) SELECT ${values}, 'type' || i % 7 FROM ${rows}`,
    `INSERT INTO workflows (${versioned}, typed_interface) SELECT ${values}, '' FROM ${rows}`,
    `INSERT INTO launch_plans (${versioned}, spec, workflow_id, state, schedule_type)
      SELECT ${values}, '', (SELECT min(id) FROM workflows) + i - 1, (i % 80 < 4)::int, CASE WHEN i % 50 = 0 THEN 'CRON' ELSE 'NONE' END FROM ${rows}`,
    `INSERT INTO named_entities (resource_type, project, domain, name, state, created_at, updated_at)
      SELECT 1 + i % 3, 'p' || i % 2, 'development', 'n' || i, (i % 30 = 0)::int, at, at FROM ${rows}`,
    "ANALYZE",
  ]) {
    await db.query({ text });
  }
});
afterAll(() => database.stop());

interface Node {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly Plans?: readonly Node[];
}

async function run(entity: ListEntity, request: Partial<ListRequest> & { sort?: [key: string, direction: 0 | 1] }): Promise<Node[]> {
  const { sort, ...rest } = request;
  const sortBy = sort && create(SortSchema, { key: sort[0], direction: sort[1] });
  const plan = planList(entity, {
    rpc: "List",
    filters: "",
    limit: 100,
    token: "",
    ...(sortBy && { sortBy }),
    ...rest,
    equal: { project: "p1", domain: "development", ...rest.equal },
  });
  const { text, values } = selectPage(plan, `${entity.table}.name`);
  const { rows: explained } = await db.query<{ "QUERY PLAN": [{ Plan: Node }] }>({
    text: `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
    values,
  });
  const all = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(all)];
  const root = explained[0]?.["QUERY PLAN"][0].Plan;
  return root === undefined ? [] : all(root);
}

const newest: [string, 0 | 1] = ["created_at", 0];
const ofTasks = { resource_type: 1 };

test.each<[string, ListEntity, Partial<ListRequest> & { sort?: [string, 0 | 1] }]>([
  ["newest tasks", taskEntity, { sort: newest }],
  ["oldest tasks", taskEntity, { sort: ["created_at", 1] }],
  ["tasks without an order", taskEntity, {}],
  ["latest version of a task", taskEntity, { equal: { name: "n7" }, limit: 1, sort: newest }],
  ["tasks by name", taskEntity, { sort: ["name", 1] }],
  ["tasks of a type", taskEntity, { filters: "eq(type,type3)" }],
  ["tasks since", taskEntity, { filters: "gt(created_at,2099-01-01T00:00:00Z)", sort: newest }],
  ["tasks with names of a list", taskEntity, { filters: "value_in(name,n1;n7;n9)", sort: newest }],
  ["tasks by time of update", taskEntity, { sort: ["updated_at", 0] }],
  ["tasks by description", taskEntity, { sort: ["short_description", 0] }],
  ["a version of a task", taskEntity, { filters: "eq(name,n7)+eq(version,v561)" }],
  ["newest workflows", workflowEntity, { sort: newest }],
  ["latest version of a workflow", workflowEntity, { equal: { name: "n7" }, limit: 1, sort: newest }],
  ["workflows by name", workflowEntity, { sort: ["name", 1] }],
  ["workflows by time of update", workflowEntity, { sort: ["updated_at", 1] }],
  ["workflows by description", workflowEntity, { sort: ["short_description", 0] }],
  ["launch plans by time of update", launchPlanEntity, { sort: ["updated_at", 0] }],
  ["launch plans by condition", launchPlanEntity, { sort: ["launch_condition_type", 0] }],
  ["newest launch plans", launchPlanEntity, { sort: newest }],
  ["active launch plans", launchPlanEntity, { equal: { state: 1 }, sort: newest }],
  ["scheduled launch plans", launchPlanEntity, { filters: "eq(schedule_type,CRON)" }],
  [
    "launch plans of a workflow",
    launchPlanEntity,
    { filters: "eq(workflow.name,n7)+eq(workflow.version,v561)+eq(workflow.project,p1)+eq(workflow.domain,development)" },
  ],
  ["names", namedEntityEntity, { equal: ofTasks, sort: ["name", 1], filters: "not_like(name,.flytegen%)" }],
  ["active names", namedEntityEntity, { equal: ofTasks, filters: "eq(state,0)", sort: ["name", 1] }],
  ["archived names", namedEntityEntity, { equal: ofTasks, filters: "eq(state,1)", sort: ["name", 0] }],
])("%s: no table is scanned completely and only a part of it is sorted", async (_, entity, request) => {
  const nodes = await run(entity, request);
  expect(nodes.filter((node) => node["Node Type"] === "Seq Scan").map((node) => node["Relation Name"])).toEqual([]);
  const read = nodes.filter((node) => node["Relation Name"] !== undefined).map((node) => node["Actual Rows"]);
  // A page of a hundred, plus a run of equal keys.
  expect(Math.max(...read)).toBeLessThanOrEqual(1_000);
});
