import { setTimeout as sleep } from "node:timers/promises";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Literal } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { LOCAL_BACKEND } from "../backend.js";
import { startManagedStack } from "../managed-stack.js";
import { CHAIN_NAME, registerChain } from "./chain-project.js";
import { ClusterApi } from "./cluster-watch.js";
import { type ColdCpu, measureColdCpu } from "./cold-cpu.js";

export interface TypeScriptMeasurement extends ColdCpu {
  readonly size: number;
  readonly spares: boolean;
  /** Starts of containers by the origin of their processes. */
  readonly starts: Readonly<Record<string, number>>;
  /** Time from a pod's creation to the begin of its task's function, ms. */
  readonly toFunctionMs: { readonly p50: number; readonly p95: number; readonly max: number };
  /** Duration of the chain, s. */
  readonly seconds: number;
  /** Output of the chain, apart from times. */
  readonly value: string;
}

export interface TypeScriptOptions {
  readonly size: number;
  readonly spares: boolean;
  readonly timeoutMs: number;
}

const SCOPE = { project: "flytesnacks", domain: "development" };
/** Time for background work of a new stack, and for spares after a first task, ms. */
const SETTLE_MS = 5_000;
const POLL_MS = 250;

/** Runs a chain of TypeScript tasks on a stack of its own. */
export async function measureTypeScript({ size, spares, timeoutMs }: TypeScriptOptions): Promise<TypeScriptMeasurement> {
  const env = { FLYTE_TS_LOCAL_CLUSTER_WARM_NODE__ENABLED: String(spares) };
  const stack = await startManagedStack({ ...LOCAL_BACKEND, env });
  const client = createFlyteClient({ endpoint: stack.endpoint });
  try {
    const deadline = Date.now() + timeoutMs;
    await client.ready(10_000);
    const cluster = new ClusterApi(stack.dataDir);
    // The first task of a bundle fetches it.
    await runChain(client, registerChain(stack.endpoint, 1), deadline);
    const version = registerChain(stack.endpoint, size);
    await sleep(SETTLE_MS);
    const before = await cluster.starts();
    const watch = await cluster.watchPods(`${SCOPE.project}-${SCOPE.domain}`);
    const begun = performance.now();
    const { value, times } = await runChain(client, version, deadline);
    const seconds = Math.round(performance.now() - begun) / 1_000;
    watch.stop();
    const after = await cluster.starts();
    const delays = times.map((time, node) => time - (watch.pods.get(node)?.createdAt ?? Number.NaN)).toSorted((a, b) => a - b);
    return {
      size,
      spares,
      starts: Object.fromEntries(Object.entries(after).map(([origin, count]) => [origin, count - (before[origin] ?? 0)])),
      toFunctionMs: { p50: quantile(delays, 0.5), p95: quantile(delays, 0.95), max: quantile(delays, 1) },
      seconds,
      ...measureColdCpu(stack.dataDir, watch.pods.get(1)?.command ?? []),
      value,
    };
  } finally {
    client.close();
    await stack.stop();
  }
}

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;

interface ChainResult {
  readonly value: string;
  /** Times at which the functions began, ms since the epoch. */
  readonly times: readonly number[];
}

async function runChain(client: FlyteClient, version: string, deadline: number): Promise<ChainResult> {
  const launchPlan = { resourceType: ResourceType.LAUNCH_PLAN, ...SCOPE, name: CHAIN_NAME, version };
  const inputs = { literals: { value: integer(1n) } };
  const created = await client.admin.createExecution({ ...SCOPE, spec: { launchPlan, metadata: { principal: "bench" } }, inputs });
  const id = { ...SCOPE, name: created.id?.name ?? "" };
  for (;;) {
    const { closure } = await client.admin.getExecution({ id });
    if (closure?.phase === WorkflowExecution_Phase.SUCCEEDED) break;
    const hasFailed = (closure?.phase ?? 0) > WorkflowExecution_Phase.SUCCEEDED;
    if (hasFailed || Date.now() > deadline) throw new Error(`the chain is ${WorkflowExecution_Phase[closure?.phase ?? 0]}`);
    await sleep(POLL_MS);
  }
  const { fullOutputs } = await client.admin.getExecutionData({ id });
  const begun = fullOutputs?.literals["begun"]?.value;
  const times = begun?.case === "collection" ? begun.value.literals.map((literal) => Number(integerOf(literal))) : [];
  return { value: String(integerOf(fullOutputs?.literals["value"])), times };
}

const integer = (value: bigint) => ({
  value: {
    case: "scalar" as const,
    value: { value: { case: "primitive" as const, value: { value: { case: "integer" as const, value } } } },
  },
});

function integerOf(literal: Literal | undefined): bigint | undefined {
  const scalar = literal?.value.case === "scalar" ? literal.value.value.value : undefined;
  const primitive = scalar?.case === "primitive" ? scalar.value.value : undefined;
  return primitive?.case === "integer" ? primitive.value : undefined;
}
