import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type CommitFault, seededRandom } from "@flyte-ts/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ControlPlane, startControlPlane } from "../stack/control-plane.fixture.js";
import { registerSleepChain } from "../stack/sleep-chain.js";
import { type Fault, runThroughOutage } from "./outage.js";

/** `CONTROL_PLANE_FAULTS=full`: 1,000 executions for each fault, and outages of a minute. */
const FULL = process.env.CONTROL_PLANE_FAULTS === "full";
const EXECUTIONS = FULL ? 1_000 : 60;
const OUTAGE_MS = FULL ? 60_000 : 3_000;
const SEED = Number(process.env.FAULT_SEED ?? 1);
const TIMEOUT_MS = 180_000;

let plane: ControlPlane;
let clients: readonly FlyteClient[];
let launchPlan: Identifier;

beforeAll(async () => {
  plane = await startControlPlane(3);
  clients = plane.admins.map(({ api }) => createFlyteClient({ endpoint: `127.0.0.1:${api}` }));
  launchPlan = await registerSleepChain(clients[0] as FlyteClient, 2);
}, 300_000);
afterAll(async () => {
  for (const client of clients ?? []) client.close();
  await plane?.stop();
}, 60_000);

const random = seededRandom(SEED);
const CUTS: readonly CommitFault[] = ["before", "after", "meanwhile"];
const victim = () => plane.admins[1]!.process;

const FAULTS: readonly Fault[] = [
  {
    name: "PostgreSQL crashes and comes back",
    begin: () => plane.postgres.kill(),
    end: () => plane.postgres.restart(),
  },
  {
    name: "PostgreSQL is restarted",
    begin: () => plane.postgres.restart(),
    end: () => plane.postgres.restart(),
  },
  {
    name: "every tenth commit loses its connection",
    begin: () => plane.commits.setFaultPolicy(() => (random() < 0.1 ? CUTS[Math.floor(random() * CUTS.length)] : undefined)),
    end: () => plane.commits.setFaultPolicy(() => undefined),
  },
  { name: "NATS is unavailable", begin: () => plane.nats.kill(), end: () => plane.nats.restart() },
  {
    name: "the data plane's API is unavailable",
    begin: () => plane.dataPlane.set({ kind: "refused" }),
    end: () => plane.dataPlane.set({ kind: "none" }),
  },
  { name: "one of three replicas of admin is killed", begin: () => victim().kill(), end: () => victim().restart() },
];

test.each(FAULTS.map((fault, index) => ({ ...fault, index })))(
  "$name: every accepted execution exists once and succeeds",
  async ({ index, ...fault }) => {
    const options = { clients, launchPlan, executions: EXECUTIONS, outageMs: OUTAGE_MS, timeoutMs: TIMEOUT_MS };
    await expect(runThroughOutage(`f${index}${Date.now().toString(36)}`, fault, options)).resolves.toBeUndefined();
  },
  OUTAGE_MS * 2 + 2 * TIMEOUT_MS,
);

test("commits were cut in each way, and no replica exited by itself", () => {
  expect(Object.entries(plane.commits.faults).filter(([, count]) => count === 0)).toEqual([]);
  const ends = plane.admins.flatMap(({ process }) => process.log().filter((line) => /"level":"fatal"|uncaught/i.test(line)));
  expect(ends).toEqual([]);
});
