import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { BlobStore } from "@flyte-ts/blobstore";
import { dataPlaneScope, EVENT_STREAM, executionEventSubject, executionRecordedFilter, taskEventSubject } from "@flyte-ts/bus-contract";
import { ExecutionSchema } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import {
  NodeExecution_Phase as Node,
  TaskExecution_Phase as Task,
  WorkflowExecution_Phase as Workflow,
} from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { NodeExecutionIdentifierSchema, ResourceType, WorkflowExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { ExecutionEventSchema, ExecutionRecordedSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import { TaskEventSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { type Bus, type BusMessage, connectBus } from "@flyte-ts/messaging";
import type { Database } from "@flyte-ts/postgres";
import { createLogger, Metrics } from "@flyte-ts/telemetry";
import { natsFixture, type ServerFixture } from "@flyte-ts/testing";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { InvalidEventError } from "@flyte-ts/execution-state";
import { adminConfigSchema } from "../../config.js";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { offloadNames } from "../offload-names.js";
import { bareExecution } from "../../executions/execution/bare-execution.fixture.js";
import type { NodeId } from "../../executions/model/identifier.js";
import { findExecution } from "../../executions/store/execution/find.js";
import { insertExecution } from "../../executions/store/execution/insert.js";
import { deleteChildRows } from "../../executions/store/delete-rows.js";
import { encodeExecution } from "../../executions/execution/row.js";
import { readDynamicWorkflow } from "../../executions/blobs/dynamic-workflow.js";
import { findNodeWithValues } from "../../executions/store/node/find.js";
import { taskColumns, type TaskRow } from "../../executions/store/attempt/find.js";
import { taskExecutionsOf } from "../../executions/attempt/row.js";
import { decodeEvent } from "./decode.js";
import { ExecutionIds } from "./execution-ids.js";
import type { DecodedEvent } from "../decoded-event.js";
import { recordBatch } from "./record-batch.js";
import { startIngest } from "./start.js";

const logger = createLogger({ service: "test", level: "silent" });
const config = adminConfigSchema.parse({});
const names = offloadNames(config);
const START = Date.parse("2026-03-01T10:00:00Z");
let database: AdminDatabase;
let db: Database;
let count = 0;
let name: string;
let rowId: bigint;

beforeAll(async () => {
  database = await adminDatabase();
  db = database.db;
});
afterAll(() => database.stop());
beforeEach(async () => {
  [name, rowId] = await newExecution();
});

async function newExecution(): Promise<[string, bigint]> {
  const executionName = `e${String(count++).padStart(4, "0")}`;
  const id = await insertExecution(db, bareExecution(executionName));
  return [executionName, id];
}

const executionId = () => ({ project: "p", domain: "d", name });
const at = (second: number) => timestampFromMs(START + second * 1000);
const outputs = create(LiteralMapSchema, {
  literals: { o: { value: { case: "scalar", value: { value: { case: "noneType", value: {} } } } } },
});

type ExecutionInit = MessageInitShape<typeof ExecutionEventSchema>;
const executionEvent = (init: ExecutionInit) => toBinary(ExecutionEventSchema, create(ExecutionEventSchema, init));

const workflow = (sequence: number, phase: Workflow, more: object = {}) =>
  executionEvent({
    sequence: BigInt(sequence),
    event: { case: "workflow", value: { executionId: executionId(), phase, occurredAt: at(sequence), producerId: "propeller", ...more } },
  });
const node = (sequence: number, phase: Node, { nodeId = "n0", ...more }: { nodeId?: string; [field: string]: unknown } = {}) =>
  executionEvent({
    sequence: BigInt(sequence),
    event: {
      case: "node",
      value: { id: { nodeId, executionId: executionId() }, phase, occurredAt: at(sequence), specNodeId: nodeId, ...more },
    },
    ...(phase === Node.SUCCEEDED && { outputs }),
  });
const task = (
  phase: Task,
  phaseVersion: number,
  { nodeId = "n0", second = phase, ...more }: { nodeId?: string; second?: number; [field: string]: unknown } = {},
) =>
  toBinary(
    TaskEventSchema,
    create(TaskEventSchema, {
      event: {
        taskId: { resourceType: ResourceType.TASK, project: "p", domain: "d", name: "t", version: "v" },
        parentNodeExecutionId: { nodeId, executionId: executionId() },
        phase,
        phaseVersion,
        occurredAt: at(second),
        ...more,
      },
      ...(phase === Task.SUCCEEDED && { outputs }),
    }),
  );

const execution = (data: Uint8Array) => decodeEvent(executionEventSubject(0), data, names) as DecodedEvent;
const plugin = (data: Uint8Array) => decodeEvent(taskEventSubject(0), data, names) as DecodedEvent;
const recorder = () => {
  const refused: DecodedEvent[] = [];
  const deps = {
    db,
    ids: new ExecutionIds(config.namespaceTemplate),
    onRejected: (item: DecodedEvent) => refused.push(item),
  };
  return { refused, record: (items: readonly DecodedEvent[]) => recordBatch(deps, items) };
};

/** Returns all stored data of the execution, without times and revisions of the writes. */
async function recorded() {
  const query = (text: string) => db.query({ text, values: [rowId] }).then(({ rows }) => rows);
  const strip = (rows: Record<string, unknown>[]) =>
    rows.map((row) => ({
      ...row,
      created_at: 0,
      updated_at: 0,
      revision: 0,
      settled_at: 0,
      id: 0,
      execution_name: "",
      execution_id: 0,
      task_execution_id: 0,
    }));
  return {
    executions: strip(await query("SELECT * FROM executions WHERE id = $1")),
    nodes: strip(await query("SELECT * FROM node_executions WHERE execution_id = $1 ORDER BY node_id")),
    tasks: strip(await query("SELECT * FROM task_executions WHERE execution_id = $1 ORDER BY node_id, retry_attempt")),
    events: strip(
      await query(
        `SELECT t.node_id, e.event_order, length(e.event) FROM task_execution_events e JOIN task_executions t ON t.id = e.task_execution_id
         WHERE t.execution_id = $1 ORDER BY 1, 2`,
      ),
    ),
  };
}

const run = () => [
  execution(workflow(1, Workflow.RUNNING)),
  execution(node(2, Node.QUEUED, { isParent: true })),
  execution(node(3, Node.RUNNING, { deckUri: "deck" })),
  plugin(task(Task.QUEUED, 0, { reason: "waiting" })),
  plugin(task(Task.RUNNING, 0)),
  plugin(task(Task.RUNNING, 1, { reason: "half", logs: [{ uri: "http://log", name: "log" }] })),
  plugin(task(Task.SUCCEEDED, 0, { second: 9 })),
  execution(node(5, Node.QUEUED, { nodeId: "n0-0-s", parentNodeMetadata: { nodeId: "n0" }, retryGroup: "0" })),
  execution(node(6, Node.FAILED, { nodeId: "n0-0-s", outputResult: { case: "error", value: { code: "C", message: "m" } } })),
  execution(node(9, Node.SUCCEEDED, { outputResult: { case: "outputUri", value: "s3://b/outputs.pb" } })),
  execution(workflow(10, Workflow.FAILING, { outputResult: { case: "error", value: { code: "C", message: "m" } } })),
  execution(workflow(11, Workflow.FAILED, { outputResult: { case: "error", value: { code: "C", message: "end" } } })),
];

describe("ingest", () => {
  test("writes nothing for repeated events, such as those of plugin services that are polled for hours", async () => {
    const items = [
      execution(workflow(1, Workflow.RUNNING)),
      execution(node(2, Node.QUEUED)),
      execution(node(3, Node.RUNNING)),
      plugin(task(Task.RUNNING, 0, { inputValue: { case: "inputUri", value: "s3://b/inputs.pb" } })),
    ];
    const { record } = recorder();
    await record(items);
    const revisions = async () => {
      const of = (table: string) =>
        db.query({ text: `SELECT revision, updated_at FROM ${table} WHERE execution_id = $1`, values: [rowId] });
      const { rows } = await db.query({ text: "SELECT revision FROM executions WHERE id = $1", values: [rowId] });
      return [rows, (await of("node_executions")).rows, (await of("task_executions")).rows];
    };
    const before = await revisions();
    expect(before.map((found) => found.length)).toEqual([1, 1, 1]);
    for (const item of items) expect((await record([item])).outcomes).toEqual(["recorded"]);
    expect(await revisions()).toEqual(before);
  });

  test("gives the same rows for any order, repetition and batching of events, and with two replicas", async () => {
    const reference = recorder();
    for (const item of run()) expect((await reference.record([item])).outcomes).toEqual(["recorded"]);
    const expected = await recorded();
    expect(expected.events).toHaveLength(4);
    expect(expected.executions[0]).toMatchObject({ phase: "FAILED", result: "error", error_code: "C", duration: 10_000_000_000n });
    expect(expected.nodes).toMatchObject([
      { node_id: "n0", phase: "SUCCEEDED", output_uri: "s3://b/outputs.pb", is_parent: true, duration: 6_000_000_000n },
      { node_id: "n0-0-s", phase: "FAILED", error_code: "C", parent_node_id: "n0" },
    ]);

    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat({ max: 11 }), { maxLength: 8 }).chain((repeats) => {
          const all = [...Array(12).keys(), ...repeats];
          return fc.record({
            order: fc.shuffledSubarray(all, { minLength: all.length }),
            sizes: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 20, maxLength: 20 }),
          });
        }),
        async ({ order, sizes }) => {
          [name, rowId] = await newExecution();
          const items = run();
          let waiting = order.map((index) => items[index] as DecodedEvent);
          // Deferred items are redelivered, as by the bus.
          for (let round = 0; waiting.length > 0; round++) {
            expect(round).toBeLessThan(5);
            const again: DecodedEvent[] = [];
            const replicas = [recorder(), recorder()];
            for (let i = 0, batch = 0; i < waiting.length; batch++) {
              const parts = replicas.map((replica) => {
                const part = waiting.slice(i, i + (sizes[batch % sizes.length] ?? 1));
                i += part.length;
                return replica.record(part).then(({ outcomes }) => again.push(...part.filter((_, index) => outcomes[index] === "waits")));
              });
              await Promise.all(parts);
            }
            waiting = again;
          }
          expect(await recorded()).toEqual(expected);
        },
      ),
      { numRuns: 25 },
    );
  }, 120_000);

  test("defers task events until their node is recorded, and all events until their execution is", async () => {
    const { record } = recorder();
    expect((await record([plugin(task(Task.RUNNING, 0, { nodeId: "later" }))])).outcomes).toEqual(["waits"]);
    // Within one batch the node is written first, whatever the order.
    expect((await record([plugin(task(Task.RUNNING, 0)), execution(node(1, Node.RUNNING))])).outcomes).toEqual(["recorded", "recorded"]);
    name = "nobody";
    expect((await record([execution(workflow(1, Workflow.RUNNING)), execution(node(1, Node.RUNNING))])).outcomes).toEqual([
      "unknown",
      "unknown",
    ]);
  });

  test("shows the blocking reason of an execution as its error until it continues or ends", async () => {
    const { record } = recorder();
    const notice = (sequence: number, reason: string) =>
      execution(
        executionEvent({
          sequence: BigInt(sequence),
          event: { case: "notice", value: { executionId: executionId(), reason, occurredAt: at(sequence) } },
        }),
      );
    const shown = async () => {
      const { phase, outputResult } = fromBinary(ExecutionSchema, encodeExecution(await findExecution(db, executionId()))).closure ?? {};
      return [
        Workflow[phase ?? 0],
        outputResult?.case === "error" ? `${outputResult.value.code}: ${outputResult.value.message}` : outputResult?.case,
      ];
    };
    await record([notice(1, "no closure")]);
    expect(await shown()).toEqual(["UNDEFINED", "Waiting: no closure"]);
    await record([execution(workflow(2, Workflow.RUNNING))]);
    expect(await shown()).toEqual(["RUNNING", undefined]);
    await record([notice(5, "no service is available"), notice(4, "older")]);
    await record([notice(3, "late")]);
    expect(await shown()).toEqual(["RUNNING", "Waiting: no service is available"]);
    await record([notice(6, "")]);
    expect(await shown()).toEqual(["RUNNING", undefined]);
    await record([notice(7, "again")]);
    await record([execution(workflow(8, Workflow.SUCCEEDED, { outputResult: { case: "outputUri", value: "s3://b/outputs.pb" } }))]);
    expect(await shown()).toEqual(["SUCCEEDED", "outputs"]);
  });

  test("isolates a value that the database refuses", async () => {
    const { record, refused } = recorder();
    const bad = execution(node(2, Node.RUNNING, { nodeId: "x".repeat(20_000).replaceAll("x", () => Math.random().toString(36)) }));
    const uncounted: DecodedEvent = { ...execution(node(2, Node.RUNNING, { nodeId: "c" })), order: 2n ** 63n };
    const items = [execution(node(1, Node.RUNNING, { nodeId: "a" })), bad, uncounted, execution(node(1, Node.RUNNING, { nodeId: "b" }))];
    expect((await record(items)).outcomes).toEqual(["recorded", "unrecordable", "unrecordable", "recorded"]);
    expect(refused).toEqual([bad, uncounted]);
    expect((await recorded()).nodes.map((row) => (row as { node_id?: string }).node_id)).toEqual(["a", "b"]);
  });

  test("publishes a repeated end again, with the recorded phase", async () => {
    const { record } = recorder();
    const end = execution(workflow(2, Workflow.SUCCEEDED));
    expect((await record([end])).ended).toMatchObject([{ execution: { name }, phase: Workflow.SUCCEEDED }]);
    expect((await record([end])).ended).toMatchObject([{ phase: Workflow.SUCCEEDED }]);
    expect((await record([execution(workflow(3, Workflow.FAILED))])).ended).toMatchObject([{ phase: Workflow.SUCCEEDED }]);
  });

  test("records events under the new row when an execution was deleted and created again with the same name", async () => {
    const first = recorder();
    const events = () => [execution(workflow(1, Workflow.RUNNING)), execution(node(2, Node.RUNNING)), plugin(task(Task.RUNNING, 0))];
    await first.record(events());
    const old = rowId;
    await db.query({ text: "DELETE FROM executions WHERE id = $1", values: [old] });
    await deleteChildRows(db, [old], { attempts: 10, nodes: 10 });
    expect((await first.record(events())).outcomes).toEqual(["unknown", "unknown", "unknown"]);
    rowId = await insertExecution(db, bareExecution(name));
    expect(await first.record(events())).toMatchObject({ outcomes: ["recorded", "recorded", "recorded"], changed: [rowId] });
    expect(await recorded()).toMatchObject({ executions: [{ phase: "RUNNING" }], nodes: [{ node_id: "n0" }], tasks: [{ node_id: "n0" }] });
    const { rows } = await db.query({ text: "SELECT 1 FROM node_executions WHERE execution_id = $1", values: [old] });
    expect(rows).toEqual([]);
  });

  test("does not record what the resource of a deleted execution reports for a later one of the same name", async () => {
    const { record } = recorder();
    const reported = (data: Uint8Array, acceptedMs: number) =>
      execution(toBinary(ExecutionEventSchema, { ...fromBinary(ExecutionEventSchema, data), acceptedAt: timestampFromMs(acceptedMs) }));
    const batch = (acceptedMs: number) => [
      reported(workflow(2, Workflow.SUCCEEDED), acceptedMs),
      reported(node(1, Node.SUCCEEDED), acceptedMs),
    ];
    expect(await record(batch(5_000))).toEqual({ outcomes: ["unknown", "unknown"], ended: [], changed: [] });
    expect(await recorded()).toMatchObject({ executions: [{ phase: "UNDEFINED" }], nodes: [] });
    // Resources have whole seconds.
    expect((await record(batch(0))).outcomes).toEqual(["recorded", "recorded"]);
  });

  test("answers a repeated end of a deleted execution as that of an unknown one", async () => {
    const { record } = recorder();
    const end = execution(workflow(2, Workflow.SUCCEEDED));
    expect((await record([end])).outcomes).toEqual(["recorded"]);
    await db.query({ text: "DELETE FROM executions WHERE id = $1", values: [rowId] });
    expect(await record([end])).toEqual({ outcomes: ["unknown"], ended: [], changed: [] });
  });

  test("records items of an array as resources of its one task execution, in any order", async () => {
    const { record } = recorder();
    const array = (sequence: number, phase: Task, externalResources: readonly object[]) =>
      execution(
        executionEvent({
          sequence: BigInt(sequence),
          event: {
            case: "task",
            value: {
              taskId: { resourceType: ResourceType.TASK, project: "p", domain: "d", name: "t", version: "v" },
              parentNodeExecutionId: { nodeId: "n0", executionId: executionId() },
              phase,
              occurredAt: at(sequence),
              metadata: { externalResources: externalResources as never },
            },
          },
        }),
      );
    const ITEMS = 10_000;
    const PER_EVENT = 500;
    const reported = [Task.QUEUED, Task.RUNNING, Task.SUCCEEDED].flatMap((phase, step) =>
      Array.from({ length: ITEMS / PER_EVENT }, (_, part) =>
        array(
          2 + step * 1_000 + part,
          Task.RUNNING,
          Array.from({ length: PER_EVENT }, (__, i) => ({ index: part * PER_EVENT + i, phase, logs: [{ uri: `${step}`, name: "log" }] })),
        ),
      ),
    );
    await record([execution(node(1, Node.RUNNING, { isArray: true })), ...reported.toReversed(), reported[0] as DecodedEvent]);
    await record([array(9_000, Task.SUCCEEDED, [{ index: 7, phase: Task.FAILED }])]);
    expect((await recorded()).tasks).toMatchObject([{ phase: "SUCCEEDED", retry_attempt: 0n }]);
    const { rows } = await db.query<TaskRow>({
      text: `SELECT ${taskColumns} FROM task_executions WHERE execution_id = $1`,
      values: [rowId],
    });
    const [attempt] = await taskExecutionsOf(db, create(WorkflowExecutionIdentifierSchema, executionId()), rows);
    const resources = attempt?.closure?.metadata?.externalResources ?? [];
    expect(resources.map(({ index }) => index)).toEqual([...Array(ITEMS).keys()]);
    expect(new Set(resources.map(({ phase, logs }) => `${Task[phase]} ${logs.map(({ uri }) => uri).join()}`))).toEqual(
      new Set(["SUCCEEDED 2", "FAILED 2"]),
    );
    const item = create(TaskEventSchema, { event: { phase: Task.RUNNING, occurredAt: at(1) }, partOfArray: true });
    expect(decodeEvent(taskEventSubject(0), toBinary(TaskEventSchema, item), names)).toBeUndefined();
  });

  test("reads the graph of a dynamic node from its event or from the URI in the event", async () => {
    const { record } = recorder();
    const reported = (nodeId: string, dynamicWorkflow: object, dynamicWorkflowUri = "") =>
      execution(
        executionEvent({
          sequence: 1n,
          dynamicWorkflowUri,
          event: {
            case: "node",
            value: {
              id: { nodeId, executionId: executionId() },
              phase: Node.DYNAMIC_RUNNING,
              occurredAt: at(1),
              isDynamic: true,
              targetMetadata: { case: "taskNodeMetadata", value: { dynamicWorkflow } },
            },
          },
        }),
      );
    const compiledWorkflow = create(CompiledWorkflowClosureSchema, { primary: { template: { nodes: [{ id: "made" }] } } });
    const uri = "s3://b/closure.pb";
    await record([
      reported("n0", { compiledWorkflow, dynamicJobSpecUri: "s3://b/f" }),
      reported("n1", { dynamicJobSpecUri: "s3://b/g" }, uri),
    ]);
    await record([execution(node(2, Node.SUCCEEDED)), execution(node(2, Node.SUCCEEDED, { nodeId: "n1" }))]);
    const blobs = {
      get: async (requestedUri: string) => (requestedUri === uri ? toBinary(CompiledWorkflowClosureSchema, compiledWorkflow) : undefined),
    };
    for (const nodeId of ["n0", "n1"]) {
      const row = await findNodeWithValues(db, create(NodeExecutionIdentifierSchema, { nodeId, executionId: executionId() }) as NodeId);
      expect(await readDynamicWorkflow(blobs as unknown as BlobStore, row)).toEqual(compiledWorkflow);
    }
  });

  test("rejects messages in unknown formats", () => {
    expect(() => execution(Buffer.from("not protobuf"))).toThrow(/wire|offset|varint|index/i);
    expect(() => execution(executionEvent({}))).toThrow(InvalidEventError);
    expect(() => execution(executionEvent({ event: { case: "node", value: { phase: Node.RUNNING, occurredAt: at(1) } } }))).toThrow(
      /project/,
    );
    name = "";
    expect(() => execution(workflow(1, Workflow.RUNNING))).toThrow(/execution name/);
  });
});

describe("ingest from the bus", () => {
  let nats: ServerFixture;
  let bus: Bus;

  beforeAll(async () => {
    nats = await natsFixture();
    bus = await connectBus({ url: nats.url, name: "test", logger });
    await bus.ensureStream({ ...EVENT_STREAM, maxAgeMs: 3_600_000 });
  });
  afterAll(async () => {
    await bus.close();
    await nats.stop();
  });

  const ingestFrom = (source: Bus) =>
    startIngest({
      db,
      bus: source,
      blobs: {} as BlobStore,
      clusters: [],
      logger,
      config,
      metrics: new Metrics(),
      clock: () => new Date(),
    });

  test("records events, drops undecodable ones, processes the end last, and notifies propeller", async () => {
    const received: string[] = [];
    const listening = bus.subscribeEphemeral(executionRecordedFilter, (_, data) => {
      const message = fromBinary(ExecutionRecordedSchema, data);
      received.push(`${message.workflowKey} ${message.phase}`);
    });
    const ingest = await ingestFrom(bus);
    await bus.publish(taskEventSubject(3), task(Task.RUNNING, 0));
    await bus.publish(executionEventSubject(3), Buffer.from("rubbish"));
    await bus.publish(executionEventSubject(3), node(1, Node.RUNNING));
    await bus.publish(executionEventSubject(3), workflow(3, Workflow.SUCCEEDED));
    await vi.waitFor(async () => expect((await recorded()).tasks).toMatchObject([{ node_id: "n0", phase: "RUNNING" }]), 30_000);
    expect(received).toEqual([]);
    await bus.publish(taskEventSubject(3), task(Task.SUCCEEDED, 0));
    await bus.publish(executionEventSubject(3), node(2, Node.SUCCEEDED));
    await vi.waitFor(async () => expect(received).toEqual([`p-d/${name} SUCCEEDED`]), 30_000);
    expect(await recorded()).toMatchObject({ nodes: [{ phase: "SUCCEEDED" }], tasks: [{ phase: "SUCCEEDED" }] });
    await bus.publish(executionEventSubject(3), workflow(3, Workflow.SUCCEEDED));
    await vi.waitFor(() => expect(received.length).toBeGreaterThan(1), 30_000);
    await ingest.close();
    await listening.close();
  });

  test("defers the end for a limited time until its nodes have ended, and redeliveries during an outage do not count", async () => {
    let hand: (messages: readonly BusMessage[]) => Promise<void> = () => Promise.reject(new Error("no subscriber"));
    const reported: string[] = [];
    const byHand = {
      subscribe: (_: unknown, handler: typeof hand) => void (hand = handler),
      publishEphemeral: () => void reported.push("recorded"),
    } as unknown as Bus;
    await ingestFrom(byHand);
    const message = (data: Uint8Array): BusMessage => ({
      subject: executionEventSubject(3),
      data,
      deliveries: 40,
      ack: () => void reported.push("ack"),
      nak: (ms) => void reported.push(`again in ${ms} ms`),
      discard: (reason) => void reported.push(`discarded: ${reason}`),
    });
    await hand([message(node(1, Node.RUNNING))]);
    const end = message(workflow(3, Workflow.SUCCEEDED));
    for (let i = 0; i < 9; i++) await hand([end]);
    const waits = [50, 100, 200, 400, 800, 1_600, 3_200, 6_400].map((ms) => `again in ${ms} ms`);
    expect(reported).toEqual(["ack", ...waits, "ack", "recorded"]);
  });

  test("accepts events of a data plane only for its own executions", async () => {
    const ingest = await ingestFrom(bus);
    const report = (cluster: string, nodeId: string) =>
      bus.publish(dataPlaneScope(cluster)?.subject(executionEventSubject(3)) ?? "", node(1, Node.RUNNING, { nodeId }));
    await db.query({ text: "UPDATE executions SET cluster = 'east' WHERE id = $1", values: [rowId] });
    await report("west", "n1");
    await report("east", "n2");
    await vi.waitFor(async () => expect((await recorded()).nodes).toMatchObject([{ node_id: "n2" }]), 30_000);
    // The execution was moved to another cluster, and the cache still has the old one.
    await db.query({ text: "UPDATE executions SET cluster = 'west' WHERE id = $1", values: [rowId] });
    await report("west", "n3");
    await vi.waitFor(async () => expect((await recorded()).nodes).toMatchObject([{ node_id: "n2" }, { node_id: "n3" }]), 30_000);
    await ingest.close();
  });

  test("accepts events of a resource only for its own execution", async () => {
    const ingest = await ingestFrom(bus);
    const reported = (workflowKey: string, nodeId: string) => ({
      ...fromBinary(ExecutionEventSchema, node(1, Node.RUNNING, { nodeId })),
      workflowKey,
    });
    const report = (workflowKey: string, nodeId: string) =>
      bus.publish(executionEventSubject(3), toBinary(ExecutionEventSchema, reported(workflowKey, nodeId)));
    const attempt = (workflowKey: string, nodeId: string) => ({
      ...fromBinary(TaskEventSchema, task(Task.RUNNING, 0, { nodeId })),
      workflowKey,
    });
    await report(`evil-d/${name}`, "n1");
    await report("p-d/another", "n2");
    await bus.publish(taskEventSubject(3), toBinary(TaskEventSchema, attempt(`evil-d/${name}`, "n3")));
    await bus.publish(taskEventSubject(3), toBinary(TaskEventSchema, attempt(`p-d/${name}`, "n4")));
    await report(`p-d/${name}`, "n4");
    // This event comes from a build that sends no workflow key.
    await report("", "n5");
    await vi.waitFor(async () => {
      const { nodes, tasks } = await recorded();
      expect(nodes).toMatchObject([{ node_id: "n4" }, { node_id: "n5" }]);
      expect(tasks).toMatchObject([{ node_id: "n4" }]);
    }, 30_000);
    await ingest.close();
  });

  test("loses no event while the database is unavailable", async () => {
    const ingest = await ingestFrom(bus);
    // The test server does not sync its disk; the rows before the crash must survive.
    await db.query({ text: "CHECKPOINT" });
    await database.postgres.kill();
    for (let i = 0; i < 50; i++) await bus.publish(executionEventSubject(1), node(i + 1, Node.RUNNING, { nodeId: `n${i}` }));
    await database.postgres.restart();
    await vi.waitFor(async () => expect((await recorded()).nodes).toHaveLength(50), 30_000);
    await ingest.close();
  });
});
