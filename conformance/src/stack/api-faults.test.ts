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
import { cpuSeconds, type FaultyStack, startFaultyStack } from "./api-faults.fixture.js";
import { type ExecutionName, insist, waitForEnd } from "./executions.js";
import { registerShellWorkflow } from "./shell-tasks.js";
import { registerSleepChain, registerSleepFan, sleepInputs } from "./sleep-chain.js";
import { keepSleepJournal, sleepsOf } from "./sleep-journal.js";
import type { StackPart } from "./stack-fixture.js";

/** `API_FAULTS=full`: a real kube-apiserver, outages of a minute, pods too. */
const FULL = process.env.API_FAULTS === "full" && (await kubernetesSkipReason()) === undefined;
/** Nodes of a chain, of the middle of a fan, and how long each sleeps, ms. */
const SHAPE = FULL ? { chain: 10, fan: 10, sleepMs: 2_000, chains: 8, fans: 4 } : { chain: 5, fan: 6, sleepMs: 400, chains: 5, fans: 2 };
/** How long after the end of a fault all must have ended, ms. */
const PATIENCE_MS = 120_000;
/** Most of a core that a service may use while the API is away: generous, for a busy loop uses all of it. */
const IDLE_CPU = 0.2;
/** The same while it has work to do under a fault. */
const BUSY_CPU = 0.6;
const SERVICES: readonly StackPart[] = ["propeller", "admin", "plugin-pod", "plugin-echo"];

let faulty: FaultyStack;
let client: FlyteClient;
let kube: KubeClient;
let plans: { readonly chain: Identifier; readonly fan: Identifier; readonly pods: Identifier | undefined };
let started = 0;
let pids: number[][];

beforeAll(async () => {
  faulty = await startFaultyStack(FULL);
  client = createFlyteClient({ endpoint: `127.0.0.1:${faulty.stack.api}` });
  kube = await createKubeClient({ kubeconfig: faulty.kubeconfig });
  plans = {
    chain: await registerSleepChain(client, SHAPE.chain),
    fan: await registerSleepFan(client, SHAPE.fan),
    pods: FULL ? await registerShellWorkflow(client, "api-faults", podNodes(faulty.stack.folder)) : undefined,
  };
  await keepSleepJournal(faulty.stack);
  pids = SERVICES.map((part) => faulty.stack.pids(part));
}, 300_000);
afterAll(async () => {
  client?.close();
  await kube?.close();
  await faulty?.stop();
}, 60_000);

/** Pods that write down each start of an attempt: one after the other, long enough to meet the fault. */
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
  const launchPlan = plans[kind] as Identifier;
  const id = { project: launchPlan.project, domain: launchPlan.domain, name: `a${started++}x${Date.now().toString(36)}` };
  const inputs = kind === "pods" ? {} : sleepInputs(SHAPE.sleepMs);
  await insist(() => client.admin.createExecution({ ...id, spec: { launchPlan, metadata: {} }, inputs }));
  return { id, kind, nodes: { chain: SHAPE.chain, fan: SHAPE.fan + 2, pods: 3 }[kind] };
}

function beginAll(): Promise<Run[]> {
  const kinds = (kind: Run["kind"], count: number) => Array.from({ length: count }, () => kind);
  return Promise.all([...kinds("chain", SHAPE.chains), ...kinds("fan", SHAPE.fans), ...kinds("pods", FULL ? 2 : 0)].map(begin));
}

/** Ended well, every node once, one after the other where they follow each other. Resolves to how many nodes were not seen to run. */
async function expectWhole({ id, nodes, kind }: Run): Promise<number> {
  const execution = await waitForEnd(client, id, PATIENCE_MS);
  expect(WorkflowExecution_Phase[execution.closure?.phase ?? 0], `${kind} ${id.name}`).toBe("SUCCEEDED");
  const { nodeExecutions } = await insist(() => client.admin.listNodeExecutions({ workflowExecutionId: id, limit: 100 }));
  const own = nodeExecutions.filter((node) => /^n\d+$/.test(node.id?.nodeId ?? ""));
  expect(own).toHaveLength(nodes);
  const at = (time: { seconds: bigint; nanos: number } | undefined) => Number(time?.seconds ?? Number.NaN) * 1e3 + (time?.nanos ?? 0) / 1e6;
  for (const { id: node, closure } of own) {
    const told = `${id.name} ${node?.nodeId}`;
    expect(NodeExecution_Phase[closure?.phase ?? 0], told).toBe("SUCCEEDED");
    // An attempt that was over when propeller could ask again has not been seen to run.
    const began = at(closure?.startedAt ?? closure?.createdAt);
    expect(at(closure?.createdAt), told).toBeLessThanOrEqual(began);
    expect(began, told).toBeLessThanOrEqual(at(closure?.updatedAt));
    const { taskExecutions } = await insist(() => client.admin.listTaskExecutions({ nodeExecutionId: node!, limit: 10 }));
    expect(
      taskExecutions.map((task) => [task.id?.retryAttempt, TaskExecution_Phase[task.closure?.phase ?? 0]]),
      told,
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
  /** How long it lasts, ms. */
  readonly lasts: number;
  /** Most of a core that each service may use meanwhile. */
  readonly cpu: number;
  readonly begin: () => Promise<unknown>;
  readonly end: () => Promise<unknown>;
}

/** Executions before the fault and in it; then the fault ends, and all is well again by itself. */
async function through({ name, lasts, cpu, begin: set, end }: Fault): Promise<void> {
  const runs = await beginAll();
  await sleep(SHAPE.sleepMs * 1.5);
  await set();
  const [requests, before] = [faulty.proxy.requests, SERVICES.map((part) => cpuSeconds(faulty.stack, part))];
  const begun = performance.now();
  try {
    runs.push(await begin("chain"));
    await sleep(lasts - (performance.now() - begun));
  } finally {
    const seconds = (performance.now() - begun) / 1_000;
    const used = SERVICES.map((part, index) => (cpuSeconds(faulty.stack, part) - (before[index] ?? 0)) / seconds);
    const shown = SERVICES.map((part, index) => `${part} ${((used[index] ?? 0) * 100).toFixed(1)} %`).join(", ");
    const rate = (faulty.proxy.requests - requests) / seconds;
    process.stdout.write(`${name}, ${seconds.toFixed(1)} s: ${shown} of a core; ${rate.toFixed(1)} requests/s\n`);
    await end();
    for (const [index, part] of SERVICES.entries()) expect.soft(used[index], `${part}: of a core in "${name}"`).toBeLessThan(cpu);
  }
  const ended = performance.now();
  const results = await Promise.allSettled(runs.map(expectWhole));
  const unseen = results.reduce((sum, result) => sum + (result.status === "fulfilled" ? result.value : 0), 0);
  process.stdout.write(
    `  all ${runs.length} executions ended ${((performance.now() - ended) / 1_000).toFixed(1)} s after it, ${unseen} nodes not seen to run\n`,
  );
  for (const result of results) if (result.status === "rejected") throw result.reason;
}

const told = (name: string, fault: ProxyFault, more: Pick<Fault, "lasts" | "cpu">): Fault => ({
  name,
  ...more,
  begin: () => faulty.proxy.set(fault),
  end: () => faulty.proxy.set({ kind: "none" }),
});

/** A fault that somebody has to keep up: `again` until it ends. */
function kept(
  name: string,
  again: () => Promise<unknown>,
  { after, ...more }: Pick<Fault, "lasts" | "cpu"> & { after?: () => void },
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

let stormed = 0;
async function storm(): Promise<void> {
  const { items } = await kube.list<KubeObject>(FLYTE_WORKFLOW_RESOURCE, { metadataOnly: true, labelSelector: NOT_TERMINATED_SELECTOR });
  for (let turn = 0; turn < 10; turn++) {
    await Promise.all(
      items.map(async ({ metadata: { namespace, name } }) => {
        const body = { metadata: { annotations: { storm: String(stormed++) } } };
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

const OUTAGE = { lasts: FULL ? 60_000 : 8_000, cpu: IDLE_CPU };
const FAULTS: readonly Fault[] = [
  told("the API server is away", { kind: "refused" }, OUTAGE),
  told("the API server turns all away with 429", { kind: "answering", status: 429 }, { ...OUTAGE, lasts: FULL ? 30_000 : 3_000 }),
  told("each answer is 2 s late", { kind: "slow", delayMs: 2_000 }, { lasts: FULL ? 60_000 : 5_000, cpu: BUSY_CPU }),
  kept("watches are answered 410 Gone, again and again", expire, {
    lasts: FULL ? 30_000 : 3_000,
    cpu: BUSY_CPU,
    after: () => faulty.proxy.expireWatches(0),
  }),
  kept("another changes every workflow's resource all the time", storm, { lasts: FULL ? 30_000 : 4_000, cpu: BUSY_CPU }),
];
const LONG_FAULTS: readonly Fault[] = [
  told("connections stay open and nothing comes through them", { kind: "silent" }, OUTAGE),
  {
    name: "etcd is compacted and the API server begins anew",
    lasts: 20_000,
    cpu: BUSY_CPU,
    begin: compact,
    end: () => Promise.resolve(),
  },
];

test.each(FULL ? [...FAULTS, ...LONG_FAULTS] : FAULTS)(
  "$name: all goes on by itself, at rest meanwhile, nothing is lost or begun twice",
  async (fault) => {
    await expect(through(fault)).resolves.toBeUndefined();
  },
  420_000,
);

test("no service had to be started anew", () => {
  expect(SERVICES.map((part) => faulty.stack.pids(part))).toEqual(pids);
});
