import { setTimeout as sleep } from "node:timers/promises";
import { fromBinary } from "@bufbuild/protobuf";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { EVENT_STREAM, executionEventFilter, SHARD_COUNT, taskEventFilter } from "@flyte-ts/domain";
import { NodeExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { ExecutionEventSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import { TaskEventSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { createKubeClient, type KubeClient, type KubeObject, LEASES } from "@flyte-ts/kubernetes";
import { type Bus, connectBus } from "@flyte-ts/messaging";
import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, beforeAll, expect, test } from "vitest";
import { insist, waitForEnd } from "./executions.js";
import { registerSleepChain, sleepInputs } from "./sleep-chain.js";
import { keepSleepJournal, sleepsOf } from "./sleep-journal.js";
import { busUrl, type RunningStack, type StackPart } from "./stack-fixture.js";

/** `REPLICA_ROUNDS` asks for more rounds, `REPLICA_EXECUTIONS` for more executions in each. */
const ROUNDS = Number(process.env.REPLICA_ROUNDS ?? 2);
const EXECUTIONS = Number(process.env.REPLICA_EXECUTIONS ?? 50);
const REPLICAS: readonly StackPart[] = ["propeller", "propeller-2"];
/** Longest time from a kill until every shard is held by a replica that lives, ms. */
const HAND_OVER_MS = 15_000;
/** Nodes of each execution, one after the other; each sleeps for so long, ms. */
const CHAIN = { length: 5, sleepMs: 1_000 };

/**
 * Two replicas of propeller share the executions of a stack, and are killed, stopped and ended in turn.
 *
 * @param start starts the stack with these flags
 */
export function replicaRounds(start: (flags: readonly string[]) => Promise<RunningStack>): void {
  let stack: RunningStack;
  let client: FlyteClient;
  let kube: KubeClient;
  let bus: Bus;
  let launchPlan: Identifier;
  /** What plugin services told of each node, as `attempt phase`, in order; by execution and node. */
  const attempts = new Map<string, Set<number>>();
  /** Terminal phases that propellers told of each execution. */
  const ends = new Map<string, Set<WorkflowExecution_Phase>>();

  beforeAll(async () => {
    stack = await start(["--no-example", "--propellers", "2"]);
    client = createFlyteClient({ endpoint: `127.0.0.1:${stack.api}` });
    kube = await createKubeClient({ kubeconfig: stack.kubeconfig });
    bus = await connectBus({ url: busUrl(stack, "propeller"), name: "test", logger: createLogger({ service: "test", level: "silent" }) });
    await listen();
    launchPlan = await registerSleepChain(client, CHAIN.length);
    await keepSleepJournal(stack);
  }, 300_000);
  afterAll(async () => {
    client.close();
    await kube.close();
    await bus.close();
    await stack.stop();
  }, 60_000);

  async function listen(): Promise<void> {
    const options = { stream: EVENT_STREAM.name, maxInFlight: 10_000, batch: 500, ownForMs: 60_000 };
    await bus.subscribeExclusive({ ...options, durable: "test-tasks", subjects: [taskEventFilter] }, (messages) => {
      for (const message of messages) {
        const { workflowKey, nodePath, event } = fromBinary(TaskEventSchema, message.data);
        note(attempts, `${workflowKey} ${nodePath}`, event?.retryAttempt ?? 0);
        message.ack();
      }
    });
    await bus.subscribeExclusive({ ...options, durable: "test-executions", subjects: [executionEventFilter] }, (messages) => {
      for (const message of messages) {
        const { event } = fromBinary(ExecutionEventSchema, message.data);
        if (event.case === "workflow" && event.value.phase >= WorkflowExecution_Phase.SUCCEEDED)
          note(ends, event.value.executionId?.name ?? "", event.value.phase);
        message.ack();
      }
    });
  }

  function note<T>(notes: Map<string, Set<T>>, key: string, value: T): void {
    notes.set(key, (notes.get(key) ?? new Set<T>()).add(value));
  }

  /** Shards by their holder, members that are dead left out. */
  async function held(): Promise<Map<string, number>> {
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

  async function until(condition: () => Promise<boolean>, patienceMs: number): Promise<number> {
    const begun = Date.now();
    while (!(await condition())) {
      if (Date.now() - begun > patienceMs) throw new Error(`not within ${patienceMs} ms`);
      await sleep(50);
    }
    return Date.now() - begun;
  }

  const evenly = async () => {
    const parts = [...(await held()).values()];
    return parts.length === 2 && parts.every((part) => part === SHARD_COUNT / 2);
  };

  test("two replicas have half of the shards each", async () => {
    await until(evenly, 30_000);
    expect(total(await held())).toBe(SHARD_COUNT);
  }, 60_000);

  test.each(Array.from({ length: ROUNDS }, (_, round) => round))(
    "round %i: a replica is killed while executions run: others take over in time, nothing is lost or begun twice",
    async (round) => {
      const ids = Array.from({ length: EXECUTIONS }, (_, index) => ({
        project: launchPlan.project,
        domain: launchPlan.domain,
        name: `r${round}e${index}x${Date.now().toString(36)}`,
      }));
      const inputs = sleepInputs(CHAIN.sleepMs);
      await Promise.all(ids.map((id) => insist(() => client.admin.createExecution({ ...id, spec: { launchPlan, metadata: {} }, inputs }))));
      await sleep(500 + Math.random() * 2_500);
      const victim = REPLICAS[Math.floor(Math.random() * 2)] as StackPart;
      const before = new Set((await held()).keys());
      for (const pid of stack.pids(victim)) process.kill(pid, "SIGKILL");
      const killedAt = Date.now();
      // Both members of before hold their shards until the dead one is found out.
      await until(async () => {
        const now = await held();
        return total(now) === SHARD_COUNT && [...before].some((member) => !now.has(member));
      }, HAND_OVER_MS);
      const handOver = Date.now() - killedAt;
      process.stdout.write(`round ${round}: ${victim} killed, every shard held again after ${handOver} ms\n`);
      expect(handOver).toBeLessThanOrEqual(HAND_OVER_MS);

      for (const id of ids) {
        const execution = await waitForEnd(client, id, 120_000);
        expect(WorkflowExecution_Phase[execution.closure?.phase ?? 0], id.name).toBe("SUCCEEDED");
      }
      for (const id of ids) {
        const { nodeExecutions } = await insist(() => client.admin.listNodeExecutions({ workflowExecutionId: id, limit: 100 }));
        const phases = nodeExecutions.filter((node) => /^n\d+$/.test(node.id?.nodeId ?? "")).map((node) => node.closure?.phase);
        expect(phases).toEqual(Array.from({ length: CHAIN.length }, () => NodeExecution_Phase.SUCCEEDED));
        expect([...(ends.get(id.name) ?? [])], id.name).toEqual([WorkflowExecution_Phase.SUCCEEDED]);
        const told = [...attempts].filter(([key]) => key.includes(id.name)).map(([, numbers]) => [...numbers]);
        expect(told, id.name).toEqual(Array.from({ length: CHAIN.length }, () => [0]));
        // What the plugin service itself did: each sleep once, and the next not before the end of the one before.
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
      await until(evenly, 30_000);
    },
    240_000,
  );

  test("a replica that is stopped for longer than its lease does nothing when it wakes", async () => {
    const [first] = stack.pids("propeller");
    if (first === undefined) throw new Error("no propeller");
    const before = new Set((await held()).keys());
    process.kill(first, "SIGSTOP");
    await until(async () => (await held()).size === 1 && total(await held()) === SHARD_COUNT, HAND_OVER_MS);
    process.kill(first, "SIGCONT");
    await until(evenly, 30_000);
    // It came back as somebody else.
    expect([...(await held()).keys()].filter((member) => before.has(member))).toHaveLength(1);
  }, 90_000);

  test("a replica that ends as asked hands over at once", async () => {
    const [pid] = stack.pids("propeller-2");
    if (pid === undefined) throw new Error("no propeller");
    const before = new Set((await held()).keys());
    process.kill(pid, "SIGTERM");
    const gone = await until(async () => [...(await held()).keys()].filter((member) => before.has(member)).length === 1, 10_000);
    const taken = await until(async () => total(await held()) === SHARD_COUNT, 10_000);
    process.stdout.write(`graceful: Leases given back after ${gone} ms, all held again ${taken} ms later\n`);
    expect(taken).toBeLessThan(2_000);
  }, 60_000);
}
