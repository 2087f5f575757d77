import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LocalServer, startNats } from "@flyte-ts/local-servers";
import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Bus, type BusScope, connectBus, MessageTooLarge, scopedBus } from "./index.js";

const logger = createLogger({ service: "test", level: "silent" });
const folder = mkdtempSync(join(tmpdir(), "messaging-"));
const dataDir = join(folder, "nats");
let server: LocalServer;
let bus: Bus;
const text = (data: Uint8Array) => Buffer.from(data).toString();
const bytes = (value: string) => Buffer.from(value);

beforeAll(async () => {
  server = await startNats({ dataDir });
  bus = await connectBus({ url: server.url, name: "test", logger });
  await bus.ensureStream({ name: "WORK", subjects: ["work.>"], retention: "workqueue", maxAgeMs: 0 });
  await bus.ensureStream({ name: "NEWS", subjects: ["news.>"], retention: "limits", maxAgeMs: 60_000 });
});
afterAll(async () => {
  await bus.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("credentials in the URL authenticate the connection", async () => {
  const guarded = await startNats({ dataDir: join(folder, "guarded"), args: ["--user", "flyte", "--pass", "a/b"] });
  try {
    const known = await connectBus({ url: `nats://flyte:a%2Fb@127.0.0.1:${guarded.port}`, name: "test", logger });
    await known.ensureStream({ name: "WORK", subjects: ["work.>"], retention: "workqueue" });
    await known.close();
    await expect(connectBus({ url: guarded.url, name: "test", logger })).rejects.toThrow(/authorization/i);
  } finally {
    await guarded.stop();
  }
});

test("a bus whose server rejects its credentials for a while works again when the server accepts them", async () => {
  const dataDir = join(folder, "new-users");
  const withPassword = (password: string) => ["--user", "flyte", "--pass", password];
  let guarded = await startNats({ dataDir, args: withPassword("right") });
  const changes: (string | undefined)[] = [];
  const known = await connectBus({ url: `nats://flyte:right@127.0.0.1:${guarded.port}`, name: "test", logger });
  known.onConnectionChange(() => changes.push(known.unhealthyReason()));
  try {
    await known.ensureStream({ name: "WORK", subjects: ["work.>"], retention: "workqueue" });
    await guarded.stop();
    const log = join(folder, "new-users.log");
    guarded = await startNats({ dataDir, port: guarded.port, args: [...withPassword("other"), "-l", log] });
    await expect.poll(() => readFileSync(log, "utf8").split("authentication error").length - 1, { timeout: 30_000 }).toBeGreaterThan(2);
    expect(known.unhealthyReason()).toMatch(/rejects the credentials.*Authorization Violation/i);
    await guarded.stop();
    guarded = await startNats({ dataDir, port: guarded.port, args: withPassword("right") });
    await known.publish("work.a", bytes("after"));
    expect(changes).toEqual(["the message bus is not connected", undefined]);
  } finally {
    await known.close();
    await guarded.stop();
  }
});

test("ensureStream creates, updates and repeats, and rejects an invalid specification", async () => {
  await bus.ensureStream({ name: "NEWS", subjects: ["news.>"], retention: "limits", maxAgeMs: 60_000 });
  await bus.ensureStream({ name: "NEWS", subjects: ["news.>"], retention: "limits", maxAgeMs: 120_000 });
  await expect(bus.ensureStream({ name: "OTHER", subjects: ["news.x"], retention: "limits", maxAgeMs: 0 })).rejects.toThrow(
    /overlap|not found/,
  );
});

test("unacknowledged messages are redelivered, also after a failed handler", async () => {
  const seen: string[] = [];
  let refuse = 2;
  const subscription = await bus.subscribe(
    { stream: "WORK", durable: "worker", subjects: ["work.a.*"], maxInFlight: 10, batch: 5 },
    (messages) => {
      for (const message of messages) {
        seen.push(`${text(message.data)}:${message.deliveries}`);
        if (refuse-- > 0) message.nak(10);
        else message.ack();
      }
      if (refuse === 1) throw new Error("planned");
    },
  );
  await bus.publish("work.a.1", bytes("one"));
  await vi.waitFor(() => expect(seen).toEqual(["one:1", "one:2", "one:3"]), { timeout: 30_000 });
  await subscription.close();
});

test("every durable consumer of a stream gets each message", async () => {
  const first: string[] = [];
  const second: string[] = [];
  const take = (list: string[]) => (messages: readonly { data: Uint8Array; ack(): void }[]) => {
    for (const message of messages) {
      list.push(text(message.data));
      message.ack();
    }
  };
  const options = { stream: "NEWS", subjects: ["news.x"], maxInFlight: 100, batch: 50 };
  const subscriptions = [
    await bus.subscribe({ ...options, durable: "one" }, take(first)),
    await bus.subscribe({ ...options, durable: "two" }, take(second)),
  ];
  await bus.publish("news.x", bytes("a"));
  await bus.publish("news.x", bytes("b"));
  await vi.waitFor(
    () =>
      expect([first, second]).toEqual([
        ["a", "b"],
        ["a", "b"],
      ]),
    { timeout: 30_000 },
  );
  for (const subscription of subscriptions) await subscription.close();
});

test("messages are gathered after a batch, and the first one is delivered at once", async () => {
  const batches: string[][] = [];
  const subscription = await bus.subscribe(
    { stream: "WORK", durable: "gatherer", subjects: ["work.c"], maxInFlight: 100, batch: 3, batchWindowMs: { min: 2_000, max: 2_000 } },
    (messages) => {
      batches.push(messages.map((message) => text(message.data)));
      for (const message of messages) message.ack();
    },
  );
  await bus.publish("work.c", bytes("a"));
  await vi.waitFor(() => expect(batches).toEqual([["a"]]), { timeout: 30_000 });
  await bus.publish("work.c", bytes("b"));
  await bus.publish("work.c", bytes("c"));
  await vi.waitFor(() => expect(batches).toEqual([["a"], ["b", "c"]]), { timeout: 30_000 });
  await subscription.close();
});

test("messages of a batch arrive one by one in order, and are redelivered together", async () => {
  const sent = Array.from({ length: 100 }, (_, index) => `m${index}`);
  const seen: string[] = [];
  const subscription = await bus.subscribe(
    { stream: "WORK", durable: "together", subjects: ["work.d.*"], maxInFlight: 1_000, batch: 7 },
    (messages) => {
      for (const message of messages) {
        const { data, deliveries } = message;
        seen.push(`${text(data)}:${deliveries}`);
        if (text(data) === "m40" && deliveries === 1) message.nak(10);
        else message.ack();
      }
    },
  );
  await Promise.all(sent.map((name, index) => bus.publish(`work.d.${index % 2}`, bytes(name))));
  await vi.waitFor(() => expect(seen).toContain("m40:2"), { timeout: 30_000 });
  const first = seen.filter((entry) => entry.endsWith(":1")).map((entry) => Number(entry.slice(1, -2)));
  for (const odd of [0, 1]) {
    const ofSubject = sent.map((_, index) => index).filter((index) => index % 2 === odd);
    expect(first.filter((index) => index % 2 === odd)).toEqual(ofSubject);
  }
  expect(seen.filter((entry) => entry.endsWith(":2")).length).toBeLessThan(50);
  await subscription.close();
});

test("a message beyond the server's limit is compressed, and rejected where that does not suffice", async () => {
  const seen: string[] = [];
  const subscription = await bus.subscribe(
    { stream: "WORK", durable: "large", subjects: ["work.large"], maxInFlight: 100, batch: 10 },
    (messages) => {
      for (const message of messages) {
        const { data } = message;
        seen.push(data.length < 10 ? text(data) : `${data.length} times ${String.fromCharCode(...new Set(data))}`);
        message.ack();
      }
    },
  );
  const [large, noise] = [Buffer.alloc(3 << 20, "x"), randomBytes(3 << 20)];
  const sent = ["a", "b"].map((name) => bus.publish("work.large", bytes(name)));
  const refused = bus.publish("work.large", noise);
  sent.push(bus.publish("work.large", large), bus.publish("work.large", bytes("c")), bus.publish("work.large", bytes("d")));
  await expect(refused).rejects.toThrow(MessageTooLarge);
  await expect(refused).rejects.toThrow(/^3145728 bytes, .*max_payload is 1048576 bytes/);
  await Promise.all(sent);
  await vi.waitFor(() => expect(seen).toEqual(["a", "b", "3145728 times x", "c", "d"]), { timeout: 30_000 });
  await subscription.close();
});

test("a subject that is too long is rejected", async () => {
  await expect(bus.publish(`work.${"x".repeat(5_000)}`, Buffer.from("x"))).rejects.toThrow(MessageTooLarge);
  expect(() => bus.publishEphemeral(`work.${"x".repeat(5_000)}`, Buffer.from("x"))).toThrow(MessageTooLarge);
  expect(bus.unhealthyReason()).toBeUndefined();
});

test("a cancelled message is not sent, but the others of its batch are", async () => {
  const seen: string[] = [];
  const subscription = await bus.subscribe(
    { stream: "WORK", durable: "wanted", subjects: ["work.e"], maxInFlight: 100, batch: 10 },
    (messages) => {
      for (const message of messages) {
        seen.push(text(message.data));
        message.ack();
      }
    },
  );
  const outcomes = await Promise.allSettled([
    bus.publish("work.e", bytes("a")),
    bus.publish("work.e", bytes("b"), { shouldSend: () => false }),
    bus.publish("work.e", bytes("c")),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  await vi.waitFor(() => expect(seen).toEqual(["a", "c"]), { timeout: 30_000 });
  await subscription.close();
});

test("publishers wait for an unavailable server, and subscriptions resume with it", async () => {
  const seen = new Set<string>();
  const subscription = await bus.subscribe(
    { stream: "WORK", durable: "later", subjects: ["work.b"], maxInFlight: 100, batch: 10 },
    (messages) => {
      for (const message of messages) {
        seen.add(text(message.data));
        message.ack();
      }
    },
  );
  await bus.publish("work.b", bytes("before"));
  await vi.waitFor(() => expect([...seen]).toEqual(["before"]), { timeout: 30_000 });
  const changes: boolean[] = [];
  const removeListener = bus.onConnectionChange(() => changes.push(bus.unhealthyReason() === undefined));
  await server.kill();
  const published = bus.publish("work.b", bytes("during"));
  await vi.waitFor(() => expect(bus.unhealthyReason()).toBeDefined(), { timeout: 30_000 });
  server = await startNats({ dataDir, port: server.port });
  await published;
  await vi.waitFor(() => expect([...seen]).toEqual(["before", "during"]), { timeout: 30_000 });
  expect(bus.unhealthyReason()).toBeUndefined();
  expect(changes).toEqual([false, true]);
  removeListener();
  await subscription.close();
});

test("publishers and subscribers recreate streams that the server has lost", async () => {
  const ownDir = join(folder, "lost");
  let own = await startNats({ dataDir: ownDir });
  const [publisher, listener] = await Promise.all(["publisher", "listener"].map((name) => connectBus({ url: own.url, name, logger })));
  for (const side of [publisher, listener]) {
    await side?.ensureStream({ name: "LOST_WORK", subjects: ["work.>"], retention: "workqueue" });
    await side?.ensureStream({ name: "LOST_NEWS", subjects: ["news.>"], retention: "interest" });
  }
  const comeBackEmpty = async () => {
    await own.kill();
    rmSync(ownDir, { recursive: true });
    own = await startNats({ dataDir: ownDir, port: own.port });
  };
  try {
    await comeBackEmpty();
    await publisher?.publish("work.a", bytes("kept"));

    const seen = new Set<string>();
    const limits = { maxInFlight: 10, batch: 5 };
    const take = (messages: readonly { data: Uint8Array; ack(): void }[]) => {
      for (const message of messages) {
        seen.add(text(message.data));
        message.ack();
      }
    };
    await listener?.subscribe({ ...limits, stream: "LOST_WORK", durable: "w", subjects: ["work.*"] }, take);
    await listener?.subscribeExclusive(
      { ...limits, stream: "LOST_NEWS", durable: "n", subjects: ["news.*"], inactiveThresholdMs: 60_000 },
      take,
    );
    await vi.waitFor(() => expect([...seen]).toEqual(["kept"]), { timeout: 30_000 });

    await comeBackEmpty();
    // A stream with interest retention also acknowledges messages for which no consumer exists yet.
    await vi.waitFor(
      async () => {
        for (const kind of ["work", "news"]) await publisher?.publish(`${kind}.b`, bytes(kind));
        expect([...seen]).toEqual(expect.arrayContaining(["work", "news"]));
      },
      { timeout: 30_000 },
    );
  } finally {
    for (const side of [publisher, listener]) await side?.close();
    await own.stop();
  }
});

test("ephemeral messages reach the current listeners", async () => {
  const received: string[] = [];
  const listening = bus.subscribeEphemeral("hello.*", (subject, data) => received.push(`${subject} ${text(data)}`));
  await vi.waitFor(() => {
    bus.publishEphemeral("hello.x", bytes("hi"));
    expect(received).toContain("hello.x hi");
  }, 30_000);
  await listening.close();
});

test("an existing consumer receives further subjects when it is subscribed with them", async () => {
  const seen: string[] = [];
  const options = { stream: "WORK", durable: "widened", maxInFlight: 10, batch: 5 };
  const take = (messages: readonly { data: Uint8Array; ack(): void }[]) => {
    for (const message of messages) {
      seen.push(text(message.data));
      message.ack();
    }
  };
  await (await bus.subscribe({ ...options, subjects: ["work.d"] }, take)).close();
  const again = await bus.subscribe({ ...options, subjects: ["work.d", "work.at.*.d"] }, take);
  await bus.publish("work.at.x.d", bytes("wide"));
  await vi.waitFor(() => expect(seen).toEqual(["wide"]), { timeout: 30_000 });
  await again.close();
});

test("buses with different scopes share streams and receive only their own messages", async () => {
  const party = (name: string): BusScope => ({ subject: (subject) => `${subject}.at.${name}`, durable: (durable) => `${durable}=${name}` });
  const seen: string[] = [];
  const join = async (name: string) => {
    const own = scopedBus(bus, party(name));
    const record = (how: string) => (data: Uint8Array) => void seen.push(`${name} ${how} ${text(data)}`);
    const handler = (how: string) => (messages: readonly { data: Uint8Array; ack(): void }[]) => {
      for (const message of messages) {
        record(how)(message.data);
        message.ack();
      }
    };
    const limits = { maxInFlight: 10, batch: 5 };
    await own.subscribe({ ...limits, stream: "WORK", durable: "party", subjects: ["work.party"] }, handler("work"));
    const news = await own.subscribeExclusive(
      { ...limits, stream: "NEWS", durable: "party", subjects: ["news.none"], inactiveThresholdMs: 60_000 },
      handler("news"),
    );
    await news.setSubjects(["news.party"]);
    own.subscribeEphemeral("told.party", (_, data) => record("told")(data));
    return own;
  };
  const [one, two] = [await join("one"), await join("two")];
  await one.publish("work.party", bytes("1"));
  await two.publish("work.party", bytes("2"));
  await one.publish("news.party", bytes("1"));
  one.publishEphemeral("told.party", bytes("1"));
  await vi.waitFor(() => expect(seen.toSorted()).toEqual(["one news 1", "one told 1", "one work 1", "two work 2"]), { timeout: 30_000 });
  expect(scopedBus(bus, undefined)).toBe(bus);
});

test("messages of subjects with a common queue are handled in the order in which they were published", async () => {
  const published = Array.from({ length: 40 }, (_, index) => `${index % 4 === 3 ? "task" : "node"} ${index}`);
  for (const message of published) await bus.publish(`work.order.${message.slice(0, 4)}`, bytes(message));
  const seen: string[] = [];
  const subscription = await bus.subscribe(
    { stream: "WORK", durable: "order", subjects: ["work.order.*"], maxInFlight: 100, batch: 1, queueOf: () => "order" },
    (messages) => {
      for (const message of messages) {
        seen.push(text(message.data));
        message.ack();
      }
    },
  );
  await vi.waitFor(() => expect(seen).toHaveLength(published.length), { timeout: 30_000 });
  expect(seen).toEqual(published);
  await subscription.close();
});
