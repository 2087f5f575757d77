import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { AckPolicy, type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { type LocalServer, startNats } from "@flyte-ts/local-servers";
import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { connectBus } from "./index.js";

// The users of deploy/bus/users.json at a real server: what each may and may not do.
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
  const bus = await connectBus({ url: urlOf("all"), name: "test", logger });
  for (const stream of STREAMS) await bus.ensureStream(stream);
  await bus.subscribe(
    { stream: "FLYTE_EVENTS", durable: "admin-ingest", subjects: ["flyte.event.>"], maxInFlight: 1, batch: 1 },
    () => undefined,
  );
  await bus.close();
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

/** Subjects that the server refuses to a user. */
async function refusals(user: string, act: (connection: NatsConnection) => void): Promise<string[]> {
  const connection = await as(user);
  const refused: string[] = [];
  void (async () => {
    for await (const status of connection.status()) {
      const error = status.type === "error" ? (status.error as Error & { subject?: string; operation?: string }) : undefined;
      if (error?.subject !== undefined) refused.push(`${error.operation} ${error.subject}`);
    }
  })();
  act(connection);
  // The server answers in order: what it has refused is told before this.
  await connection.flush();
  await connection.flush();
  return refused;
}

const PUBLISHED: Readonly<Record<string, readonly string[]>> = {
  admin: ["flyte.recorded.3", "flyte.wake.3", "flyte.admin.changed"],
  propeller: ["flyte.task.echo.3", "flyte.event.execution.3", "flyte.event.task.3"],
  "plugin-pod": ["flyte.event.task.3", "flyte.plugin.hello"],
  "plugin-echo": ["flyte.event.task.3", "flyte.plugin.hello"],
};
const HEARD: Readonly<Record<string, readonly string[]>> = {
  admin: ["flyte.admin.changed"],
  propeller: ["flyte.recorded.3", "flyte.wake.3", "flyte.plugin.hello"],
};
const ALL = [...new Set(Object.values(PUBLISHED).flat()), "flyte.task.at.east.echo.3", "other"];
const DEAD = "flyte.dead.admin-ingest.1";
const DESTRUCTIVE = [
  ...STREAMS.flatMap(({ name }) => [
    `STREAM.DELETE.${name}`,
    `STREAM.PURGE.${name}`,
    `STREAM.MSG.GET.${name}`,
    `STREAM.MSG.DELETE.${name}`,
  ]),
  "STREAM.CREATE.OTHER",
  "STREAM.LIST",
  "STREAM.NAMES",
  "CONSUMER.CREATE.FLYTE_EVENTS",
  "CONSUMER.CREATE.FLYTE_TASKS",
  "CONSUMER.LIST.FLYTE_TASKS",
  "DIRECT.GET.FLYTE_EVENTS",
].map((call) => `$JS.API.${call}`);

test("nobody without a user and password is let in", async () => {
  const address = { servers: `127.0.0.1:${server.port}`, reconnect: false };
  await expect(connect(address)).rejects.toThrow(/authorization/i);
  await expect(connect({ ...address, user: "admin", pass: "propeller" })).rejects.toThrow(/authorization/i);
});

test.each(names)("%s publishes on its own subjects and on no others", async (user) => {
  const refused = await refusals(user, (connection) => {
    for (const subject of [...ALL, ...DESTRUCTIVE]) connection.publish(subject, "{}");
  });
  const own = PUBLISHED[user] ?? [];
  expect(refused.sort()).toEqual([...ALL.filter((subject) => !own.includes(subject)), ...DESTRUCTIVE].map((s) => `publish ${s}`).sort());
});

test.each(names)("%s puts messages aside for consumers of its own", async (user) => {
  const refused = await refusals(user, (connection) => {
    for (const subject of [DEAD, "flyte.dead.plugin-echo.1"]) connection.publish(subject, "{}");
  });
  expect(refused).toEqual([`publish ${user === "admin" ? "flyte.dead.plugin-echo.1" : DEAD}`]);
});

test.each(names)("%s hears its own subjects and no others", async (user) => {
  const own = HEARD[user] ?? [];
  const others = [">", "flyte.>", "_INBOX.>", "_INBOX.*", "$SYS.>", "$JS.>", ...ALL.filter((subject) => !own.includes(subject))];
  const inboxes = names.filter((name) => name !== user).map((name) => `_INBOX.${name}.>`);
  const refused = await refusals(user, (connection) => {
    for (const subject of [...own, ...others, ...inboxes]) connection.subscribe(subject, { callback: () => undefined });
  });
  expect(refused.sort()).toEqual([...others, ...inboxes].map((subject) => `subscription ${subject}`).sort());
});

const TAKEN: Readonly<Record<string, readonly string[]>> = {
  "FLYTE_EVENTS admin-ingest": ["admin"],
  "FLYTE_EVENTS propeller-1": ["propeller"],
  "FLYTE_TASKS plugin-echo": ["plugin-echo"],
  "FLYTE_TASKS plugin-python-task": ["plugin-pod"],
};

test.each(Object.entries(TAKEN))("messages of the consumer %s are taken by %j alone", async (consumer, takers) => {
  const [stream = "", name = ""] = consumer.split(" ");
  const calls = [`CONSUMER.DURABLE.CREATE.${stream}.${name}`, `CONSUMER.DELETE.${stream}.${name}`, `CONSUMER.MSG.NEXT.${stream}.${name}`];
  const subjects = [...calls.map((call) => `$JS.API.${call}`), `$JS.ACK.${stream}.${name}.1.1.1.1.1`];
  for (const user of names) {
    const refused = await refusals(user, (connection) => {
      for (const subject of subjects) connection.publish(subject, "{}");
    });
    expect([user, refused.length]).toEqual([user, takers.includes(user) ? 0 : subjects.length]);
  }
});

test("each user does its work through the bus of this package", async () => {
  const propeller = await connectBus({ url: urlOf("propeller"), name: "test", logger });
  const echo = await connectBus({ url: urlOf("plugin-echo"), name: "test", logger });
  for (const stream of STREAMS) {
    await propeller.ensureStream(stream);
    await echo.ensureStream(stream);
  }
  const heard: string[] = [];
  await echo.subscribe(
    { stream: "FLYTE_TASKS", durable: "plugin-echo", subjects: ["flyte.task.echo.*"], maxInFlight: 4, batch: 4 },
    (messages) => {
      for (const message of messages) {
        heard.push(message.subject);
        if (message.subject.endsWith(".8")) message.discard("unreadable");
        else message.ack();
      }
    },
  );
  await propeller.publish("flyte.task.echo.9", Buffer.from("x"));
  await propeller.publish("flyte.task.echo.8", Buffer.from("x"));
  await vi.waitFor(() => expect(heard).toEqual(expect.arrayContaining(["flyte.task.echo.9", "flyte.task.echo.8"])));
  const manager: JetStreamManager = await jetstreamManager(await as("all"), { checkAPI: false });
  await vi.waitFor(async () => expect((await manager.streams.info("FLYTE_TASKS")).state.messages).toBe(0));
  expect((await manager.streams.info("FLYTE_DEAD_LETTERS")).state.messages).toBe(1);
  expect((await manager.consumers.info("FLYTE_TASKS", "plugin-echo")).config.ack_policy).toBe(AckPolicy.Explicit);
  await propeller.close();
  await echo.close();
});
