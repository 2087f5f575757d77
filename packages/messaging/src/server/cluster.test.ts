import { setTimeout as sleep } from "node:timers/promises";
import { createLogger } from "@flyte-ts/telemetry";
import { type NatsCluster, type NatsMember, natsClusterFixture } from "@flyte-ts/testing";
import { type ClusterInfo, jetstreamManager, type JetStreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { connectBus } from "../index.js";

const logger = createLogger({ service: "test", level: "silent" });
/** Rounds of each fault; the long form of `npm run nightly` has five. */
const ROUNDS = Number(process.env["BUS_CLUSTER_ROUNDS"] ?? 1);
/**
 * Longest stop of deliveries, ms; the short form allows for a machine that is busy with other
 * tests.
 */
const MAX_STOP_MS = ROUNDS > 1 ? 12_000 : 60_000;
const STREAM = "REPLICATED";
const SPEC = { name: STREAM, subjects: ["replicated.>"], retention: "workqueue" } as const;
const MESSAGE_INTERVAL_MS = 20;

let cluster: NatsCluster;
let observer: NatsConnection;
let manager: JetStreamManager;
beforeAll(async () => {
  cluster = await natsClusterFixture();
  observer = await connect({ servers: cluster.members.map(({ url }) => url), maxReconnectAttempts: -1, pingInterval: 1_000 });
  const owner = await connectBus({ url: cluster.url, name: "owner", logger, streamReplicas: 3 });
  await owner.ensureStream(SPEC);
  await owner.close();
  manager = await jetstreamManager(observer, { checkAPI: false });
}, 120_000);
afterAll(async () => {
  await observer?.close();
  await cluster?.stop();
}, 60_000);

const isWhole = (state: ClusterInfo | undefined) => state?.replicas?.length === 2 && state.replicas.every((replica) => replica.current);

/** True when all servers have all of each stream and of each consumer. */
async function isSettled(): Promise<boolean> {
  const streams = await manager.streams.list().next();
  const consumers = await manager.consumers.list(STREAM).next();
  return [...streams, ...consumers].every(({ cluster: state }) => isWhole(state));
}

/** Resolves to the leader of the stream once the cluster has settled. */
async function findLeader(): Promise<NatsMember> {
  await vi.waitUntil(() => isSettled().catch(() => false), { timeout: 90_000, interval: 200 });
  const { cluster: state } = await manager.streams.info(STREAM);
  return cluster.members.find(({ name }) => name === state?.leader) as NatsMember;
}

/** Publishes numbers at intervals and consumes them, both by way of this server at first. */
async function startTraffic({ url }: NatsMember) {
  const join = async (name: string) => {
    const bus = await connectBus({ url, name, logger, streamReplicas: 3 });
    await bus.ensureStream(SPEC);
    return bus;
  };
  const [publisher, consumer] = [await join("publisher"), await join("consumer")];
  const received = new Set<number>();
  let [lastAt, longestStopMs] = [Number.POSITIVE_INFINITY, 0];
  let isStopped = false;
  const subscription = await consumer.subscribe(
    { stream: STREAM, durable: "consumer", subjects: ["replicated.>"], maxInFlight: 100, batch: 10 },
    (messages) => {
      // A message whose delivery was lost comes again after the time for its acknowledgement.
      if (!isStopped) longestStopMs = Math.max(longestStopMs, performance.now() - lastAt);
      lastAt = performance.now();
      for (const message of messages) {
        received.add(Number(Buffer.from(message.data).toString()));
        message.ack();
      }
    },
  );
  const sent: Promise<void>[] = [];
  const sending = (async () => {
    while (!isStopped) {
      const stored = publisher.publish("replicated.a", Buffer.from(String(sent.length)));
      // A test that has failed does not await it.
      stored.catch(() => undefined);
      sent.push(stored);
      await sleep(MESSAGE_INTERVAL_MS);
    }
  })();
  return {
    received,
    longestStopMs: () => longestStopMs,
    /** Stops sending. Resolves to the number of messages when the bus has stored all. */
    async finish(): Promise<number> {
      isStopped = true;
      await sending;
      await Promise.all(sent);
      return sent.length;
    },
    async close(): Promise<void> {
      isStopped = true;
      await subscription.close();
      await Promise.all([publisher.close(), consumer.close()]);
    },
  };
}

const FAULTS: readonly (readonly [string, (leader: NatsMember) => Promise<() => Promise<void> | void>])[] = [
  [
    "the leader of its stream is killed",
    async (leader) => {
      await leader.kill();
      return () => leader.restart();
    },
  ],
  [
    "the leader of its stream is lost with its disk",
    async (leader) => {
      await leader.kill();
      leader.loseDisk();
      return () => leader.restart();
    },
  ],
  [
    "the leader of its stream, to which its clients are connected, is parted from the other servers",
    (leader) => {
      leader.setParted(true);
      return Promise.resolve(() => leader.setParted(false));
    },
  ],
];

test.each(FAULTS)("a bus of three servers loses no message when %s", { timeout: 180_000 * ROUNDS }, async (what, inflict) => {
  for (let round = 0; round < ROUNDS; round++) {
    const leader = await findLeader();
    const traffic = await startTraffic(leader);
    let heal: (() => Promise<void> | void) | undefined;
    try {
      await expect.poll(() => traffic.received.size).toBeGreaterThan(10);
      const before = traffic.received.size;
      heal = await inflict(leader);
      await expect.poll(() => traffic.received.size, { timeout: 60_000 }).toBeGreaterThan(before + 100);
      await heal();
      heal = undefined;
      const count = await traffic.finish();
      await expect.poll(() => traffic.received.size, { timeout: 60_000 }).toBe(count);
      process.stdout.write(`${what}: ${count} messages, longest stop ${Math.round(traffic.longestStopMs())} ms\n`);
      expect(traffic.longestStopMs()).toBeLessThan(MAX_STOP_MS);
    } finally {
      await heal?.();
      await traffic.close();
    }
  }
});
