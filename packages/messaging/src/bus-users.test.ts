import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { AckPolicy, type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { type LocalServer, startNats } from "@flyte-ts/local-servers";
import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { connectBus, scopedBus } from "./index.js";

// Tests the users of deploy/bus/users.json at a real server: this package works with the rights of
// each. conformance/src/attack/bus/bus-permissions.test.ts tests what each is denied.
const file = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..", "..", "deploy", "bus", "users.json");
const permissions = JSON.parse(readFileSync(file, "utf8")) as Record<string, object>;
const names = Object.keys(permissions);
const folder = mkdtempSync(join(tmpdir(), "bus-users-"));
const STREAMS = [
  { name: "FLYTE_TASKS", subjects: ["flyte.task.>"], retention: "workqueue" },
  { name: "FLYTE_EVENTS", subjects: ["flyte.event.>"], retention: "interest" },
] as const;
const logger = createLogger({ service: "test", level: "silent" });

let server: LocalServer;
const connections: NatsConnection[] = [];
beforeAll(async () => {
  const config = join(folder, "nats.conf");
  const users = [...names.map((user) => ({ user, password: user, permissions: permissions[user] })), { user: "all", password: "all" }];
  writeFileSync(config, JSON.stringify({ authorization: { users } }));
  server = await startNats({ dataDir: join(folder, "data"), args: ["-c", config] });
});
afterAll(async () => {
  await Promise.all(connections.map((connection) => connection.close()));
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const urlOf = (user: string) => `nats://${user}:${user}@127.0.0.1:${server.port}`;

async function as(user: string): Promise<NatsConnection> {
  const inboxPrefix = `_INBOX.${user}`;
  const connection = await connect({ servers: `127.0.0.1:${server.port}`, user, pass: user, inboxPrefix, reconnect: false });
  connections.push(connection);
  return connection;
}

test("a connection without credentials is rejected", async () => {
  const address = { servers: `127.0.0.1:${server.port}`, reconnect: false };
  await expect(connect(address)).rejects.toThrow(/authorization/i);
  await expect(connect({ ...address, user: "admin", pass: "propeller" })).rejects.toThrow(/authorization/i);
});

test("plugin services wait until propeller has created the streams", async () => {
  const echo = await connectBus({ url: urlOf("plugin-echo"), name: "plugin-echo", logger, createsStreams: false });
  const waiting = Promise.all(STREAMS.map((stream) => echo.ensureStream(stream)));
  const propeller = await connectBus({ url: urlOf("propeller"), name: "propeller", logger });
  for (const stream of STREAMS) await propeller.ensureStream(stream);
  await waiting;
  const received: string[] = [];
  await echo.subscribe(
    { stream: "FLYTE_TASKS", durable: "plugin-echo", subjects: ["flyte.task.echo.*"], maxInFlight: 4, batch: 4 },
    (messages) => {
      for (const message of messages) {
        received.push(message.subject);
        if (message.subject.endsWith(".8")) message.discard("unreadable");
        else message.ack();
      }
    },
  );
  await propeller.publish("flyte.task.echo.9", Buffer.from("x"));
  await propeller.publish("flyte.task.echo.8", Buffer.from("x"));
  await vi.waitFor(() => expect(received).toEqual(expect.arrayContaining(["flyte.task.echo.9", "flyte.task.echo.8"])));
  const manager: JetStreamManager = await jetstreamManager(await as("all"), { checkAPI: false });
  await vi.waitFor(async () => expect((await manager.streams.info("FLYTE_TASKS")).state.messages).toBe(0));
  expect((await manager.streams.info("FLYTE_DEAD_LETTERS")).state.messages).toBe(1);
  expect((await manager.consumers.info("FLYTE_TASKS", "plugin-echo")).config.ack_policy).toBe(AckPolicy.Explicit);
  await propeller.close();
  await echo.close();
});

test("the connector service finds consumers with their owners, in its data plane too", async () => {
  const options = { stream: "FLYTE_TASKS", maxInFlight: 1, batch: 1, owner: "echo" };
  const propeller = await connectBus({ url: urlOf("propeller"), name: "propeller", logger });
  for (const stream of STREAMS) await propeller.ensureStream(stream);
  const all = await connectBus({ url: urlOf("all"), name: "all", logger });
  const scope = { subject: (subject: string) => subject.replace("owned", "owned-two"), durable: (durable: string) => `${durable}-two` };
  for (const bus of [all, scopedBus(all, scope)])
    await bus.subscribe({ ...options, durable: "plugin-owned", subjects: ["flyte.task.owned.*"] }, () => undefined);
  const connector = await connectBus({ url: urlOf("plugin-connector"), name: "plugin-connector", logger, createsStreams: false });
  await connector.subscribe({ ...options, owner: "mine", durable: "plugin-own", subjects: ["flyte.task.own.*"] }, () => undefined);
  const names = ["plugin-owned", "plugin-own", "plugin-none"];
  expect(Object.fromEntries(await connector.findConsumers("FLYTE_TASKS", names))).toEqual({ "plugin-own": "mine", "plugin-owned": "echo" });
  expect([...(await scopedBus(connector, scope).findConsumers("FLYTE_TASKS", names))]).toEqual([["plugin-owned", "echo"]]);
  // A service of another owner takes the consumer over, and one without keeps it.
  await connector.subscribe({ ...options, owner: "next", durable: "plugin-own", subjects: ["flyte.task.own.*"] }, () => undefined);
  expect([...(await connector.findConsumers("FLYTE_TASKS", ["plugin-own"]))]).toEqual([["plugin-own", "next"]]);
  await Promise.all([propeller, all, connector].map((bus) => bus.close()));
});

test.each([
  ["plugin-echo", "core-sleep"],
  ["plugin-pod", "python-task"],
])("%s notes suspected messages of its own consumer", async (user, taskType) => {
  const options = {
    stream: "FLYTE_TASKS",
    durable: `plugin-${taskType}`,
    subjects: [`flyte.task.${taskType}.*`],
    maxInFlight: 1,
    batch: 1,
  };
  const open = () => connectBus({ url: urlOf(user), name: user, logger, createsStreams: false });
  const propeller = await connectBus({ url: urlOf("propeller"), name: "propeller", logger });
  for (const stream of STREAMS) await propeller.ensureStream(stream);
  const first = await open();
  let tries = 0;
  const handingBack = await first.subscribe(options, ([message]) => {
    tries++;
    message?.nak(tries < 3 ? 10 : 300);
  });
  await propeller.publish(`flyte.task.${taskType}.1`, Buffer.from("slow"));
  await vi.waitFor(() => expect(tries).toBe(3));
  await handingBack.close();
  await first.close();

  const second = await open();
  let taken = "";
  await second.subscribe(options, ([message]) => {
    taken = Buffer.from(message?.data ?? "").toString();
    message?.ack();
  });
  await vi.waitFor(() => expect(taken).toBe("slow"), { timeout: 10_000 });
  const manager: JetStreamManager = await jetstreamManager(await as("all"), { checkAPI: false });
  await vi.waitFor(async () => expect((await manager.streams.info("FLYTE_TASKS")).state.messages).toBe(0));
  const info = await manager.streams.info("FLYTE_HELD", { subjects_filter: `flyte.held.plugin-${taskType}.>` });
  const kinds = Object.keys(info.state.subjects ?? {}).map((subject) => subject.split(".").at(-2));
  expect(new Set(kinds)).toEqual(new Set(["held", "settled"]));
  await propeller.close();
  await second.close();
});
