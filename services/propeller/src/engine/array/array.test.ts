import { TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Literal, LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { describe, expect, it } from "vitest";
import { Driver } from "../../../simulation/fixtures/driver.js";
import { type ArraySpec, numbers, type WorkflowSpec } from "../../../simulation/fixtures/workflow.js";

function mapped(array: Partial<ArraySpec>, items: readonly number[] = [5, 6, 7]): WorkflowSpec {
  const n0: ArraySpec = { kind: "array", run: { kind: "task" }, lists: { a: items }, ...array };
  return { main: { nodes: { n0, n1: { kind: "task", inputs: { all: "n0.o0" } } }, outputs: { o0: "n1.o0" } } };
}

/** Integers, `null` for None. */
function valueOf(literal: Literal | undefined): unknown {
  const { value } = literal ?? {};
  if (value?.case === "collection") return value.value.literals.map(valueOf);
  if (value?.case !== "scalar") return undefined;
  const scalar = value.value.value;
  if (scalar.case === "noneType") return null;
  return scalar.case === "primitive" ? Number(scalar.value.value.value) : undefined;
}

function valuesOf(map: LiteralMap | undefined): Record<string, unknown> {
  return Object.fromEntries(Object.entries(map?.literals ?? {}).map(([name, literal]) => [name, valueOf(literal)]));
}

/** Items in the published events, with their phases. */
function reports(d: Driver): string[] {
  return d.events.flatMap(({ event }) => {
    if (event.event.case !== "task") return [];
    const { phase, phaseVersion, metadata } = event.event.value;
    const items = metadata?.externalResources.map((item) => `${item.index}/${item.retryAttempt} ${TaskExecution_Phase[item.phase]}`) ?? [];
    return [`${TaskExecution_Phase[phase]} ${phaseVersion}: ${items.join(", ")}`];
  });
}

const out = (value: number) => ({ outputs: numbers({ o0: value }) });

describe("a map", () => {
  it("runs a task for each item and gathers the outputs in order", () => {
    const d = Driver.of(mapped({ bound: { b: 9 } }));
    expect(d.takeRequests()).toEqual(["n0/n0/0 RUN", "n0/n1/0 RUN", "n0/n2/0 RUN"]);
    const request = d.request("n0/n1");
    expect(valuesOf(request.inputs)).toEqual({ a: 6, b: 9 });
    expect(request).toMatchObject({
      generatedName: "exec-n0-0-n1-0",
      inputUri: "s3://my-s3-bucket/metadata/propeller/p-d-exec/n0/data/1/0/inputs.pb",
      outputPrefix: "s3://my-s3-bucket/metadata/propeller/p-d-exec/n0/data/0/1/0",
      partOfArray: true,
      arrayItem: { index: 1, lists: true, position: 0, boundInputs: ["b"] },
    });
    expect(Object.fromEntries(request.environment.map(({ key, value }) => [key, value]))).toEqual({
      BATCH_JOB_ARRAY_INDEX_VAR_NAME: "FLYTE_K8S_ARRAY_INDEX",
      FLYTE_K8S_ARRAY_INDEX: "1",
      BATCH_JOB_ARRAY_INDEX_OFFSET: "-1",
    });
    for (const [item, value] of [
      [2, 70],
      [0, 50],
      [1, 60],
    ] as const)
      d.reply(`n0/n${item}`, "SUCCEEDED", out(value));
    expect(valuesOf(d.request("n1").inputs)).toEqual({ all: [50, 60, 70] });
    expect(d.resource.status.nodeStatus?.["n0"]).toEqual({
      phase: 5,
      startedAt: "2026-11-21T10:00:00Z",
      stoppedAt: "2026-11-21T10:00:00Z",
      outputs: expect.any(String) as string,
      arrayNodeStatus: {
        phase: 3,
        subattempts: { item: 3, count: 3, BitSet: [0] },
        subsysfailures: { item: 2, count: 3, BitSet: [0] },
        taskPhaseVersion: 1,
      },
    });
  });

  it("reports its items as resources of one task execution, and not as nodes", () => {
    const d = Driver.of(mapped({}));
    d.reply("n0/n0", "RUNNING");
    d.advance(100);
    d.reply("n0/n1", "RUNNING");
    expect(reports(d)).toEqual(["QUEUED 0: 0/0 UNDEFINED, 1/0 UNDEFINED, 2/0 UNDEFINED", "RUNNING 1: 0/0 RUNNING, 1/0 QUEUED, 2/0 QUEUED"]);
    d.advance(500);
    expect(reports(d).at(-1)).toBe("RUNNING 2: 1/0 RUNNING");
    for (const item of [0, 1, 2]) d.reply(`n0/n${item}`, "SUCCEEDED", out(item));
    expect(reports(d).at(-1)).toBe("SUCCEEDED 0: 0/0 SUCCEEDED, 1/0 SUCCEEDED, 2/0 SUCCEEDED");
    expect(d.eventTexts.filter((text) => text.startsWith("n0"))).toEqual([
      "n0 QUEUED",
      "n0 RUNNING",
      "n0/0 QUEUED",
      "n0/0 RUNNING",
      "n0/0 RUNNING",
      "n0/0 SUCCEEDED",
      "n0 SUCCEEDED",
    ]);
  });

  it("runs as many items concurrently as its parallelism allows, regardless of the workflow's max parallelism", () => {
    const d = Driver.of({ ...mapped({ parallelism: 2 }), maxParallelism: 1 });
    expect(d.takeRequests()).toEqual(["n0/n0/0 RUN", "n0/n1/0 RUN"]);
    d.reply("n0/n1", "SUCCEEDED", out(1));
    expect(d.takeRequests()).toEqual(["n0/n2/0 RUN"]);
  });

  it("counts nodes within its items towards the workflow's max parallelism", () => {
    const graphs = { g: { nodes: { m: { kind: "task", inputs: { x: ".a" } } }, outputs: { o0: "m.o0" } } } as const;
    const d = Driver.of({ ...mapped({ run: { kind: "sub", graph: "g" } }, [1, 2]), graphs, maxParallelism: 1 });
    expect(d.takeRequests()).toEqual(["n0/n0/m/0 RUN"]);
    d.reply("n0/n0/m", "SUCCEEDED", out(10));
    expect(d.takeRequests()).toEqual(["n0/n1/m/0 RUN"]);
  });

  it("may use the workflow's max parallelism for its items", () => {
    const d = Driver.of({ ...mapped({}), maxParallelism: 2 }, { arrayParallelism: "hybrid" });
    expect(d.takeRequests()).toEqual(["n0/n0/0 RUN", "n0/n1/0 RUN"]);
    d.reply("n0/n0", "SUCCEEDED", out(1));
    expect(d.takeRequests()).toEqual(["n0/n2/0 RUN"]);
  });

  it("fails with its items' errors as soon as it cannot succeed, and aborts the other items", () => {
    const d = Driver.of(mapped({}));
    d.reply("n0/n1", "FAILED", { recoverable: false, code: "E", message: "odd" });
    expect(d.takeRequests().slice(3)).toEqual(["n0/n0/0 ABORT", "n0/n2/0 ABORT"]);
    d.reply("n0/n0", "ABORTED");
    d.reply("n0/n2", "ABORTED");
    expect(d.resource.status.nodeStatus?.["n0"]).toMatchObject({
      phase: 6,
      error: { code: "E", kind: "USER", message: "[1]: odd\n" },
      arrayNodeStatus: { phase: 2, executionError: { message: "[1]: odd\n", kind: 1 } },
    });
    expect(reports(d).at(-1)).toBe("FAILED 0: 0/0 ABORTED, 1/0 FAILED, 2/0 ABORTED");
    expect(d.eventTexts.at(-1)).toBe("workflow FAILED");
  });

  it("outputs None for failed items within the allowed number, once all have ended", () => {
    const d = Driver.of(mapped({ minRatio: 0.5 }));
    d.reply("n0/n1", "FAILED", { recoverable: false, message: "odd" });
    d.reply("n0/n0", "SUCCEEDED", out(1));
    d.reply("n0/n2", "SUCCEEDED", out(3));
    expect(valuesOf(d.request("n1").inputs)).toEqual({ all: [1, null, 3] });
  });

  it("retries items with budgets of their own", () => {
    const d = Driver.of(mapped({ run: { kind: "task", attempts: 2 } }));
    d.reply("n0/n1", "FAILED");
    d.advance(1_000);
    expect(d.takeRequests().slice(3)).toEqual(["n0/n1/0 FINALIZE", "n0/n1/1 RUN"]);
    expect(d.request("n0/n1").generatedName).toBe("exec-n0-0-n1-1");
    for (const item of [0, 1, 2]) d.reply(`n0/n${item}`, "SUCCEEDED", out(item));
    expect(reports(d).flatMap((text) => text.split(": ")[1]?.split(", ") ?? [])).toEqual(
      expect.arrayContaining(["1/0 FAILED", "1/1 SUCCEEDED"]),
    );
    expect(d.resource.status.nodeStatus?.["n0"]?.arrayNodeStatus?.subattempts).toEqual({ item: 3, count: 3, BitSet: [32] });
  });

  it("fails for lists of different lengths with those lengths, and succeeds at once for empty lists", () => {
    const unequal = Driver.of(mapped({ lists: { a: [1, 2], b: [1, 2, 3] } }));
    expect(unequal.resource.status.nodeStatus?.["n0"]?.error).toEqual({
      code: "InvalidArrayLength",
      kind: "USER",
      message: "input arrays have different lengths: expecting '2' found '3'",
    });
    expect(reports(unequal)).toEqual(["ABORTED 0: "]);
    const empty = Driver.of(mapped({}, []));
    expect(valuesOf(empty.request("n1").inputs)).toEqual({ all: [] });
    expect(empty.takeEventTexts()).toEqual(expect.arrayContaining(["n0 RUNNING", "n0 SUCCEEDED"]));
    expect(reports(empty)).toEqual(["SUCCEEDED 0: "]);
  });

  it("aborts its items when the workflow is aborted", () => {
    const d = Driver.of(mapped({ parallelism: 2 }));
    d.observe({ kind: "abort", reason: "enough" });
    expect(d.takeRequests().slice(2)).toEqual(["n0/n0/0 ABORT", "n0/n1/0 ABORT"]);
    d.reply("n0/n0", "ABORTED");
    d.reply("n0/n1", "ABORTED");
    expect(reports(d).at(-1)).toBe("ABORTED 0: 0/0 ABORTED, 1/0 ABORTED, 2/0 UNDEFINED");
    expect(d.resource.status.phase).toBe(6);
  });

  it("continues after a restart", () => {
    const d = Driver.of(mapped({ parallelism: 2 }));
    d.reply("n0/n0", "SUCCEEDED", out(50));
    d.reply("n0/n1", "RUNNING");
    const again = d.restart();
    again.observe({ kind: "load" });
    expect(again.takeRequests()).toEqual(["n0/n1/0 RUN", "n0/n2/0 RUN"]);
    expect(valuesOf(again.request("n0/n1").inputs)).toEqual({ a: 6 });
    again.reply("n0/n1", "SUCCEEDED", out(60));
    again.reply("n0/n2", "SUCCEEDED", out(70));
    expect(valuesOf(again.request("n1").inputs)).toEqual({ all: [50, 60, 70] });
  });

  it("runs sub-workflows as items, whose nodes are reported as nodes", () => {
    const spec = mapped({ run: { kind: "sub", graph: "g" } }, [1, 2]);
    const d = Driver.of({ ...spec, graphs: { g: { nodes: { m: { kind: "task", inputs: { x: ".a" } } }, outputs: { o0: "m.o0" } } } });
    expect(d.takeRequests()).toEqual(["n0/n0/m/0 RUN", "n0/n1/m/0 RUN"]);
    expect(valuesOf(d.request("n0/n1/m").inputs)).toEqual({ x: 2 });
    d.reply("n0/n0/m", "SUCCEEDED", out(10));
    d.reply("n0/n1/m", "SUCCEEDED", out(20));
    expect(valuesOf(d.request("n1").inputs)).toEqual({ all: [10, 20] });
    expect(d.eventTexts).toContain("n0-0-n1 SUCCEEDED");
    expect(reports(d)).toEqual([]);
  });

  it("waits for large outputs of its items to be written to the blob store", () => {
    const d = Driver.of(mapped({}), { maxTotalInlineOutputBytes: 0 });
    for (const item of [0, 1]) {
      d.reply(`n0/n${item}`, "SUCCEEDED", out(item));
      d.observe({ kind: "outputsWritten", uri: d.writes.at(-1) ?? "" });
    }
    // A new process has no state in memory.
    const again = d.restart();
    again.observe({ kind: "load" });
    again.reply("n0/n2", "SUCCEEDED", out(2));
    expect(again.reads.map((uri) => uri.replace(/^.*n0\/data/, ""))).toEqual(["/0/0/0/outputs.pb", "/0/1/0/outputs.pb"]);
    for (const uri of again.reads) again.observe({ kind: "outputsRead", uri, result: { kind: "value", value: numbers({ o0: 8 }) } });
    expect(valuesOf(again.request("n1").inputs)).toEqual({ all: [8, 8, 2] });
  });

  it("bounds the error texts of failed items", () => {
    const items = Array.from({ length: 40 }, (_, index) => index);
    const d = Driver.of(mapped({ minRatio: 0 }, items));
    for (const item of items) d.reply(`n0/n${item}`, "FAILED", { recoverable: false, message: `${item} `.repeat(2_000) });
    expect(JSON.stringify(d.resource.status).length).toBeLessThan(250_000);
    expect(d.resource.status.nodeStatus?.["n0"]?.arrayNodeStatus?.executionError?.message).toMatch(/and many more\.$/);
  });
});

describe("a large map", () => {
  it("costs no more per item with ten thousand items than a small one", () => {
    const items = Array.from({ length: 10_000 }, (_, index) => index);
    const d = Driver.of(mapped({ parallelism: 100 }, items));
    let [answered, written] = [0, 0];
    const answerWrites = () => {
      for (; written < d.writes.length; written++) d.observe({ kind: "outputsWritten", uri: d.writes[written] ?? "" });
    };
    answerWrites();
    // The test's copies of the status cost more than the engine, so it makes few.
    d.deferWrites = true;
    for (let at = 0; at < d.requests.length; at++) {
      const path = d.requests[at]?.request.nodePath ?? "";
      if (path !== "n1") d.reply(path, "SUCCEEDED", out(answered++));
      answerWrites();
      if (at === d.requests.length - 1) d.flush();
    }
    expect(answered).toBe(10_000);
    // Outputs too large for a message are written, and consumers read them.
    expect(d.writes.at(-1)).toMatch(/n0\/data\/0\/outputs\.pb$/);
    expect(d.reads).toEqual([d.writes.at(-1)]);
  });
});
