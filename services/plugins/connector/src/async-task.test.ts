import { create } from "@bufbuild/protobuf";
import { TaskLogSchema, ExecutionError_ErrorKind as Kind, TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { State } from "@flyte-ts/idl/flyteidl/admin/agent_pb";
import { TypedInterfaceSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { Code, RpcError } from "@flyte-ts/rpc";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { integerLiteral } from "./literals.fixture.js";
import { Stage } from "./stage.fixture.js";

const MINUTE = 60_000;
let stage: Stage;
const job = () => [...stage.toys.jobs.values()][0];
const fail =
  (code: Exclude<Code, 0>, message = "away", options = {}) =>
  () => {
    throw new RpcError(code, message, options);
  };
/** Fails only the calls of one name. */
const failCall = (name: string, code: Exclude<Code, 0>, message?: string, options?: object) => (call: string) => {
  if (call === name) fail(code, message, options)();
};

beforeEach(async () => {
  stage = await Stage.start();
});

test("a task is created, polled and reported with its outputs, links and information", async () => {
  const request = stage.request();
  const variables = { o0: { type: { type: { case: "simple" as const, value: 1 } } } };
  if (request.template !== undefined) request.template.interface = create(TypedInterfaceSchema, { outputs: { variables } });
  await stage.send(request);
  expect(stage.history).toEqual(['QUEUED task created by connector endpoint "toys"']);
  await stage.clock.advance(1_000);
  expect(job()?.request).toMatchObject({ inputs: {}, template: { type: "toy" }, outputPrefix: request.outputPrefix });
  expect(stage.last?.event?.phase).toBe(Phase.RUNNING);
  const externalId = request.generatedName;
  expect(stage.last?.event?.metadata?.externalResources).toMatchObject([{ externalId, phase: Phase.RUNNING, logs: [] }]);
  const outputs = create(LiteralMapSchema, { literals: { o0: integerLiteral(3) } });
  const logLinks = [create(TaskLogSchema, { name: "Console", uri: "https://jobs/1" })];
  Object.assign(job() ?? {}, { resource: { phase: Phase.SUCCEEDED, outputs, logLinks, customInfo: { cost: 2 } } });
  await stage.clock.advance(20_000);
  expect(stage.last).toMatchObject({ outputs, event: { phase: Phase.SUCCEEDED, logs: logLinks, customInfo: { cost: 2 } } });
  expect(stage.last?.event?.metadata?.externalResources).toMatchObject([{ externalId, phase: Phase.SUCCEEDED, logs: logLinks }]);
  expect(stage.last?.event?.metadata?.pluginIdentifier).toBe("connector-service");
  expect(stage.toys.calls.filter((call) => call === "CreateTask")).toHaveLength(1);
});

test("the message of a running task is its reason, and an empty resource is no news", async () => {
  await stage.send(stage.request());
  Object.assign(job() ?? {}, { resource: { phase: Phase.RUNNING, message: "half done" } });
  await stage.clock.advance(10_000);
  expect(stage.history.at(-1)).toBe("RUNNING half done");
  const before = stage.bus.events.length;
  Object.assign(job() ?? {}, { resource: {} });
  await stage.clock.advance(MINUTE);
  expect(stage.bus.events).toHaveLength(before);
});

test("a task version that no connector knows fails at once and names the known ones", async () => {
  const request = stage.request();
  if (request.template !== undefined) request.template.taskTypeVersion = 3;
  await stage.send(request);
  expect(stage.end).toMatchObject({ phase: "FAILED", recoverable: false, code: "BadTaskSpecification" });
  expect(stage.history.at(-1)).toMatch(/"toy" has version 3; the connectors at toys know the versions 0$/);
});

test.each([
  [{ phase: Phase.FAILED }, Phase.FAILED],
  [{ phase: Phase.RETRYABLE_FAILED }, Phase.FAILED],
  [{ phase: Phase.ABORTED }, Phase.ABORTED],
  [{ phase: Phase.UNDEFINED, state: State.PERMANENT_FAILURE }, Phase.FAILED],
])("the external resource of a task that ends with %j has phase %i", async (resource, phase) => {
  await stage.send(stage.request());
  Object.assign(job() ?? {}, { resource });
  await stage.clock.advance(10_000);
  expect(stage.last?.event?.metadata?.externalResources).toMatchObject([{ phase }]);
});

describe("CreateTask", () => {
  test.each([
    ["UNAVAILABLE", { notSent: true }],
    ["RESOURCE_EXHAUSTED", {}],
    ["UNAUTHENTICATED", {}],
  ] as const)("is repeated after %s without effect, with the reason shown", async (code, options) => {
    stage.toys.onCall = failCall("CreateTask", Code[code], "later", options);
    await stage.send(stage.request());
    expect(stage.history).toEqual([`WAITING_FOR_RESOURCES connector endpoint "toys", CreateTask: ${code}: later`]);
    await stage.clock.advance(10_000);
    stage.toys.onCall = () => undefined;
    await stage.clock.advance(MINUTE);
    expect(job()?.starts).toBe(1);
    expect(stage.last?.event?.phase).toBe(Phase.RUNNING);
  });

  test("fails for the system when the connector stays away", async () => {
    stage.toys.onCall = failCall("CreateTask", Code.UNAVAILABLE, "away", { notSent: true });
    await stage.send(stage.request());
    await stage.clock.advance(29 * MINUTE);
    expect(stage.end.phase).toBe("WAITING_FOR_RESOURCES");
    await stage.clock.advance(3 * MINUTE);
    expect(stage.end).toEqual({ phase: "FAILED", recoverable: true, kind: Kind.SYSTEM, code: "ConnectorUnavailable" });
  });

  test.each(["UNAVAILABLE", "DEADLINE_EXCEEDED"] as const)("is not repeated after %s whose effect is unknown", async (code) => {
    stage.toys.onCreated = fail(Code[code], "cut off");
    await stage.send(stage.request());
    await stage.clock.advance(5 * MINUTE);
    expect(stage.end).toEqual({ phase: "FAILED", recoverable: true, kind: Kind.SYSTEM, code: "CreationUnknown" });
    expect(stage.history.at(-1)).toMatch(/may have created a job whose id is unknown.*cut off/);
    expect(job()?.starts).toBe(1);
  });

  test("is repeated after such a call when it is idempotent", async () => {
    stage = await Stage.start({ settings: { endpoints: [{ name: "toys", address: "toys:1", idempotentTaskTypes: ["toy"] }] } });
    stage.toys.onCreated = fail(Code.DEADLINE_EXCEEDED, "cut off");
    await stage.send(stage.request());
    stage.toys.onCreated = () => undefined;
    await stage.clock.advance(MINUTE);
    expect(job()?.starts).toBe(2);
    expect(stage.last?.event?.phase).toBe(Phase.RUNNING);
  });

  test("reads the inputs of few attempts while the connector is away, and each starts when it is back", async () => {
    const limits = { concurrentCalls: 3 };
    stage = await Stage.start({ settings: { endpoints: [{ name: "toys", address: "toys:1", limits }] } });
    const reads = vi.spyOn(stage.store, "get");
    const inputReads = () => reads.mock.calls.filter(([uri]) => uri.endsWith("inputs.pb")).length;
    stage.toys.onCall = fail(Code.UNAVAILABLE, "away", { notSent: true });
    for (let index = 0; index < 50; index++) {
      const inputUri = `s3://bucket/n${index}/inputs.pb`;
      await stage.store.put(inputUri, new Uint8Array());
      await stage.send(stage.numbered(index, "toy", { inputUri, inputsWritten: true, inputs: undefined as never }));
    }
    await stage.clock.advance(10 * MINUTE);
    // A pause of the circuit lasts half a minute, and each lets one call through.
    expect(inputReads()).toBeLessThan(50);
    const away = inputReads();
    stage.toys.onCall = () => undefined;
    await stage.clock.advance(MINUTE);
    expect(inputReads() - away).toBe(50);
    expect([...stage.toys.jobs.values()].map(({ starts }) => starts)).toEqual(Array.from({ length: 50 }, () => 1));
  });

  test.each([
    ["INVALID_ARGUMENT", false, Kind.USER],
    ["NOT_FOUND", false, Kind.USER],
    ["INTERNAL", true, Kind.USER],
    ["UNKNOWN", true, Kind.USER],
  ] as const)("ends the attempt with %s", async (code, recoverable, kind) => {
    stage.toys.onCall = failCall("CreateTask", Code[code], "Traceback: x = 1");
    await stage.send(stage.request());
    expect(stage.end).toEqual({ phase: "FAILED", recoverable, kind, code: "TaskFailedWithError" });
    expect(stage.history.at(-1)).toContain("Traceback: x = 1");
  });

  test("waits for the blob store before and after", async () => {
    stage.store.unavailable = true;
    await stage.send(stage.request());
    expect(stage.history.at(-1)).toMatch(/^WAITING_FOR_RESOURCES .*no connection/);
    expect(stage.toys.calls).not.toContain("CreateTask");
    stage.store.unavailable = false;
    stage.toys.onCreated = () => {
      stage.store.unavailable = true;
    };
    await stage.clock.advance(20_000);
    expect(job()?.starts).toBe(1);
    stage.store.unavailable = false;
    await stage.clock.advance(MINUTE);
    expect(stage.last?.event?.phase).toBe(Phase.RUNNING);
    expect(job()?.starts).toBe(1);
  });
});

describe("GetTask", () => {
  beforeEach(async () => {
    await stage.send(stage.request());
    await stage.clock.advance(1_000);
  });

  test("is repeated while the connector is away, and the task goes on when it is back", async () => {
    stage.toys.onCall = fail(Code.UNAVAILABLE);
    await stage.clock.advance(20 * MINUTE);
    expect(stage.history.at(-1)).toBe('RUNNING connector endpoint "toys", GetTask: UNAVAILABLE: away');
    stage.toys.onCall = () => undefined;
    await stage.clock.advance(2 * MINUTE);
    stage.toys.onCall = fail(Code.UNAVAILABLE);
    await stage.clock.advance(20 * MINUTE);
    expect(stage.end.phase).toBe("RUNNING");
    await stage.clock.advance(12 * MINUTE);
    expect(stage.end).toEqual({ phase: "FAILED", recoverable: true, kind: Kind.SYSTEM, code: "ConnectorUnavailable" });
  });

  test("may fail a few times; after five in a row the job is deleted and the attempt ends", async () => {
    stage.toys.onCall = failCall("GetTask", Code.INTERNAL, "Traceback: lost");
    await stage.clock.advance(5_000);
    expect(stage.history.at(-1)).toBe('RUNNING connector endpoint "toys", GetTask: INTERNAL: Traceback: lost');
    stage.toys.onCall = () => undefined;
    await stage.clock.advance(20_000);
    expect(stage.end.phase).toBe("RUNNING");
    stage.toys.onCall = failCall("GetTask", Code.INTERNAL, "Traceback: lost");
    await stage.clock.advance(2 * MINUTE);
    expect(stage.end).toEqual({ phase: "FAILED", recoverable: true, kind: Kind.USER, code: "TaskFailedWithError" });
    expect(job()?.isDeleted).toBe(true);
  });

  describe.each([
    ["the next attempt", true],
    ["none", false],
  ])("ends an attempt whose job may run, with %s to follow:", (_, followed) => {
    test.each([
      ["UNAVAILABLE", "ConnectorUnavailable"],
      ["PERMISSION_DENIED", "ConnectorUnavailable"],
      ["INVALID_ARGUMENT", "TaskFailedWithError"],
    ] as const)("after %s leaves the job to the finalization, which stops it once the connector is back", async (code, expected) => {
      stage.toys.onCall = fail(Code[code]);
      await stage.clock.advance(32 * MINUTE);
      expect(stage.end).toMatchObject({ phase: "FAILED", code: expected });
      await stage.restart();
      stage.toys.onCall = fail(Code.UNAVAILABLE);
      await stage.finalize(stage.request(), { followed });
      expect([job()?.isDeleted, stage.bus.unacknowledged, stage.store.blobs.size]).toEqual([false, 1, 1]);
      stage.toys.onCall = () => undefined;
      await stage.clock.advance(MINUTE);
      await stage.bus.redeliver();
      await stage.clock.advance(MINUTE);
      expect([job()?.isDeleted, stage.bus.unacknowledged, stage.store.blobs.size]).toEqual([true, 0, 0]);
    });
  });

  test("leaves the job to the finalization when it cannot be deleted after five errors", async () => {
    stage.toys.onCall = fail(Code.INTERNAL, "Traceback: lost");
    await stage.clock.advance(2 * MINUTE);
    expect(stage.end).toMatchObject({ phase: "FAILED", code: "TaskFailedWithError" });
    expect(job()?.isDeleted).toBe(false);
    stage.toys.onCall = () => undefined;
    await stage.finalize(stage.request());
    await stage.clock.advance(MINUTE);
    expect(job()?.isDeleted).toBe(true);
  });

  test("does not fail the attempt in an outage while the job cannot be recorded as left behind", async () => {
    stage.toys.onCall = fail(Code.UNAVAILABLE);
    stage.store.unavailable = true;
    await stage.clock.advance(40 * MINUTE);
    expect(stage.end.phase).toBe("RUNNING");
    stage.store.unavailable = false;
    await stage.clock.advance(2 * MINUTE);
    expect(stage.end).toMatchObject({ phase: "FAILED", code: "ConnectorUnavailable" });
  });

  test("reports the end of the job, whose record the finalization deletes without stopping it", async () => {
    Object.assign(job() ?? {}, { resource: { phase: Phase.SUCCEEDED } });
    await stage.clock.advance(10_000);
    expect(stage.last?.cleanup).toBe(true);
    await stage.finalize(stage.request());
    expect([job()?.isDeleted, stage.store.blobs.size]).toEqual([false, 0]);
  });

  test("an unknown task ends the attempt for the system", async () => {
    stage.toys.jobs.clear();
    await stage.clock.advance(20_000);
    expect(stage.end).toEqual({ phase: "FAILED", recoverable: true, kind: Kind.SYSTEM, code: "ResourceDeletedExternally" });
  });

  test("reads what the job wrote, when the store is back", async () => {
    stage.store.unavailable = true;
    Object.assign(job() ?? {}, { resource: { phase: Phase.SUCCEEDED, outputs: {} } });
    await stage.clock.advance(20_000);
    expect(stage.end.phase).toBe("SUCCEEDED");
  });
});

test("intervals of GetTask grow, by the settings of the type", async () => {
  const slow = { initialMs: 30_000, growth: 1, maxMs: 30_000 };
  stage = await Stage.start({ settings: { pollingOfTaskTypes: { slow }, connectorForTaskTypes: { slow: "toys" } } });
  await stage.send(stage.numbered(1));
  await stage.send(stage.numbered(2, "slow"));
  await stage.clock.advance(5 * MINUTE);
  const polls = [...stage.toys.jobs.values()].map((each) => each.polls);
  expect(polls[0]).toBeGreaterThan(30);
  expect(polls[0]).toBeLessThan(45);
  expect(polls[1]).toBeGreaterThan(9);
  expect(polls[1]).toBeLessThan(13);
});
