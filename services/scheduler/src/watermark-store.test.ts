import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import type { Database } from "@flyte-ts/postgres";
import { type MigratedDatabase, migratedDatabase } from "@flyte-ts/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type WatermarkStore, createWatermarkStore } from "./watermark-store.js";
import { scheduleKey } from "./schedule.js";
import { memoryWatermarkStore, type Rows } from "./simulation/memory-watermark-store.js";

let database: MigratedDatabase;
let db: Database;
beforeAll(async () => {
  database = await migratedDatabase(fileURLToPath(new URL("../migrations", import.meta.url)));
  ({ db } = database);
});
afterAll(() => database.stop());

const rows: Rows = new Map();
const stores: Readonly<Record<string, (claimMs: number) => WatermarkStore>> = {
  PostgreSQL: (claimMs) => createWatermarkStore({ db, replica: randomUUID(), claimMs }),
  memory: (claimMs) => memoryWatermarkStore(rows, { replica: randomUUID(), claimMs, now: Date.now }),
};

function known(name: string, activatedAt = 1_000_123) {
  const launchPlan = { project: "p", domain: "d", name, version: "v" };
  return { key: scheduleKey(launchPlan), launchPlan, activatedAt };
}

// The simulation's assumptions hold for the real store.
describe.each(Object.keys(stores))("in %s", (kind) => {
  const store = (claimMs = 60_000) => (stores[kind] as (claimMs: number) => WatermarkStore)(claimMs);

  test("a watermark begins at the activation and is kept; a later activation moves it, an earlier one does not", async () => {
    const a = known("a");
    const replica = store();
    expect((await replica.ensureRows([a])).get(a.key)).toEqual({ activatedAt: 1_000_123, watermark: 1_000_123, leaseRemainingMs: 0 });
    await replica.advance(a, 2_000_000);
    expect((await store().ensureRows([a, known("b")])).get(a.key)).toMatchObject({ watermark: 2_000_000 });
    expect((await replica.ensureRows([known("a", 3_000_000)])).get(a.key)).toMatchObject({
      activatedAt: 3_000_000,
      watermark: 3_000_000,
    });
    await replica.advance(a, 9_000_000);
    expect((await replica.ensureRows([a])).get(a.key)).toMatchObject({ activatedAt: 3_000_000, watermark: 3_000_000 });
    expect(await replica.acquireLease(a, 3_000_000)).toMatchObject({ acquired: false });
  });

  test("an earlier activation is adopted with the runs that are done, or from itself after a watermark in the future", async () => {
    const [a, b] = [known("adopted", 3_000_000), known("ahead", 9_000_000)];
    const replica = store();
    await replica.ensureRows([a, b]);
    await replica.advance(a, 4_000_000);
    const [early, earlyB] = [known("adopted", 2_000_000), known("ahead", 2_000_000)];
    await replica.adoptActivation(early, { activatedAt: 1, now: 5_000_000 });
    expect((await replica.ensureRows([a])).get(a.key)).toMatchObject({ activatedAt: 3_000_000 });
    await replica.adoptActivation(early, { activatedAt: 3_000_000, now: 5_000_000 });
    await replica.adoptActivation(earlyB, { activatedAt: 9_000_000, now: 5_000_000 });
    const rows = await replica.ensureRows([early, earlyB]);
    expect(rows.get(a.key)).toMatchObject({ activatedAt: 2_000_000, watermark: 4_000_000 });
    expect(rows.get(b.key)).toMatchObject({ activatedAt: 2_000_000, watermark: 2_000_000 });
  });

  test("a watermark never goes back", async () => {
    const a = known("back");
    const replica = store();
    await replica.ensureRows([a]);
    await replica.advance(a, 3_000_000);
    await replica.advance(a, 2_000_000);
    expect((await replica.ensureRows([a])).get(a.key)).toMatchObject({ watermark: 3_000_000 });
  });

  test("one of many concurrent claims is granted, until the run is done", async () => {
    const a = known("claimed");
    const replicas = Array.from({ length: 6 }, () => store());
    await replicas[0]?.ensureRows([a]);
    const claims = await Promise.all(replicas.map((replica) => replica.acquireLease(a, a.activatedAt)));
    expect(claims.filter(({ acquired }) => acquired)).toHaveLength(1);
    const winner = replicas[claims.findIndex(({ acquired }) => acquired)];
    const loser = replicas[claims.findIndex(({ acquired }) => !acquired)];
    expect(await winner?.acquireLease(a, a.activatedAt)).toEqual({ acquired: true });
    const lost = await loser?.acquireLease(a, a.activatedAt);
    expect(lost).toMatchObject({ acquired: false, watermark: { watermark: a.activatedAt } });
    const left = lost?.acquired === false ? (lost.watermark?.leaseRemainingMs ?? 0) : 0;
    expect(left).toBeGreaterThan(30_000);
    expect(left).toBeLessThanOrEqual(60_000);
    await winner?.advance(a, 2_000_000);
    expect(await loser?.acquireLease(a, a.activatedAt)).toMatchObject({
      acquired: false,
      watermark: { watermark: 2_000_000, leaseRemainingMs: 0 },
    });
    expect(await loser?.acquireLease(a, 2_000_000)).toEqual({ acquired: true });
  });

  test("a claim expires", async () => {
    const a = known("ends");
    const [first, second] = [store(20), store(20)];
    await first.ensureRows([a]);
    expect(await first.acquireLease(a, a.activatedAt)).toEqual({ acquired: true });
    await expect.poll(async () => (await second.acquireLease(a, a.activatedAt)).acquired).toBe(true);
  });

  test("an unknown schedule has no watermark", async () => {
    expect(await store().acquireLease(known("unknown"), 1)).toEqual({ acquired: false, watermark: undefined });
  });
});

test("ended schedules are deleted after some days", async () => {
  const [kept, ended, fresh] = [known("kept"), known("ended"), known("fresh")];
  const store = createWatermarkStore({ db, replica: randomUUID(), claimMs: 1_000 });
  await store.ensureRows([kept, ended, fresh]);
  await db.query({ text: "UPDATE progress SET updated_at = now() - interval '8 days' WHERE name IN ('kept', 'ended')" });
  await store.prune([kept], 7);
  const { rows: left } = await db.query<{ name: string }>({
    text: "SELECT name FROM progress WHERE name IN ('kept', 'ended', 'fresh') ORDER BY name",
  });
  expect(left.map(({ name }) => name)).toEqual(["fresh", "kept"]);
});
