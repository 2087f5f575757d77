import { setTimeout as sleep } from "node:timers/promises";
import { fromBinary } from "@bufbuild/protobuf";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { EVENT_STREAM, executionEventFilter, taskEventFilter } from "@flyte-ts/bus-contract";
import { SHARD_COUNT } from "@flyte-ts/domain/name";
import { NodeExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { ExecutionEventSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import { TaskEventSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { createKubeClient, type KubeClient, type KubeObject, LEASES } from "@flyte-ts/kubernetes";
import { type Bus, connectBus } from "@flyte-ts/messaging";
import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, beforeAll, expect, test } from "vitest";
import { retryWhileUnavailable, waitForEnd } from "../stack/executions.js";
import { registerSleepChain, sleepInputs } from "../stack/sleep-chain.js";
import { enableSleepJournal, sleepsOf } from "../stack/sleep-journal.js";
import { busUrl, type RunningStack, type StackPart } from "../stack/stack-fixture.js";

/**
 * `REPLICA_ROUNDS` and `REPLICA_EXECUTIONS` override the number of rounds and of executions in
 * each.
 */
const ROUNDS = Number(process.env.REPLICA_ROUNDS ?? 2);
const EXECUTIONS = Number(process.env.REPLICA_EXECUTIONS ?? 50);
const REPLICAS: readonly StackPart[] = ["propeller", "propeller-2"];
/** Longest time from a kill until live replicas hold all shards, ms. */
const MAX_HAND_OVER_MS = 15_000;
/** Nodes of each execution, in sequence, and the sleep of each, ms. */
const CHAIN = { length: 5, sleepMs: 1_000 };

/**
 * Defines tests in which two replicas of propeller share the executions of a stack and are killed,
 * paused and stopped in turn.
 *
 * @param start starts the stack with these flags
 */
export function replicaRounds(start: (flags: readonly string[]) => Promise<RunningStack>): void {
  let stack: RunningStack;
  let client: FlyteClient;
  let kube: KubeClient;
  let bus: Bus;
  let launchPlan: Identifier;
  /** Attempt numbers that plugin services reported, by execution and node. */
  const attempts = new Map<string, Set<number>>();
  /** Terminal phases that propellers reported, by execution. */
  const ends = new Map<string, Set<WorkflowExecution_Phase>>();

  beforeAll(async () => {
    stack = await start(["--no-example", "--propellers", "2"]);
    client = createFlyteClient({ endpoint: `127.0.0.1:${stack.api}` });
    kube = await createKubeClient({ kubeconfig: stack.kubeconfig });
    bus = await connectBus({ url: busUrl(stack, "propeller"), name: "test", logger: createLogger({ service: "test", level: "silent" }) });
    await listen();
    launchPlan = await registerSleepChain(client, CHAIN.length);
    await enableSleepJournal(stack);
  }, 300_000);
  afterAll(async () => {
    client.close();
    await kube.close();
    await bus.close();
    await stack.stop();
  }, 60_000);

  async function listen(): Promise<void> {
    const options = { stream: EVENT_STREAM.name, maxInFlight: 10_000, batch: 500, inactiveThresholdMs: 60_000 };
    await bus.subscribeExclusive({ ...options, durable: "test-tasks", subjects: [taskEventFilter] }, (messages) => {
      for (const message of messages) {
        const { workflowKey, nodePath, event } = fromBinary(TaskEventSchema, message.data);
        record(attempts, `${workflowKey} ${nodePath}`, event?.retryAttempt ?? 0);
        message.ack();
      }
    });
    await bus.subscribeExclusive({ ...options, durable: "test-executions", subjects: [executionEventFilter] }, (messages) => {
      for (const message of messages) {
        const { event } = fromBinary(ExecutionEventSchema, message.data);
        if (event.case === "workflow" && event.value.phase >= WorkflowExecution_Phase.SUCCEEDED)
          record(ends, event.value.executionId?.name ?? "", event.value.phase);
        message.ack();
      }
    });
  }

  function record<T>(notes: Map<string, Set<T>>, key: string, value: T): void {
    notes.set(key, (notes.get(key) ?? new Set<T>()).add(value));
  }

  /** Counts shards by holder, without dead members. */
  async function shardsByHolder(): Promise<Map<string, number>> {
    const { items } = await kube.list<KubeObject & { spec?: { holderIdentity?: string } }>(LEASES, { namespace: "flyte" });
    const members = new Set(
      items.filter(({ metadata }) => metadata.name.startsWith("propeller-member-")).map(({ spec }) => spec?.holderIdentity),
    );
    const counts = new Map<string, number>();
    for (const { metadata, spec } of items) {
      const holder = spec?.holderIdentity ?? "";
      if (metadata.name.startsWith("propeller-shard-") && members.has(holder)) counts.set(holder, (counts.get(holder) ?? 0) + 1);
    }
    return counts;
  }

  const total = (counts: Map<string, number>) => [...counts.values()].reduce((sum, count) => sum + count, 0);

  async function waitUntil(condition: () => Promise<boolean>, timeoutMs: number): Promise<number> {
    const begun = Date.now();
    while (!(await condition())) {
      if (Date.now() - begun > timeoutMs) throw new Error(`not within ${timeoutMs} ms`);
      await sleep(50);
    }
    return Date.now() - begun;
  }

  const isEven = async () => {
    const parts = [...(await shardsByHolder()).values()];
    return parts.length === 2 && parts.every((part) => part === SHARD_COUNT / 2);
  };

  test("two replicas hold half of the shards each", async () => {
    await waitUntil(isEven, 30_000);
    expect(total(await shardsByHolder())).toBe(SHARD_COUNT);
  }, 60_000);

  test.each(Array.from({ length: ROUNDS }, (_, round) => round))(
    "round %i: another replica takes over from a killed one in time, without lost or repeated attempts",
    async (round) => {
      const ids = Array.from({ length: EXECUTIONS }, (_, index) => ({
        project: launchPlan.project,
        domain: launchPlan.domain,
        name: `r${round}e${index}x${Date.now().toString(36)}`,
      }));
      const inputs = sleepInputs(CHAIN.sleepMs);
      await Promise.all(
        ids.map((id) => retryWhileUnavailable(() => client.admin.createExecution({ ...id, spec: { launchPlan, metadata: {} }, inputs }))),
      );
      await sleep(500 + Math.random() * 2_500);
      const victim = REPLICAS[Math.floor(Math.random() * 2)] as StackPart;
      const before = new Set((await shardsByHolder()).keys());
      for (const pid of stack.pids(victim)) process.kill(pid, "SIGKILL");
      const killedAt = Date.now();
      // The killed member also counts as a holder until its exit is detected, so wait until one of
      // the members is gone.
      await waitUntil(async () => {
        const now = await shardsByHolder();
        return total(now) === SHARD_COUNT && [...before].some((member) => !now.has(member));
      }, MAX_HAND_OVER_MS);
      const handOver = Date.now() - killedAt;
      process.stdout.write(`round ${round}: ${victim} killed, every shard held again after ${handOver} ms\n`);
      expect(handOver).toBeLessThanOrEqual(MAX_HAND_OVER_MS);

      for (const id of ids) {
        const execution = await waitForEnd(client, id, 120_000);
        expect(WorkflowExecution_Phase[execution.closure?.phase ?? 0], id.name).toBe("SUCCEEDED");
      }
      for (const id of ids) {
        const { nodeExecutions } = await retryWhileUnavailable(() =>
          client.admin.listNodeExecutions({ workflowExecutionId: id, limit: 100 }),
        );
        const phases = nodeExecutions.filter((node) => /^n\d+$/.test(node.id?.nodeId ?? "")).map((node) => node.closure?.phase);
        expect(phases).toEqual(Array.from({ length: CHAIN.length }, () => NodeExecution_Phase.SUCCEEDED));
        expect([...(ends.get(id.name) ?? [])], id.name).toEqual([WorkflowExecution_Phase.SUCCEEDED]);
        const reported = [...attempts].filter(([key]) => key.includes(id.name)).map(([, numbers]) => [...numbers]);
        expect(reported, id.name).toEqual(Array.from({ length: CHAIN.length }, () => [0]));
        // Check the plugin service's own record: each sleep happened once, in sequence.
        const sleeps = sleepsOf(stack, id.name).toSorted((a, b) => a.begun - b.begun);
        expect(
          sleeps.map(({ attempt }) => attempt.split(`${id.name}-`)[1]),
          id.name,
        ).toEqual(Array.from({ length: CHAIN.length }, (_, index) => `n${index}-0`));
        for (const [index, { attempt, begun, ended }] of sleeps.entries()) {
          expect(ended, attempt).toBeDefined();
          expect(begun, attempt).toBeGreaterThanOrEqual(sleeps[index - 1]?.ended ?? 0);
        }
      }
      await waitUntil(isEven, 30_000);
    },
    240_000,
  );

  test("a replica that was paused for longer than its lease does nothing when it continues", async () => {
    const [first] = stack.pids("propeller");
    if (first === undefined) throw new Error("no propeller");
    const before = new Set((await shardsByHolder()).keys());
    process.kill(first, "SIGSTOP");
    await waitUntil(async () => (await shardsByHolder()).size === 1 && total(await shardsByHolder()) === SHARD_COUNT, MAX_HAND_OVER_MS);
    process.kill(first, "SIGCONT");
    await waitUntil(isEven, 30_000);
    // The paused replica has joined again under a new member identity.
    expect([...(await shardsByHolder()).keys()].filter((member) => before.has(member))).toHaveLength(1);
  }, 90_000);

  test("a replica that shuts down hands its shards over at once", async () => {
    const [pid] = stack.pids("propeller-2");
    if (pid === undefined) throw new Error("no propeller");
    const before = new Set((await shardsByHolder()).keys());
    process.kill(pid, "SIGTERM");
    const gone = await waitUntil(
      async () => [...(await shardsByHolder()).keys()].filter((member) => before.has(member)).length === 1,
      10_000,
    );
    const taken = await waitUntil(async () => total(await shardsByHolder()) === SHARD_COUNT, 10_000);
    process.stdout.write(`graceful: Leases given back after ${gone} ms, all held again ${taken} ms later\n`);
    expect(taken).toBeLessThan(2_000);
  }, 60_000);
}
