import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jetstreamManager, type JetStreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { type LocalServer, startNats } from "@flyte-ts/local-servers";
import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bus, type BusMessage, connectBus } from "../index.js";

const logger = createLogger({ service: "test", level: "silent" });
const folder = mkdtempSync(join(tmpdir(), "pull-subscription-"));
const WORK = { name: "WORK", subjects: ["work.>"], retention: "workqueue" } as const;
let server: LocalServer;
let bus: Bus;
let connection: NatsConnection;
let manager: JetStreamManager;

beforeAll(async () => {
  server = await startNats({ dataDir: join(folder, "nats") });
  bus = await connectBus({ url: server.url, name: "test", logger });
  await bus.ensureStream(WORK);
  connection = await connect({ servers: server.url });
  manager = await jetstreamManager(connection);
});
afterAll(async () => {
  await connection.close();
  await bus.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A handler of single messages that stops at the first one until it is released. */
function slowHandler() {
  const released = Promise.withResolvers<void>();
  const seen: string[] = [];
  const handle = async ([message]: readonly BusMessage[]) => {
    seen.push(Buffer.from(message?.data ?? []).toString());
    if (seen.length === 1) await released.promise;
    message?.ack();
  };
  return { seen, handle, release: released.resolve };
}

async function publishAll(subject: string, texts: readonly string[]): Promise<void> {
  for (const text of texts) await bus.publish(subject, Buffer.from(text));
}

test("messages that wait for a slow handler are not queued again when the server delivers them again", async () => {
  const { seen, handle, release } = slowHandler();
  const options = { stream: "WORK", durable: "slow", subjects: ["work.slow"], maxInFlight: 100, batch: 1, ackWaitMs: 300 };
  const subscription = await bus.subscribe(options, handle);
  await publishAll("work.slow", ["a", "b", "c"]);
  await expect
    .poll(async () => (await manager.consumers.info("WORK", "slow")).delivered.consumer_seq, { timeout: 20_000 })
    .toBeGreaterThan(12);
  release();
  await expect.poll(async () => (await manager.consumers.info("WORK", "slow")).num_ack_pending, { timeout: 10_000 }).toBe(0);
  await subscription.close();
  const counts = ["b", "c"].map((text) => seen.filter((each) => each === text).length);
  expect(counts).toEqual([1, 1]);
  expect(seen.length).toBeLessThanOrEqual(4);
});

test("messages that wait when a subscription closes are delivered to the next one at once", async () => {
  const { seen, handle, release } = slowHandler();
  const options = { stream: "WORK", durable: "closing", subjects: ["work.closing"], maxInFlight: 100, batch: 1, ackWaitMs: 600_000 };
  const subscription = await bus.subscribe(options, handle);
  await publishAll("work.closing", ["a", "b", "c"]);
  await expect.poll(async () => (await manager.consumers.info("WORK", "closing")).num_ack_pending).toBe(3);
  const closed = subscription.close();
  release();
  await closed;
  expect(seen).toEqual(["a"]);
  const next: string[] = [];
  const other = await bus.subscribe(options, (messages) => {
    for (const message of messages) {
      next.push(Buffer.from(message.data).toString());
      message.ack();
    }
  });
  await expect.poll(() => next.toSorted(), { timeout: 10_000 }).toEqual(["b", "c"]);
  await other.close();
});

test("a subscription that is closed while it waits for its stream does not subscribe afterwards", async () => {
  const waiter = await connectBus({ url: server.url, name: "test", logger, createsStreams: false });
  await bus.ensureStream({ name: "LOST", subjects: ["lost.>"], retention: "limits" });
  const received = Promise.withResolvers<void>();
  const subscribe = (durable: string, handle: () => void) =>
    waiter.subscribe({ stream: "LOST", durable, subjects: ["lost.>"], maxInFlight: 10, batch: 1 }, handle);
  const closing = await subscribe("closing", () => undefined);
  await subscribe("other", () => received.resolve());
  let refused = 0;
  const attempted = Promise.withResolvers<void>();
  connection.subscribe("$JS.API.CONSUMER.>", {
    callback: (_, { subject }) => void (/CREATE\.LOST\.closing/.test(subject) && ++refused === 3 && attempted.resolve()),
  });
  await manager.streams.delete("LOST");
  await attempted.promise;
  await closing.close();
  await manager.streams.add({ name: "LOST", subjects: ["lost.>"] });
  // The other subscription looks for the stream at the same times.
  await expect.poll(async () => (await manager.streams.info("LOST")).state.consumer_count, { timeout: 10_000 }).toBe(1);
  await bus.publish("lost.a", Buffer.from("a"));
  await received.promise;
  expect(await manager.consumers.list("LOST").next()).toMatchObject([{ name: "other" }]);
  await waiter.close();
});
