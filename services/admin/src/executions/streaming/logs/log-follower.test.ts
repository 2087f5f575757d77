import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { BlobStore } from "@flyte-ts/blobstore";
import { attemptLogTag } from "@flyte-ts/domain/name";
import { EVENT_STREAM, executionEventSubject, taskEventSubject } from "@flyte-ts/bus-contract";
import { NodeExecution_Phase as Node, TaskExecution_Phase as Task } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type FollowLogRequestSchema, type FollowLogResponse, LiveService } from "@flyte-ts/idl/flytets/admin/v1/live_pb";
import { ExecutionEventSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import { TaskEventSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { type KubeApplier, type KubeClient, KubeError, type KubeObject, type PodLogOptions } from "@flyte-ts/kubernetes";
import { type Bus, connectBus } from "@flyte-ts/messaging";
import { Code, createClient, type ServiceClient } from "@flyte-ts/rpc";
import { createLogger, Metrics } from "@flyte-ts/telemetry";
import { natsFixture, type ServerFixture } from "@flyte-ts/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type AdminDatabase, adminDatabase } from "../../../database.fixture.js";
import { bareExecution } from "../../execution/bare-execution.fixture.js";
import { insertExecution } from "../../store/execution/insert.js";
import { startIngest } from "../../../events/ingest/start.js";
import { type ServedAdmin, serveAdmin } from "../../../served-admin.fixture.js";
import { publishChanged } from "../change-notifications.js";

/**
 * A pod whose container writes lines from the test; its log is read as from the kubelet, by whole
 * seconds.
 */
class Pods implements Pick<KubeClient, "get" | "podLog"> {
  pod: KubeObject | undefined;
  readonly lines: { time: number; text: string }[] = [];
  over = false;
  readonly asked: PodLogOptions[] = [];
  #changed = Promise.withResolvers<void>();
  /** Errors of the next requests, one each. */
  readonly failures: KubeError[] = [];

  start(name: string, execution: string): void {
    const spec = { containers: [{ name }, { name: "sidecar" }] };
    this.pod = { metadata: { name, namespace: "p-d", labels: { "execution-id": execution } }, spec } as KubeObject;
  }

  write(time: number, ...texts: string[]): void {
    this.lines.push(...texts.map((text) => ({ time, text })));
    this.#tell();
  }

  end(): void {
    this.over = true;
    if (this.pod !== undefined) this.pod = { ...this.pod, status: { phase: "Succeeded" } } as KubeObject;
    this.#tell();
  }

  /** Interrupts the current log request. */
  #broken = 0;
  cut(): void {
    this.#broken++;
    this.#tell();
  }

  #tell(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  get<T extends KubeObject>(_: unknown, { name }: { readonly name: string }): Promise<T | undefined> {
    return Promise.resolve(this.pod?.metadata.name === name ? (this.pod as T) : undefined);
  }

  async *podLog(options: PodLogOptions): AsyncGenerator<Uint8Array> {
    this.asked.push(options);
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
    if (this.pod === undefined) throw new KubeError("pods not found", { status: 404, reason: "NotFound" });
    const broken = this.#broken;
    const { since, tailLines, follow, signal } = options;
    let next = tailLines === undefined ? 0 : Math.max(0, this.lines.length - tailLines);
    for (;;) {
      for (; next < this.lines.length; next++) {
        const line = this.lines[next];
        if (line === undefined || (since !== undefined && line.time < since.getTime())) continue;
        yield Buffer.from(`${new Date(line.time).toISOString().replace("Z", "000000Z")} ${line.text}\n`);
      }
      if (!follow || this.over || this.#broken !== broken) return;
      await Promise.race([this.#changed.promise, new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }))]);
      signal.throwIfAborted();
    }
  }
}

const logger = createLogger({ service: "test", level: "silent" });
const START = Date.parse("2026-03-01T10:00:00Z");
let database: AdminDatabase;
let nats: ServerFixture;
let bus: Bus;
let pods: Pods;
let admin: ServedAdmin;
const archive = new Map<string, Uint8Array>();
let live: ServiceClient<typeof LiveService>;
let count = 0;
let name: string;

beforeAll(async () => {
  [database, nats] = await Promise.all([adminDatabase(), natsFixture()]);
  bus = await connectBus({ url: nats.url, name: "test", logger });
  await bus.ensureStream(EVENT_STREAM);
  const get = (ref: unknown, options: { readonly name: string }) => pods.get(ref, options);
  const kube = { get, podLog: (options: PodLogOptions) => pods.podLog(options) } as unknown as KubeClient & KubeApplier;
  admin = await serveAdmin({
    db: database.db,
    bus,
    blobs: { get: async (uri: string) => archive.get(uri) } as unknown as BlobStore,
    clusters: [{ name: "one", weight: 1, kube }],
    publishChanged: (ids) => publishChanged(bus, ids),
  });
  await startIngest(admin.deps);
  live = createClient({ channel: admin.channel, service: LiveService });
});
afterAll(async () => {
  await admin.stop();
  await bus.close();
  await Promise.all([database.stop(), nats.stop()]);
});
beforeEach(async () => {
  pods = new Pods();
  name = `e${count++}`;
  await insertExecution(database.db, { ...bareExecution(name), cluster: "one" });
});

const id = () => ({ nodeId: "n0", executionId: { project: "p", domain: "d", name } });
const at = timestampFromMs(START);
const node = () =>
  bus.publish(
    executionEventSubject(0),
    toBinary(
      ExecutionEventSchema,
      create(ExecutionEventSchema, {
        sequence: 1n,
        event: { case: "node", value: { id: id(), phase: Node.RUNNING, occurredAt: at, reportedAt: at } },
      }),
    ),
  );
const task = (
  retryAttempt: number,
  phase: Task,
  metadata: object = { generatedName: `pod-${retryAttempt}` },
  { logs = [], logContext }: { readonly logs?: object[]; readonly logContext?: object } = {},
) =>
  bus.publish(
    taskEventSubject(0),
    toBinary(
      TaskEventSchema,
      create(TaskEventSchema, {
        event: {
          taskId: { resourceType: ResourceType.TASK, project: "p", domain: "d", name: "t", version: "v" },
          parentNodeExecutionId: id(),
          retryAttempt,
          phase,
          occurredAt: at,
          reportedAt: at,
          metadata,
          logs,
          ...(logContext === undefined ? {} : { logContext }),
        },
      }),
    ),
  );

/** Reads until this many lines have arrived; default: to the end. */
async function read(request: Omit<MessageInitShape<typeof FollowLogRequestSchema>, "$typeName"> = {}, lines = Number.POSITIVE_INFINITY) {
  const messages: FollowLogResponse[] = [];
  const texts: string[] = [];
  for await (const message of live.followLog({ id: id(), ...request })) {
    messages.push(message);
    texts.push(...message.lines.map(({ text }) => text));
    if (texts.length >= lines) break;
  }
  return { texts, messages, cursor: messages.at(-1)?.cursor ?? "", ended: messages.at(-1)?.ended };
}

test("a log is awaited, streamed while it is written, and ends with its container", async () => {
  const reading = read();
  await node();
  await task(0, Task.QUEUED);
  await expect.poll(async () => (await database.db.query({ text: "SELECT 1 FROM task_executions" })).rowCount).toBe(1);
  pods.start("pod-0", name);
  pods.failures.push(new KubeError("container is waiting to start: ContainerCreating", { status: 400, reason: "BadRequest" }));
  pods.write(START, "a", "b");
  await expect.poll(() => pods.asked.length, { timeout: 10_000 }).toBe(2);
  pods.write(START + 1_500, "c");
  pods.end();
  const { texts, messages, ended } = await reading;
  expect([texts, ended]).toEqual([["a", "b", "c"], true]);
  expect(messages[0]?.lines[0]?.time).toBe("2026-03-01T10:00:00.000000000Z");
  expect(pods.asked[0]).toMatchObject({ namespace: "p-d", name: "pod-0", container: "pod-0", follow: true });
});

test("a log is read from the warm pod that the attempt took, also by a stream that began before", async () => {
  await node();
  await task(0, Task.QUEUED);
  const reading = read();
  await expect.poll(async () => (await database.db.query({ text: "SELECT 1 FROM task_executions" })).rowCount).toBeGreaterThan(0);
  await task(0, Task.RUNNING, undefined, { logContext: { primaryPodName: "warm-1" } });
  pods.start("warm-1", name);
  pods.write(START, "a");
  pods.end();
  expect((await reading).texts).toEqual(["a"]);
  expect(pods.asked[0]).toMatchObject({ name: "warm-1", container: "warm-1" });
});

const tagged = (generatedName: string) => attemptLogTag({ namespace: "p-d", generatedName });
/** A pod that serves several attempts, now that of this name. */
const reusedPod = (generatedName: string, execution: string): KubeObject => {
  const labels = { "execution-id": execution, "flyte.org/warm-mode": "reused" };
  const annotations = { "flyte.org/warm-assignment": JSON.stringify({ tag: tagged(generatedName) }) };
  const metadata = { name: "warm-1", namespace: "p-d", labels, annotations };
  return { metadata, spec: { containers: [{ name: "task" }] } } as KubeObject;
};
const tookWarmPod = async () => {
  await node();
  await task(0, Task.RUNNING, undefined, { logContext: { primaryPodName: "warm-1" } });
  await expect.poll(async () => (await database.db.query({ text: "SELECT 1 FROM task_executions" })).rowCount).toBeGreaterThan(0);
};

test("a log of a pod that serves several attempts has the lines of its own, and ends with the attempt", async () => {
  await tookWarmPod();
  pods.pod = reusedPod("pod-0", name);
  pods.write(START, `${tagged("earlier")}| of others`, `${tagged("earlier")}= {"end":"1"}`, `${tagged("pod-0")}= {"start":"2"}`);
  const reading = read();
  await expect.poll(() => pods.asked.length).toBe(1);
  pods.write(START + 100, `${tagged("pod-0")}| a`, `${tagged("pod-0")}| ${tagged("pod-0")}= {"end":"2"}`);
  pods.write(START + 200, `${tagged("pod-0")}| b`, `${tagged("pod-0")}= {"end":"2"}`);
  expect(await reading).toMatchObject({ texts: ["a", `${tagged("pod-0")}= {"end":"2"}`, "b"], ended: true });
});

test("the last lines of an attempt are found in a pod that now serves an attempt of another execution", async () => {
  await tookWarmPod();
  pods.pod = reusedPod("later", "another");
  const lines = ["a", "b", "c"].map((text) => `${tagged("pod-0")}| ${text}`);
  pods.write(START, ...lines, `${tagged("pod-0")}= {"end":"2"}`, ...["d", "e"].map((text) => `${tagged("later")}| ${text}`));
  expect((await read({ tailLines: 2 })).texts).toEqual(["b", "c"]);
});

test("a stream continues after interruptions by the client and by the data plane", async () => {
  await node();
  await task(0, Task.RUNNING);
  pods.start("pod-0", name);
  pods.write(START, "a", "b");
  pods.write(START + 200, "c");
  const first = await read({}, 2);
  expect(first.texts.slice(0, 2)).toEqual(["a", "b"]);
  const second = read({ cursor: first.cursor });
  await expect.poll(() => pods.asked.length).toBe(2);
  pods.cut();
  await expect.poll(() => pods.asked.length, { timeout: 10_000 }).toBe(3);
  pods.write(START + 900, "d");
  pods.end();
  expect([...first.texts, ...(await second).texts]).toEqual(["a", "b", "c", "d"]);
});

test("a request may ask for the last lines and the lines after them, without following", async () => {
  await node();
  await task(0, Task.RUNNING);
  pods.start("pod-0", name);
  pods.write(START, "a", "b", "c");
  await expect.poll(async () => (await read({ noFollow: true })).texts).toEqual(["a", "b", "c"]);
  const tail = await read({ tailLines: 2, noFollow: true });
  expect([tail.texts, tail.ended]).toEqual([["b", "c"], false]);
  pods.write(START, "d");
  expect((await read({ cursor: tail.cursor, noFollow: true })).texts).toEqual(["d"]);
  expect((await read({ container: "sidecar", noFollow: true })).texts).toEqual(["a", "b", "c", "d"]);
  expect(pods.asked.at(-1)?.container).toBe("sidecar");
  await expect(read({ container: "none" })).rejects.toMatchObject({
    code: Code.INVALID_ARGUMENT,
    message: expect.stringMatching(/pod-0, sidecar/),
  });
});

test("a request may ask for the end of the log before its first line", async () => {
  await node();
  await task(0, Task.RUNNING);
  pods.start("pod-0", name);
  pods.write(START, "a", "b", "c");
  await expect.poll(async () => (await read({ noFollow: true })).texts).toEqual(["a", "b", "c"]);
  const { messages, texts, cursor } = await read({ endLines: 2, noFollow: true });
  expect(messages.map(({ endLines }) => endLines.map(({ text }) => text)).filter((lines) => lines.length > 0)).toEqual([["b", "c"]]);
  expect([messages[0]?.endLines.length, messages[0]?.cursor, texts]).toEqual([2, "", ["a", "b", "c"]]);
  const resumed = await read({ endLines: 2, noFollow: true, cursor });
  expect(resumed.messages.flatMap(({ endLines }) => endLines)).toEqual([]);
  pods.write(START, "x".repeat(200_000), ...Array.from({ length: 5 }, (_, at) => `${at}${"y".repeat(200_000)}`));
  const long = await read({ endLines: 9, noFollow: true });
  expect(long.messages[0]?.endLines.map(({ text }) => text[0])).toEqual(["0", "1", "2", "3", "4"]);
  await expect(read({ endLines: 1_001 })).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
});

test("a request selects an attempt, or by default the latest, or an item of an array", async () => {
  await node();
  await task(0, Task.RETRYABLE_FAILED);
  await task(1, Task.RUNNING, { generatedName: "pod-1", externalResources: [{ index: 3, externalId: "pod-1-3-0" }] });
  await expect
    .poll(async () => (await database.db.query({ text: "SELECT 1 FROM task_executions WHERE retry_attempt = 1" })).rowCount)
    .toBe(1);
  const readFrom = async (pod: string, request: Parameters<typeof read>[0] = {}) => {
    pods.start(pod, name);
    pods.write(START, "x");
    pods.end();
    return (await read(request)).messages[0]?.attempt;
  };
  expect(await readFrom("pod-1")).toBe(1);
  expect(await readFrom("pod-0", { attempt: 0 })).toBe(0);
  await readFrom("pod-1-3-0", { item: 3 });
  expect(pods.asked.map((asked) => asked.name)).toEqual(["pod-1", "pod-0", "pod-1-3-0"]);
  const refused = (message: string) => ({ code: Code.NOT_FOUND, message });
  await expect(read({ attempt: 7, noFollow: true })).rejects.toMatchObject(
    refused(`node n0 of execution p/d/${name} has no attempt 7; its attempts are 0, 1`),
  );
  await expect(read({ item: 4, noFollow: true })).rejects.toMatchObject(
    refused(`attempt 1 of node n0 of execution p/d/${name} has no item 4 with a log; its attempts are 0, 1`),
  );
});

test("a missing log, a pod of another execution, an unreachable data plane and a cursor of another log are errors", async () => {
  await node();
  await task(0, Task.SUCCEEDED);
  await expect
    .poll(async () => (await database.db.query({ text: "SELECT 1 FROM task_executions WHERE phase = 'SUCCEEDED'" })).rowCount)
    .toBeGreaterThan(0);
  await expect(read()).rejects.toMatchObject({ code: Code.NOT_FOUND, message: expect.stringMatching(/pod pod-0 was deleted/) });
  pods.start("pod-0", "another");
  await expect(read()).rejects.toMatchObject({ code: Code.NOT_FOUND });
  pods.start("pod-0", name);
  pods.end();
  pods.failures.push(new KubeError("no", { status: 500 }));
  await expect(read()).rejects.toMatchObject({ code: Code.UNAVAILABLE });
  await expect(read({ cursor: "x" })).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
  const { cursor } = await read();
  await task(1, Task.RUNNING);
  name = "elsewhere";
  await expect(read({ cursor })).rejects.toMatchObject({ code: Code.NOT_FOUND });
});

test("the log of a deleted pod is read from the archive", async () => {
  await node();
  const uri = "s3://bucket/0/logs/pod-0.log";
  await task(0, Task.SUCCEEDED, { generatedName: "pod-0" }, { logs: [{ uri, name: "Archived log of pod-0" }] });
  await expect.poll(() => read({ noFollow: true }).catch((error: unknown) => String(error))).toMatch(/was not archived/);
  const stamped = (second: number, text: string) => `2026-03-01T10:00:0${second}.500000000Z ${text}\n`;
  archive.set(uri, Buffer.from([stamped(0, "a"), stamped(0, "b"), stamped(1, "c")].join("")));
  const { texts, cursor, ended } = await read();
  expect([texts, ended]).toEqual([["a", "b", "c"], true]);
  expect(await read({ cursor })).toMatchObject({ texts: [], ended: true });
  expect((await read({ tailLines: 1 })).texts).toEqual(["c"]);
  expect((await read({ endLines: 1 })).messages[0]?.endLines.map(({ text }) => text)).toEqual(["c"]);
  expect((await read({ tailLines: 0 })).texts).toEqual([]);
  await expect(read({ container: "sidecar" })).rejects.toMatchObject({
    code: Code.INVALID_ARGUMENT,
    message: expect.stringMatching(/the log of sidecar is not archived, only pod-0/),
  });
});

test("a replica that stops ends its streams", async () => {
  const leaving = await serveAdmin({ ...admin.deps, metrics: new Metrics() });
  const client = createClient({ channel: leaving.channel, service: LiveService });
  const reading = (async () => {
    for await (const _ of client.followLog({ id: id() }));
  })();
  const failed = reading.catch((error: unknown) => error);
  await expect.poll(() => leaving.live.logStreams.size).toBe(1);
  await leaving.live.close();
  expect(await failed).toMatchObject({ code: Code.UNAVAILABLE, message: expect.stringMatching(/cursor/) });
  await leaving.stop();
});
