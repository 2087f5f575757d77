import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { extendLeases, requeue, type ClaimedRow, type QueueTable } from "./lease.js";
import { startWorker, type QueueHandler } from "./worker.js";

const TABLE: QueueTable = { name: "work", key: "id", reason: "why" };
const LEASE_MS = 3_000;
const logger = createLogger({ service: "test", level: "silent" });
let database: AdminDatabase;
beforeAll(async () => {
  database = await adminDatabase();
  await database.db.query({
    text: `CREATE TABLE work (id bigint PRIMARY KEY, why text NOT NULL DEFAULT '', attempts int NOT NULL DEFAULT 0,
      available_at timestamptz NOT NULL DEFAULT now())`,
  });
});
afterAll(() => database.stop());
beforeEach(() => database.db.query({ text: "TRUNCATE work" }));

const owe = (ids: readonly number[]) => database.db.query({ text: "INSERT INTO work (id) SELECT unnest($1::bigint[])", values: [ids] });
async function take(limit: number): Promise<readonly ClaimedRow[]> {
  const { rows } = await database.db.query<{ id: bigint; attempts: number }>({
    text: `UPDATE work SET attempts = attempts + 1, available_at = now() + $2 * interval '1 millisecond' WHERE id IN (
      SELECT id FROM work WHERE available_at <= now() ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED) RETURNING id, attempts`,
    values: [limit, LEASE_MS],
  });
  return rows;
}
const done = ({ id }: ClaimedRow) => database.db.query({ text: "DELETE FROM work WHERE id = $1", values: [id] });
async function rows() {
  return (
    await database.db.query<{ id: bigint; attempts: number; why: string; at: Date }>({
      text: "SELECT id, attempts, why, available_at AS at FROM work ORDER BY id",
    })
  ).rows;
}
const work = (process: QueueHandler<ClaimedRow>["process"], changes: Partial<QueueHandler<ClaimedRow>> = {}): QueueHandler<ClaimedRow> => ({
  table: TABLE,
  leaseMs: LEASE_MS,
  concurrency: 3,
  pollMs: 20,
  claim: take,
  process,
  errorMessage: "trouble",
  ...changes,
});
function gate() {
  let open: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, passed };
}

test("concurrency is bounded, leases of slow tasks are extended, and closing waits for them", async () => {
  await owe([1, 2, 3, 4, 5]);
  const { open, passed } = gate();
  const begun: bigint[] = [];
  const worker = startWorker(
    { db: database.db, logger },
    work(async (row) => {
      begun.push(row.id);
      await passed;
      await done(row);
    }),
  );
  await expect.poll(() => begun).toEqual([1n, 2n, 3n]);
  const [before] = await rows();
  await expect.poll(async () => (await rows())[0]?.at.getTime(), { timeout: 30_000 }).toBeGreaterThan(before?.at.getTime() ?? 0);
  const closed = worker.close();
  expect((await rows()).map(({ attempts }) => attempts)).toEqual([1, 1, 1, 0, 0]);
  open();
  await closed;
  expect((await rows()).map(({ id }) => id)).toEqual([4n, 5n]);
});

test("neither database outages nor failing tasks stop the worker, and failed tasks are due after their lease", async () => {
  await owe([1]);
  let tries = 0;
  let looks = 0;
  const worker = startWorker(
    { db: database.db, logger },
    work(
      async (row) => {
        tries++;
        if (tries === 1) throw new Error("dead");
        await done(row);
      },
      { claim: (limit) => (looks++ === 0 ? Promise.reject(new Error("no database")) : take(limit)) },
    ),
  );
  await expect.poll(rows, { timeout: 30_000 }).toEqual([]);
  await worker.close();
  expect(tries).toBe(2);
});

test("a woken worker polls at once", async () => {
  const begun = gate();
  const worker = startWorker(
    { db: database.db, logger },
    work(
      async (row) => {
        await done(row);
        begun.open();
      },
      { pollMs: 3_600_000 },
    ),
  );
  await owe([1]);
  worker.wake();
  await begun.passed;
  await worker.close();
  expect(await rows()).toEqual([]);
});

test("a reserved slot counts as concurrency, and its task is processed like a claimed one", async () => {
  const { open, passed } = gate();
  const begun: bigint[] = [];
  let looks = 0;
  const worker = startWorker(
    { db: database.db, logger },
    work(
      async (row) => {
        begun.push(row.id);
        await passed;
        await done(row);
      },
      {
        concurrency: 2,
        leaseMs: 3_600_000,
        pollMs: 3_600_000,
        claim: async (limit) => {
          const taken = await take(limit);
          looks++;
          return taken;
        },
      },
    ),
  );
  // Waits for the first poll, which would fill the slots if it were still in progress.
  await expect.poll(() => looks).toBe(1);
  const [first, second] = [worker.reserve(), worker.reserve()];
  expect(worker.reserve()).toBeUndefined();
  await database.db.query({ text: "INSERT INTO work (id, attempts, available_at) VALUES (7, 1, now() + interval '1 hour')" });
  await owe([8, 9]);
  first?.start({ id: 7n, attempts: 1 });
  expect(begun).toEqual([7n]);
  second?.release();
  await expect.poll(() => begun).toEqual([7n, 8n]);
  const closed = worker.close();
  expect(worker.reserve()).toBeUndefined();
  open();
  await closed;
  expect((await rows()).map(({ id }) => id)).toEqual([9n]);
});

test("tasks that other replicas claimed meanwhile are left to them", async () => {
  await owe([1]);
  const [job] = await take(1);
  await database.db.query({ text: "UPDATE work SET available_at = now()" });
  const [theirs] = await take(1);
  if (job === undefined || theirs === undefined) throw new Error("nothing was taken");
  const before = await rows();
  await extendLeases(database.db, TABLE, { rows: [job], leaseMs: 60_000 });
  await requeue(database.db, TABLE, { row: job, delayMs: 60_000, reason: "mine" });
  expect(await rows()).toEqual(before);
  await requeue(database.db, TABLE, { row: theirs, delayMs: 60_000, reason: "the\0irs" });
  const [after] = await rows();
  expect(after?.why).toBe("theirs");
  expect((after?.at.getTime() ?? 0) - Date.now()).toBeGreaterThan(30_000);
});
