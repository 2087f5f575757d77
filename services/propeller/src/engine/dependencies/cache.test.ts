import { create } from "@bufbuild/protobuf";
import {
  CatalogCacheStatus as Status,
  CatalogMetadataSchema,
  CatalogReservation_Status as Reservation,
} from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import { describe, expect, it } from "vitest";
import { Driver } from "../../../simulation/fixtures/driver.js";
import { numbers, type WorkflowSpec } from "../../../simulation/fixtures/workflow.js";
import type { CallResult, CallKind, ValueOf } from "../calls/call.js";
import { defaultCacheConfig } from "../cache/config.js";

const one = numbers({ o0: 1 });
const key = create(CatalogMetadataSchema, { artifactTag: { artifactId: "a", name: "t" } });
const hit = { outputs: one, createdAt: 0, key };
const config = { cache: defaultCacheConfig };

function cached(serialize = false, more: Partial<WorkflowSpec> = {}): WorkflowSpec {
  return {
    inputs: { a: 7 },
    main: {
      nodes: {
        n0: { kind: "task", inputs: { a: ".a" }, cache: { task: "c", serialize }, attempts: 2 },
        n1: { kind: "task", inputs: { a: "n0.o0" } },
      },
      outputs: { o0: "n1.o0" },
    },
    ...more,
  };
}

/** Completes the newest call of a kind. */
function answer<K extends CallKind>(d: Driver, kind: K, value: ValueOf<K>): void {
  settle(d, kind, { kind: "value", value });
}

function settle(d: Driver, kind: CallKind, given: CallResult): void {
  const pending = d.asks.findLast(({ call }) => call.kind === kind);
  if (pending === undefined) throw new Error(`${kind} was not asked; asked: ${askedOf(d).join(", ")}`);
  d.observe({ kind: "callResult", id: pending.id, result: given });
}

const askedOf = (d: Driver) => d.asks.map(({ call }) => call.kind);
const takeCalls = (d: Driver) => d.asks.splice(0).map(({ call }) => call.kind);

function reported(d: Driver, text: string) {
  const [node, phase] = text.split(" ");
  const found = d.events.filter((_, index) => `${node} ${phase}` === texts(d)[index]).at(-1)?.event;
  const nodeEvent = found?.event.case === "node" ? found.event.value : undefined;
  const meta = nodeEvent?.targetMetadata.case === "taskNodeMetadata" ? nodeEvent.targetMetadata.value : undefined;
  return { nodeEvent, meta, event: found };
}

function texts(d: Driver): string[] {
  return d.events.map(({ event: { event } }) => {
    if (event.case !== "node") return "";
    const names: Record<number, string> = { 1: "QUEUED", 2: "RUNNING", 3: "SUCCEEDED", 5: "FAILED" };
    return `${event.value.id?.nodeId ?? ""} ${names[event.value.phase] ?? String(event.value.phase)}`;
  });
}

describe("cached outputs", () => {
  it("become the node's outputs without an attempt", () => {
    const d = Driver.of(cached(), config);
    expect(d.takeRequests()).toEqual([]);
    expect(d.takeEventTexts()).toEqual(["workflow RUNNING", "start-node SUCCEEDED"]);
    expect(d.asks).toMatchObject([{ call: { kind: "catalogGet", call: { dataset: { name: "flyte_task-c" } }, task: { name: "c" } } }]);
    answer(d, "catalogGet", hit);
    expect(d.takeEventTexts()).toEqual(["n0 SUCCEEDED", "n1 QUEUED"]);
    expect(d.takeRequests()).toEqual(["n1/0 RUN"]);
    expect(d.request("n1").inputs?.literals["a"]).toEqual(one.literals["o0"]);
    const { meta, nodeEvent, event } = reported(d, "n0 SUCCEEDED");
    expect(meta).toMatchObject({ cacheStatus: Status.CACHE_HIT, catalogKey: { artifactTag: { name: "t" } }, checkpointUri: "" });
    expect(nodeEvent?.outputResult.value).toBe("s3://my-s3-bucket/metadata/propeller/p-d-exec/n0/data/0/outputs.pb");
    expect(event?.outputs).toEqual(one);
    expect(event?.inputs).toEqual(numbers({ a: 7 }));
    expect(d.resource.status.nodeStatus?.["n0"]).toMatchObject({ phase: 5 });
  });

  it.each([
    ["outputs with other names", numbers({ other: 1 })],
    ["additional outputs", numbers({ o0: 1, o1: 2 })],
    ["incomplete outputs", numbers({})],
  ])("%s are ignored", (_, outputs) => {
    const d = Driver.of(cached(), config);
    answer(d, "catalogGet", { ...hit, outputs });
    expect(d.takeRequests()).toEqual(["n0/0 RUN"]);
  });

  it("are ignored when they are too old", () => {
    const old = Driver.of(cached(), { cache: { ...defaultCacheConfig, maxAge: 1_000 } });
    answer(old, "catalogGet", { ...hit, createdAt: old.now - 1_001 });
    expect(old.takeRequests()).toEqual(["n0/0 RUN"]);
    const young = Driver.of(cached(), { cache: { ...defaultCacheConfig, maxAge: 1_000 } });
    answer(young, "catalogGet", { ...hit, createdAt: young.now - 999 });
    expect(young.takeRequests()).toEqual(["n1/0 RUN"]);
  });

  it.each([
    ["their own project's entries", false, { project: "p", domain: "d", name: "flyte_task-other:d:c" }],
    ["the entries of the task's project where these are shared", true, { project: "other", domain: "d", name: "flyte_task-c" }],
  ])("belonging to a task of another project are %s", (_, shareAcrossProjects, dataset) => {
    const spec = cached();
    const n0 = { kind: "task" as const, inputs: { a: ".a" }, cache: { task: "c", project: "other" } };
    const main = { ...spec.main, nodes: { ...spec.main.nodes, n0 } };
    const d = Driver.of({ ...spec, main }, { cache: { ...defaultCacheConfig, shareAcrossProjects } });
    expect(d.asks).toMatchObject([{ call: { kind: "catalogGet", call: { dataset } } }]);
    answer(d, "catalogGet", undefined);
    d.reply("n0", "RUNNING");
    d.reply("n0", "SUCCEEDED", { outputs: one });
    expect(d.asks.at(-1)).toMatchObject({ call: { kind: "catalogPut", call: { dataset } } });
  });

  it("are written to the blob store before the node ends if they are large", () => {
    const d = Driver.of(cached(), { ...config, maxInlineOutputBytes: 1 });
    d.observe({ kind: "outputsWritten", uri: "s3://my-s3-bucket/metadata/propeller/p-d-exec/n0/data/inputs.pb" });
    answer(d, "catalogGet", hit);
    const uri = "s3://my-s3-bucket/metadata/propeller/p-d-exec/n0/data/0/outputs.pb";
    expect(d.writes).toContain(uri);
    d.takeEventTexts();
    d.observe({ kind: "outputsWritten", uri });
    expect(d.takeEventTexts()).toEqual(["n0 SUCCEEDED"]);
    expect(reported(d, "n0 SUCCEEDED").meta).toMatchObject({ cacheStatus: Status.CACHE_HIT });
    expect(d.takeRequests()).toEqual([]);
  });
});

describe("outputs that are not in the cache", () => {
  it("are computed, stored in the catalog, and then reported", () => {
    const d = Driver.of(cached(), config);
    answer(d, "catalogGet", undefined);
    expect(d.takeRequests()).toEqual(["n0/0 RUN"]);
    d.reply("n0", "RUNNING");
    expect(reported(d, "n0 RUNNING").meta).toMatchObject({ cacheStatus: Status.CACHE_MISS });
    d.takeEventTexts();
    takeCalls(d);
    d.reply("n0", "SUCCEEDED", { outputs: one });
    expect(d.takeEventTexts()).toEqual([]);
    expect(d.asks).toMatchObject([
      {
        call: {
          kind: "catalogPut",
          outputs: { value: one },
          overwrite: false,
          owner: undefined,
          source: { taskId: { name: "c" }, nodeExecutionId: { nodeId: "n0" }, retryAttempt: 0 },
        },
      },
    ]);
    answer(d, "catalogPut", key);
    expect(d.takeEventTexts()).toEqual(["n0 SUCCEEDED", "n1 QUEUED"]);
    expect(reported(d, "n0 SUCCEEDED").meta).toMatchObject({
      cacheStatus: Status.CACHE_POPULATED,
      catalogKey: { artifactTag: { name: "t" } },
    });
    expect(reported(d, "n0 SUCCEEDED").meta?.checkpointUri).not.toBe("");
    expect(reported(d, "n0 SUCCEEDED").event?.outputs).toEqual(one);
  });

  it("are stored again under the same id after a restart before the end was durable", () => {
    const d = Driver.of(cached(), config);
    answer(d, "catalogGet", undefined);
    d.reply("n0", "SUCCEEDED", { outputs: one });
    const first = d.asks.at(-1)?.call;
    const again = d.restart(config);
    again.observe({ kind: "load" });
    expect(takeCalls(again)).toEqual([]);
    expect(again.takeRequests()).toEqual(["n0/0 RUN"]);
    again.reply("n0", "SUCCEEDED", { outputs: one });
    expect(again.asks.at(-1)?.call).toEqual(first);
    answer(again, "catalogPut", key);
    expect(again.takeRequests()).toEqual(["n1/0 RUN"]);
  });

  it("are not stored when the attempt fails", () => {
    const d = Driver.of(cached(), config);
    answer(d, "catalogGet", undefined);
    takeCalls(d);
    d.reply("n0", "FAILED", { recoverable: false });
    expect(takeCalls(d)).toEqual([]);
    expect(reported(d, "n0 FAILED").meta).toMatchObject({ cacheStatus: Status.CACHE_MISS });
  });
});

describe("an unavailable catalog", () => {
  it("delays a node for a limited time, after which it runs without the cache", () => {
    const d = Driver.of(cached(), config);
    for (let i = 0; i < 100 && d.takeRequestTexts().length === 0; i++) {
      settle(d, "catalogGet", { kind: "error", message: "down" });
      if (d.takeRequestTexts().length === 0) d.advance((d.run.nextTimerAt ?? d.now) - d.now);
    }
    expect(d.takeRequests()).toEqual(["n0/0 RUN"]);
    expect(d.now - Date.parse("2026-11-21T10:00:00.250Z")).toBeGreaterThanOrEqual(defaultCacheConfig.lookupTimeout);
    expect(d.now - Date.parse("2026-11-21T10:00:00.250Z")).toBeLessThan(defaultCacheConfig.lookupTimeout * 4);
    takeCalls(d);
    d.reply("n0", "SUCCEEDED", { outputs: one });
    expect(takeCalls(d)).toEqual([]);
    expect(reported(d, "n0 SUCCEEDED").meta).toMatchObject({ cacheStatus: Status.CACHE_LOOKUP_FAILURE, catalogKey: { datasetId: {} } });
  });

  it("is not asked again after it refused a lookup", () => {
    const d = Driver.of(cached(), config);
    settle(d, "catalogGet", { kind: "refused", code: "INVALID_ARGUMENT", message: "no" });
    expect(d.takeRequests()).toEqual(["n0/0 RUN"]);
  });

  it("does not prevent a success", () => {
    const d = Driver.of(cached(), config);
    answer(d, "catalogGet", undefined);
    d.reply("n0", "SUCCEEDED", { outputs: one });
    d.takeEventTexts();
    for (let i = 0; i < 100 && reported(d, "n0 SUCCEEDED").nodeEvent === undefined; i++) {
      settle(d, "catalogPut", { kind: "error", message: "down" });
      if (reported(d, "n0 SUCCEEDED").nodeEvent === undefined) d.advance((d.run.nextTimerAt ?? d.now) - d.now);
    }
    // Control planes show the cache status only with its key.
    expect(reported(d, "n0 SUCCEEDED").meta).toMatchObject({ cacheStatus: Status.CACHE_PUT_FAILURE, catalogKey: { datasetId: {} } });
    expect(d.resource.status.nodeStatus?.["n0"]?.catalog).toMatchObject({ status: Status.CACHE_PUT_FAILURE });
    const next = d.restart(config);
    next.observe({ kind: "load" });
    expect(reported(next, "n0 SUCCEEDED").meta).toMatchObject({ cacheStatus: Status.CACHE_PUT_FAILURE });
  });
});

it("an execution that overwrites the cache performs no lookup and replaces the stored outputs", () => {
  const d = Driver.of(cached(true, { overwriteCache: true }), config);
  expect(takeCalls(d)).toEqual([]);
  expect(d.takeRequests()).toEqual(["n0/0 RUN"]);
  d.reply("n0", "RUNNING");
  expect(reported(d, "n0 RUNNING").meta).toMatchObject({ cacheStatus: Status.CACHE_SKIPPED });
  d.reply("n0", "SUCCEEDED", { outputs: one });
  expect(d.asks).toMatchObject([{ call: { kind: "catalogPut", overwrite: true } }]);
});

it("without a configured catalog no calls are made", () => {
  const d = Driver.of(cached(true));
  expect(takeCalls(d)).toEqual([]);
  expect(d.takeRequests()).toEqual(["n0/0 RUN"]);
  d.reply("n0", "SUCCEEDED", { outputs: one });
  expect(takeCalls(d)).toEqual([]);
  expect(reported(d, "n0 SUCCEEDED").meta).toMatchObject({
    cacheStatus: Status.CACHE_DISABLED,
    reservationStatus: Reservation.RESERVATION_DISABLED,
  });
});

describe("a task with a serialized cache", () => {
  const ours = { held: "byUs", heartbeatMs: 10_000 } as const;
  const theirs = { held: "byAnother" } as const;

  function reserved(): Driver {
    const d = Driver.of(cached(true), config);
    answer(d, "catalogGet", undefined);
    expect(d.takeRequests()).toEqual([]);
    answer(d, "catalogReserve", ours);
    expect(d.takeRequests()).toEqual([]);
    answer(d, "catalogGet", undefined);
    return d;
  }

  it("runs when it holds the reservation and no outputs are stored", () => {
    const d = reserved();
    expect(askedOf(d)).toEqual(["catalogGet", "catalogReserve", "catalogGet"]);
    expect(d.takeRequests()).toEqual(["n0/0 RUN"]);
    d.reply("n0", "RUNNING");
    expect(reported(d, "n0 RUNNING").meta).toMatchObject({ reservationStatus: Reservation.RESERVATION_ACQUIRED });
    d.reply("n0", "SUCCEEDED", { outputs: one });
    expect(d.asks.at(-1)).toMatchObject({ call: { kind: "catalogPut", owner: "exec-n0-0" } });
    answer(d, "catalogPut", key);
    expect(reported(d, "n0 SUCCEEDED").meta).toMatchObject({
      cacheStatus: Status.CACHE_POPULATED,
      reservationStatus: Reservation.RESERVATION_RELEASED,
    });
  });

  it("uses outputs that were stored before its reservation, and releases the reservation", () => {
    const d = Driver.of(cached(true), config);
    answer(d, "catalogGet", undefined);
    answer(d, "catalogReserve", ours);
    answer(d, "catalogGet", hit);
    expect(d.takeRequests()).toEqual(["n1/0 RUN"]);
    expect(takeCalls(d)).toContain("catalogRelease");
  });

  it("waits while another execution holds the reservation, polls, and uses the stored outputs", () => {
    const d = Driver.of(cached(true), config);
    answer(d, "catalogGet", undefined);
    answer(d, "catalogReserve", theirs);
    answer(d, "catalogGet", undefined);
    expect(d.resource.status.nodeStatus?.["n0"]).toMatchObject({ phase: 1, message: "waiting on serialized cache" });
    for (let i = 0; i < 5; i++) {
      takeCalls(d);
      d.advance(15_000);
      expect(askedOf(d)).toContain("catalogReserve");
      answer(d, "catalogReserve", theirs);
      answer(d, "catalogGet", undefined);
    }
    expect(d.takeRequests()).toEqual([]);
    takeCalls(d);
    d.advance(15_000);
    answer(d, "catalogReserve", theirs);
    answer(d, "catalogGet", hit);
    expect(d.takeRequests()).toEqual(["n1/0 RUN"]);
    expect(reported(d, "n0 SUCCEEDED").meta).toMatchObject({ cacheStatus: Status.CACHE_HIT });
  });

  it("keeps waiting after a restart without sending a request", () => {
    const d = Driver.of(cached(true), config);
    answer(d, "catalogGet", undefined);
    answer(d, "catalogReserve", theirs);
    const again = d.restart(config);
    again.observe({ kind: "load" });
    expect(again.takeRequests()).toEqual([]);
    answer(again, "catalogReserve", theirs);
    expect(again.takeRequests()).toEqual([]);
    again.observe({ kind: "abort" });
    expect(again.takeRequests()).toEqual([]);
    expect(again.takeEventTexts()).toContain("n0 ABORTED");
  });

  it("keeps running after a restart, with its reservation", () => {
    const d = reserved();
    const again = d.restart(config);
    again.observe({ kind: "load" });
    expect(again.takeRequests()).toEqual(["n0/0 RUN"]);
    expect(takeCalls(again)).toEqual(["catalogReserve"]);
  });

  it("extends its reservation while it runs", () => {
    const d = reserved();
    d.reply("n0", "RUNNING");
    for (let i = 0; i < 10; i++) {
      takeCalls(d);
      d.advance(10_000);
      expect(askedOf(d)).toEqual(["catalogReserve"]);
      answer(d, "catalogReserve", ours);
    }
  });

  it("releases the reservation after a permanent failure and an abort, and not between attempts", () => {
    const d = reserved();
    takeCalls(d);
    d.reply("n0", "FAILED");
    expect(takeCalls(d)).toEqual([]);
    d.advance(1_000);
    expect(d.takeRequests().at(-1)).toBe("n0/0 FINALIZE");
    expect(takeCalls(d)).toEqual(["catalogReserve"]);
    const stopped = reserved();
    takeCalls(stopped);
    stopped.observe({ kind: "abort" });
    expect(takeCalls(stopped)).not.toContain("catalogRelease");
    stopped.reply("n0", "ABORTED");
    expect(takeCalls(stopped)).toContain("catalogRelease");
  });

  it("reserves again for the next attempt", () => {
    const d = reserved();
    d.reply("n0", "FAILED");
    d.advance(1_000);
    answer(d, "catalogReserve", ours);
    answer(d, "catalogGet", undefined);
    expect(d.takeRequests().at(-1)).toBe("n0/1 RUN");
    takeCalls(d);
    d.reply("n0", "FAILED", { recoverable: false });
    expect(takeCalls(d)).toContain("catalogRelease");
  });

  it("runs without a reservation when the catalog stays unavailable", () => {
    const d = Driver.of(cached(true), config);
    answer(d, "catalogGet", undefined);
    for (let i = 0; i < 100 && d.takeRequestTexts().length === 0; i++) {
      settle(d, "catalogReserve", { kind: "error", message: "down" });
      if (d.takeRequestTexts().length === 0) d.advance((d.run.nextTimerAt ?? d.now) - d.now);
    }
    expect(d.takeRequests()).toEqual(["n0/0 RUN"]);
    d.reply("n0", "RUNNING");
    expect(reported(d, "n0 RUNNING").meta).toMatchObject({ reservationStatus: Reservation.RESERVATION_FAILURE });
  });
});
