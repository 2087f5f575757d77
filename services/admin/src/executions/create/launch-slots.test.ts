import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Bus } from "@flyte-ts/messaging";
import { Code } from "@flyte-ts/rpc";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { id, integer, registerLaunchPlan, registerWorkflow, scope } from "../execution/registered-workflow.fixture.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";
import type { LaunchSlots } from "../store/outbox/launch-slots.js";
import { type OutboxEntry, claimEntries } from "../store/outbox/outbox.js";

const LEASE_MS = 60_000;
let database: AdminDatabase;
let served: ServedAdmin;
let room = true;
const begun: OutboxEntry[] = [];
let released = 0;
const launches: LaunchSlots = {
  leaseMs: LEASE_MS,
  reserve: () => (room ? { start: (entry) => begun.push(entry), release: () => released++ } : undefined),
};

beforeAll(async () => {
  database = await adminDatabase();
  served = await serveAdmin({ db: database.db, bus: { publishEphemeral: () => undefined } as unknown as Bus, launchSlots: launches });
  await registerWorkflow(served.admin);
  await registerLaunchPlan(served.admin, "l");
});
afterAll(async () => {
  await served.stop();
  await database.stop();
});

const create = (name: string, annotations = {}) =>
  served.admin.createExecution({
    ...scope,
    name,
    spec: { launchPlan: id(ResourceType.LAUNCH_PLAN, "l"), annotations: { values: annotations } },
    inputs: { literals: { x: integer(5n) } },
  });
const take = () => claimEntries(database.db, 10, LEASE_MS);

test("the replica that creates an execution claims its launch, and another replica takes it over after a crash", async () => {
  await create("mine");
  expect(begun).toHaveLength(1);
  expect(await take()).toEqual([]);
  await database.db.query({ text: "UPDATE execution_outbox SET available_at = now()" });
  const [first] = begun;
  const row = first && { ...first.row, inputs: Buffer.from(first.row.inputs) };
  expect(await take()).toMatchObject([{ ...first, row, attempts: 2 }]);
});

test("without a free slot, an execution waits for any replica", async () => {
  room = false;
  await create("waits");
  room = true;
  expect(begun).toHaveLength(1);
  expect(await take()).toMatchObject([{ attempts: 1, row: { execution_name: "waits" } }]);
});

test("a slot that was reserved in vain is released", async () => {
  await expect(create("mine")).rejects.toMatchObject({ code: Code.ALREADY_EXISTS });
  expect([begun.length, released]).toEqual([1, 1]);
  // Stored as failed: no outbox entry.
  await create("refused", { "a b": "x" });
  expect([begun.length, released]).toEqual([1, 1]);
  expect(await take()).toEqual([]);
});
