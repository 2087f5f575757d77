import { appendFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { NodeExecution_Phase, TaskExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { seededRandom } from "@flyte-ts/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { retryWhileUnavailable, waitForEnd } from "../stack/executions.js";
import { registerShellWorkflow, type ShellNode } from "../stack/shell-tasks.js";
import type { RunningStack, StackPart } from "../stack/stack-fixture.js";

/**
 * Parts that can be killed: those of the stack, "nats and its streams", which also loses the
 * streams, and on a real Kubernetes API "kube-apiserver" and "etcd".
 */
export type FaultPart = StackPart;

export interface FaultRounds {
  /** Parts to kill, in rotation. */
  readonly parts: readonly FaultPart[];
  /** Number of rounds; `FAULT_ROUNDS` overrides it. */
  readonly rounds: number;
  readonly stack: () => RunningStack;
}

/** Defines a test for each round. `FAULT_SEED` repeats the times of an earlier run. */
export function faultRounds({ parts, rounds, stack: running }: FaultRounds): void {
  let client: FlyteClient | undefined;
  let launchPlan: Identifier;
  beforeAll(async () => {
    client = createFlyteClient({ endpoint: `127.0.0.1:${running().api}` });
    launchPlan = await registerShellWorkflow(client, "faults", latticeNodes(running().folder));
  }, 60_000);
  afterAll(() => client?.close());

  const count = Number(process.env.FAULT_ROUNDS ?? rounds);
  const all = Array.from({ length: count }, (_, round) => ({ round, part: parts[round % parts.length] as FaultPart }));
  test.each(all)(
    "round $round: a workflow survives the kill of $part without lost or repeated attempts",
    async ({ round, part }) => {
      await expect(runRound({ stack: running(), client: client as FlyteClient, launchPlan }, { round, part })).resolves.toBeUndefined();
    },
    180_000,
  );
}

interface RoundEnvironment {
  readonly stack: RunningStack;
  readonly client: FlyteClient;
  readonly launchPlan: Identifier;
}

async function kill(stack: RunningStack, part: FaultPart): Promise<void> {
  switch (part) {
    case "nats and its streams":
      rmSync(join(stack.folder, "nats"), { recursive: true, force: true });
      return kill(stack, "nats");
    case "kube-apiserver":
      await stack.kubernetes?.kill();
      await stack.kubernetes?.restart();
      break;
    case "etcd":
      await stack.kubernetes?.etcd.kill();
      await stack.kubernetes?.etcd.restart();
      break;
    default:
      for (const pid of stack.pids(part)) process.kill(pid, "SIGKILL");
  }
}

/**
 * Four rows of five nodes in a diamond lattice: some node is always running and another waiting.
 */
function latticeNodes(folder: string): ShellNode[] {
  return Array.from({ length: 20 }, (_, index) => {
    const [row, column] = [Math.floor(index / 5), index % 5];
    const above = (c: number) => `n${(row - 1) * 5 + ((c + 5) % 5)}`;
    const script = `echo "$FLYTE_INTERNAL_EXECUTION_ID {{.PerRetryUniqueKey}}" >> ${join(folder, "ran")}; sleep 0.4`;
    return { id: `n${index}`, script, after: row === 0 ? [] : [above(column), above(column + 1)] };
  });
}

async function runRound(
  { stack, client, launchPlan }: RoundEnvironment,
  { round, part }: { round: number; part: FaultPart },
): Promise<void> {
  const seed = Number(process.env.FAULT_SEED ?? Date.now() % 100_000) + round;
  const random = seededRandom(seed);
  appendFileSync(join(stack.folder, "seeds"), `${round} ${part} ${seed}\n`);
  const name = `f${round}x${Date.now().toString(36)}`;
  const id = { project: launchPlan.project, domain: launchPlan.domain, name };
  await retryWhileUnavailable(() => client.admin.createExecution({ ...id, spec: { launchPlan, metadata: {} }, inputs: {} }));
  await sleep(random() * 1_600);
  await kill(stack, part);
  const execution = await waitForEnd(client, id, 120_000);
  expect(WorkflowExecution_Phase[execution.closure?.phase ?? 0], `seed ${seed}`).toBe("SUCCEEDED");

  const { nodeExecutions } = await retryWhileUnavailable(() => client.admin.listNodeExecutions({ workflowExecutionId: id, limit: 100 }));
  expect(nodeExecutions.map((node) => NodeExecution_Phase[node.closure?.phase ?? 0]).filter((phase) => phase !== "SUCCEEDED")).toEqual([]);
  expect(nodeExecutions.map((node) => node.id?.nodeId).filter((node) => node?.startsWith("n")).length).toBe(20);
  for (const node of nodeExecutions.filter((each) => each.id?.nodeId.startsWith("n"))) {
    const { taskExecutions } = await retryWhileUnavailable(() => client.admin.listTaskExecutions({ nodeExecutionId: node.id!, limit: 10 }));
    expect(taskExecutions.at(-1)?.closure?.phase, node.id?.nodeId).toBe(TaskExecution_Phase.SUCCEEDED);
  }
  const ran = (existsSync(join(stack.folder, "ran")) ? readFileSync(join(stack.folder, "ran"), "utf8") : "")
    .split("\n")
    .filter((line) => line.startsWith(`${name} `));
  expect(new Set(ran).size, "every attempt ran").toBeGreaterThanOrEqual(20);
  // If the part that runs the processes was killed, an attempt's process may start again.
  const twice = part === "local-cluster" || part === "node-runner" ? 0 : ran.length - new Set(ran).size;
  expect(twice, "attempts that ran twice").toBe(0);
}
