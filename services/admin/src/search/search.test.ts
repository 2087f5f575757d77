import { Match_Kind as Kind, SearchService } from "@flyte-ts/idl/flytets/admin/v1/search_pb";
import { Code, createClient } from "@flyte-ts/rpc";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AdminDatabase, adminDatabase } from "../database.fixture.js";
import { bareExecution } from "../executions/execution/bare-execution.fixture.js";
import { insertExecution } from "../executions/store/execution/insert.js";
import { type ServedAdmin, serveAdmin } from "../served-admin.fixture.js";

let database: AdminDatabase;
let admin: ServedAdmin;
beforeAll(async () => {
  database = await adminDatabase();
  admin = await serveAdmin({ db: database.db });
  const { db } = database;
  await db.query({
    text: `INSERT INTO named_entities (resource_type, project, domain, name, state, created_at, updated_at) VALUES
      (2, 'p', 'd', 'app.train', 0, now(), now()), (2, 'p', 'd', 'train', 0, now(), now()), (2, 'p', 'd', 'train.weekly', 0, now(), now()),
      (2, 'p', 'd', 'train.gone', 1, now(), now()), (2, 'p', 'other', 'train.other', 0, now(), now()), (2, 'q', 'd', 'train.q', 0, now(), now()),
      (3, 'p', 'd', 'train', 0, now(), now()), (1, 'p', 'd', 'app.load_100%', 0, now(), now()), (1, 'p', 'd', 'app.load_100x', 0, now(), now())`,
  });
  for (const [name, workflowName] of [
    ["train-1", "w"],
    ["a-train-2", "w"],
    ["b1", "app.train"],
    ["c1", "w"],
  ] as const)
    await insertExecution(db, { ...bareExecution(name), workflowName });
});
afterAll(async () => {
  await admin.stop();
  await database.stop();
});

const search = async (text: string, more: { readonly limit?: number; readonly project?: string } = {}) =>
  (await createClient({ channel: admin.channel, service: SearchService }).search({ project: "p", domain: "d", text, ...more })).matches;
const found = async (text: string): Promise<readonly string[]> => (await search(text)).map(({ kind, name }) => `${Kind[kind]} ${name}`);

test("names come by kind: the name itself, then those that begin with the text, then others", async () => {
  expect(await found("train")).toEqual([
    "WORKFLOW train",
    "WORKFLOW train.weekly",
    "WORKFLOW app.train",
    "LAUNCH_PLAN train",
    "EXECUTION b1",
    "EXECUTION a-train-2",
    "EXECUTION train-1",
  ]);
});

test("a match has all words, in any order and case, and wildcards are characters", async () => {
  expect(await found("WEEKLY tr")).toEqual(["WORKFLOW train.weekly"]);
  expect(await found("load_100%")).toEqual(["TASK app.load_100%"]);
  expect(await found("train-")).toEqual(["EXECUTION a-train-2", "EXECUTION train-1"]);
  expect(await found("nothing")).toEqual([]);
});

test("an execution tells its workflow and state", async () => {
  expect(await search("c1")).toMatchObject([{ name: "c1", workflow: "w", createdAt: {} }]);
});

test("the limit counts by kind", async () => {
  expect((await search("train", { limit: 1 })).map(({ kind }) => kind)).toEqual([Kind.WORKFLOW, Kind.LAUNCH_PLAN, Kind.EXECUTION]);
});

test.each([
  ["", {}],
  ["  ", {}],
  ["a".repeat(101), {}],
  ["a b c d e f g h i", {}],
  ["a\0", {}],
  ["a", { project: "" }],
  ["a", { limit: 51 }],
])("the request %j %j is invalid", async (text, more) => {
  await expect(search(text, more)).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
});
