import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { create, type DescMethod, type Message } from "@bufbuild/protobuf";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { ensurePythonEnvironment } from "@flyte-ts/local-stack";
import { createPool, type Database } from "@flyte-ts/postgres";
import { type Channel, codeName, createClient, openChannel, RpcError } from "@flyte-ts/rpc";
import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningAdmin, startAdmin } from "../stack/admin-fixture.js";
import { startResponseDropProxy } from "./response-drop-proxy.js";
import { seedFixtures, nameOf, type Sample, samples, SERVICES } from "./rpc-samples.js";
import { root } from "../repository.js";

// Sends every call that changes something four times concurrently from four clients: it must take
// effect once.
const READS = /^(Get|List)(?!OrCreate)|^CreateDownload|^UserInfo$/;
/** The first call creates the object; the others get ALREADY_EXISTS. */
const CREATES_ONCE = [
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
/** All calls succeed. */
const IDEMPOTENT = [
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
const writingMethods: readonly DescMethod[] = SERVICES.flatMap(({ methods }): readonly DescMethod[] => methods).filter(
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
  await seedFixtures(client);
  requests = samples(client);
}, 120_000);
afterAll(async () => {
  for (const channel of channels) channel.close();
  client.close();
  await db.close();
  await admin.stop();
});

/** Row counts of every table. */
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

/**
 * Responses to one request sent concurrently by `senders` clients, and the number of rows that it
 * created.
 */
async function sendConcurrently(method: DescMethod, fresh: string, senders: number) {
  const before = await rowCounts();
  const request = create(method.input, (await requests.get(nameOf(method))?.(fresh)) as Message);
  const answers = await Promise.all(
    channels.slice(0, senders).map(async (channel) => {
      const service = createClient({ channel, service: method.parent }) as unknown as Record<
        string,
        (request: Message) => Promise<Message>
      >;
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

test("the lists of this test contain every RPC that changes something", () => {
  expect(writingMethods.map(({ name }) => name).sort()).toEqual([...CREATES_ONCE, ...IDEMPOTENT].sort());
});

test.each(writingMethods.map((method): [string, DescMethod] => [method.name, method]))("%s", async (name, method) => {
  const alone = await sendConcurrently(method, "alone", 1);
  const together = await sendConcurrently(method, "together", 4);
  const once = CREATES_ONCE.includes(name);
  expect(alone.answers).toEqual(["OK"]);
  expect(together.answers).toEqual(once ? ["ALREADY_EXISTS", "ALREADY_EXISTS", "ALREADY_EXISTS", "OK"] : ["OK", "OK", "OK", "OK"]);
  expect(together.made).toEqual(alone.made);
  expect([name, once && Object.keys(together.made).length === 0]).toEqual([name, false]);
});

test("a call that flytekit retries after a lost response has the same result as without the loss", async () => {
  const { bin } = await ensurePythonEnvironment({ onInstall: () => undefined });
  const proxy = await startResponseDropProxy(admin.api);
  const folder = join(root, "conformance", "python");
  const executionId = { project: "flytesnacks", domain: "development", name: "broken-line" };
  const integer = { type: { case: "simple" as const, value: SimpleType.INTEGER } };
  await client.signals.getOrCreateSignal({ id: { signalId: "number", executionId }, type: integer });
  const printed = await runScript(join(bin, "python"), [join(folder, "repeats.py"), `127.0.0.1:${proxy.port}`, folder], proxy.dropNth);
  const steps = JSON.parse(printed.trim().split("\n").at(-1) ?? "{}") as Record<string, string>;
  expect(steps).toEqual(Object.fromEntries(Object.keys(steps).map((step) => [step, "OK"])));
  expect([Object.keys(steps).length, proxy.dropCount()]).toEqual([12, 12]);
  const { rows } = await db.query<{ name: string }>({
    text: "SELECT execution_name AS name FROM executions WHERE execution_name LIKE 'broken-%' ORDER BY 1",
  });
  expect(rows.map(({ name }) => name)).toEqual(["broken-line"]);
  await proxy.stop();
}, 180_000);

/**
 * Runs a script. When the script prints `cut N`, calls `cut` with N and then lets the script
 * continue.
 *
 * @returns the script's output
 */
function runScript(program: string, args: readonly string[], cut: (nth: number) => void): Promise<string> {
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: "1" };
  const child = spawn(program, args, { env, stdio: ["pipe", "pipe", "pipe"] });
  let printed = "";
  let errors = "";
  createInterface({ input: child.stdout }).on("line", (line) => {
    printed += `${line}\n`;
    const nth = /^cut (\d+)$/.exec(line)?.[1];
    if (nth === undefined) return;
    cut(Number(nth));
    child.stdin.write("\n");
  });
  child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  return new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", (code) => (code === 0 ? done(printed) : fail(new Error(`${printed}${errors}`))));
  });
}
