import type { DescField, DescMethod } from "@bufbuild/protobuf";
import { codeName, createClient, RpcError } from "@flyte-ts/rpc";
import { afterAll, beforeAll, expect, test } from "vitest";
import { anyRequest, restCalls } from "@flyte-ts/testing";
import { type AdminDatabase, adminDatabase } from "../database.fixture.js";
import { executionEntity } from "../executions/store/execution/list-entity.js";
import { registerLaunchPlan, registerWorkflow, scope } from "../executions/execution/registered-workflow.fixture.js";
import { launchPlanEntity } from "../registry/store/launch-plans.js";
import { namedEntityEntity } from "../registry/store/named-entities.js";
import { nodeExecutionEntity } from "../executions/store/node/list-entity.js";
import { projectEntity } from "../registry/store/projects.js";
import { serveAdmin, type ServedAdmin } from "../served-admin.fixture.js";
import { signalEntity } from "../executions/store/signals.js";
import { taskExecutionEntity } from "../executions/store/attempt/list-entity.js";
import { taskEntity } from "../registry/store/tasks.js";
import { workflowEntity } from "../registry/store/workflows.js";
import type { ListEntity } from "../platform/list-query/entity.js";

// Sends SQL to every list of the API, in the value of every filterable field, in the field name,
// the sort key and the token, over gRPC and REST. Executed SQL would leave a table behind; a
// condition that is always true would list everything.
const ENTITIES: readonly ListEntity[] = [
  executionEntity,
  launchPlanEntity,
  namedEntityEntity,
  nodeExecutionEntity,
  projectEntity,
  signalEntity,
  taskExecutionEntity,
  taskEntity,
  workflowEntity,
];
const FIELDS = [
  ...new Set(
    ENTITIES.flatMap((entity) => [
      ...Object.keys(entity.columns),
      ...Object.entries(entity.related).flatMap(([prefix, related]) => Object.keys(related.columns).map((name) => `${prefix}.${name}`)),
    ]),
  ),
];
const LEAVE = "CREATE TABLE injected (x int)";
const VALUES = [
  `x'; ${LEAVE}; --`,
  "x' OR '1'='1",
  `x"; ${LEAVE}; --`,
  `1; ${LEAVE}`,
  "' UNION SELECT NULL --",
  `\\'; ${LEAVE}; --`,
  "$1",
  "x%' OR true --",
];
const FUNCTIONS = ["eq", "ne", "gt", "gte", "lt", "lte", "contains", "value_in", "value_not_in", "not_like"];

let database: AdminDatabase;
let served: ServedAdmin;
beforeAll(async () => {
  database = await adminDatabase();
  served = await serveAdmin({ db: database.db });
  await registerWorkflow(served.admin);
  await registerLaunchPlan(served.admin, "lp");
});
afterAll(async () => {
  await served.stop();
  await database.stop();
});

const field = (method: DescMethod, name: string): DescField | undefined => method.input.fields.find((each) => each.name === name);
const lists = (): DescMethod[] =>
  served.server.services.flatMap(({ methods }) => methods).filter((each) => field(each, "filters") ?? field(each, "sort_by"));

interface Asked {
  readonly filters?: string;
  readonly sortBy?: { readonly key: string; readonly direction: number };
  readonly token?: string;
}

/** Response of a list: the name of the code, and the number of rows. */
interface Answer {
  readonly code: string;
  readonly rows: number;
}

function rowsOf(answer: object): number {
  return Object.values(answer).reduce((sum: number, value: unknown) => sum + (Array.isArray(value) ? value.length : 0), 0);
}

async function byGrpc(method: DescMethod, asked: Asked): Promise<Answer> {
  const client = createClient({ channel: served.channel, service: method.parent }) as unknown as Record<
    string,
    (request: object) => Promise<object>
  >;
  const { $typeName: _, ...request } = anyRequest(method.input, scope);
  try {
    return { code: "OK", rows: rowsOf((await client[method.localName]?.({ ...request, limit: 10, ...asked })) ?? {}) };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return { code: codeName(error.code), rows: 0 };
  }
}

const CODES: Readonly<Record<number, string>> = { 200: "OK", 400: "INVALID_ARGUMENT", 404: "NOT_FOUND", 501: "UNIMPLEMENTED" };

async function byRest(method: DescMethod, { filters, sortBy, token }: Asked): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const { method: verb, path, body } of restCalls(method, anyRequest(method.input, scope))) {
    if (verb !== "GET" || body !== undefined) continue;
    const query = new URLSearchParams({ limit: "10" });
    if (filters !== undefined) query.set("filters", filters);
    if (token !== undefined) query.set("token", token);
    if (sortBy !== undefined) {
      query.set("sort_by.key", sortBy.key);
      query.set("sort_by.direction", String(sortBy.direction));
    }
    const [before, given] = path.split("?");
    const response = await fetch(`http://127.0.0.1:${served.port}${before}?${given === undefined ? "" : `${given}&`}${query.toString()}`);
    const text = await response.text();
    const rows = response.ok ? rowsOf(JSON.parse(text) as object) : 0;
    answers.push({ code: CODES[response.status] ?? `${response.status} ${text}`, rows });
  }
  return answers;
}

interface Try {
  readonly method: DescMethod;
  readonly asked: Asked;
  readonly allowed: readonly string[];
}

/** Returns the unexpected responses. Every other request uses REST. */
async function wrongOf(tries: readonly Try[]): Promise<string[]> {
  const wrong: string[] = [];
  const next = tries.entries();
  const connect = async () => {
    for (const [index, { method, asked, allowed }] of next) {
      const byGateway = index % 2 === 0 ? [] : await byRest(method, asked);
      const answers = byGateway.length > 0 ? byGateway : [await byGrpc(method, asked)];
      for (const { code } of answers) if (!allowed.includes(code)) wrong.push(`${method.name} ${JSON.stringify(asked)}: ${code}`);
    }
  };
  await Promise.all(Array.from({ length: 16 }, connect));
  return wrong.slice(0, 10);
}

/** NOT_FOUND: the parent of the list does not exist. */
const ANSWERED = ["OK", "INVALID_ARGUMENT", "NOT_FOUND"];

async function expectUntouched(): Promise<void> {
  const { rows } = await database.db.query({ text: "SELECT 1 FROM pg_tables WHERE tablename = 'injected'" });
  expect(rows).toEqual([]);
  const count = await database.db.query<{ n: bigint }>({ text: "SELECT count(*) AS n FROM tasks" });
  expect(count.rows[0]?.n).toBe(1n);
}

test("the tested lists are all lists of the API, with all their fields", () => {
  const known = new Set(lists().map(({ name }) => name));
  expect(known.size).toBeGreaterThan(12);
  expect([...known]).toEqual(expect.arrayContaining(["ListTasks", "ListExecutions", "ListProjects", "ListSignals", "ListTaskExecutions"]));
  expect(FIELDS.length).toBeGreaterThan(80);
});

test("SQL in the value of every filter is treated as text", async () => {
  const filtered = lists().filter((method) => field(method, "filters") !== undefined);
  const tries = filtered.flatMap((method, index) =>
    FIELDS.map((name, place): Try => {
      const value = VALUES[(index + place) % VALUES.length] ?? "";
      const operation = FUNCTIONS[(index * 3 + place) % FUNCTIONS.length] ?? "";
      return { method, asked: { filters: `${operation}(${name},${value})` }, allowed: ANSWERED };
    }),
  );
  expect(await wrongOf(tries)).toEqual([]);
  await expectUntouched();
});

test("a value that would be true for every row in SQL matches no row", async () => {
  const projects = lists().find(({ name }) => name === "ListProjects") as DescMethod;
  expect(await byGrpc(projects, {})).toEqual({ code: "OK", rows: 1 });
  for (const value of VALUES) {
    for (const filters of [`eq(name,${value})`, `value_in(identifier,${value})`, `contains(description,${value})`]) {
      for (const { rows } of [await byGrpc(projects, { filters }), ...(await byRest(projects, { filters }))])
        expect([filters, rows]).toEqual([filters, 0]);
    }
  }
});

test("SQL in the name of a field, a function, a sort key or a token is refused", async () => {
  const hostile = [
    "name; DROP TABLE tasks",
    'name" OR true --',
    "(SELECT 1)",
    "name) OR (true",
    "constructor",
    "__proto__",
    "toString",
    "",
  ];
  const refused = ["INVALID_ARGUMENT", "NOT_FOUND", "UNIMPLEMENTED"];
  const tries = lists().flatMap((method) =>
    hostile.flatMap((text): Try[] => {
      const asked: Asked[] = [];
      // Lists of names ignore filters.
      if (field(method, "filters") !== undefined && !method.name.endsWith("Ids"))
        asked.push({ filters: `eq(${text},x)` }, { filters: `${text}(name,x)` });
      if (field(method, "sort_by") !== undefined) asked.push({ sortBy: { key: text, direction: 1 } });
      if (text !== "" && field(method, "token") !== undefined) asked.push({ token: text });
      return asked.map((each) => ({ method, asked: each, allowed: refused }));
    }),
  );
  // Twice, so that each is sent by gRPC and by REST.
  expect(await wrongOf([...tries, ...tries.slice(1)])).toEqual([]);
  await expectUntouched();
});

test("SQL appended to every sort key is refused", async () => {
  const sorted = lists().filter((method) => field(method, "sort_by") !== undefined);
  const tries = sorted.flatMap((method) =>
    FIELDS.flatMap((name): Try[] => [
      { method, asked: { sortBy: { key: name, direction: 1 } }, allowed: ANSWERED },
      { method, asked: { sortBy: { key: `${name}; ${LEAVE}`, direction: 1 } }, allowed: ["INVALID_ARGUMENT", "NOT_FOUND"] },
    ]),
  );
  expect(await wrongOf(tries)).toEqual([]);
  await expectUntouched();
});
