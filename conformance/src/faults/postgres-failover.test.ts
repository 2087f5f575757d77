import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { replicatedPostgresFixture } from "@flyte-ts/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ControlPlane, startControlPlane } from "../stack/control-plane.fixture.js";
import { registerSleepChain } from "../stack/sleep-chain.js";
import { runThroughOutage } from "./outage.js";

// PostgreSQL has a synchronous standby behind one address. Each round loses the primary with its
// disk; the standby takes over and gets a standby of its own.

/** `POSTGRES_FAILOVER_ROUNDS` overrides the number of fail-overs. */
const ROUNDS = Number(process.env.POSTGRES_FAILOVER_ROUNDS ?? 1);
const EXECUTIONS = 100;
const OUTAGE_MS = 2_000;
const TIMEOUT_MS = 180_000;

let plane: ControlPlane;
let clients: readonly FlyteClient[];
let launchPlan: Identifier;

beforeAll(async () => {
  plane = await startControlPlane(2, { postgres: replicatedPostgresFixture });
  clients = plane.admins.map(({ api }) => createFlyteClient({ endpoint: `127.0.0.1:${api}` }));
  launchPlan = await registerSleepChain(clients[0] as FlyteClient, 2);
}, 300_000);
afterAll(async () => {
  for (const client of clients ?? []) client.close();
  await plane?.stop();
}, 60_000);

test.each(Array.from({ length: ROUNDS }, (_, round) => round))(
  "fail-over %i to a synchronous standby: every accepted execution exists once and succeeds",
  async (round) => {
    const fault = { name: `fail-over ${round}`, begin: () => plane.postgres.kill(), end: () => plane.postgres.restart() };
    const options = { clients, launchPlan, executions: EXECUTIONS, outageMs: OUTAGE_MS, timeoutMs: TIMEOUT_MS };
    await expect(runThroughOutage(`s${round}${Date.now().toString(36)}`, fault, options)).resolves.toBeUndefined();
  },
  OUTAGE_MS * 2 + 2 * TIMEOUT_MS,
);

test("no replica of admin exited by itself", () => {
  const ends = plane.admins.flatMap(({ process }) => process.log().filter((line) => /"level":"fatal"|uncaught/i.test(line)));
  expect(ends).toEqual([]);
});
