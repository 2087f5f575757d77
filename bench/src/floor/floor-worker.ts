import { connectBus } from "@flyte-ts/messaging";
import { byteaArray, createPool, integerArray } from "@flyte-ts/postgres";
import { createLogger } from "@flyte-ts/telemetry";
import { FLOOR_EVENTS, FLOOR_REQUESTS, type FloorMessage, type FloorRole } from "./floor-contract.js";

/** Maximum number of unanswered publishes. */
const WINDOW = 2_000;
const [role = "", busUrl = "", databaseUrl = "", count = "0"] = process.argv.slice(2);
const leaves = Number(count);
const logger = createLogger({ service: "floor", level: "warn" });
const bus = await connectBus({ url: busUrl, name: `floor ${role}`, logger });
const consumer = { durable: role, maxInFlight: 10_000, batch: 500 };

function tell(state: FloorMessage["state"]): void {
  const { user, system } = process.cpuUsage();
  process.send?.({ state, cpuSeconds: (user + system) / 1e6 } satisfies FloorMessage);
}

/** Resolves when the parent process starts the measurement. */
const begun = new Promise<void>((resolve) => process.once("message", () => resolve()));

/** Leaf of a message: its first four bytes. */
const leafOf = (data: Uint8Array): number => new DataView(data.buffer, data.byteOffset).getInt32(0);

function messageOf(leaf: number, bytes: number): Uint8Array {
  const message = new Uint8Array(bytes);
  new DataView(message.buffer).setInt32(0, leaf);
  return message;
}

async function publishRequests(): Promise<void> {
  tell("ready");
  await begun;
  for (let leaf = 0; leaf < leaves; leaf += WINDOW) {
    const window = Array.from({ length: Math.min(WINDOW, leaves - leaf) }, (_, index) => leaf + index);
    await Promise.all(window.map((each) => bus.publish(FLOOR_REQUESTS.subject, messageOf(each, FLOOR_REQUESTS.bytes))));
  }
}

async function answerRequests(): Promise<void> {
  let answered = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  await bus.subscribe({ ...consumer, stream: FLOOR_REQUESTS.stream, subjects: [FLOOR_REQUESTS.subject] }, async (messages) => {
    await Promise.all(
      messages.map(async (message) => {
        await bus.publish(FLOOR_EVENTS.subject, messageOf(leafOf(message.data), FLOOR_EVENTS.bytes));
        message.ack();
      }),
    );
    answered += messages.length;
    if (answered >= leaves) resolve();
  });
  tell("ready");
  await promise;
}

async function recordEvents(): Promise<void> {
  const db = createPool({ url: databaseUrl, logger, maxConnections: 4 });
  let recorded = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  await bus.subscribe({ ...consumer, stream: FLOOR_EVENTS.stream, subjects: [FLOOR_EVENTS.subject] }, async (messages) => {
    const events = messages.map(({ data }) => data);
    await db.query({
      name: "insert-leaves",
      text: "INSERT INTO leaves SELECT * FROM unnest($1::integer[], $2::bytea[]) ON CONFLICT DO NOTHING",
      values: [integerArray(events.map(leafOf)), byteaArray(events)],
    });
    for (const message of messages) message.ack();
    recorded += messages.length;
    if (recorded >= leaves) resolve();
  });
  tell("ready");
  await promise;
  await db.close();
}

const ROLES: Readonly<Record<FloorRole, () => Promise<void>>> = {
  engine: publishRequests,
  plugin: answerRequests,
  recorder: recordEvents,
};
await ROLES[role as FloorRole]();
tell("done");
await bus.close();
process.disconnect?.();
