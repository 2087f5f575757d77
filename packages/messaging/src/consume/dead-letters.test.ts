import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type JetStreamManager, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect, headers, type MsgHdrs, type NatsConnection } from "@nats-io/transport-node";
import { type LocalServer, startNats } from "@flyte-ts/local-servers";
import { createLogger, Metrics } from "@flyte-ts/telemetry";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { encodeBatch } from "../publish/batch.js";
import { PROCESSING_MARKER_STREAM } from "./processing-markers.js";
import { type Bus, type BusMessage, connectBus } from "../index.js";

const logger = createLogger({ service: "test", level: "silent" });
const folder = mkdtempSync(join(tmpdir(), "dead-letters-"));
const POLL = { timeout: 30_000 };
const DEAD = "FLYTE_DEAD_LETTERS";
let server: LocalServer;
let otherConnection: NatsConnection;
let manager: JetStreamManager;
let metrics: Metrics;
let notesBefore = 0;
const buses: Bus[] = [];

/** A process: a bus with its own connection, whose end is a crash that the test causes. */
async function process(): Promise<Bus> {
  const bus = await connectBus({ url: server.url, name: "test", logger, metrics, onEnded: () => undefined });
  buses.push(bus);
  await bus.ensureStream({ name: "WORK", subjects: ["work.>"], retention: "workqueue" });
  return bus;
}

beforeAll(async () => {
  server = await startNats({ dataDir: join(folder, "nats") });
  otherConnection = await connect({ servers: server.url });
  manager = await jetstreamManager(otherConnection);
});
beforeEach(async () => {
  metrics = new Metrics();
  notesBefore = await lastNote();
});
afterEach(async () => {
  for (const bus of buses.splice(0)) await bus.close();
  for await (const stream of manager.streams.list()) await manager.streams.purge(stream.config.name);
});
afterAll(async () => {
  await otherConnection.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const options = (subject: string) => ({
  stream: "WORK",
  durable: `d-${subject.replace(".", "-")}`,
  subjects: [subject],
  maxInFlight: 100,
  batch: 10,
});

/** Acknowledges messages and records their text. */
function collector() {
  const seen: string[] = [];
  const take = (messages: readonly BusMessage[]): void => {
    for (const message of messages) {
      seen.push(Buffer.from(message.data).toString().slice(0, 20));
      message.ack();
    }
  };
  return { seen, take };
}

async function deadLetters(): Promise<{ subject: string; kind: string; reason: string; from: string }[]> {
  const letters = [];
  const info = await manager.streams.info(DEAD).catch(() => undefined);
  for (let seq = info?.state.first_seq ?? 1; seq <= (info?.state.last_seq ?? 0); seq++) {
    const stored = await manager.streams.getMessage(DEAD, { seq }).catch(() => undefined);
    if (!stored) continue;
    const value = (name: string) => stored.header.get(`Flyte-Dead-${name}`);
    letters.push({ subject: stored.subject, kind: value("Kind"), reason: value("Reason"), from: value("Subject") });
  }
  return letters;
}

const lastNote = async () => (await manager.streams.info(PROCESSING_MARKER_STREAM.name).catch(() => undefined))?.state.last_seq ?? 0;

/** Number of markers written since the last test, `held` or `settled`. */
async function notesMade(): Promise<number> {
  return (await lastNote()) - notesBefore;
}

const counted = async () => (await metrics.getMetricsAsJSON()).find(({ name }) => name === "flyte_bus_dead_letters_total")?.values ?? [];

function marked(name: string, value: string) {
  const fields = headers();
  fields.set(name, value);
  return fields;
}

describe("a message that cannot be unpacked", () => {
  test.each([
    [
      "decompresses to 80 MB",
      gzipSync(Buffer.alloc(80_000_000)),
      marked("Flyte-Encoding", "gzip"),
      /has 80000000 bytes when decompressed, the limit is 16777216/,
    ],
    [
      "declares a smaller decompressed size",
      wrongTrailer(),
      marked("Flyte-Encoding", "gzip"),
      /larger when decompressed than its gzip trailer says/,
    ],
    ["is damaged", Buffer.from("none"), marked("Flyte-Encoding", "gzip"), /cannot be decompressed/],
    ["holds 250,000 empty messages", new Uint8Array(1_000_000), marked("Flyte-Bundle", "250000"), /no batch of 1 to 1024 messages/],
  ])("becomes a dead letter if it %s, and the messages after it are handled", async (_, data, fields, reason) => {
    const bus = await process();
    const { seen, take } = collector();
    await bus.subscribe(options("work.bomb"), take);
    await jetstream(otherConnection).publish("work.bomb", data, { headers: fields });
    await bus.publish("work.bomb", Buffer.from("after"));
    await vi.waitFor(() => expect(seen).toEqual(["after"]), POLL);
    await vi.waitFor(async () => expect(await deadLetters()).toHaveLength(1), POLL);
    expect((await deadLetters())[0]).toMatchObject({ kind: "limits", from: "work.bomb", reason: expect.stringMatching(reason) });
    expect(await counted()).toMatchObject([{ labels: { consumer: "d-work-bomb", kind: "limits" }, value: 1 }]);
    await vi.waitFor(async () => expect((await manager.streams.info("WORK")).state.messages).toBe(0), POLL);
  });
});

function bundled(texts: readonly string[]): [Uint8Array, { headers: MsgHdrs }] {
  const { data, headers: fields } = encodeBatch(texts.map((text) => Buffer.from(text)));
  return [data, { headers: fields }];
}

/** A gzip member whose trailer understates the size. */
function wrongTrailer(): Uint8Array {
  const data = gzipSync(Buffer.alloc(80_000_000));
  data.writeUInt32LE(100, data.length - 4);
  return data;
}

test("a discarded message becomes a dead letter with the reason and is not redelivered", async () => {
  const bus = await process();
  const seen: number[] = [];
  await bus.subscribe(options("work.discarded"), (messages) => {
    for (const message of messages) {
      seen.push(message.deliveries);
      message.discard("not\r\nreadable");
    }
  });
  await Promise.all(["a", "b"].map((name) => bus.publish("work.discarded", Buffer.from(name))));
  await vi.waitFor(async () => expect(await deadLetters()).toHaveLength(2), POLL);
  expect((await deadLetters())[0]).toMatchObject({ kind: "refused", reason: "not readable", from: "work.discarded" });
  await vi.waitFor(async () => expect((await manager.streams.info("WORK")).state.messages).toBe(0), POLL);
  expect(seen).toEqual([1, 1]);
});

describe("a message that crashes its consumers", () => {
  const subject = "work.poison";
  const quick = { ...options(subject), ackWaitMs: 500 };

  /**
   * Acknowledges messages until "poison" arrives. Then the process exits without settling the
   * messages that it holds.
   */
  async function victim(seen: string[]): Promise<boolean> {
    const connection = await connect({ servers: server.url });
    await connection.close();
    const bus = await process();
    let died: () => void = () => undefined;
    const death = new Promise<boolean>((resolve) => {
      died = () => resolve(true);
    });
    const quiet = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 4_000));
    let dead = false;
    await bus.subscribe(quick, (messages) => {
      for (const message of messages) {
        if (dead) return;
        const text = Buffer.from(message.data).toString();
        seen.push(text);
        if (text !== "poison") message.ack();
        else {
          dead = true;
          died();
        }
      }
    });
    const ended = await Promise.race([death, quiet]);
    if (ended) {
      // As in a SIGKILL: nothing is settled or handed back.
      const at = buses.indexOf(bus);
      buses.splice(at, 1);
      await (bus as unknown as { readonly deps: { readonly connection: NatsConnection } }).deps.connection.close();
    }
    return ended;
  }

  test("is handled alone from the third delivery on and then becomes a dead letter", async () => {
    const first = await process();
    await first.subscribe(quick, () => undefined).then((subscription) => subscription.close());
    await Promise.all(["before", "poison", "after"].map((text) => jetstream(otherConnection).publish(subject, Buffer.from(text))));
    const seen: string[] = [];
    let deaths = 0;
    while (await victim(seen)) deaths++;
    expect(deaths).toBe(3);
    expect(seen.filter((text) => text === "poison")).toHaveLength(3);
    expect(new Set(seen)).toEqual(new Set(["before", "poison", "after"]));
    expect(await deadLetters()).toMatchObject([{ kind: "crashed", from: subject }]);
    expect((await manager.streams.info("WORK")).state.messages).toBe(0);
  }, 60_000);

  test("only the crashing message of a batch becomes a dead letter", async () => {
    const first = await process();
    await first.subscribe(quick, () => undefined).then((subscription) => subscription.close());
    const texts = ["before", "poison", "after"];
    await jetstream(otherConnection).publish(subject, ...bundled(texts));
    const seen: string[] = [];
    while (await victim(seen));
    expect(new Set(seen)).toEqual(new Set(texts));
    expect(await deadLetters()).toMatchObject([{ kind: "crashed", from: subject }]);
    expect((await manager.streams.info("WORK")).state.messages).toBe(0);
  }, 60_000);

  test("a message that is returned repeatedly is not suspected", async () => {
    const bus = await process();
    let deliveries = 0;
    await bus.subscribe(quick, ([message]) => {
      if (message === undefined) return;
      ({ deliveries } = message);
      if (deliveries < 12) message.nak(10);
      else message.ack();
    });
    await bus.publish(subject, Buffer.from("patient"));
    await vi.waitFor(() => expect(deliveries).toBe(12), POLL);
    expect(await deadLetters()).toEqual([]);
  });

  test("messages that are redelivered because handling takes long are not suspected", async () => {
    const bus = await process();
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const seen = new Set<string>();
    await bus.subscribe(quick, async (messages) => {
      await opened;
      for (const message of messages) {
        seen.add(Buffer.from(message.data).toString());
        message.ack();
      }
    });
    const texts = Array.from({ length: 20 }, (_, index) => `slow ${index}`);
    const delivered = async () => (await manager.consumers.info("WORK", "d-work-poison")).delivered.consumer_seq;
    const before = await delivered();
    await Promise.all(texts.map((text) => bus.publish(subject, Buffer.from(text))));
    const { messages } = (await manager.streams.info("WORK")).state;
    await vi.waitFor(async () => expect(await delivered()).toBeGreaterThanOrEqual(before + 5 * messages), POLL);
    open();
    await vi.waitFor(() => expect(seen).toEqual(new Set(texts)), POLL);
    await vi.waitFor(async () => expect((await manager.streams.info("WORK")).state.messages).toBe(0), POLL);
    expect(await notesMade()).toBe(0);
  });

  /**
   * Publishes a message that a process naks until it counts as suspected, and ends its
   * subscription.
   */
  async function publishHandedBack(): Promise<void> {
    const one = await process();
    let naks = 0;
    const first = await one.subscribe(quick, ([message]) => {
      naks++;
      message?.nak(naks < 5 ? 10 : 300);
    });
    await one.publish(subject, Buffer.from("patient"));
    await vi.waitFor(() => expect(naks).toBe(5), POLL);
    await first.close();
  }

  test("a message that another process still handles does not become a dead letter", async () => {
    await publishHandedBack();
    let settle: () => void = () => undefined;
    const settled = new Promise<void>((resolve) => {
      settle = resolve;
    });
    let isTaken = false;
    const holder = await process();
    await holder.subscribe(quick, async (messages) => {
      isTaken = true;
      await settled;
      for (const message of messages) message.ack();
    });
    await vi.waitFor(() => expect(isTaken).toBe(true), POLL);
    const { seen, take } = collector();
    await (await process()).subscribe(quick, take);
    // Wait longer than the time after which an unrenewed marker turns its message into a dead
    // letter.
    await vi.waitFor(async () => expect(await notesMade()).toBeGreaterThan(5), POLL);
    expect((await manager.streams.info("WORK")).state.messages).toBe(1);
    expect(seen).toEqual([]);
    // From here on one more delivery is possible, because the marker is cleared before the
    // acknowledgement.
    settle();
    await vi.waitFor(async () => expect((await manager.streams.info("WORK")).state.messages).toBe(0), POLL);
    await vi.waitFor(async () => expect(await deadLetters()).toEqual([]), POLL);
  });

  test("a message that another process returned is handled, and its marker is cleared", async () => {
    await publishHandedBack();
    const { seen, take } = collector();
    await (await process()).subscribe(quick, take);
    await vi.waitFor(() => expect(seen).toEqual(["patient"]), POLL);
    await vi.waitFor(async () => expect([await deadLetters(), (await manager.streams.info("WORK")).state.messages]).toEqual([[], 0]), POLL);
  });
});

describe("malformed messages", () => {
  test("on an ephemeral subject leave the connection and other subscriptions intact", async () => {
    const bus = await process();
    const received: string[] = [];
    bus.subscribeEphemeral("told.*", (_, data) => {
      if (data.length === 0) throw new Error("cannot be read");
      received.push(Buffer.from(data).toString().slice(0, 10));
    });
    await vi.waitFor(() => {
      otherConnection.publish("told.x", Buffer.from("first"));
      expect(received).toContain("first");
    }, POLL);
    otherConnection.publish("told.x");
    otherConnection.publish("told.x", Buffer.alloc(300_000, "x"));
    otherConnection.publish("told.x", Buffer.from("last"));
    await vi.waitFor(() => expect(received.at(-1)).toBe("last"), POLL);
    expect(new Set(received)).toEqual(new Set(["first", "last"]));
    expect(bus.unhealthyReason()).toBeUndefined();
    await bus.publish("work.still", Buffer.from("stored"));
  });

  test("in place of an acknowledgement cause the message to be sent again", async () => {
    const answers = ["garbage", "null", "[]", '{"stream":"WORK","seq":0}', '{"stream":"WORK"}', '{"stream":"WORK","seq":1}'];
    const served = otherConnection.subscribe("fake.x", { callback: (_, message) => void message.respond(answers.shift() ?? "") });
    await otherConnection.flush();
    const bus = await process();
    await bus.publish("fake.x", Buffer.from("a"));
    expect(answers).toEqual([]);
    expect(bus.unhealthyReason()).toBeUndefined();
    served.unsubscribe();
  });
});
