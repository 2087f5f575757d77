import { setTimeout as sleep } from "node:timers/promises";
import { durationFromMs, durationMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { Code, type ServiceClient } from "@flyte-ts/rpc";
import type { DataCatalog } from "@flyte-ts/idl/flyteidl/datacatalog/datacatalog_pb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ServedCatalog, serveCatalog } from "../served-catalog.fixture.js";
import { pruneReservations } from "./prune.js";

let served: ServedCatalog;
let tags = 0;
beforeAll(async () => {
  served = await serveCatalog();
});
afterAll(() => served.stop());

const reservation = (tagName: string) => ({ datasetId: { project: "p", domain: "d", name: "n", version: "1" }, tagName });
const newTag = () => `tag-${++tags}`;

interface Ask {
  readonly tag: string;
  readonly owner: string;
  readonly heartbeatMs?: number;
}

async function reserve(catalog: ServiceClient<typeof DataCatalog>, { tag, owner, heartbeatMs = 5_000 }: Ask) {
  const answer = await catalog.getOrExtendReservation({
    reservationId: reservation(tag),
    ownerId: owner,
    heartbeatInterval: durationFromMs(heartbeatMs),
  });
  if (answer.reservation?.expiresAt === undefined) throw new Error("no reservation");
  return { owner: answer.reservation.ownerId, expires: timestampMs(answer.reservation.expiresAt), reservation: answer.reservation };
}

test("one of many concurrent requests gets the reservation, and all responses name its owner", async () => {
  for (let round = 0; round < 10; round++) {
    const tag = newTag();
    const answers = await Promise.all(
      [...Array(40).keys()].map((i) => reserve(i % 2 ? served.catalog : served.replica, { tag, owner: `owner-${i}` })),
    );
    expect(new Set(answers.map(({ owner }) => owner)).size).toBe(1);
  }
});

test("its owner extends a reservation, and no other request gets it meanwhile", async () => {
  const tag = newTag();
  const first = await reserve(served.catalog, { tag, owner: "a" });
  await sleep(20);
  const again = await reserve(served.replica, { tag, owner: "a" });
  expect(again.owner).toBe("a");
  expect(again.expires).toBeGreaterThan(first.expires);
  const other = await reserve(served.catalog, { tag, owner: "b" });
  expect(other.owner).toBe("a");
  expect(other.expires).toBe(again.expires);
});

test("a reservation lasts for three heartbeats, and a heartbeat interval is at most ten seconds", async () => {
  const { rows } = await served.db.query<{ now: Date }>({ text: "SELECT clock_timestamp() AS now" });
  const now = rows[0]?.now.getTime() ?? 0;
  const short = await reserve(served.catalog, { tag: newTag(), owner: "a", heartbeatMs: 2_000 });
  expect(durationMs(short.reservation.heartbeatInterval ?? durationFromMs(0))).toBe(2_000);
  expect(short.expires - now).toBeGreaterThanOrEqual(6_000);
  expect(short.expires - now).toBeLessThan(6_000 + 20_000);
  const long = await reserve(served.catalog, { tag: newTag(), owner: "a", heartbeatMs: 60_000 });
  expect(durationMs(long.reservation.heartbeatInterval ?? durationFromMs(0))).toBe(10_000);
  const { reservation: unsaid } = await served.catalog.getOrExtendReservation({ reservationId: reservation(newTag()), ownerId: "a" });
  expect(durationMs(unsaid?.heartbeatInterval ?? durationFromMs(0))).toBe(10_000);
});

test("an expired reservation passes to exactly one of the waiting requests", async () => {
  const tag = newTag();
  const held = await reserve(served.catalog, { tag, owner: "dead", heartbeatMs: 50 });
  const waiting = [...Array(20).keys()].map((i) => `owner-${i}`);
  const answers = new Map<string, string[]>(waiting.map((owner) => [owner, []]));
  const until = Date.now() + 30_000;
  let passedOn = false;
  while (!passedOn && Date.now() < until) {
    await Promise.all(
      waiting.map(async (owner, i) => {
        const answer = await reserve(i % 2 ? served.catalog : served.replica, { tag, owner });
        answers.get(owner)?.push(answer.owner);
        passedOn ||= answer.owner !== "dead";
      }),
    );
  }
  const holders = new Set([...answers.values()].flat());
  holders.delete("dead");
  expect(holders.size).toBe(1);
  const { rows } = await served.db.query<{ asked_at: Date }>({
    text: "SELECT asked_at FROM reservations WHERE tag_name = $1",
    values: [tag],
  });
  expect(rows[0]?.asked_at.getTime()).toBeGreaterThanOrEqual(held.expires);
  expect((await reserve(served.catalog, { tag, owner: "dead" })).owner).toBe([...holders][0]);
});

test("a release by the owner frees a reservation at once, and one by another does nothing", async () => {
  const tag = newTag();
  await reserve(served.catalog, { tag, owner: "a" });
  await served.catalog.releaseReservation({ reservationId: reservation(tag), ownerId: "b" });
  expect((await reserve(served.catalog, { tag, owner: "b" })).owner).toBe("a");
  await served.catalog.releaseReservation({ reservationId: reservation(tag), ownerId: "a" });
  await served.catalog.releaseReservation({ reservationId: reservation(tag), ownerId: "a" });
  expect((await reserve(served.catalog, { tag, owner: "b" })).owner).toBe("b");
});

test("expired reservations are deleted later, in batches", async () => {
  const end = (tag: string, ago: string) =>
    served.db.query({ text: "UPDATE reservations SET expires_at = now() - $2::interval WHERE tag_name = $1", values: [tag, ago] });
  const [held, ended, ...left] = [newTag(), newTag(), newTag(), newTag(), newTag()] as const;
  for (const tag of [held, ended, ...left]) await reserve(served.catalog, { tag, owner: "a" });
  await end(ended, "1 minute");
  for (const tag of left) await end(tag, "2 hours");
  expect([await pruneReservations(served.db, 2), await pruneReservations(served.db, 2), await pruneReservations(served.db, 2)]).toEqual([
    2, 1, 0,
  ]);
  const { rows } = await served.db.query<{ tag: string }>({
    text: "SELECT tag_name AS tag FROM reservations WHERE tag_name = ANY ($1) ORDER BY tag_name",
    values: [[held, ended, ...left]],
  });
  expect(rows.map(({ tag }) => tag)).toEqual([held, ended].toSorted());
});

test("a missing field is reported by name", async () => {
  const refused = async (request: Parameters<typeof served.catalog.getOrExtendReservation>[0], field: string) => {
    await expect(served.catalog.getOrExtendReservation(request)).rejects.toMatchObject({
      code: Code.INVALID_ARGUMENT,
      message: expect.stringContaining(field) as string,
    });
  };
  await refused({ ownerId: "a" }, "reservation_id");
  await refused({ reservationId: { tagName: "t" }, ownerId: "a" }, "dataset");
  await refused({ reservationId: reservation(""), ownerId: "a" }, "tagName");
  await refused({ reservationId: reservation("t"), ownerId: "" }, "owner_id");
  await refused({ reservationId: reservation("t"), ownerId: "a", heartbeatInterval: durationFromMs(-1) }, "heartbeat_interval");
});
