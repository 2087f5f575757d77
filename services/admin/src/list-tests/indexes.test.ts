import { create } from "@bufbuild/protobuf";
import { SortSchema } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AdminDatabase, adminDatabase } from "../database.fixture.js";
import { combinationsOf, type Combination, filtersOf, type Listed } from "./combinations.fixture.js";
import { documentedLists } from "./documented-lists.fixture.js";
import { planExecutions } from "../executions/execution/list.js";
import { executionEntity } from "../executions/store/execution/list-entity.js";
import { explain, explainQuery, page } from "./explain.fixture.js";
import { BIG_TABLES, BUSY, type Fill, fillLists } from "./filled-lists.fixture.js";
import { adminConfigSchema } from "../config.js";
import { readOverview } from "../overview/read-overview.js";
import { searchRpcs } from "../search/rpc.js";
import type { Database, Query } from "@flyte-ts/postgres";
import { planList, selectPagePrepared } from "../platform/list-query/plan.js";

/**
 * LISTS=large: the promised size, some minutes; LISTS=full: every filter with every order at that
 * size, about an hour. LISTS_DATA=FOLDER keeps the database there for the next run.
 */
const large = process.env.LISTS === "large" || process.env.LISTS === "full";
const every = process.env.LISTS === "full";
const fill: Fill = large
  ? { executions: 1_000_000, nodes: 5_000_000, versions: 50_000 }
  : { executions: 100_000, nodes: 300_000, versions: 20_000 };

/**
 * Maximum of rows that a plan node may read, sort or discard for a page of 100. A filter that
 * matches one row in some hundred or thousand either scans in the requested order, or sorts all its
 * rows: about ten thousand in a million. A list of nodes may read all of one execution.
 */
const MOST_ROWS = large ? 60_000 : 40_000;

let database: AdminDatabase;
let lists: ReadonlyMap<string, Listed>;
beforeAll(async () => {
  database = await adminDatabase({ dataDir: process.env.LISTS_DATA });
  const began = performance.now();
  await fillLists(database.postgres.url, fill);
  lists = new Map((await documentedLists(database.db)).map((listed) => [listed.name, listed]));
  print(`${fill.executions} executions and ${fill.nodes} nodes made in ${((performance.now() - began) / 1000).toFixed(0)} s`);
}, 1_800_000);
afterAll(() => database.stop());

test.each([
  "ListExecutions",
  "ListNodeExecutions",
  "ListNodeExecutions of a node",
  "ListNodeExecutionsForTask",
  "ListTaskExecutions",
  "ListTasks",
  "ListWorkflows",
  "ListLaunchPlans",
  "ListNamedEntities",
])(
  "%s: for any filter and order, no large table is scanned completely and only a part of it is sorted",
  async (name) => {
    const listed = lists.get(name);
    if (listed === undefined) throw new Error(`no list ${name}`);
    const combinations = combinationsOf(listed, await filtersOf(database.db, listed, every), every);
    expect(combinations.length).toBeGreaterThan(20);
    const missed: string[] = [];
    const times: Timed[] = [];
    for (const combination of combinations) {
      if (listed.slow?.(combination) === true) continue;
      const { whole, rows, shape } = await explain(database.db, listed, combination);
      const readWhole = whole.some((table) => (BIG_TABLES as readonly string[]).includes(table));
      if (readWhole || rows > MOST_ROWS) missed.push(`${describeCombination(combination)}: ${shape}`);
      if (large) times.push({ combination, ms: await measured(listed, combination) });
    }
    if (large) tellTimes(name, times);
    expect(missed).toEqual([]);
  },
  3_600_000,
);

test("queries that prepare a list of executions do not change its result", async () => {
  const listed = lists.get("ListExecutions");
  if (listed === undefined) throw new Error("no list of executions");
  const filters = await filtersOf(database.db, listed, false);
  const plain: Listed["plan"] = async (request) => planList(executionEntity, { ...request, where: [{ sql: "executions.state = 0" }] });
  for (const text of filters.filter((filter, index) => index % 11 === 0 && !/\(state,/.test(filter))) {
    const combination: Combination = { filters: text, sort: ["created_at", 0] };
    const names = async (plan: Listed["plan"]) => page(database.db, { ...listed, plan, select: "executions.execution_name" }, combination);
    expect(await names(listed.plan), text).toEqual(await names(plain));
  }
});

test.each<[string, (db: Database) => Promise<unknown>]>([
  ["an overview of a day", (db) => readOverview({ db, config: adminConfigSchema.parse({}), clock: () => new Date() }, BUSY, 24)],
  ["an overview of a week", (db) => readOverview({ db, config: adminConfigSchema.parse({}), clock: () => new Date() }, BUSY, 168)],
  ["a search for a frequent part of names", (db) => search(db, "train")],
  ["a search for the beginning of a name", (db) => search(db, "a0")],
  ["a search without a match", (db) => search(db, "nothing has such a name")],
])("%s: no statement scans a large table completely, and each reads a bounded number of rows", async (name, read) => {
  const { db, queries } = recorded(database.db);
  const began = performance.now();
  await read(db);
  print(`${name}: ${(performance.now() - began).toFixed(1)} ms`);
  const missed: string[] = [];
  for (const query of queries) {
    const { whole, rows, shape } = await explainQuery(database.db, query);
    const readWhole = whole.some((table) => (BIG_TABLES as readonly string[]).includes(table));
    if (readWhole || rows > MOST_ROWS) missed.push(`${query.name}: ${shape}`);
  }
  expect(queries.length).toBeGreaterThan(1);
  expect(missed).toEqual([]);
});

async function search(db: Database, text: string): Promise<unknown> {
  const { search: rpc } = searchRpcs({ db });
  return (rpc as (request: object) => Promise<unknown>)({ ...BUSY, text, limit: 0 });
}

/** A database that records its statements. */
function recorded(db: Database): { readonly db: Database; readonly queries: readonly Query[] } {
  const queries: Query[] = [];
  const query: Database["query"] = async (given) => {
    queries.push(given);
    return db.query(given);
  };
  return { db: { ...db, query }, queries };
}

test.each(["ASC", "DESC"])("executions by created_at %s: the generic plan reads an index in its order", async (direction) => {
  const sortBy = create(SortSchema, { key: "created_at", direction: direction === "ASC" ? 1 : 0 });
  const equal = { execution_project: BUSY.project, execution_domain: BUSY.domain };
  const plan = await planExecutions(database.db, { rpc: "List", filters: "", limit: 100, token: "", equal, sortBy });
  const { text } = selectPagePrepared(plan, "executions.id");
  const { rows } = await database.db.query<{ "QUERY PLAN": string }>({ text: `EXPLAIN (GENERIC_PLAN) ${text}` });
  const lines = rows.map((row) => row["QUERY PLAN"]).join("\n");
  expect(lines).toMatch(/Index (Only )?Scan/);
  expect(lines).not.toMatch(/Sort|Seq Scan/);
});

const describeCombination = ({ filters, sort }: Combination) =>
  `${filters === "" ? "no filter" : filters} ordered by ${sort?.join(" ") ?? "nothing"}`;

async function measured(listed: Listed, combination: Combination): Promise<number> {
  const began = performance.now();
  await page(database.db, listed, combination);
  return performance.now() - began;
}

interface Timed {
  readonly combination: Combination;
  readonly ms: number;
}

/** Number of slowest pages that are printed individually. */
const SHOWN = 10;

function tellTimes(name: string, times: readonly Timed[]): void {
  const sorted = [...times].sort((a, b) => a.ms - b.ms);
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]?.ms.toFixed(1);
  print(`${name}: ${times.length} pages of 100, ms: p50 ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)}`);
  for (const { combination, ms } of sorted.slice(-SHOWN).reverse()) print(`  ${ms.toFixed(1)}: ${describeCombination(combination)}`);
}

function print(text: string): void {
  process.stdout.write(`lists: ${text}\n`);
}
