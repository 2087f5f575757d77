import { create, type DescMethod, type Message } from "@bufbuild/protobuf";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { createPool, type Database } from "@flyte-ts/postgres";
import { type Channel, codeName, createClient, openChannel, RpcError } from "@flyte-ts/rpc";
import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningAdmin, startAdmin } from "./admin-fixture.js";
import { fillWorld, nameOf, type Sample, samples, SERVICES } from "./rpc-samples.js";

// Every call that changes something, sent four times at once by four clients: what it makes is made once.
const READS = /^(Get|List)(?!OrCreate)|^CreateDownload|^UserInfo$/;
/** Whoever is first makes it; the others hear that it is there. */
const MADE_ONCE = [
  "CreateTask",
  "CreateWorkflow",
  "CreateLaunchPlan",
  "CreateExecution",
  "RelaunchExecution",
  "RecoverExecution",
  "RegisterProject",
  "CreateWorkflowEvent",
  "CreateNodeEvent",
  "CreateTaskEvent",
];
/** All are told that it is so. */
const SET = [
  "UpdateLaunchPlan",
  "UpdateExecution",
  "TerminateExecution",
  "UpdateProject",
  "UpdateProjectAttributes",
  "DeleteProjectAttributes",
  "UpdateProjectDomainAttributes",
  "DeleteProjectDomainAttributes",
  "UpdateWorkflowAttributes",
  "DeleteWorkflowAttributes",
  "UpdateNamedEntity",
  "CreateUploadLocation",
  "GetOrCreateSignal",
  "SetSignal",
];
const writes: readonly DescMethod[] = SERVICES.flatMap(({ methods }): readonly DescMethod[] => methods).filter(
  ({ name }) => !READS.test(name),
);

let admin: RunningAdmin;
let client: FlyteClient;
let db: Database;
let channels: readonly Channel[];
let requests: ReadonlyMap<string, Sample>;

beforeAll(async () => {
  admin = await startAdmin();
  const endpoint = `127.0.0.1:${admin.api}`;
  client = createFlyteClient({ endpoint });
  channels = Array.from({ length: 4 }, () => openChannel({ endpoint }));
  const logger = createLogger({ service: "test", level: "silent" });
  db = createPool({ url: admin.databaseUrl, maxConnections: 2, applicationName: "test", logger });
  await fillWorld(client);
  requests = samples(client);
}, 120_000);
afterAll(async () => {
  for (const channel of channels) channel.close();
  client.close();
  await db.close();
  await admin.stop();
});

/** Rows of every table. */
async function rowCounts(): Promise<Record<string, number>> {
  const tables = await db.query<{ name: string }>({
    text: "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE' ORDER BY 1",
  });
  const counts: Record<string, number> = {};
  for (const { name } of tables.rows) {
    const { rows } = await db.query<{ count: number }>({ text: `SELECT count(*)::int AS count FROM "${name}"` });
    counts[name] = rows[0]?.count ?? 0;
  }
  return counts;
}

/** What one request, sent by so many clients at once, was answered, and how many rows it made. */
async function send(method: DescMethod, fresh: string, senders: number) {
  const before = await rowCounts();
  const request = create(method.input, (await requests.get(nameOf(method))?.(fresh)) as Message);
  const answers = await Promise.all(
    channels.slice(0, senders).map(async (channel) => {
      const service = createClient({ channel, service: method.parent }) as unknown as Record<string, (asked: Message) => Promise<Message>>;
      try {
        await service[method.localName]?.(request);
        return "OK";
      } catch (error) {
        if (error instanceof RpcError) return codeName(error.code);
        throw error;
      }
    }),
  );
  const after = await rowCounts();
  const made = Object.entries(after).map(([name, count]): [string, number] => [name, count - (before[name] ?? 0)]);
  return { answers: answers.sort(), made: Object.fromEntries(made.filter(([, count]) => count !== 0)) };
}

test("this test knows every call that changes something", () => {
  expect(writes.map(({ name }) => name).sort()).toEqual([...MADE_ONCE, ...SET].sort());
});

test.each(writes.map((method): [string, DescMethod] => [method.name, method]))("%s", async (name, method) => {
  const alone = await send(method, "alone", 1);
  const together = await send(method, "together", 4);
  const once = MADE_ONCE.includes(name);
  expect(alone.answers).toEqual(["OK"]);
  expect(together.answers).toEqual(once ? ["ALREADY_EXISTS", "ALREADY_EXISTS", "ALREADY_EXISTS", "OK"] : ["OK", "OK", "OK", "OK"]);
  expect(together.made).toEqual(alone.made);
  expect([name, once && Object.keys(together.made).length === 0]).toEqual([name, false]);
});
