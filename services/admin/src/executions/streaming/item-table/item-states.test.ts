import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { CatalogCacheStatus } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import { NodeExecution_Phase as NodePhase, TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { type TaskExecutionEvent, TaskExecutionEventSchema } from "@flyte-ts/idl/flyteidl/event/event_pb";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ItemStates } from "./item-states.js";
import { readItemEvent } from "./read-item-event.js";

const CREATED_MS = 1_700_000_000_000;

interface Reported {
  readonly index: number;
  readonly retryAttempt?: number;
  readonly phase: Phase;
  readonly cacheStatus?: CatalogCacheStatus;
}

function eventOf(afterMs: number, items: readonly Reported[]): TaskExecutionEvent {
  return create(TaskExecutionEventSchema, {
    taskId: { name: "t" },
    occurredAt: timestampFromMs(CREATED_MS + afterMs),
    reason: "items have changed",
    customInfo: { a: [1, { b: "c" }] },
    metadata: {
      generatedName: "array",
      pluginIdentifier: "k8s-array",
      externalResources: items.map((item) => ({
        ...item,
        externalId: `array-n0-${item.index}`,
        logs: [{ uri: "http://logs", name: "log" }],
        customInfo: { item: item.index },
      })),
    },
  });
}

const encoded = (afterMs: number, items: readonly Reported[]): Uint8Array => toBinary(TaskExecutionEventSchema, eventOf(afterMs, items));

function foldOf(events: readonly Uint8Array[]): ItemStates {
  const states = new ItemStates(CREATED_MS);
  for (const event of events) states.apply(event);
  return states;
}

test("a row has the item's phase, the time of its first event, its start and its end", () => {
  const page = foldOf([
    encoded(100, [{ index: 3, phase: Phase.INITIALIZING }]),
    encoded(350, [
      { index: 3, phase: Phase.RUNNING },
      { index: 0, phase: Phase.QUEUED },
    ]),
    encoded(900, [{ index: 3, phase: Phase.SUCCEEDED, cacheStatus: CatalogCacheStatus.CACHE_POPULATED }]),
  ]).takeChanged();
  expect(page).toMatchObject({
    length: 2,
    key: [1, 4],
    id: ["0", "3"],
    phase: [NodePhase.QUEUED, NodePhase.SUCCEEDED],
    cache: [0, CatalogCacheStatus.CACHE_POPULATED + 1],
    attempts: [1, 1],
    queued: [350, 100],
    started: [-1, 250],
    ended: [-1, 800],
  });
});

test("an item that ends without a report of its start began after the event before", () => {
  const states = foldOf([
    encoded(100, [{ index: 0, phase: Phase.QUEUED }]),
    encoded(600, [{ index: 1, phase: Phase.QUEUED }]),
    encoded(900, [
      { index: 0, phase: Phase.SUCCEEDED },
      { index: 1, phase: Phase.ABORTED },
      { index: 2, phase: Phase.FAILED },
    ]),
  ]);
  expect(states.takeChanged()).toMatchObject({ queued: [100, 600, 900], started: [500, -1, 0], ended: [800, 300, 0] });
});

test("an item that is retried runs again; reports of its earlier attempt do not count", () => {
  const states = foldOf([encoded(0, [{ index: 7, phase: Phase.RUNNING }]), encoded(10, [{ index: 7, phase: Phase.RETRYABLE_FAILED }])]);
  expect(states.takeChanged()).toMatchObject({ phase: [NodePhase.FAILING], attempts: [1], ended: [-1] });
  states.apply(encoded(20, [{ index: 7, retryAttempt: 1, phase: Phase.RUNNING }]));
  states.apply(encoded(30, [{ index: 7, phase: Phase.FAILED }]));
  expect(states.takeChanged()).toMatchObject({ phase: [NodePhase.RUNNING], attempts: [2], started: [0], ended: [-1] });
  states.apply(encoded(40, [{ index: 7, retryAttempt: 1, phase: Phase.FAILED }]));
  expect(states.takeChanged()).toMatchObject({ phase: [NodePhase.FAILED], attempts: [2], ended: [40] });
});

test("only items with a new report are rows of the next page", () => {
  const states = foldOf([
    encoded(0, [
      { index: 1, phase: Phase.RUNNING },
      { index: 2, phase: Phase.RUNNING },
    ]),
  ]);
  expect(states.takeChanged().id).toEqual(["1", "2"]);
  expect(states.takeChanged().length).toBe(0);
  states.apply(encoded(5, [{ index: 2, phase: Phase.ABORTED }]));
  expect(states.takeChanged()).toMatchObject({ id: ["2"], phase: [NodePhase.ABORTED] });
});

test("the reader of encoded events finds what the decoder of whole messages finds", () => {
  const report = fc.record({
    index: fc.nat({ max: 2 ** 32 - 1 }),
    retryAttempt: fc.nat(9),
    phase: fc.integer({ min: 0, max: 8 }),
    cacheStatus: fc.integer({ min: 0, max: 5 }),
  });
  fc.assert(
    fc.property(fc.integer({ min: -CREATED_MS, max: 2 ** 40 }), fc.array(report, { maxLength: 20 }), (afterMs, items) => {
      const { timeMs, items: read } = readItemEvent(encoded(afterMs, items));
      expect(timeMs).toBe(CREATED_MS + afterMs);
      expect(read).toEqual(items.map(({ index, retryAttempt: attempt, phase, cacheStatus }) => ({ index, attempt, phase, cacheStatus })));
    }),
  );
});
