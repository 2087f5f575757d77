import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { CatalogCacheStatus } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { TaskExecutionEventSchema, TaskExecutionMetadata_InstanceClass as InstanceClass } from "@flyte-ts/idl/flyteidl/event/event_pb";
import { expect, test } from "vitest";
import { assembleClosure } from "./closure.js";

const closureOf = (...events: MessageInitShape<typeof TaskExecutionEventSchema>[]) =>
  assembleClosure(events.map((event) => create(TaskExecutionEventSchema, event)));

test("reasons are appended, except a repeated one; those of a list are all appended", () => {
  const closure = closureOf(
    { phase: Phase.QUEUED, reason: "waiting" },
    { phase: Phase.QUEUED, phaseVersion: 1, reason: "waiting" },
    { phase: Phase.RUNNING, reasons: [{ reason: "one" }, { reason: "one" }] },
    { phase: Phase.RUNNING, phaseVersion: 1 },
  );
  expect(closure.reasons.map(({ message }) => message)).toEqual(["waiting", "one", "one"]);
  expect(closure.reason).toBe("one");
});

test("a log is replaced by URI or by name, and the latest ones come first", () => {
  const closure = closureOf(
    { phase: Phase.RUNNING, logs: [{ uri: "a", name: "A" }, { uri: "b", name: "B" }, { uri: "c" }] },
    {
      phase: Phase.RUNNING,
      phaseVersion: 1,
      logs: [
        { uri: "a2", name: "A" },
        { uri: "b", name: "B2" },
      ],
    },
  );
  expect(closure.logs.map(({ uri, name }) => `${uri}:${name}`)).toEqual(["a2:A", "b:B2", "c:"]);
});

test("logs are hidden in pending and finished attempts according to their flags, and do not return", () => {
  const logs = [
    { uri: "plain" },
    { uri: "early", ShowWhilePending: true },
    { uri: "brief", ShowWhilePending: true, HideOnceFinished: true },
  ];
  const uris = (...events: Parameters<typeof closureOf>) => closureOf(...events).logs.map(({ uri }) => uri);
  expect(uris({ phase: Phase.QUEUED, logs })).toEqual(["plain", "early", "brief"]);
  expect(uris({ phase: Phase.QUEUED }, { phase: Phase.INITIALIZING, logs })).toEqual(["early", "brief"]);
  expect(uris({ phase: Phase.QUEUED, logs }, { phase: Phase.QUEUED, phaseVersion: 1 }, { phase: Phase.RUNNING })).toEqual([
    "early",
    "brief",
  ]);
  expect(uris({ phase: Phase.RUNNING, logs }, { phase: Phase.SUCCEEDED })).toEqual(["plain", "early"]);
});

test("custom info is merged", () => {
  const closure = closureOf(
    { phase: Phase.QUEUED, customInfo: { a: 1, b: { c: 2, d: 3 }, e: [1] } },
    { phase: Phase.RUNNING, customInfo: { a: null, b: { d: 4 }, e: [2, null], f: { g: 1, h: { i: null } }, j: [{ k: null }] } },
    { phase: Phase.SUCCEEDED },
  );
  expect(closure.customInfo).toEqual({ b: { c: 2, d: 4 }, e: [2, null], f: { g: 1, h: {} }, j: [{}] });
});

test("external resources are identified by index and attempt and keep that order", () => {
  const resource = (index: number, retryAttempt: number, phase: Phase, more: object = {}) => ({
    externalId: `r${index}`,
    index,
    retryAttempt,
    phase,
    ...more,
  });
  const closure = closureOf(
    {
      phase: Phase.RUNNING,
      metadata: { externalResources: [resource(2, 0, Phase.RUNNING), resource(0, 0, Phase.QUEUED, { logs: [{ uri: "l" }] })] },
    },
    {
      phase: Phase.RUNNING,
      phaseVersion: 1,
      metadata: { externalResources: [resource(0, 1, Phase.QUEUED), resource(0, 0, Phase.FAILED)] },
    },
    {
      phase: Phase.RUNNING,
      phaseVersion: 2,
      metadata: { externalResources: [resource(2, 0, Phase.SUCCEEDED, { cacheStatus: CatalogCacheStatus.CACHE_HIT })] },
    },
    { phase: Phase.RUNNING, phaseVersion: 3, metadata: { externalResources: [resource(2, 0, Phase.SUCCEEDED)] } },
  );
  const found = closure.metadata?.externalResources ?? [];
  expect(found.map(({ index, retryAttempt, phase }) => [index, retryAttempt, phase])).toEqual([
    [0, 0, Phase.FAILED],
    [0, 1, Phase.QUEUED],
    [2, 0, Phase.SUCCEEDED],
  ]);
  expect(found.map(({ logs }) => logs.length)).toEqual([1, 0, 0]);
  expect(found.at(2)?.cacheStatus).toBe(CatalogCacheStatus.CACHE_HIT);
});

test("the latest non-empty value of a field is kept", () => {
  const closure = closureOf(
    {
      phase: Phase.QUEUED,
      taskType: "python-task",
      eventVersion: 1,
      metadata: { generatedName: "g", pluginIdentifier: "p", instanceClass: InstanceClass.INTERRUPTIBLE },
    },
    { phase: Phase.FAILED, metadata: { generatedName: "h" }, outputResult: { case: "error", value: { code: "C" } } },
  );
  expect(closure).toMatchObject({
    taskType: "python-task",
    eventVersion: 1,
    phase: Phase.FAILED,
    outputResult: { case: "error", value: { code: "C" } },
  });
  expect(closure.metadata).toMatchObject({ generatedName: "h", pluginIdentifier: "p", instanceClass: InstanceClass.INTERRUPTIBLE });
});

test("events are not modified", () => {
  const event = create(TaskExecutionEventSchema, {
    phase: Phase.RUNNING,
    metadata: { externalResources: [{ index: 1, phase: Phase.QUEUED }, { index: 0 }] },
  });
  const before = structuredClone(event.metadata?.externalResources.map(({ index, phase }) => [index, phase]));
  assembleClosure([
    event,
    create(TaskExecutionEventSchema, { phase: Phase.SUCCEEDED, metadata: { externalResources: [{ index: 1, phase: Phase.SUCCEEDED }] } }),
  ]);
  expect(event.metadata?.externalResources.map(({ index, phase }) => [index, phase])).toEqual(before);
});
