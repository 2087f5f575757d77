import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { createKubeClient, type KubeObject } from "@flyte-ts/kubernetes";
import { createPool } from "@flyte-ts/postgres";
import { createLogger } from "@flyte-ts/telemetry";
import { FLYTE_WORKFLOW_RESOURCE } from "@flyte-ts/workflow-crd";
import type { NodeStatus, WorkflowStatus } from "@flyte-ts/workflow-crd/status";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ControlPlane, startControlPlane } from "../stack/control-plane.fixture.js";
import { type ResponseCounts, createWithRetry, type WantedExecution } from "../stack/create-with-retry.js";
import { nodeAndAttemptPhases, waitForEnd } from "../stack/executions.js";
import { NEXT_COLUMN, NEXT_FIELD, type PatchedBuild, createPatchedBuild } from "./patched-build.fixture.js";
import type { ServiceProcess } from "../stack/service-process.js";
import { registerShellWorkflow } from "../stack/shell-tasks.js";
import { registerSleepChain, registerSleepFan, sleepInputs } from "../stack/sleep-chain.js";
import { isSleepLine, parseSleeps } from "../stack/sleep-journal.js";

/** `ROLLING_UPGRADE=full`: three admins, more executions, and a delay between the replicas. */
const FULL = process.env.ROLLING_UPGRADE === "full";
/** Minimum number of executions; creation continues while services are upgraded. */
const EXECUTIONS = FULL ? 400 : 50;
const PER_SECOND = FULL ? 8 : 3;
const REPLICA_DELAY_MS = FULL ? 3_000 : 300;
const TIMEOUT_MS = 180_000;
const CHAIN = { length: 3, sleepMs: 400 };
const FAN = 20;
const NAMESPACE = "flytesnacks-development";

let plane: ControlPlane;
let nextBuild: PatchedBuild;
let clients: readonly FlyteClient[];
let kinds: readonly Omit<WantedExecution, "name">[];
const folder = mkdtempSync(join(tmpdir(), "flyte-ts-rolling-"));
const ran = join(folder, "ran");

beforeAll(async () => {
  nextBuild = createPatchedBuild();
  plane = await startControlPlane(FULL ? 3 : 2, {
    plugins: ["echo", "pod"],
    dataPlaneReplicas: 2,
    // Statuses of fan-outs are stored in slices, those of the others in the resource.
    propeller: { engine: { inlineStatusLimitBytes: 4_096, sliceNodes: 8 } },
  });
  clients = plane.admins.map(({ api }) => createFlyteClient({ endpoint: `127.0.0.1:${api}` }));
  const [client] = clients as [FlyteClient];
  const script = `echo "$FLYTE_INTERNAL_EXECUTION_ID {{.PerRetryUniqueKey}}" >> ${ran}; sleep 0.3`;
  const chain = { launchPlan: await registerSleepChain(client, CHAIN.length), inputs: sleepInputs(CHAIN.sleepMs) };
  const fan = { launchPlan: await registerSleepFan(client, FAN), inputs: sleepInputs(CHAIN.sleepMs) };
  const pods = {
    launchPlan: await registerShellWorkflow(client, "pods", [
      { id: "n0", script, after: [] },
      { id: "n1", script, after: ["n0"] },
    ]),
  };
  kinds = [chain, pods, chain, pods, fan];
}, 300_000);
afterAll(async () => {
  for (const client of clients ?? []) client.close();
  await plane?.stop();
  nextBuild?.remove();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/** No name is a prefix of another. */
const nameOf = (prefix: string, index: number) => `${prefix}${["chain", "pods", "chain", "pods", "fan"][index % 5]}${index}x`;

/**
 * Creates executions at a constant rate until `done` and at least EXECUTIONS. Resolves to their
 * names.
 */
async function createLoad(prefix: string, done: () => boolean, responseCounts: ResponseCounts): Promise<string[]> {
  const names: string[] = [];
  const calls: Promise<void>[] = [];
  for (const begun = Date.now(); !done() || names.length < EXECUTIONS; ) {
    const index = names.length;
    const name = nameOf(prefix, index);
    names.push(name);
    const wanted = { name, ...(kinds[index % kinds.length] as Omit<WantedExecution, "name">) };
    const call = createWithRetry(wanted, { clients, firstClient: index, responseCounts, timeoutMs: TIMEOUT_MS });
    // Prevents an unhandled rejection; `Promise.all` below reports the error.
    call.catch(() => undefined);
    calls.push(call);
    await sleep(Math.max(0, begun + (names.length / PER_SECOND) * 1_000 - Date.now()));
  }
  await Promise.all(calls);
  return names;
}

const replicas = (): readonly ServiceProcess[] => {
  const [dataPlane] = plane.dataPlanes;
  const { echo = [], pod = [] } = dataPlane?.plugins ?? {};
  return [...plane.admins.map(({ process }) => process), ...(dataPlane?.propellers ?? []), ...echo, ...pod];
};

/** Stops one replica after the other and starts it again from the build. */
async function rollReplicas(order: readonly ServiceProcess[], build: string | undefined): Promise<void> {
  for (const replica of order) {
    expect(await replica.terminate()).toBe("status 0");
    await replica.restart(build);
    await sleep(REPLICA_DELAY_MS);
  }
}

/**
 * Waits for the end of these executions. Resolves to one line for each difference from a run
 * without an upgrade.
 */
async function findDifferences(names: readonly string[]): Promise<string[]> {
  const [client] = clients as [FlyteClient];
  const idOf = (name: string) => ({ project: "flytesnacks", domain: "development", name });
  const found: string[] = [];
  for (const name of names) {
    const { closure } = await waitForEnd(client, idOf(name), TIMEOUT_MS);
    if (closure?.phase !== WorkflowExecution_Phase.SUCCEEDED)
      found.push(`${name} ended ${closure?.phase}: ${JSON.stringify(closure?.outputResult.value)}`);
  }
  const [dataPlane] = plane.dataPlanes;
  const journal = (dataPlane?.plugins.echo ?? []).flatMap((replica) => replica.log()).filter(isSleepLine);
  const podsRan = readFileSync(ran, "utf8").split("\n");
  for (const name of names) {
    const [fan, pods] = [name.includes("fan"), name.includes("pods")];
    const nodes = Array.from({ length: fan ? FAN + 2 : pods ? 2 : CHAIN.length }, (_, index) => `n${index}`);
    const complete = nodes.flatMap((node) => [`${node} SUCCEEDED`, `${node} 0 SUCCEEDED`]).sort();
    const reported = fan ? complete : await waitForPhases(name, complete);
    if (String(reported) !== String(complete)) found.push(`${name} consists of ${reported.join(", ")}`);
    // Each pod records the effect of its attempt, so it must occur once. Sleeps have no effect: two
    // replicas may wait for the end of the same sleep, because both know the end from the request.
    const own = podsRan.filter((line) => line.startsWith(`${name} `));
    if (pods && (own.length !== nodes.length || new Set(own).size !== nodes.length)) found.push(`${name} ran ${own.join(", ")}`);
    const slept = new Set(
      parseSleeps(journal, name).flatMap(({ attempt, ended }) => (ended === undefined ? [] : [attempt.split(`${name}-`)[1]])),
    );
    if (!pods && String([...slept].sort()) !== String(nodes.map((node) => `${node}-0`).sort()))
      found.push(`${name} slept ${[...slept].join(", ")}`);
  }
  return found;
}

/**
 * Resolves to the nodes and attempts once they match, or at the deadline. Messages that a stopped
 * replica had received are redelivered to another replica, possibly after the execution has ended.
 */
async function waitForPhases(name: string, wanted: readonly string[]): Promise<readonly string[]> {
  for (const deadline = Date.now() + TIMEOUT_MS; ; await sleep(200)) {
    const parts = await nodeAndAttemptPhases(clients[0] as FlyteClient, { project: "flytesnacks", domain: "development", name });
    if (String(parts) === String(wanted) || Date.now() > deadline) return parts;
  }
}

test.each([
  ["to the next build", () => nextBuild.root],
  ["and back", () => undefined],
])(
  "rolling %s under load: every execution ends, no attempt runs twice",
  async (direction, build) => {
    const responseCounts: ResponseCounts = new Map();
    let rolled = false;
    const prefix = direction === "and back" ? "back" : "next";
    const loading = createLoad(prefix, () => rolled, responseCounts);
    loading.catch(() => undefined);
    await sleep(1_000);
    const begun = Date.now();
    const order = replicas();
    // Upgrade admin before propeller and its plugin services; downgrade in reverse order.
    await rollReplicas(direction === "and back" ? order.toReversed() : order, build()).finally(() => (rolled = true));
    const took = Date.now() - begun;
    const names = await loading;
    expect(await findDifferences(names)).toEqual([]);
    const report = [...responseCounts].map(([code, count]) => `${code} ${count}`).join(", ");
    process.stdout.write(`${direction}: ${order.length} replicas in ${took} ms, ${names.length} executions; creations: ${report}\n`);
  },
  600_000,
);

test("both builds wrote their own fields, and the older one kept unknown fields", async () => {
  const kube = await createKubeClient({ kubeconfig: plane.dataPlanes[0]?.kubeconfig ?? "" });
  const { items } = await kube.list<KubeObject & { readonly status?: WorkflowStatus }>(FLYTE_WORKFLOW_RESOURCE, { namespace: NAMESPACE });
  await kube.close();
  const knows = (status: object) => NEXT_FIELD in status;
  const statuses = items.flatMap(({ status }) => (status === undefined ? [] : [status]));
  const nodesOf = ({ nodeStatus = {} }: WorkflowStatus): NodeStatus[] => Object.values(nodeStatus);
  const ofNext = statuses.filter((status) => knows(status) && nodesOf(status).every(knows));
  const ofBoth = statuses.filter((status) => knows(status) && !nodesOf(status).every(knows));
  const ofThis = statuses.filter((status) => !knows(status));
  const db = createPool({ url: plane.postgres.url, logger: createLogger({ service: "test", level: "silent" }) });
  const { rows } = await db.query<{ by: string; count: number }>({
    text: `SELECT ${NEXT_COLUMN} AS by, count(*)::int AS count FROM executions GROUP BY 1 ORDER BY 1`,
  });
  await db.close();
  process.stdout.write(`statuses: next ${ofNext.length}, both ${ofBoth.length}, this ${ofThis.length}; rows: ${JSON.stringify(rows)}\n`);
  expect(ofNext.length).toBeGreaterThan(0);
  expect(ofBoth.length).toBeGreaterThan(0);
  expect(ofThis.length).toBeGreaterThan(0);
  expect(rows.map(({ by }) => by)).toEqual(["before", "next"]);
  const ends = replicas().flatMap((replica) => replica.log().filter((line) => /"level":"fatal"|uncaught/i.test(line)));
  expect(ends).toEqual([]);
}, 60_000);
