import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { NodeExecution_Phase, TaskExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { createKubeClient, type KubeClient, type KubeObject } from "@flyte-ts/kubernetes";
import { type ProxyFault, kubernetesSkipReason } from "@flyte-ts/testing";
import { FLYTE_WORKFLOW_RESOURCE, NOT_TERMINATED_SELECTOR } from "@flyte-ts/workflow-crd";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cpuSeconds, type FaultInjectionStack, startFaultInjectionStack } from "./api-faults.fixture.js";
import { type ExecutionName, retryWhileUnavailable, waitForEnd } from "../stack/executions.js";
import { registerShellWorkflow } from "../stack/shell-tasks.js";
import { registerSleepChain, registerSleepFan, sleepInputs } from "../stack/sleep-chain.js";
import { enableSleepJournal, sleepsOf } from "../stack/sleep-journal.js";
import type { StackPart } from "../stack/stack-fixture.js";

/** `API_FAULTS=full`: a real kube-apiserver, outages of a minute, and pods. */
const FULL = process.env.API_FAULTS === "full" && (await kubernetesSkipReason()) === undefined;
/**
 * Number of nodes of a chain, number of nodes in the middle of a fan-out, sleep of each node in ms,
 * number of chains and number of fan-outs.
 */
const SHAPE = FULL ? { chain: 10, fan: 10, sleepMs: 2_000, chains: 8, fans: 4 } : { chain: 5, fan: 6, sleepMs: 400, chains: 5, fans: 2 };
/** Timeout for all executions to end after the end of a fault, ms. */
const TIMEOUT_MS = 120_000;
/**
 * Largest share of a core that a service may use while the API is unavailable; a busy loop would
 * use all of it.
 */
const IDLE_CPU = 0.2;
/** The same limit while the service has work to do during a fault. */
const BUSY_CPU = 0.6;
const SERVICES: readonly StackPart[] = ["propeller", "admin", "plugin-pod", "plugin-echo"];

let faulty: FaultInjectionStack;
let client: FlyteClient;
let kube: KubeClient;
let launchPlans: { readonly chain: Identifier; readonly fan: Identifier; readonly pods: Identifier | undefined };
let started = 0;
let pids: number[][];

beforeAll(async () => {
  faulty = await startFaultInjectionStack(FULL);
  client = createFlyteClient({ endpoint: `127.0.0.1:${faulty.stack.api}` });
  kube = await createKubeClient({ kubeconfig: faulty.kubeconfig });
  launchPlans = {
    chain: await registerSleepChain(client, SHAPE.chain),
    fan: await registerSleepFan(client, SHAPE.fan),
    pods: FULL ? await registerShellWorkflow(client, "api-faults", podNodes(faulty.stack.folder)) : undefined,
  };
  await enableSleepJournal(faulty.stack);
  pids = SERVICES.map((part) => faulty.stack.pids(part));
}, 300_000);
afterAll(async () => {
  client?.close();
  await kube?.close();
  await faulty?.stop();
}, 60_000);

/**
 * Pods that record each start of an attempt; they run in sequence, long enough to overlap the
 * fault.
 */
function podNodes(folder: string) {
  const script = `echo "$FLYTE_INTERNAL_EXECUTION_ID {{.PerRetryUniqueKey}}" >> ${join(folder, "ran")}; sleep 3`;
  return ["n0", "n1", "n2"].map((id, index) => ({ id, script, after: index === 0 ? [] : [`n${index - 1}`] }));
}

interface Run {
  readonly id: ExecutionName;
  readonly nodes: number;
  readonly kind: "chain" | "fan" | "pods";
}

async function begin(kind: Run["kind"]): Promise<Run> {
  const launchPlan = launchPlans[kind] as Identifier;
  const id = { project: launchPlan.project, domain: launchPlan.domain, name: `a${started++}x${Date.now().toString(36)}` };
  const inputs = kind === "pods" ? {} : sleepInputs(SHAPE.sleepMs);
  await retryWhileUnavailable(() => client.admin.createExecution({ ...id, spec: { launchPlan, metadata: {} }, inputs }));
  return { id, kind, nodes: { chain: SHAPE.chain, fan: SHAPE.fan + 2, pods: 3 }[kind] };
}

function beginAll(): Promise<Run[]> {
  const kinds = (kind: Run["kind"], count: number) => Array.from({ length: count }, () => kind);
  return Promise.all([...kinds("chain", SHAPE.chains), ...kinds("fan", SHAPE.fans), ...kinds("pods", FULL ? 2 : 0)].map(begin));
}

/**
 * Checks that an execution succeeded, with every node once and dependent nodes in order. Resolves
 * to the number of nodes whose run was not observed.
 */
async function expectSucceededOnce({ id, nodes, kind }: Run): Promise<number> {
  const execution = await waitForEnd(client, id, TIMEOUT_MS);
  expect(WorkflowExecution_Phase[execution.closure?.phase ?? 0], `${kind} ${id.name}`).toBe("SUCCEEDED");
  const { nodeExecutions } = await retryWhileUnavailable(() => client.admin.listNodeExecutions({ workflowExecutionId: id, limit: 100 }));
  const own = nodeExecutions.filter((node) => /^n\d+$/.test(node.id?.nodeId ?? ""));
  expect(own).toHaveLength(nodes);
  const at = (time: { seconds: bigint; nanos: number } | undefined) => Number(time?.seconds ?? Number.NaN) * 1e3 + (time?.nanos ?? 0) / 1e6;
  for (const { id: node, closure } of own) {
    const event = `${id.name} ${node?.nodeId}`;
    expect(NodeExecution_Phase[closure?.phase ?? 0], event).toBe("SUCCEEDED");
    // The start may be missing: propeller cannot observe an attempt that began and ended while
    // propeller could not query it.
    const began = at(closure?.startedAt ?? closure?.createdAt);
    expect(at(closure?.createdAt), event).toBeLessThanOrEqual(began);
    expect(began, event).toBeLessThanOrEqual(at(closure?.updatedAt));
    const { taskExecutions } = await retryWhileUnavailable(() => client.admin.listTaskExecutions({ nodeExecutionId: node!, limit: 10 }));
    expect(
      taskExecutions.map((task) => [task.id?.retryAttempt, TaskExecution_Phase[task.closure?.phase ?? 0]]),
      event,
    ).toEqual([[0, "SUCCEEDED"]]);
  }
  const unseen = own.filter(({ closure }) => closure?.startedAt === undefined).length;
  if (kind === "pods") {
    const ran = readFileSync(join(faulty.stack.folder, "ran"), "utf8")
      .split("\n")
      .filter((line) => line.startsWith(`${id.name} `));
    expect(new Set(ran).size).toBe(nodes);
    expect(ran, "each pod ran once").toHaveLength(nodes);
    return unseen;
  }
  const sleeps = sleepsOf(faulty.stack, id.name);
  expect(sleeps.map(({ attempt }) => attempt.split(`${id.name}-`)[1]).sort(), `${id.name}: each attempt once`).toEqual(
    Array.from({ length: nodes }, (_, index) => `n${index}-0`).sort(),
  );
  if (kind !== "chain") return unseen;
  const ordered = sleeps.toSorted((a, b) => a.begun - b.begun);
  for (const [index, { attempt, begun }] of ordered.entries()) {
    expect(attempt.endsWith(`n${index}-0`), attempt).toBe(true);
    expect(begun, attempt).toBeGreaterThanOrEqual(ordered[index - 1]?.ended ?? 0);
  }
  return unseen;
}

interface Fault {
  readonly name: string;
  /** Duration of the fault, ms. */
  readonly durationMs: number;
  /** Largest share of a core that each service may use meanwhile. */
  readonly maxCpu: number;
  readonly begin: () => Promise<unknown>;
  readonly end: () => Promise<unknown>;
}

/**
 * Starts executions before and during the fault, ends it, and checks that everything recovers by
 * itself.
 */
async function runThroughFault({ name, durationMs, maxCpu, begin: set, end }: Fault): Promise<void> {
  const runs = await beginAll();
  await sleep(SHAPE.sleepMs * 1.5);
  await set();
  const [requests, before] = [faulty.proxy.requests, SERVICES.map((part) => cpuSeconds(faulty.stack, part))];
  const begun = performance.now();
  try {
    runs.push(await begin("chain"));
    await sleep(durationMs - (performance.now() - begun));
  } finally {
    const seconds = (performance.now() - begun) / 1_000;
    const used = SERVICES.map((part, index) => (cpuSeconds(faulty.stack, part) - (before[index] ?? 0)) / seconds);
    const shown = SERVICES.map((part, index) => `${part} ${((used[index] ?? 0) * 100).toFixed(1)} %`).join(", ");
    const rate = (faulty.proxy.requests - requests) / seconds;
    process.stdout.write(`${name}, ${seconds.toFixed(1)} s: ${shown} of a core; ${rate.toFixed(1)} requests/s\n`);
    await end();
    for (const [index, part] of SERVICES.entries()) expect.soft(used[index], `${part}: of a core in "${name}"`).toBeLessThan(maxCpu);
  }
  const ended = performance.now();
  const results = await Promise.allSettled(runs.map(expectSucceededOnce));
  const unseen = results.reduce((sum, result) => sum + (result.status === "fulfilled" ? result.value : 0), 0);
  process.stdout.write(
    `  all ${runs.length} executions ended ${((performance.now() - ended) / 1_000).toFixed(1)} s after it, ${unseen} nodes not seen to run\n`,
  );
  for (const result of results) if (result.status === "rejected") throw result.reason;
}

const told = (name: string, fault: ProxyFault, more: Pick<Fault, "durationMs" | "maxCpu">): Fault => ({
  name,
  ...more,
  begin: () => faulty.proxy.set(fault),
  end: () => faulty.proxy.set({ kind: "none" }),
});

/** A fault that needs repeated action: calls `again` until it ends. */
function repeatedFault(
  name: string,
  again: () => Promise<unknown>,
  { after, ...more }: Pick<Fault, "durationMs" | "maxCpu"> & { after?: () => void },
): Fault {
  let on = false;
  let keeping: Promise<void> = Promise.resolve();
  const keep = async () => {
    while (on) await again();
  };
  return {
    name,
    ...more,
    begin: () => {
      on = true;
      keeping = keep();
      return Promise.resolve();
    },
    end: async () => {
      on = false;
      await keeping;
      after?.();
    },
  };
}

let requests = 0;
async function sendRequests(): Promise<void> {
  const { items } = await kube.list<KubeObject>(FLYTE_WORKFLOW_RESOURCE, { metadataOnly: true, labelSelector: NOT_TERMINATED_SELECTOR });
  for (let turn = 0; turn < 10; turn++) {
    await Promise.all(
      items.map(async ({ metadata: { namespace, name } }) => {
        const body = { metadata: { annotations: { storm: String(requests++) } } };
        await kube.mergePatch(FLYTE_WORKFLOW_RESOURCE, { namespace, name, body, metadataOnly: true }).catch(() => undefined);
      }),
    );
    await sleep(5);
  }
}

async function expire(): Promise<void> {
  faulty.proxy.expireWatches(50);
  await sleep(1_000);
}

async function compact(): Promise<void> {
  await faulty.kubernetes?.kill();
  await faulty.kubernetes?.etcd.compact();
  await faulty.kubernetes?.restart();
}

const OUTAGE = { durationMs: FULL ? 60_000 : 8_000, maxCpu: IDLE_CPU };
const FAULTS: readonly Fault[] = [
  told("the API server is unavailable", { kind: "refused" }, OUTAGE),
  told("the API server answers 429", { kind: "answering", status: 429 }, { ...OUTAGE, durationMs: FULL ? 30_000 : 3_000 }),
  told("each response is 2 s late", { kind: "slow", delayMs: 2_000 }, { durationMs: FULL ? 60_000 : 5_000, maxCpu: BUSY_CPU }),
  repeatedFault("watches repeatedly get 410 Gone", expire, {
    durationMs: FULL ? 30_000 : 3_000,
    maxCpu: BUSY_CPU,
    after: () => faulty.proxy.expireWatches(0),
  }),
  repeatedFault("another client keeps changing every workflow's resource", sendRequests, {
    durationMs: FULL ? 30_000 : 4_000,
    maxCpu: BUSY_CPU,
  }),
];
const LONG_FAULTS: readonly Fault[] = [
  told("connections stay open and transfer nothing", { kind: "silent" }, OUTAGE),
  {
    name: "etcd is compacted and the API server restarts",
    durationMs: 20_000,
    maxCpu: BUSY_CPU,
    begin: compact,
    end: () => Promise.resolve(),
  },
];

test.each(FULL ? [...FAULTS, ...LONG_FAULTS] : FAULTS)(
  "$name: executions recover without lost or repeated attempts, and services do not busy-loop",
  async (fault) => {
    await expect(runThroughFault(fault)).resolves.toBeUndefined();
  },
  420_000,
);

test("no service was restarted", () => {
  expect(SERVICES.map((part) => faulty.stack.pids(part))).toEqual(pids);
});
