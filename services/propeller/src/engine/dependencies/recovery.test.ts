import { create } from "@bufbuild/protobuf";
import { CatalogCacheStatus } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import { IdentifierSchema, ResourceType, WorkflowExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { describe, expect, it } from "vitest";
import { Driver } from "../../../simulation/fixtures/driver.js";
import { numbers, type WorkflowSpec } from "../../../simulation/fixtures/workflow.js";
import { defaultCacheConfig } from "../cache/config.js";
import type { CallResult } from "../calls/call.js";
import type { PriorNode } from "../calls/recovery.js";

const spec: WorkflowSpec = {
  inputs: { a: 7 },
  recovers: "former",
  main: {
    nodes: {
      n0: { kind: "task", inputs: { a: ".a" }, cache: { task: "c" } },
      n1: { kind: "sub", graph: "g", inputs: { a: "n0.o0" } },
    },
    outputs: { o0: "n1.o0" },
  },
  graphs: { g: { nodes: { n0: { kind: "task", inputs: { a: ".a" } } }, outputs: { o0: "n0.o0" } } },
};

const task = (version: string) =>
  create(IdentifierSchema, { resourceType: ResourceType.TASK, project: "p", domain: "d", name: "c", version });
const former: PriorNode = {
  succeeded: true,
  inputs: numbers({ a: 7 }),
  outputs: numbers({ o0: 1 }),
  tasks: [task("v1")],
  checkpointUri: "s3://former/checkpoints",
  deckUri: "",
  cacheStatus: CatalogCacheStatus.CACHE_DISABLED,
  catalogKey: undefined,
  childExecution: undefined,
};

function report(d: Driver, nodeId: string, value: PriorNode | undefined): void {
  answer(d, nodeId, { kind: "value", value });
}

function answer(d: Driver, nodeId: string, given: CallResult): void {
  const pending = d.asks.findLast(({ call }) => call.kind === "readPriorNode" && call.id.nodeId === nodeId);
  if (pending === undefined) throw new Error(`no call for ${nodeId} is pending`);
  d.observe({ kind: "callResult", id: pending.id, result: given });
}

function eventOf(d: Driver, nodeId: string) {
  const found = d.events.findLast(({ event: { event } }) => event.case === "node" && event.value.id?.nodeId === nodeId)?.event;
  return { told: found, node: found?.event.case === "node" ? found.event.value : undefined };
}

describe("a node of a recovering execution", () => {
  it("reuses the outputs of its original, which had the same inputs and task", () => {
    const d = Driver.of(spec);
    expect(d.asks).toMatchObject([{ call: { kind: "readPriorNode", id: { nodeId: "n0", executionId: { name: "former" } } } }]);
    expect(d.takeEventTexts()).toEqual(["workflow RUNNING", "start-node SUCCEEDED"]);
    report(d, "n0", former);
    expect(d.takeEventTexts()).toEqual(["n0 RECOVERED"]);
    expect(d.takeRequests()).toEqual([]);
    expect(d.resource.status.nodeStatus?.["n0"]).toMatchObject({ phase: 12 });
    const { told, node } = eventOf(d, "n0");
    expect(told).toMatchObject({ inputs: numbers({ a: 7 }), outputs: numbers({ o0: 1 }) });
    expect(node?.outputResult.value).toBe("s3://my-s3-bucket/metadata/propeller/p-d-exec/n0/data/0/outputs.pb");
    expect(node?.targetMetadata).toMatchObject({ case: "taskNodeMetadata", value: { checkpointUri: "" } });
    report(d, "n1", undefined);
    expect(d.asks.at(-1)).toMatchObject({ call: { id: { nodeId: "n1-0-n0" } } });
    report(d, "n1-0-n0", { ...former, inputs: numbers({ a: 1 }), tasks: [] });
    expect(d.takeEventTexts()).toContain("workflow SUCCEEDED");
    expect(d.takeRequests()).toEqual([]);
  });

  it.each<[string, PriorNode | undefined]>([
    ["did not exist", undefined],
    ["failed", { ...former, succeeded: false }],
    ["had other inputs", { ...former, inputs: numbers({ a: 8 }) }],
    ["has lost outputs that other nodes need", { ...former, outputs: undefined }],
    ["had additional inputs", { ...former, inputs: numbers({ a: 7, b: 1 }) }],
    ["has lost its inputs", { ...former, inputs: undefined }],
    ["ran another version of the task", { ...former, tasks: [task("v0")] }],
  ])("runs when its original %s", (_, value) => {
    const d = Driver.of(spec);
    report(d, "n0", value);
    expect(d.takeRequests()).toEqual(["n0/0 RUN"]);
    expect(d.takeEventTexts()).toContain("n0 QUEUED");
  });

  it("continues from the checkpoint of its failed original, also after a restart", () => {
    const d = Driver.of(spec);
    report(d, "n0", { ...former, succeeded: false });
    expect(d.request("n0").previousCheckpointUri).toBe("s3://former/checkpoints");
    d.reply("n0", "RUNNING");
    const again = d.restart();
    again.observe({ kind: "load" });
    expect(again.request("n0").previousCheckpointUri).toBe("s3://former/checkpoints");
    const other = Driver.of(spec);
    report(other, "n0", { ...former, inputs: numbers({ a: 8 }) });
    expect(other.request("n0").previousCheckpointUri).toBe("");
  });

  it("runs when admin refuses to return its original, and waits while admin is unavailable", () => {
    const d = Driver.of(spec);
    answer(d, "n0", { kind: "error", message: "down" });
    d.advance(60_000);
    expect(d.takeRequests()).toEqual([]);
    answer(d, "n0", { kind: "refused", code: "PERMISSION_DENIED", message: "no" });
    expect(d.takeRequests()).toEqual(["n0/0 RUN"]);
  });

  it("asks again after a restart, unless it has its outputs", () => {
    const d = Driver.of(spec);
    const again = d.restart();
    again.observe({ kind: "load" });
    report(again, "n0", former);
    const third = again.restart();
    third.observe({ kind: "load" });
    expect(third.asks.map(({ call }) => (call.kind === "readPriorNode" ? call.id.nodeId : call.kind))).toEqual(["n1"]);
  });

  it("reports the same after a restart when its original had no outputs", () => {
    const d = Driver.of({ ...spec, main: { nodes: { n0: { kind: "task", inputs: { a: ".a" } }, n1: { kind: "sleep", ms: 1_000 } } } });
    report(d, "n0", { ...former, outputs: undefined, tasks: [] });
    const again = d.restart();
    again.observe({ kind: "load" });
    const [first, second] = [eventOf(d, "n0"), eventOf(again, "n0")];
    expect(first.told?.outputs).toEqual(numbers({}));
    expect(second.told?.outputs).toEqual(numbers({}));
    expect(second.node).toMatchObject({ outputResult: first.node?.outputResult, targetMetadata: first.node?.targetMetadata });
  });

  it("reads its original before it looks into the cache", () => {
    const d = Driver.of(spec, { cache: defaultCacheConfig });
    expect(d.asks.map(({ call }) => call.kind)).toEqual(["readPriorNode"]);
    report(d, "n0", undefined);
    expect(d.asks.at(-1)).toMatchObject({ call: { kind: "catalogGet" } });
  });

  it("keeps the child execution of its original, and reuses all its contents", () => {
    const d = Driver.of({ ...spec, main: { nodes: { n1: { kind: "sub", graph: "g", inputs: { a: ".a" } } }, outputs: { o0: "n1.o0" } } });
    const childExecution = create(WorkflowExecutionIdentifierSchema, { project: "p", domain: "d", name: "child" });
    report(d, "n1", { ...former, tasks: [], childExecution });
    expect(eventOf(d, "n1").node?.targetMetadata).toMatchObject({
      case: "workflowNodeMetadata",
      value: { executionId: { name: "child" } },
    });
    expect(d.takeEventTexts()).toContain("workflow SUCCEEDED");
  });

  it("stops waiting when the execution is aborted", () => {
    const d = Driver.of(spec);
    d.observe({ kind: "abort" });
    expect(d.takeEventTexts()).toContain("workflow ABORTED");
    expect(d.takeRequests()).toEqual([]);
  });
});
