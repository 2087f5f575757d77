import { create } from "@bufbuild/protobuf";
import { CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { CatalogCacheStatus, CatalogMetadataSchema } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import { NodeExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { describe, expect, it } from "vitest";
import { Driver } from "../../../simulation/fixtures/driver.js";
import { buildWorkflow, type GraphSpec, numbers, type WorkflowSpec } from "../../../simulation/fixtures/workflow.js";
import type { EngineConfig } from "../config.js";
import { defaultCacheConfig } from "../cache/config.js";

const OUTER: WorkflowSpec = {
  main: {
    nodes: { n0: { kind: "task", attempts: 2 }, n1: { kind: "task", inputs: { a: "n0.o0" } } },
    outputs: { o0: "n1.o0" },
  },
};
const MADE: GraphSpec = {
  nodes: { dn0: { kind: "task", inputs: { a: 3 }, attempts: 2 }, dn1: { kind: "task", inputs: { a: "dn0.o0" } } },
  outputs: { o0: "dn1.o0" },
};

function made(main: GraphSpec) {
  const { root, tasks, subWorkflows } = buildWorkflow({ main }).model;
  return { kind: "value", value: { model: { root, tasks, subWorkflows }, closure: undefined } } as const;
}

function expanded(config: Partial<EngineConfig> = {}, spec = OUTER): Driver {
  const driver = Driver.of(spec, config);
  driver.reply("n0", "RUNNING");
  driver.reply("n0", "SUCCEEDED", { futures: true });
  driver.answer("readDynamic", made(MADE));
  return driver;
}

function lastEvent(driver: Driver, node: string) {
  const events = driver.events.flatMap(({ event }) => (event.event.case === "node" ? [event.event.value] : []));
  return events.findLast((event) => event.id?.nodeId === node);
}

describe("a dynamic task", () => {
  it("becomes a graph below its attempt", () => {
    const driver = Driver.of(OUTER);
    driver.reply("n0", "SUCCEEDED", { futures: true });
    expect(driver.pendingCalls("readDynamic")[0]).toMatchObject({
      attemptDir: "s3://my-s3-bucket/metadata/propeller/p-d-exec/n0/data/0",
      id: { name: "dynamic_n0", project: "p", domain: "d" },
    });
    driver.answer("readDynamic", made(MADE));
    expect(driver.resource.status.nodeStatus?.["n0"]).toMatchObject({ phase: 11, dynamicNodeStatus: { phase: 1 } });
    expect(lastEvent(driver, "n0")).toMatchObject({ phase: NodeExecution_Phase.DYNAMIC_RUNNING, isDynamic: true, isParent: true });
    expect(lastEvent(driver, "n0")?.targetMetadata.value).toMatchObject({
      dynamicWorkflow: { dynamicJobSpecUri: "s3://my-s3-bucket/metadata/propeller/p-d-exec/n0/data/0/futures.pb" },
    });
    const below = driver.request("n0/dn0");
    expect(below.id?.nodeExecutionId?.nodeId).toBe("n0-0-dn0");
    expect(below.outputPrefix).toBe("s3://my-s3-bucket/metadata/propeller/p-d-exec/n0/data/0/dn0/0");
    expect(lastEvent(driver, "n0-0-dn0")).toMatchObject({ isInDynamicChain: true, isDynamic: false });
  });

  it.each([
    [
      "is reported by its URI when it is too large for an event",
      undefined,
      "s3://my-s3-bucket/metadata/propeller/p-d-exec/n0/data/0/dynamic_compiled.pb",
    ],
    ["is sent within the event when it is small", create(CompiledWorkflowClosureSchema), ""],
  ] as const)("%s", (_, closure, place) => {
    const driver = Driver.of(OUTER);
    driver.reply("n0", "SUCCEEDED", { futures: true });
    const { value } = made(MADE);
    driver.answer("readDynamic", { kind: "value", value: { ...value, closure } });
    const event = driver.events.find(({ event }) => event.event.case === "node" && event.event.value.isDynamic);
    expect(event?.event.dynamicWorkflowUri).toBe(place);
  });

  it("ends like its graph, with outputs at the task's output URI", () => {
    const driver = expanded();
    driver.reply("n0/dn0", "SUCCEEDED", { outputs: numbers({ o0: 4 }) });
    expect(driver.request("n0/dn1").inputs).toEqual(numbers({ a: 4 }));
    driver.reply("n0/dn1", "SUCCEEDED", { outputs: numbers({ o0: 5 }) });
    const own = "s3://my-s3-bucket/metadata/propeller/p-d-exec/n0/data/0/outputs.pb";
    expect(driver.writes).toEqual([own]);
    driver.observe({ kind: "outputsWritten", uri: own });
    expect(lastEvent(driver, "n0")).toMatchObject({ phase: 3, outputResult: { value: own }, targetMetadata: { case: undefined } });
    expect(driver.request("n1").inputs).toEqual(numbers({ a: 5 }));
    const below = driver.resource.status.nodeStatus?.["n0"]?.subNodeStatus;
    expect(below).toMatchObject({ dn0: { phase: 5, outputs: expect.any(String) as string }, dn1: { phase: 5 } });
  });

  it("fails permanently with the error of a node below it that has used its retries", () => {
    const driver = expanded();
    driver.reply("n0/dn0", "FAILED", { message: "first" });
    driver.advance(1_000);
    driver.reply("n0/dn0", "FAILED", { message: "second" });
    expect(driver.resource.status.phase).toBe(5);
    expect(driver.resource.status.error?.message).toContain("second");
    expect(driver.resource.status.nodeStatus?.["n0"]?.attempts ?? 0).toBe(0);
  });

  it("fails when its graph is invalid", () => {
    const driver = Driver.of(OUTER);
    driver.reply("n0", "SUCCEEDED", { futures: true });
    driver.answer("readDynamic", { kind: "refused", code: "INVALID_ARGUMENT", message: "[User] malformed dynamic workflow" });
    expect(driver.resource.status.error).toMatchObject({ code: "DynamicWorkflowBuildFailed", kind: "USER" });
  });

  it("gives its max parallelism slot to the nodes below it", () => {
    const driver = expanded({}, { ...OUTER, maxParallelism: 1 });
    expect(driver.request("n0/dn0")).toBeDefined();
    expect(driver.run.counts.activeTasks).toBe(1);
  });

  it("aborts the nodes below it when it is aborted", () => {
    const driver = expanded();
    driver.takeRequests();
    driver.observe({ kind: "abort" });
    expect(driver.takeRequests()).toEqual(["n0/dn0/0 ABORT"]);
    driver.reply("n0/dn0", "ABORTED");
    expect(driver.resource.status.phase).toBe(6);
    expect(driver.eventTexts).toEqual(expect.arrayContaining(["n0-0-dn0 ABORTED", "n0 ABORTED", "workflow ABORTED"]));
  });

  it("creates no graph when it was aborted before", () => {
    const driver = Driver.of(OUTER);
    driver.observe({ kind: "abort" });
    driver.reply("n0", "SUCCEEDED", { futures: true });
    expect(driver.pendingCalls("readDynamic")).toEqual([]);
    expect(driver.resource.status.phase).toBe(6);
  });

  it("discards the graph of an attempt whose deadline passed before the graph was read, also after a restart", () => {
    const config = { defaultExecutionDeadline: 60_000, retryBackoff: { initialMs: 5_000, factor: 2, maxMs: 60_000, jitter: 0 } };
    const driver = Driver.of(OUTER, config);
    driver.reply("n0", "RUNNING");
    driver.reply("n0", "SUCCEEDED", { futures: true });
    driver.advance(61_000);
    expect(driver.resource.status.nodeStatus?.["n0"]).toMatchObject({ phase: 8, dynamicNodeStatus: { phase: 4 } });
    const next = driver.restart(config);
    next.observe({ kind: "load" });
    expect(next.pendingCalls("readDynamic")).toEqual([]);
    next.advance(10_000);
    expect(next.takeRequests()).toEqual(["n0/0 FINALIZE", "n0/1 RUN"]);
  });

  it("starts again with another graph when its deadline has passed and a retry is left", () => {
    const driver = expanded({ defaultExecutionDeadline: 60_000 });
    driver.advance(61_000);
    driver.reply("n0/dn0", "ABORTED");
    driver.advance(1_000);
    expect(driver.request("n0").id?.retryAttempt).toBe(1);
    driver.reply("n0", "SUCCEEDED", { futures: true });
    driver.answer("readDynamic", made(MADE));
    expect(driver.request("n0/dn0").id?.nodeExecutionId?.nodeId).toBe("n0-1-dn0");
  });

  it("may contain dynamic tasks down to a limit of nesting", () => {
    const driver = expanded({ maxDynamicDepth: 2 });
    driver.reply("n0/dn0", "SUCCEEDED", { futures: true });
    driver.answer("readDynamic", made(MADE));
    driver.reply("n0/dn0/dn0", "SUCCEEDED", { futures: true });
    expect(driver.resource.status.nodeStatus?.["n0"]).toMatchObject({ phase: 6 });
    expect(driver.resource.status.error?.message).toContain("nested more than 2 deep");
  });
});

describe("the next process", () => {
  it("reads the graph again and continues with its nodes", () => {
    const driver = expanded();
    driver.reply("n0/dn0", "SUCCEEDED", { outputs: numbers({ o0: 4 }) });
    const later = driver.restart();
    later.observe({ kind: "load" });
    expect(later.takeRequests()).toEqual([]);
    expect(later.pendingCalls("readDynamic")[0]).toMatchObject({ compiledBefore: true });
    later.answer("readDynamic", made(MADE));
    expect(later.takeRequests()).toEqual(["n0/dn1/0 RUN"]);
    later.reply("n0/dn1", "SUCCEEDED", { outputs: numbers({ o0: 5 }) });
    later.observe({ kind: "outputsWritten", uri: later.writes.at(-1) ?? "" });
    expect(later.request("n1").inputs).toEqual(numbers({ a: 5 }));
    expect(later.resource.status).toEqual(later.run.status);
  });

  it("requests the graph when the previous process ended before reading it", () => {
    const driver = Driver.of(OUTER);
    driver.reply("n0", "SUCCEEDED", { futures: true });
    const later = driver.restart();
    later.observe({ kind: "load" });
    later.answer("readDynamic", made(MADE));
    expect(later.takeRequests()).toEqual(["n0/dn0/0 RUN"]);
  });

  it("reads the graph to abort its nodes", () => {
    const later = expanded().restart({}, true);
    later.observe({ kind: "load" });
    expect(later.takeRequests()).toEqual([]);
    later.answer("readDynamic", made(MADE));
    expect(later.takeRequests()).toEqual(["n0/dn0/0 ABORT"]);
    later.reply("n0/dn0", "ABORTED");
    expect(later.resource.status.phase).toBe(6);
  });

  it("fails the node completely when the graph no longer exists", () => {
    const later = expanded().restart();
    later.observe({ kind: "load" });
    later.answer("readDynamic", { kind: "refused", code: "DATA_LOSS", message: "gone" });
    expect(later.resource.status.nodeStatus?.["n0"]).toMatchObject({ phase: 6 });
    expect(later.resource.status).toEqual(later.run.status);
  });

  describe.each([
    ["before its graph was read", false],
    ["while its graph ran", true],
  ])("continues a cached node that was restored %s", (_, entered) => {
    const config = { cache: defaultCacheConfig };
    const noHit = { kind: "value", value: undefined } as const;
    const ours = { kind: "value", value: { held: "byUs", heartbeatMs: 10_000 } } as const;
    const key = create(CatalogMetadataSchema, { artifactTag: { artifactId: "a", name: "t" } });

    function restored(serialize: boolean, more: Partial<EngineConfig> = {}): Driver {
      const all = { ...config, ...more };
      const nodes = {
        first: { kind: "task" },
        n0: { kind: "task", inputs: { a: "first.o0" }, attempts: 2, cache: { task: "c", serialize } },
      } as const;
      const driver = Driver.of({ main: { nodes, outputs: { o0: "n0.o0" } } }, all);
      driver.reply("first", "SUCCEEDED", { outputs: numbers({ o0: 1 }) });
      for (const uri of driver.writes) driver.observe({ kind: "outputsWritten", uri });
      for (const uri of driver.reads) driver.observe({ kind: "outputsRead", uri, result: { kind: "value", value: numbers({ o0: 1 }) } });
      driver.answer("catalogGet", noHit);
      if (serialize) {
        driver.answer("catalogReserve", ours);
        driver.answer("catalogGet", noHit);
      }
      driver.reply("n0", "SUCCEEDED", { futures: true, deck: true });
      if (entered) driver.answer("readDynamic", made(MADE));
      const later = driver.restart(all);
      later.observe({ kind: "load" });
      return later;
    }

    function finish(driver: Driver): void {
      driver.answer("readDynamic", made(MADE));
      driver.reply("n0/dn0", "SUCCEEDED", { outputs: numbers({ o0: 4 }) });
      driver.reply("n0/dn1", "SUCCEEDED", { outputs: numbers({ o0: 5 }) });
      driver.observe({ kind: "outputsWritten", uri: driver.writes.at(-1) ?? "" });
    }

    it("with its reservation, and stores its outputs", () => {
      const later = restored(true);
      expect(later.pendingCalls("catalogReserve")).toMatchObject([{ owner: "exec-n0-0" }]);
      later.answer("catalogReserve", ours);
      later.advance(10_000);
      expect(later.pendingCalls("catalogReserve")).toHaveLength(1);
      finish(later);
      expect(later.pendingCalls("catalogPut")).toMatchObject([{ outputs: { value: numbers({ o0: 5 }) }, owner: "exec-n0-0" }]);
      later.answer("catalogPut", { kind: "value", value: key });
      expect(lastEvent(later, "n0")?.targetMetadata.value).toMatchObject({ cacheStatus: CatalogCacheStatus.CACHE_POPULATED });
    });

    it("without a reservation where calls are not serialized", () => {
      const later = restored(false);
      finish(later);
      expect(later.pendingCalls("catalogReserve")).toEqual([]);
      expect(later.pendingCalls("catalogPut")).toMatchObject([{ outputs: { value: numbers({ o0: 5 }) }, owner: undefined }]);
    });

    it("once its inputs have been read from the blob store", () => {
      const later = restored(true, { maxTotalInlineOutputBytes: 0 });
      expect(later.pendingCalls("catalogReserve")).toEqual([]);
      const [uri = ""] = later.reads;
      expect(uri).toMatch(/first\/data\/0\/outputs\.pb$/);
      later.observe({ kind: "outputsRead", uri, result: { kind: "value", value: numbers({ o0: 1 }) } });
      expect(later.pendingCalls("catalogReserve")).toMatchObject([{ owner: "exec-n0-0" }]);
    });

    it("without the cache when its inputs are lost", () => {
      const later = restored(true, { maxTotalInlineOutputBytes: 0 });
      later.answer("readDynamic", made(MADE));
      for (let read = 0; read < later.reads.length; read++)
        later.observe({ kind: "outputsRead", uri: later.reads[read] ?? "", result: { kind: "missing" } });
      expect(later.takeRequests()).toEqual(["n0/dn0/0 RUN"]);
    });

    it("with the deck of its attempt", () => {
      const later = restored(false);
      later.answer("readDynamic", made(MADE));
      const deckUri = "s3://my-s3-bucket/metadata/propeller/p-d-exec/n0/data/0/deck.html";
      expect(lastEvent(later, "n0")).toMatchObject({ phase: NodeExecution_Phase.DYNAMIC_RUNNING, deckUri });
      later.reply("n0/dn0", "FAILED", { recoverable: false });
      expect(lastEvent(later, "n0")).toMatchObject({ phase: NodeExecution_Phase.FAILED, deckUri });
    });
  });
});
