import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ExecutionName, waitForEnd } from "../stack/executions.js";
import { registerShellWorkflow } from "../stack/shell-tasks.js";
import { registerSleepChain, sleepInputs } from "../stack/sleep-chain.js";
import { type RunningStack, startStack } from "../stack/stack-fixture.js";
import { registerDoubling, registerGates, registerLargeClosure, registerSleepers, registerWideMaps } from "./hostile-workflows.fixture.js";

// Runs a small workflow beside executions that are made to exhaust propeller, admin and the kubelet, and aborts those.
const CHAIN = 20;
const RUNS = 5;
/** Sleepers of hostile workflows outlast the test. */
const LONG_MS = 3_600_000;
/** Longer than any abort should take on a machine that is busy with other tests. */
const ABORT_MS = 60_000;

let stack: RunningStack;
let client: FlyteClient;
let chain: Identifier;
let quietMs: number;
let processes: string;
beforeAll(async () => {
  stack = await startStack(["--no-example"]);
  client = createFlyteClient({ endpoint: `127.0.0.1:${stack.api}` });
  chain = await registerSleepChain(client, CHAIN);
  await registerSleepers(client);
  await medianMs();
  quietMs = await medianMs();
  processes = engines();
}, 300_000);
afterAll(async () => {
  client?.close();
  await stack?.stop();
}, 60_000);

/** Process ids of what must not restart. */
const engines = () => JSON.stringify([stack.pids("admin"), stack.pids("propeller"), stack.pids("plugin-pod"), stack.pids("local-cluster")]);

let count = 0;
async function start(launchPlan: Identifier, durationMs: number | undefined): Promise<ExecutionName> {
  const id = { project: launchPlan.project, domain: launchPlan.domain, name: `e${count++}x${Date.now().toString(36)}` };
  const inputs = durationMs === undefined ? {} : sleepInputs(durationMs);
  await client.admin.createExecution({ ...id, spec: { launchPlan, metadata: {} }, inputs });
  return id;
}

/** The neighbour's chain, several times; its median by admin's own duration, milliseconds. */
async function medianMs(): Promise<number> {
  const durations: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const { closure } = await waitForEnd(client, await start(chain, 0), 120_000);
    expect(WorkflowExecution_Phase[closure?.phase ?? 0]).toBe("SUCCEEDED");
    durations.push(Number(closure?.duration?.seconds ?? 0n) * 1_000 + (closure?.duration?.nanos ?? 0) / 1e6);
  }
  return durations.sort((a, b) => a - b)[RUNS >> 1] ?? 0;
}

/** Waits until the hostile execution runs, so that the neighbour meets it at work. */
async function running(id: ExecutionName): Promise<void> {
  const phase = async () => (await client.admin.getExecution({ id })).closure?.phase;
  await expect.poll(phase, { timeout: 60_000 }).not.toBe(WorkflowExecution_Phase.UNDEFINED);
}

const HOSTILE: readonly (readonly [string, () => Promise<ExecutionName>])[] = [
  ["sub-workflows that double up to the limit", async () => start(await registerDoubling(client, 14), LONG_MS)],
  ["ten maps of 10,000 items", async () => start(await registerWideMaps(client, 10, 10_000), LONG_MS)],
  ["a closure of 48 MiB", async () => start(await registerLargeClosure(client, 5_000, 48 * 1024 * 1024), LONG_MS)],
  ["2,000 gates and their signals", async () => start(await registerGates(client, 2_000), 0)],
  [
    "a task that logs a gigabyte",
    async () =>
      start(
        await registerShellWorkflow(client, "hostile.logs", [
          { id: "n0", script: "yes hostile | head -c 1000000000; sleep 3600", after: [] },
        ]),
        undefined,
      ),
  ],
];

test.each(HOSTILE)("beside %s a chain goes on, and an abort ends it", { timeout: 280_000 }, async (name, begin) => {
  const id = await begin();
  await running(id);
  const besideMs = await medianMs();
  const asked = performance.now();
  await client.admin.terminateExecution({ id, cause: "the test has seen enough" });
  const { closure } = await waitForEnd(client, id, ABORT_MS);
  const abortMs = performance.now() - asked;
  expect(WorkflowExecution_Phase[closure?.phase ?? 0]).toBe("ABORTED");
  process.stdout.write(
    `neighbour of ${name}: chain of ${CHAIN} ${quietMs.toFixed(0)} ms alone, ${besideMs.toFixed(0)} ms beside, ended ${(abortMs / 1_000).toFixed(1)} s after the abort\n`,
  );
  expect(engines()).toBe(processes);
});

test("sub-workflows that double without an end are refused when they are registered", async () => {
  await expect(registerDoubling(client, 40)).rejects.toThrow(/node instances|deep/);
  expect(engines()).toBe(processes);
});
