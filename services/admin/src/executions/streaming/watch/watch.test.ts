import { setTimeout as sleep } from "node:timers/promises";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { EVENT_STREAM, executionEventSubject, taskEventSubject } from "@flyte-ts/bus-contract";
import {
  NodeExecution_Phase as Node,
  TaskExecution_Phase as Task,
  WorkflowExecution_Phase as Workflow,
} from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { LiveService, type WatchExecutionResponse } from "@flyte-ts/idl/flytets/admin/v1/live_pb";
import { ExecutionEventSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import { TaskEventSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { type Bus, connectBus } from "@flyte-ts/messaging";
import { type CallOptions, Code, createClient, type ServiceClient } from "@flyte-ts/rpc";
import { createLogger, Metrics } from "@flyte-ts/telemetry";
import { natsFixture, type ServerFixture, type TokenIssuer, tokenIssuer } from "@flyte-ts/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { adminConfigSchema } from "../../../config.js";
import { type AdminDatabase, adminDatabase } from "../../../database.fixture.js";
import { bareExecution } from "../../execution/bare-execution.fixture.js";
import { insertExecution } from "../../store/execution/insert.js";
import { startIngest } from "../../../events/ingest/start.js";
import { type ServedAdmin, serveAdmin } from "../../../served-admin.fixture.js";
import { publishChanged } from "../change-notifications.js";
import { readCursor } from "./cursor.js";

// Two replicas with one database and one bus: one records the events, the other serves the
// watchers.

const logger = createLogger({ service: "test", level: "silent" });
/** Disables polls unless a test sets an interval. */
const config = adminConfigSchema.parse({ live: { pollSeconds: 600, heartbeatSeconds: 600, lingerSeconds: 0.3 } });
const START = Date.parse("2026-03-01T10:00:00Z");
let database: AdminDatabase;
let nats: ServerFixture;
const buses: Bus[] = [];
let here: ServedAdmin;
let there: ServedAdmin;
let count = 0;
let name: string;

beforeAll(async () => {
  [database, nats] = await Promise.all([adminDatabase(), natsFixture()]);
  [here, there] = [await replica(), await replica()];
  await startIngest(there.deps);
});
afterAll(async () => {
  await Promise.all([here.stop(), there.stop()]);
  await Promise.all(buses.map((bus) => bus.close()));
  await Promise.all([database.stop(), nats.stop()]);
});
beforeEach(async () => {
  name = `e${count++}`;
  await insertExecution(database.db, bareExecution(name));
});

async function replica(changes: Parameters<typeof serveAdmin>[0] | object = {}): Promise<ServedAdmin> {
  const bus = await connectBus({ url: nats.url, name: "test", logger });
  buses.push(bus);
  await bus.ensureStream(EVENT_STREAM);
  return serveAdmin({
    db: database.db,
    config,
    bus,
    metrics: new Metrics(),
    publishChanged: (ids) => publishChanged(bus, ids),
    ...changes,
  });
}

const executionId = () => ({ project: "p", domain: "d", name });
const at = (second: number) => timestampFromMs(START + second * 1000);
const publish = (event: MessageInitShape<typeof ExecutionEventSchema>) =>
  there.deps.bus.publish(executionEventSubject(0), toBinary(ExecutionEventSchema, create(ExecutionEventSchema, event)));
const workflow = (sequence: number, phase: Workflow, more: object = {}) =>
  publish({
    sequence: BigInt(sequence),
    event: { case: "workflow", value: { executionId: executionId(), phase, occurredAt: at(sequence), producerId: "propeller", ...more } },
  });
const node = (sequence: number, phase: Node, { nodeId = "n0", ...more }: { nodeId?: string; [field: string]: unknown } = {}) =>
  publish({
    sequence: BigInt(sequence),
    event: {
      case: "node",
      value: { id: { nodeId, executionId: executionId() }, phase, occurredAt: at(sequence), reportedAt: at(sequence), ...more },
    },
  });
const task = (version: number, phase: Task, reason = "") =>
  there.deps.bus.publish(
    taskEventSubject(0),
    toBinary(
      TaskEventSchema,
      create(TaskEventSchema, {
        event: {
          taskId: { resourceType: ResourceType.TASK, project: "p", domain: "d", name: "t", version: "v" },
          parentNodeExecutionId: { nodeId: "n0", executionId: executionId() },
          phase,
          phaseVersion: version,
          reason,
          occurredAt: at(version),
          reportedAt: at(version),
        },
      }),
    ),
  );

/** Messages received by a watcher: the phases of each row in order. */
class Watcher {
  readonly messages: WatchExecutionResponse[] = [];
  readonly phases = new Map<string, number[]>();
  failure: Error | undefined;
  readonly done: Promise<void>;
  readonly #stop = new AbortController();
  readonly #waiting = new Set<() => void>();

  constructor(client: ServiceClient<typeof LiveService>, cursor = "", options: CallOptions = {}) {
    const stream = client.watchExecution({ id: executionId(), cursor }, { ...options, signal: this.#stop.signal });
    this.done = (async () => {
      try {
        for await (const message of stream) this.#take(message);
      } catch (error) {
        this.failure = error as Error;
      }
      for (const wake of this.#waiting) wake();
    })();
  }

  get cursor(): string {
    return this.messages.at(-1)?.cursor ?? "";
  }

  #take(message: WatchExecutionResponse): void {
    this.messages.push(message);
    const add = (key: string, phase: number | undefined) => this.phases.set(key, [...(this.phases.get(key) ?? []), phase ?? 0]);
    if (message.execution !== undefined) add("", message.execution.closure?.phase);
    for (const { node: each } of message.nodes) add(each?.id?.nodeId ?? "?", each?.closure?.phase);
    for (const each of message.tasks) add(`task ${each.id?.retryAttempt}`, each.closure?.phase);
    for (const wake of this.#waiting) wake();
  }

  /** Resolves when it has received this phase. */
  async until(key: string, phase: number): Promise<void> {
    while (this.phases.get(key)?.at(-1) !== phase && this.failure === undefined) {
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve);
      });
    }
    if (this.failure !== undefined) throw this.failure;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.done;
  }
}

const liveOf = (admin: ServedAdmin) => createClient({ channel: admin.channel, service: LiveService });
const shown = (watcher: Watcher) => Object.fromEntries(watcher.phases);

describe("a watch", () => {
  test("streams the current state, then changes, then the end, also of changes by another replica", async () => {
    await workflow(1, Workflow.QUEUED);
    await node(2, Node.QUEUED);
    await expect.poll(async () => (await database.db.query({ text: "SELECT 1 FROM node_executions" })).rowCount).toBe(1);
    const watcher = new Watcher(liveOf(here));
    await watcher.until("n0", Node.QUEUED);
    expect(watcher.messages).toMatchObject([{ reset: true, complete: true, ended: false, execution: { id: executionId() } }]);
    await workflow(3, Workflow.RUNNING);
    await watcher.until("", Workflow.RUNNING);
    await node(4, Node.RUNNING);
    await task(1, Task.RUNNING, "it runs");
    await watcher.until("task 0", Task.RUNNING);
    await node(5, Node.SUCCEEDED);
    await task(2, Task.SUCCEEDED);
    await watcher.until("task 0", Task.SUCCEEDED);
    await workflow(6, Workflow.SUCCEEDED);
    await watcher.done;
    expect(watcher.failure).toBeUndefined();
    expect(watcher.phases.get("")).toEqual([Workflow.QUEUED, Workflow.RUNNING, Workflow.SUCCEEDED]);
    expect(watcher.phases.get("task 0")?.at(-1)).toBe(Task.SUCCEEDED);
    expect(watcher.messages.flatMap(({ tasks }) => tasks.map(({ closure }) => closure?.reason))).toContain("it runs");
    expect(watcher.messages.at(-1)).toMatchObject({ ended: true, nodes: [], tasks: [] });
    expect(watcher.messages.filter(({ reset }) => reset)).toHaveLength(1);
  });

  test("continues with another replica where it stopped, without repetitions or gaps", async () => {
    await workflow(1, Workflow.RUNNING);
    await node(2, Node.RUNNING, { nodeId: "a" });
    const first = new Watcher(liveOf(here));
    await first.until("a", Node.RUNNING);
    await first.until("", Workflow.RUNNING);
    await first.stop();
    await node(3, Node.RUNNING, { nodeId: "b" });
    const second = new Watcher(liveOf(there), first.cursor);
    await second.until("b", Node.RUNNING);
    await node(4, Node.SUCCEEDED, { nodeId: "a" });
    await second.until("a", Node.SUCCEEDED);
    await second.stop();
    expect(shown(second)).toEqual({ b: [Node.RUNNING], a: [Node.SUCCEEDED] });
    // This replica's state is older than the other's messages.
    const third = new Watcher(liveOf(here), second.cursor);
    await node(5, Node.SUCCEEDED, { nodeId: "b" });
    await third.until("b", Node.SUCCEEDED);
    await workflow(6, Workflow.SUCCEEDED);
    await third.done;
    expect(shown(third)).toEqual({ b: [Node.SUCCEEDED], "": [Workflow.SUCCEEDED] });
    expect(third.messages.some(({ reset }) => reset)).toBe(false);
    // The stream ends without messages.
    const after = new Watcher(liveOf(there), third.cursor);
    await after.done;
    expect([after.failure, after.messages]).toEqual([undefined, []]);
  });

  test("continues within a long initial state where it stopped", async () => {
    const ids = Array.from({ length: 400 }, (_, index) => `n${String(index).padStart(3, "0")}`);
    await workflow(1, Workflow.RUNNING);
    await Promise.all(ids.map((nodeId) => node(2, Node.RUNNING, { nodeId, specNodeId: "x".repeat(200) })));
    await expect
      .poll(async () => (await database.db.query({ text: "SELECT 1 FROM node_executions WHERE node_id LIKE 'n___'" })).rowCount)
      .toBe(ids.length);
    const whole = new Watcher(liveOf(here));
    await whole.until("n399", Node.RUNNING);
    expect(whole.messages.length).toBeGreaterThan(2);
    await whole.stop();
    const [first] = whole.messages;
    expect(first).toMatchObject({ reset: true, complete: false });
    expect(readCursor(first?.cursor ?? "")?.partial).toMatchObject({ before: undefined });
    const listed = new Set(first?.nodes.map(({ node: each }) => each?.id?.nodeId));
    // One sent row changes, one unsent row changes, and one row is new.
    await node(3, Node.SUCCEEDED, { nodeId: "n000" });
    await node(3, Node.SUCCEEDED, { nodeId: "n399" });
    await node(3, Node.RUNNING, { nodeId: "z" });
    await expect
      .poll(async () => (await database.db.query({ text: "SELECT 1 FROM node_executions WHERE node_id = 'z'" })).rowCount)
      .toBe(1);
    const rest = new Watcher(liveOf(there), first?.cursor);
    await rest.until("z", Node.RUNNING);
    await rest.until("n000", Node.SUCCEEDED);
    await rest.until("n399", Node.SUCCEEDED);
    await rest.stop();
    const expected = Object.fromEntries([
      ...ids.filter((nodeId) => !listed.has(nodeId)).map((nodeId) => [nodeId, [nodeId === "n399" ? Node.SUCCEEDED : Node.RUNNING]]),
      ["n000", [Node.SUCCEEDED]],
      ["z", [Node.RUNNING]],
    ]) as Record<string, number[]>;
    expect(shown(rest)).toEqual(expected);
  });

  test("streams the state of an ended execution and ends; for a missing one it is NOT_FOUND", async () => {
    await workflow(1, Workflow.RUNNING);
    await workflow(2, Workflow.FAILED, { outputResult: { case: "error", value: { message: "no" } } });
    const recorded = async (text: string) => (await database.db.query({ text, values: [name] })).rowCount;
    await expect.poll(() => recorded("SELECT 1 FROM executions WHERE execution_name = $1 AND phase = 'FAILED'")).toBe(1);
    // The terminal event of this node never arrives, and the stream does not wait for it.
    await node(3, Node.RUNNING, { nodeId: "open" });
    await expect.poll(() => recorded("SELECT 1 FROM node_executions WHERE node_id = 'open' AND $1 <> ''")).toBe(1);
    const watcher = new Watcher(liveOf(here));
    await watcher.done;
    expect(watcher.failure).toBeUndefined();
    expect(shown(watcher)).toEqual({ "": [Workflow.FAILED], open: [Node.RUNNING] });
    expect(watcher.messages.at(-1)?.ended).toBe(true);
    name = "nobody";
    const missing = new Watcher(liveOf(here));
    await missing.done;
    expect(missing.failure).toMatchObject({ code: Code.NOT_FOUND });
  });

  test("with an invalid cursor is refused; with one of another execution it starts anew", async () => {
    const bad = new Watcher(liveOf(here), "nonsense");
    await bad.done;
    expect(bad.failure).toMatchObject({ code: Code.INVALID_ARGUMENT, message: expect.stringMatching(/cursor/) });
    const first = new Watcher(liveOf(here));
    await first.until("", Workflow.UNDEFINED);
    await first.stop();
    name = `e${count++}`;
    await insertExecution(database.db, bareExecution(name));
    const other = new Watcher(liveOf(here), first.cursor);
    await other.until("", Workflow.UNDEFINED);
    expect(other.messages).toMatchObject([{ reset: true, complete: true }]);
    await other.stop();
  });

  test("finds changes without notifications", async () => {
    const patient = await replica({
      config: adminConfigSchema.parse({ live: { pollSeconds: 0.2, heartbeatSeconds: 0.5 } }),
      bus: undefined,
    });
    const watcher = new Watcher(liveOf(patient));
    await watcher.until("", Workflow.UNDEFINED);
    await workflow(1, Workflow.RUNNING);
    await watcher.until("", Workflow.RUNNING);
    const before = watcher.messages.length;
    await expect.poll(() => watcher.messages.length).toBeGreaterThan(before + 1);
    // Heartbeats advance the cursor.
    expect(watcher.messages.at(-1)).toMatchObject({ nodes: [], reset: false });
    await watcher.stop();
    await patient.stop();
  });

  test("is NOT_FOUND for a deleted execution", async () => {
    const watcher = new Watcher(liveOf(here));
    await watcher.until("", Workflow.UNDEFINED);
    const { rows } = await database.db.query<{ id: bigint }>({
      text: "DELETE FROM executions WHERE execution_name = $1 RETURNING id",
      values: [name],
    });
    publishChanged(
      there.deps.bus,
      rows.map(({ id }) => id),
    );
    await watcher.done;
    expect(watcher.failure).toMatchObject({ code: Code.NOT_FOUND });
  });

  test("costs the database the same for many watchers of one execution as for one", async () => {
    let reads = 0;
    const db = {
      ...database.db,
      transaction: <T>(work: Parameters<typeof database.db.transaction<T>>[0]) => {
        reads++;
        return database.db.transaction(work);
      },
    };
    const crowded = await replica({ db });
    const first = new Watcher(liveOf(crowded));
    await first.until("", Workflow.UNDEFINED);
    reads = 0;
    const all = Array.from({ length: 200 }, () => new Watcher(liveOf(crowded)));
    await Promise.all(all.map((each) => each.until("", Workflow.UNDEFINED)));
    expect(reads).toBe(0);
    await workflow(1, Workflow.RUNNING);
    await Promise.all([first, ...all].map((each) => each.until("", Workflow.RUNNING)));
    expect(reads).toBeGreaterThan(0);
    expect(reads).toBeLessThan(5);
    for (const each of all) expect(shown(each)).toEqual({ "": [Workflow.UNDEFINED, Workflow.RUNNING] });
    await Promise.all([first, ...all].map((each) => each.stop()));
    await crowded.stop();
  });
});

describe("the end of a replica, a limit or a token", () => {
  test("moves the watchers of a stopping replica to another, where they continue from their cursors", async () => {
    const leaving = await replica();
    const watcher = new Watcher(liveOf(leaving));
    await watcher.until("", Workflow.UNDEFINED);
    await leaving.live.close();
    await watcher.done;
    expect(watcher.failure).toMatchObject({ code: Code.UNAVAILABLE, message: expect.stringMatching(/cursor/) });
    const late = new Watcher(liveOf(leaving));
    await late.done;
    expect(late.failure).toMatchObject({ code: Code.UNAVAILABLE });
    const next = new Watcher(liveOf(here), watcher.cursor);
    await workflow(1, Workflow.RUNNING);
    await next.until("", Workflow.RUNNING);
    expect(shown(next)).toEqual({ "": [Workflow.RUNNING] });
    await next.stop();
    await leaving.stop();
  });

  test("refuses streams above the limit until another one ends", async () => {
    const small = await replica({ config: adminConfigSchema.parse({ live: { maxStreams: 1 } }) });
    const first = new Watcher(liveOf(small));
    await first.until("", Workflow.UNDEFINED);
    const second = new Watcher(liveOf(small));
    await second.done;
    expect(second.failure).toMatchObject({ code: Code.RESOURCE_EXHAUSTED });
    await first.stop();
    await expect.poll(() => small.live.streams.size).toBe(0);
    const third = new Watcher(liveOf(small));
    await third.until("", Workflow.UNDEFINED);
    await third.stop();
    await small.stop();
  });

  describe("with authentication", () => {
    let idp: TokenIssuer;
    let guarded: ServedAdmin;
    beforeAll(async () => {
      idp = await tokenIssuer();
      const auth = {
        mode: "required",
        publicUrl: "https://flyte.test",
        providers: [{ issuer: idp.issuer }],
        roles: [{ subject: "ann", role: "viewer", project: "p", domain: "d" }],
      };
      guarded = await replica({ config: adminConfigSchema.parse({ auth, projects: ["p"], live: config.live }) });
    });
    afterAll(async () => {
      await guarded.stop();
      await idp.stop();
    });

    const as = (claims: object): CallOptions => ({ metadata: { authorization: `Bearer ${idp.token({ sub: "ann", ...claims })}` } });

    test("a stream without a token or with a role in another project is refused", async () => {
      const anonymous = new Watcher(liveOf(guarded));
      await anonymous.done;
      expect(anonymous.failure).toMatchObject({ code: Code.UNAUTHENTICATED });
      const other = new Watcher(liveOf(guarded), "", as({ sub: "bob" }));
      await other.done;
      expect(other.failure).toMatchObject({ code: Code.PERMISSION_DENIED });
    });

    test("a stream ends when its token expires, and continues with another token", async () => {
      // Tokens are verified with some seconds of leeway, which does not extend a stream.
      const watcher = new Watcher(liveOf(guarded), "", as({ exp: Math.floor(Date.now() / 1000) + 2 }));
      await watcher.until("", Workflow.UNDEFINED);
      await watcher.done;
      expect(watcher.failure).toMatchObject({ code: Code.UNAUTHENTICATED, message: "the token has expired" });
      const next = new Watcher(liveOf(guarded), watcher.cursor, as({}));
      await workflow(1, Workflow.RUNNING);
      await next.until("", Workflow.RUNNING);
      expect(shown(next)).toEqual({ "": [Workflow.RUNNING] });
      await next.stop();
    });
  });
});

test("over REST, a stream consists of server-sent events and resumes by Last-Event-ID", async () => {
  const open = (headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${here.port}/api/v1/watch/executions/p/d/${name}`, { headers: { accept: "text/event-stream", ...headers } });
  const first = await open();
  expect([first.status, first.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  const reader = first.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  // The stream opens with a "retry" field, which may arrive before the first event.
  while (!/^data: .*\n\n/m.test(text)) {
    const chunk = await reader?.read();
    if (chunk?.done !== false) throw new Error(`the stream ended before its first event: ${text}`);
    text += chunk.value;
  }
  await reader?.cancel();
  const id = /id: (.*)/.exec(text)?.[1] ?? "";
  expect(JSON.parse(/data: (.*)/.exec(text)?.[1] ?? "{}")).toMatchObject({ cursor: id, reset: true, execution: { id: executionId() } });
  await workflow(1, Workflow.RUNNING);
  await workflow(2, Workflow.SUCCEEDED);
  const second = await (await open({ "last-event-id": id })).text();
  expect(second).toContain('"phase":"SUCCEEDED"');
  expect(second).not.toContain('"reset":true');
  expect(second).toMatch(/event: end\ndata: \{\}\n\n$/);
  const last = [...second.matchAll(/id: (.*)/g)].at(-1)?.[1] ?? "";
  expect((await open({ "last-event-id": last })).status).toBe(204);
});

test("an unreadable execution does not delay watchers of other executions", async () => {
  await node(1, Node.RUNNING);
  await task(1, Task.RUNNING);
  const broken = new Watcher(liveOf(here));
  await broken.until("task 0", Task.RUNNING);
  const names = [name, `${name}-b`];
  name = `${name}-b`;
  await insertExecution(database.db, bareExecution(name));
  const watcher = new Watcher(liveOf(here));
  await watcher.until("", Workflow.UNDEFINED);
  await database.db.query({
    text: `UPDATE task_execution_events SET event = '\\xff' WHERE task_execution_id IN (
      SELECT t.id FROM task_executions t JOIN executions e ON e.id = t.execution_id WHERE e.execution_name = $1)`,
    values: [names[0]],
  });
  await database.db.query({ text: "UPDATE executions SET phase = 'RUNNING' WHERE execution_name = $1", values: [name] });
  const { rows } = await database.db.query<{ id: bigint }>({
    text: "SELECT id FROM executions WHERE execution_name = ANY ($1)",
    values: [names],
  });
  // Both minimum intervals have passed: one poll covers both.
  await sleep(300);
  publishChanged(
    there.deps.bus,
    rows.map(({ id }) => id),
  );
  await watcher.until("", Workflow.RUNNING);
  expect(broken.failure).toBeUndefined();
  await Promise.all([watcher.stop(), broken.stop()]);
});
