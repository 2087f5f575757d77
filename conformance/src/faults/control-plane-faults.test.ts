import { setTimeout as sleep } from "node:timers/promises";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { WorkflowExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type CommitFault, seededRandom } from "@flyte-ts/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ControlPlane, startControlPlane } from "../stack/control-plane.fixture.js";
import { type ResponseCounts, createWithRetry } from "../stack/create-with-retry.js";
import { retryWhileUnavailable, nodeAndAttemptPhases } from "../stack/executions.js";
import { registerSleepChain, sleepInputs } from "../stack/sleep-chain.js";

/** `CONTROL_PLANE_FAULTS=full`: 1,000 executions for each fault, and outages of a minute. */
const FULL = process.env.CONTROL_PLANE_FAULTS === "full";
const EXECUTIONS = FULL ? 1_000 : 60;
const OUTAGE_MS = FULL ? 60_000 : 3_000;
const SEED = Number(process.env.FAULT_SEED ?? 1);
/** Concurrent requests. */
const CONCURRENCY = 8;
/** Time from the first to the last request, ms: it starts before the fault and ends after it. */
const SPREAD_MS = OUTAGE_MS * 1.5;
const TIMEOUT_MS = 180_000;
const SCOPE = { project: "flytesnacks", domain: "development" };

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

interface Fault {
  readonly name: string;
  readonly begin: () => Promise<unknown> | void;
  readonly end: () => Promise<unknown> | void;
}

async function createAll(prefix: string, responseCounts: ResponseCounts): Promise<string[]> {
  const names = Array.from({ length: EXECUTIONS }, (_, index) => `${prefix}x${index}`);
  const begun = Date.now();
  const next = names.entries();
  const caller = async () => {
    for (const [index, name] of next) {
      await sleep(Math.max(0, begun + (index / EXECUTIONS) * SPREAD_MS - Date.now()));
      await createWithRetry(
        { name, launchPlan, inputs: sleepInputs(50) },
        { clients, firstClient: index, responseCounts, timeoutMs: TIMEOUT_MS },
      );
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, caller));
  return names;
}

/** Phases of all executions with this name prefix, one for each row. */
async function phasesOf(prefix: string): Promise<Map<string, Phase[]>> {
  const found = new Map<string, Phase[]>();
  const request = { id: SCOPE, limit: 10_000, filters: `contains(execution_name,${prefix}x)` };
  const { executions, token } = await retryWhileUnavailable(() => (clients[1] as FlyteClient).admin.listExecutions(request));
  expect(token).toBe("");
  for (const { id, closure } of executions) found.set(id?.name ?? "", [...(found.get(id?.name ?? "") ?? []), closure?.phase ?? 0]);
  return found;
}

const ENDED: readonly Phase[] = [Phase.SUCCEEDED, Phase.FAILED, Phase.ABORTED, Phase.TIMED_OUT];

const EXPECTED_NODES = ["n0 0 SUCCEEDED", "n0 SUCCEEDED", "n1 0 SUCCEEDED", "n1 SUCCEEDED"];

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
  async ({ name, index, begin, end }) => {
    const prefix = `f${index}${Date.now().toString(36)}`;
    const responseCounts: ResponseCounts = new Map();
    const creating = createAll(prefix, responseCounts);
    // Prevents an unhandled rejection; the `await` below reports the error.
    creating.catch(() => undefined);
    await sleep(OUTAGE_MS / 4);
    await begin();
    await sleep(OUTAGE_MS);
    await end();
    const names = await creating;
    const made = Date.now();

    await expect.poll(async () => [...(await phasesOf(prefix)).keys()].length, { timeout: TIMEOUT_MS, interval: 250 }).toBe(names.length);
    const open = async () => [...(await phasesOf(prefix))].filter(([, [phase = Phase.UNDEFINED]]) => !ENDED.includes(phase)).length;
    await expect.poll(open, { timeout: TIMEOUT_MS, interval: 500 }).toBe(0);
    const report = [...responseCounts].map(([code, count]) => `${code} ${count}`).join(", ");
    process.stdout.write(`${name}: ${report}; all ended ${((Date.now() - made) / 1_000).toFixed(1)} s after the last request\n`);
    const phases = await phasesOf(prefix);
    expect([...phases].filter(([, each]) => each.length !== 1 || each[0] !== Phase.SUCCEEDED)).toEqual([]);
    // Check about 20 executions of each fault in detail, evenly spread over the order of creation.
    const every = Math.max(1, Math.floor(names.length / 20));
    for (const each of names.filter((_, place) => place % every === 0)) {
      // Poll: messages that the killed replica had received are redelivered to another replica,
      // possibly after the execution has ended.
      await expect
        .poll(() => nodeAndAttemptPhases(clients[2] as FlyteClient, { ...SCOPE, name: each }), {
          message: each,
          timeout: TIMEOUT_MS,
          interval: 500,
        })
        .toEqual(EXPECTED_NODES);
    }
  },
  OUTAGE_MS * 2 + 2 * TIMEOUT_MS,
);

test("commits were cut in each way, and no replica exited by itself", () => {
  expect(Object.entries(plane.commits.faults).filter(([, count]) => count === 0)).toEqual([]);
  const ends = plane.admins.flatMap(({ process }) => process.log().filter((line) => /"level":"fatal"|uncaught/i.test(line)));
  expect(ends).toEqual([]);
});
