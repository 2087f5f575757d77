import { type Query, type Queryable } from "@flyte-ts/postgres";
import { ManualTime } from "@flyte-ts/async/manual-time";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { type SignalId, SignalStore } from "./signals.js";

let database: AdminDatabase;
let statements: string[];
let store: SignalStore;
beforeAll(async () => {
  database = await adminDatabase();
});
afterAll(() => database.stop());
beforeEach(async () => {
  await database.db.query({ text: "TRUNCATE signals" });
  statements = [];
  store = new SignalStore(recording(database.db));
});

const recording = (db: Queryable): Queryable => ({
  query: <T>(query: Query) => {
    statements.push(query.name ?? query.text);
    return db.query<T>(query);
  },
});

const BOOLEAN = new Uint8Array([8, 4]);
const INTEGER = new Uint8Array([8, 1]);
const signal = (signalId: string, name = "e"): SignalId => ({ signalId, executionId: { project: "p", domain: "d", name } }) as SignalId;
const many = (count: number) => Array.from({ length: count }, (_, index) => `s${index}`);
const bytes = (value: Uint8Array | null | undefined) => (value ? [...value] : value);

test("a thousand concurrent calls for one execution share few statements, and each gets its own signal", async () => {
  const created = await Promise.all(many(1_000).map((id) => store.getOrInsert(signal(id), BOOLEAN)));
  expect(created.map((row) => row?.signal_id)).toEqual(many(1_000));
  await Promise.all(many(1_000).map((id, index) => store.setValue(signal(id), new Uint8Array([index % 256]))));
  const found = await Promise.all(many(1_000).map((id) => store.findToSet(signal(id))));
  expect(found.map((row) => bytes(row?.value))).toEqual(many(1_000).map((_, index) => [index % 256]));
  expect(statements.length).toBeLessThanOrEqual(3 * 11);
});

test("thousands of values for one execution are set at a limited pace, and those of another do not wait", async () => {
  const time = new ManualTime();
  const paced = new SignalStore(database.db, time);
  await Promise.all([...many(1_000).map((id) => signal(id)), signal("go", "f")].map((id) => paced.getOrInsert(id, BOOLEAN)));
  let found = 0;
  const all = many(1_000).map((id) => paced.findToSet(signal(id)).then(() => found++));
  expect((await paced.findToSet(signal("go", "f")))?.signal_id).toBe("go");
  await vi.waitFor(() => expect(found).toBe(1));
  await time.advance(4);
  await vi.waitFor(() => expect(found).toBe(101));
  await time.advance(399);
  expect(found).toBe(101);
  await time.advance(1);
  await vi.waitFor(() => expect(found).toBe(201));
  await vi.waitFor(async () => {
    await time.advance(200);
    expect(found).toBe(1_000);
  });
  await Promise.all(all);
});

test("signals of equal names of several executions are kept apart", async () => {
  await Promise.all(["e", "f"].map((name) => store.getOrInsert(signal("go", name), BOOLEAN)));
  await store.setValue(signal("go", "f"), new Uint8Array([1]));
  const found = await Promise.all(["e", "f", "g"].map((name) => store.findToSet(signal("go", name))));
  expect(found.map((row) => bytes(row?.value))).toEqual([null, [1], undefined]);
});

test("a signal that is created twice at the same time has the type of the first call", async () => {
  const calls = [
    store.getOrInsert(signal("first"), BOOLEAN),
    store.getOrInsert(signal("go"), BOOLEAN),
    store.getOrInsert(signal("go"), INTEGER),
  ];
  expect((await Promise.all(calls)).map((row) => bytes(row?.type))).toEqual([
    [8, 4],
    [8, 4],
    [8, 4],
  ]);
  expect(statements).toHaveLength(2);
});

test("an existing signal keeps its type and its value when it is created again", async () => {
  await store.getOrInsert(signal("go"), BOOLEAN);
  await store.setValue(signal("go"), new Uint8Array([1]));
  expect(await store.getOrInsert(signal("go"), INTEGER)).toMatchObject({ type: Buffer.from(BOOLEAN), value: Buffer.from([1]) });
});

test("the last of several values that are set at the same time remains", async () => {
  await Promise.all(["go", "other"].map((id) => store.getOrInsert(signal(id), BOOLEAN)));
  const values = [1, 2, 3].map((value) => store.setValue(signal("go"), new Uint8Array([value])));
  await Promise.all([...values, store.setValue(signal("other"), new Uint8Array([4]))]);
  const found = await Promise.all(["go", "other"].map((id) => store.findToSet(signal(id))));
  expect(found.map((row) => bytes(row?.value))).toEqual([[3], [4]]);
});

test("a value for an unknown signal creates none", async () => {
  await store.setValue(signal("go"), new Uint8Array([1]));
  expect(await store.findToSet(signal("go"))).toBeUndefined();
});

test("values of a MiB and more are written one by one", async () => {
  await Promise.all(many(4).map((id) => store.getOrInsert(signal(id), BOOLEAN)));
  statements = [];
  const large = Buffer.alloc(1024 * 1024, 7);
  await Promise.all(many(4).map((id) => store.setValue(signal(id), large)));
  expect(statements).toHaveLength(4);
  expect((await store.findToSet(signal("s3")))?.value).toEqual(large);
});

test("a half of a surrogate pair in an id is stored as the replacement character", async () => {
  const row = await store.getOrInsert(signal("go\ud800"), BOOLEAN);
  expect(row?.signal_id).toBe("go\ufffd");
  expect(await store.findToSet(signal("go\ud800"))).toEqual(row);
});

test("a signal that the database refuses does not fail the calls that share its statement", async () => {
  // Not compressible, and too long for an entry of the index.
  const long = Array.from({ length: 4_000 }, (_, index) => String.fromCodePoint(0x4e00 + ((index * 7_919) % 20_000))).join("");
  const results = await Promise.allSettled(["first", "a", long, "b"].map((id) => store.getOrInsert(signal(id), BOOLEAN)));
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
});

test("an unavailable database refuses the calls of a batch at once", async () => {
  const refused: string[] = [];
  const unavailable = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  const down = new SignalStore({
    query: ({ name = "" }) => {
      refused.push(name);
      return Promise.reject(unavailable);
    },
  });
  const results = await Promise.allSettled(many(50).map((id) => down.findToSet(signal(id))));
  expect(results.map((result) => result.status === "rejected" && result.reason)).toEqual(many(50).map(() => unavailable));
  expect(refused).toEqual(["find-signals", "find-signals"]);
});

test("replicas that create the same signals in different orders do not deadlock", async () => {
  const ids = many(100);
  const failed: unknown[] = [];
  const db: Queryable = {
    query: <T>(query: Query) =>
      database.db.query<T>(query).catch((error: unknown) => {
        failed.push(error);
        throw error;
      }),
  };
  const orders = [ids, ids.toReversed(), ids, ids.toReversed()];
  for (let repeat = 0; repeat < 10; repeat++) {
    // The first call of a replica is a batch of its own, the others share one.
    const replicas = orders.map((order) => ({ order: ["first", ...order], own: new SignalStore(db) }));
    await Promise.all(replicas.flatMap(({ order, own }) => order.map((id) => own.getOrInsert(signal(id), BOOLEAN))));
  }
  expect(failed).toEqual([]);
});
