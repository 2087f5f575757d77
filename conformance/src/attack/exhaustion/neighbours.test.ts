import { setTimeout as sleep } from "node:timers/promises";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { booleanLiteral } from "@flyte-ts/domain/literal";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { createKubeClient, type KubeObject } from "@flyte-ts/kubernetes";
import { FLYTE_WORKFLOW_RESOURCE } from "@flyte-ts/workflow-crd";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ExecutionName, waitForEnd } from "../../stack/executions.js";
import { createUndecodableCopies, waitFor } from "../../broken-inputs/broken-input-stack.js";
import { registerShellWorkflow } from "../../stack/shell-tasks.js";
import { registerSleepChain, sleepInputs } from "../../stack/sleep-chain.js";
import { type RunningStack, startStack } from "../../stack/stack-fixture.js";
import {
  registerDoubling,
  registerGates,
  registerLargeClosure,
  registerMapOfMaps,
  registerSleepTasks,
  registerWideMaps,
} from "./hostile-workflows.fixture.js";

// Runs a small workflow beside hostile executions that try to exhaust propeller, admin and the
// kubelet. Then aborts the hostile executions.
const FULL = process.env.ATTACK === "full";
const CHAIN = 20;
const RUNS = 5;
/** Sleep of the tasks of hostile workflows, ms: longer than the test. */
const TASK_SLEEP_MS = 3_600_000;
/** Timeout of an abort, ms. The short form allows for a machine that is busy with other tests. */
const ABORT_MS = FULL ? 10_000 : 60_000;
/** Full form: the median of the neighbour's rounds may be this many times its best round alone. */
const MAX_SLOWDOWN = 2;
const ROUNDS = FULL ? 12 : 1;
/** Sizes of hostile executions. The short form is a third of the full one or less. */
const [MAPS, MAP_ITEMS, NESTED_ITEMS] = FULL ? [10, 10_000, 316] : [4, 5_000, 120];
const LOG_BYTES = FULL ? 1_000_000_000 : 250_000_000;

let stack: RunningStack;
let client: FlyteClient;
let chain: Identifier;
let processes: string;
beforeAll(async () => {
  stack = await startStack(["--no-example"]);
  client = createFlyteClient({ endpoint: `127.0.0.1:${stack.api}` });
  chain = await registerSleepChain(client, CHAIN);
  await registerSleepTasks(client);
  await medianMs();
  processes = processIds();
}, 300_000);
afterAll(async () => {
  client?.close();
  await stack?.stop();
}, 60_000);

/** Process ids of the services that must not restart. */
const processIds = () =>
  JSON.stringify([stack.pids("admin"), stack.pids("propeller"), stack.pids("plugin-pod"), stack.pids("local-cluster")]);

let count = 0;
async function start(launchPlan: Identifier, durationMs: number | undefined): Promise<ExecutionName> {
  const id = { project: launchPlan.project, domain: launchPlan.domain, name: `e${count++}x${Date.now().toString(36)}` };
  const inputs = durationMs === undefined ? {} : sleepInputs(durationMs);
  await client.admin.createExecution({ ...id, spec: { launchPlan, metadata: {} }, inputs });
  return id;
}

/** Runs the neighbour's chain several times. Resolves to the median of admin's durations, ms. */
async function medianMs(): Promise<number> {
  const durations: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const { closure } = await waitForEnd(client, await start(chain, 0), 120_000);
    expect(WorkflowExecution_Phase[closure?.phase ?? 0]).toBe("SUCCEEDED");
    durations.push(Number(closure?.duration?.seconds ?? 0n) * 1_000 + (closure?.duration?.nanos ?? 0) / 1e6);
  }
  return median(durations);
}

/** Runs rounds of the neighbour's chain. Resolves to the median of each. */
async function measureRounds(): Promise<readonly number[]> {
  const took: number[] = [];
  while (took.length < ROUNDS) took.push(await medianMs());
  return took;
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

/** Waits until the hostile execution runs, so that the neighbour competes with its work. */
async function waitUntilRunning(id: ExecutionName): Promise<void> {
  const phase = async () => (await client.admin.getExecution({ id })).closure?.phase;
  await expect.poll(phase, { timeout: 60_000 }).not.toBe(WorkflowExecution_Phase.UNDEFINED);
}

interface HostileLoad {
  readonly id: ExecutionName;
  /** Stops the load beside the execution and asserts that it was active. */
  readonly stop?: () => Promise<void>;
}

/** Sets the signals of all gates but the first, concurrently, and retries each until it is set. */
async function floodGates(gates: number): Promise<HostileLoad> {
  const id = await start(await registerGates(client, gates), 0);
  // Clients with equal endpoints share a connection, on which the neighbour's calls would wait.
  const flood = createFlyteClient({ endpoint: `localhost:${stack.api}` });
  const value = booleanLiteral(true);
  let stopped = false;
  let calls = 0;
  const set = async (index: number): Promise<void> => {
    while (!stopped) {
      calls++;
      const done = await flood.signals.setSignal({ id: { executionId: id, signalId: `s${index}` }, value }).then(
        () => true,
        () => false,
      );
      if (done) return;
      await sleep(500);
    }
  };
  const all = Promise.all(Array.from({ length: gates - 1 }, (_, index) => set(index + 1)));
  const stop = async () => {
    stopped = true;
    await all;
    flood.close();
    expect(calls).toBeGreaterThanOrEqual(gates - 1);
  };
  return { id, stop };
}

/** Keeps writing undecodable copies of the resource of a sleeping execution. */
async function writeUndecodableResources(): Promise<HostileLoad> {
  const kube = await createKubeClient({ kubeconfig: stack.kubeconfig });
  const id = await start(await registerSleepChain(client, 3), TASK_SLEEP_MS);
  const read = (name: string) => kube.get<KubeObject>(FLYTE_WORKFLOW_RESOURCE, { namespace: `${id.project}-${id.domain}`, name });
  const like = await waitFor(() => read(id.name));
  const undecodable = createUndecodableCopies(kube, like, "poison");
  const stop = async () => {
    await undecodable.stop();
    expect(undecodable.made()).toBeGreaterThan(5);
    await waitFor(async () => ((await read("poison0"))?.metadata.finalizers?.length ?? 0) === 0 || undefined);
    await kube.close();
  };
  return { id, stop };
}

const only = async (id: Promise<ExecutionName>): Promise<HostileLoad> => ({ id: await id });
const sleepers = async (launchPlan: Promise<Identifier>): Promise<HostileLoad> => only(start(await launchPlan, TASK_SLEEP_MS));

const HOSTILE: readonly (readonly [string, () => Promise<HostileLoad>])[] = [
  ["sub-workflows that double up to the limit", () => sleepers(registerDoubling(client, FULL ? 15 : 12))],
  [`${MAPS} maps of ${MAP_ITEMS} items`, () => sleepers(registerWideMaps(client, MAPS, MAP_ITEMS))],
  [`a map of ${NESTED_ITEMS} maps of as many items`, () => sleepers(registerMapOfMaps(client, NESTED_ITEMS, NESTED_ITEMS))],
  ["a closure near the limit of requests", () => sleepers(registerLargeClosure(client, 5_000, (FULL ? 60 : 20) * 1024 * 1024))],
  ["resources that cannot be read", writeUndecodableResources],
  [`gates and their signals, all set at once`, () => floodGates(FULL ? 10_000 : 500)],
  [
    `a task that logs ${LOG_BYTES} bytes`,
    async () =>
      only(
        start(
          await registerShellWorkflow(client, "hostile.logs", [
            { id: "n0", script: `yes hostile | head -c ${LOG_BYTES}; sleep 3600`, after: [] },
          ]),
          undefined,
        ),
      ),
  ],
];

test.each(HOSTILE)(
  "a chain beside %s succeeds, and an abort ends the hostile execution",
  { timeout: FULL ? 900_000 : 280_000 },
  async (name, begin) => {
    const quietMs = Math.min(await medianMs(), ...(FULL ? [await medianMs(), await medianMs()] : []));
    const { id, stop } = await begin();
    await waitUntilRunning(id);
    const beside = await measureRounds();
    const requestedAt = performance.now();
    await client.admin.terminateExecution({ id, cause: "the test has seen enough" });
    const { closure } = await waitForEnd(client, id, 120_000);
    const abortMs = performance.now() - requestedAt;
    await stop?.();
    expect(WorkflowExecution_Phase[closure?.phase ?? 0]).toBe("ABORTED");
    const shown = beside.map((ms) => (ms / quietMs).toFixed(1)).join(", ");
    process.stdout.write(
      `neighbour of ${name}: chain of ${CHAIN} ${quietMs.toFixed(0)} ms alone, beside ${shown} times as long, ended ${(abortMs / 1_000).toFixed(1)} s after the abort\n`,
    );
    expect(processIds()).toBe(processes);
    expect(abortMs).toBeLessThan(ABORT_MS);
    // A ratio means little on a machine that is busy with other tests: the short form only prints
    // it.
    expect(median(beside)).toBeLessThanOrEqual(FULL ? MAX_SLOWDOWN * quietMs : Number.POSITIVE_INFINITY);
  },
);

test("the registration of exponentially nested sub-workflows is refused", async () => {
  await expect(registerDoubling(client, 40)).rejects.toThrow(/node instances|deep/);
  expect(processIds()).toBe(processes);
});
