import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LocalServer, startNats } from "@flyte-ts/local-servers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mayPublish, subscriptionSubjects, PUBLISHED_SUBJECTS, USERS, type User } from "./bus-permissions.fixture.js";
import { openRawBus, type RawBus } from "./raw-bus.fixture.js";
import { root } from "../../repository.js";

// Checks the users of deploy/bus/users.json on a real NATS server: each may do what its service
// needs and nothing else.

const usersFile = join(root, "deploy", "bus", "users.json");
const permissions = JSON.parse(readFileSync(usersFile, "utf8")) as Record<string, object>;
const folder = mkdtempSync(join(tmpdir(), "attack-bus-"));
const STREAMS = {
  FLYTE_TASKS: { subjects: ["flyte.task.>"], retention: "workqueue" },
  FLYTE_EVENTS: { subjects: ["flyte.event.>"], retention: "interest" },
  FLYTE_PROBES: { subjects: ["flyte.probe.>"], retention: "limits" },
  FLYTE_DEAD_LETTERS: { subjects: ["flyte.dead.>"], retention: "limits" },
  FLYTE_HELD: { subjects: ["flyte.held.>"], retention: "limits" },
} as const;
type StreamName = keyof typeof STREAMS;
const EVENT_CONSUMERS = ["admin-ingest", "propeller-1"];
const TASK_CONSUMERS = ["echo", "core-sleep", "python-task", "pytorch", "aws-batch"];

let server: LocalServer;
let operator: RawBus;
const connections = new Map<string, RawBus>();
beforeAll(async () => {
  const users = Object.entries(permissions).map(([user, rights]) => ({ user, password: `of-${user}`, permissions: rights }));
  const config = { authorization: { users: [...users, { user: "operator", password: "of-operator" }] } };
  writeFileSync(join(folder, "nats.conf"), JSON.stringify(config));
  server = await startNats({ dataDir: join(folder, "data"), args: ["-c", join(folder, "nats.conf")] });
  for (const user of [...USERS, "operator"]) connections.set(user, await openRawBus({ port: server.port, user, password: `of-${user}` }));
  operator = connectAs("operator");
  for (const name of Object.keys(STREAMS) as StreamName[]) await make(`$JS.API.STREAM.CREATE.${name}`, specification(name));
  for (const durable of EVENT_CONSUMERS) await consumer("FLYTE_EVENTS", durable, ["flyte.event.>"]);
  for (const type of TASK_CONSUMERS) await consumer("FLYTE_TASKS", `plugin-${type}`, [`flyte.task.${type}.*`]);
}, 60_000);
afterAll(async () => {
  for (const bus of connections.values()) bus.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const connectAs = (user: string): RawBus => {
  const bus = connections.get(user);
  if (bus === undefined) throw new Error(`${user} is not a user of the server`);
  return bus;
};

function specification(name: StreamName, more: object = {}): object {
  return { name, storage: "file", ...STREAMS[name], ...more };
}

async function consumer(stream: StreamName, durable: string, filters: readonly string[]): Promise<void> {
  const config = { durable_name: durable, ack_policy: "explicit", filter_subjects: filters };
  await make(`$JS.API.CONSUMER.DURABLE.CREATE.${stream}.${durable}`, { stream_name: stream, config });
}

async function make(call: string, body: object): Promise<void> {
  const { error } = await operator.request(call, body);
  if (error !== undefined) throw new Error(`${call}: ${JSON.stringify(error)}`);
}

test("the table lists every user of deploy/bus/users.json", () => {
  expect(Object.keys(permissions).sort()).toEqual([...USERS].sort());
});

test.each([
  ["without user and password", {}],
  ["with a wrong password", { user: "admin", password: "of-propeller" }],
  ["with an empty password", { user: "propeller", password: "" }],
  ["with an unknown user", { user: "root", password: "of-operator" }],
])("a connection %s is refused", async (_, credentials) => {
  await expect(openRawBus({ port: server.port, ...credentials })).rejects.toThrow(/Authorization Violation/);
});

describe("publications", () => {
  const refused = new Map<string, Set<string>>();
  // Send all requests of a user before the cases check them: the server answers in order.
  beforeAll(async () => {
    for (const user of USERS) {
      for (const subject of PUBLISHED_SUBJECTS) connectAs(user).publish({ subject, data: "{}" });
      const errors = await connectAs(user).flush();
      refused.set(user, new Set(errors.map((error) => /Publish to "(.*)"/.exec(error)?.[1] ?? error)));
    }
  });

  test.each(
    USERS.flatMap((user) => PUBLISHED_SUBJECTS.map((subject) => [user, mayPublish(user, subject) ? "may" : "may not", subject] as const)),
  )("%s %s publish on %s", (user, may, subject) => {
    expect(refused.get(user)?.has(subject)).toBe(may === "may not");
  });
});

describe("subscriptions", () => {
  const cases = USERS.flatMap((user) =>
    subscriptionSubjects(user).map(({ subject, own }) => ({ user, subject, may: own ? "may" : "may not" })),
  );
  test.each(cases)("$user $may subscribe to $subject", async ({ user, subject, may }) => {
    const subscription = connectAs(user).subscribe(subject);
    const errors = await connectAs(user).flush();
    expect(errors.some((error) => error.includes(`Subscription to "${subject}"`))).toBe(may === "may not");
    expect(subscription.received.filter((message) => !message.subject.startsWith("flyte."))).toEqual([]);
  });
});

describe("actions of the server on behalf of a user", () => {
  const services = USERS.filter((user) => user.startsWith("plugin-"));
  const durables: Readonly<Partial<Record<User, string>>> = {
    "plugin-echo": "plugin-echo",
    "plugin-pod": "plugin-container",
    "plugin-operator": "plugin-pytorch",
    "plugin-web-api": "plugin-aws-batch",
  };
  const hijacks = (user: User): Readonly<Record<string, object>> => ({
    "a stream that copies published events": { republish: { src: `flyte.probe.${user}`, dest: "flyte.event.execution.3" } },
    "a stream that copies published wake-ups": { republish: { src: ">", dest: "flyte.wake.3" } },
    "a stream of all events": { sources: [{ name: "FLYTE_EVENTS" }] },
    "a stream of all task requests": { sources: [{ name: "FLYTE_TASKS" }] },
    "a stream of the requests of one task type": { sources: [{ name: "FLYTE_TASKS", filter_subject: "flyte.task.python-task.*" }] },
    "a subject transform of a stream": { subject_transform: { src: "flyte.probe.*", dest: "flyte.probe.x.{{wildcard(1)}}" } },
    "direct reads of any message": { allow_direct: true },
    "a retention time of zero": { max_age: 100_000_000 },
    "a change of the subjects of a stream": { subjects: ["flyte.recorded.*", "flyte.wake.*"] },
  });

  test.each(
    services.flatMap((user) =>
      (Object.keys(STREAMS) as StreamName[]).flatMap((stream) =>
        Object.keys(hijacks(user)).flatMap((what) => (["UPDATE", "CREATE"] as const).map((call) => ({ user, stream, what, call }))),
      ),
    ),
  )("$user cannot have $stream $what ($call)", async ({ user, stream, what, call }) => {
    const before = await configOf(stream);
    const change = specification(stream, hijacks(user)[what]);
    expect(await connectAs(user).request(`$JS.API.STREAM.${call}.${stream}`, change)).toEqual({
      refused: expect.stringMatching(/Publish to/),
    });
    expect(await configOf(stream)).toEqual(before);
  });

  test.each(services)("%s cannot make the server republish its messages on subjects of other users", async (user) => {
    const subscriptions = ["flyte.event.>", "flyte.wake.>", "flyte.recorded.>", "flyte.task.>"].map((subject) =>
      operator.subscribe(subject),
    );
    await operator.flush();
    const durable = durables[user] ?? "plugin-unserved";
    const stored = [`flyte.probe.${user}`, `flyte.dead.${durable}.1`, `flyte.held.${durable}.1`];
    for (const subject of stored) connectAs(user).publish({ subject, data: "forged" });
    const reads = Object.keys(STREAMS).flatMap((stream) => [
      { subject: `$JS.API.STREAM.MSG.GET.${stream}`, data: '{"seq":1}' },
      { subject: `$JS.API.DIRECT.GET.${stream}`, data: '{"seq":1}' },
      ...stored.map((subject) => ({ subject: `$JS.API.DIRECT.GET.${stream}.${subject}` })),
    ]);
    for (const reply of ["flyte.event.execution.3", "flyte.event.task.3", "flyte.wake.3", "flyte.task.echo.3"])
      for (const read of reads) connectAs(user).publish({ ...read, reply });
    const refusals = await connectAs(user).flush();
    expect(refusals.filter((refusal) => stored.some((subject) => refusal.includes(`Publish to "${subject}"`)))).toEqual([]);
    expect(refusals.filter((refusal) => refusal.includes("MSG.GET") || refusal.includes("DIRECT.GET")).length).toBe(4 * reads.length);
    await operator.flush();
    expect(subscriptions.flatMap(({ received }) => received).filter(({ data }) => data.includes("forged"))).toEqual([]);
  });

  async function configOf(stream: StreamName): Promise<unknown> {
    const { config } = await operator.request(`$JS.API.STREAM.INFO.${stream}`);
    expect(config).toBeDefined();
    return config;
  }
});

test("a plugin service cannot consume requests of another service's task types, not even by a consumer with a wider filter", async () => {
  const attempts = { "plugin-echo": "plugin-echo", "plugin-connector": "plugin-unserved" };
  for (const [user, durable] of Object.entries(attempts)) {
    const action = user === "plugin-echo" ? "update" : "create";
    for (const filters of [["flyte.task.>"], ["flyte.task.echo.*", "flyte.task.python-task.*"], ["flyte.task.*.3"]]) {
      const config = { durable_name: durable, ack_policy: "explicit", filter_subjects: filters };
      const call = `$JS.API.CONSUMER.DURABLE.CREATE.FLYTE_TASKS.${durable}`;
      const answer = await connectAs(user).request(call, { stream_name: "FLYTE_TASKS", action, config });
      expect(answer).toMatchObject({ error: { description: expect.stringMatching(/filtered consumer not unique/) } });
    }
  }
});
