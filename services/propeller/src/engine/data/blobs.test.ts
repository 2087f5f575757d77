import { describe, expect, it } from "vitest";
import { Driver } from "../../../simulation/fixtures/driver.js";
import { numbers, type WorkflowSpec } from "../../../simulation/fixtures/workflow.js";

const DIR = "s3://my-s3-bucket/metadata/propeller/p-d-exec";
const chain: WorkflowSpec = {
  inputs: { a: 7 },
  main: {
    nodes: { n0: { kind: "task", inputs: { a: ".a" } }, n1: { kind: "task", inputs: { a: "n0.o0" } } },
    outputs: { o0: "n1.o0" },
  },
};

describe("outputs by reference", () => {
  it("are read when a consumer needs them, once for all consumers", () => {
    const d = Driver.of({
      main: { nodes: { n0: { kind: "task" }, n1: { kind: "task", inputs: { a: "n0.o0" } }, n2: { kind: "task", inputs: { a: "n0.o0" } } } },
    });
    d.reply("n0", "SUCCEEDED");
    const uri = `${DIR}/n0/data/0/outputs.pb`;
    expect(d.reads).toEqual([uri]);
    expect(d.takeRequests()).toEqual(["n0/0 RUN"]);
    d.observe({ kind: "outputsRead", uri, result: { kind: "value", value: numbers({ o0: 5 }) } });
    expect(d.takeRequests().sort()).toEqual(["n1/0 RUN", "n2/0 RUN"]);
    expect(d.request("n2").inputs).toEqual(numbers({ a: 5 }));
  });

  it("are read again after an error, and fail the consumer if they do not exist", () => {
    const d = Driver.of(chain);
    d.reply("n0", "SUCCEEDED");
    const uri = `${DIR}/n0/data/0/outputs.pb`;
    d.observe({ kind: "outputsRead", uri, result: { kind: "error", message: "later" } });
    d.advance(200);
    expect(d.reads).toEqual([uri, uri]);
    d.observe({ kind: "outputsRead", uri, result: { kind: "missing" } });
    expect(d.resource.status).toMatchObject({ phase: 5, error: { code: "BindingResolutionFailure", kind: "SYSTEM" } });
  });

  it("are not read again when an earlier read returns them after an error", () => {
    const d = Driver.of({
      main: {
        nodes: { n0: { kind: "task" }, m0: { kind: "task" }, n1: { kind: "task", inputs: { a: "n0.o0", b: "m0.o0" } } },
      },
    });
    d.reply("n0", "SUCCEEDED");
    d.reply("m0", "SUCCEEDED");
    const uri = `${DIR}/n0/data/0/outputs.pb`;
    d.observe({ kind: "outputsRead", uri, result: { kind: "error", message: "later" } });
    // Result of a read that an earlier run started.
    d.observe({ kind: "outputsRead", uri, result: { kind: "value", value: numbers({ o0: 5 }) } });
    d.now += 1_000;
    d.observe({ kind: "timer" });
    expect(d.run.nextTimerAt).toBeGreaterThan(d.now);
    expect(d.reads.filter((read) => read === uri)).toHaveLength(1);
  });

  it("are written before the success is reported if they are too large for the status", () => {
    const d = new Driver(Driver.of(chain).workflow, { maxTotalInlineOutputBytes: 0 });
    d.observe({ kind: "load" });
    d.takeEventTexts();
    d.reply("n0", "SUCCEEDED", { outputs: numbers({ o0: 5 }) });
    const uri = `${DIR}/n0/data/0/outputs.pb`;
    expect([d.writes, d.takeEventTexts()]).toEqual([[uri], []]);
    d.observe({ kind: "outputsWritten", uri, error: "no" });
    d.advance(200);
    expect(d.writes).toEqual([uri, uri]);
    d.observe({ kind: "outputsWritten", uri });
    expect(d.takeEventTexts()).toEqual(["n0 SUCCEEDED"]);
    expect(d.reads).toEqual([uri]);
  });

  it("stay in the status until admin has recorded the end, and are removed then", () => {
    const d = Driver.of(chain);
    d.reply("n0", "SUCCEEDED", { outputs: numbers({ o0: 5 }) });
    expect(d.resource.status.nodeStatus?.["n0"]?.outputs).toBeDefined();
    d.reply("n1", "RUNNING");
    expect(d.resource.status.nodeStatus?.["n0"]?.outputs).toBeDefined();
    d.reply("n1", "SUCCEEDED", { outputs: numbers({ o0: 6 }) });
    expect(d.resource.status.phase).toBe(3);
    expect(d.resource.status.nodeStatus?.["n0"]).toEqual({
      phase: 5,
      stoppedAt: "2026-11-21T10:00:00Z",
      outputs: expect.any(String) as string,
    });
    d.observe({ kind: "endRecorded", phase: "SUCCEEDED" });
    expect(d.resource.status.nodeStatus?.["n0"]).toEqual({ phase: 5, stoppedAt: "2026-11-21T10:00:00Z" });
  });
});

describe("inputs that are too large for a message", () => {
  it("are written to the blob store before the task request is sent", () => {
    const d = new Driver(Driver.of(chain).workflow, { maxInlineOutputBytes: 4 });
    d.observe({ kind: "load" });
    const uri = `${DIR}/n0/data/inputs.pb`;
    expect([d.writes, d.takeRequests()]).toEqual([[uri], []]);
    d.observe({ kind: "outputsWritten", uri });
    expect(d.takeRequests()).toEqual(["n0/0 RUN"]);
    expect(d.request("n0")).toMatchObject({ inputsWritten: true, inputUri: uri });
    expect(d.request("n0").inputs).toBeUndefined();
  });
});

describe("inputs for a control plane that reads them from the URI of the task execution", () => {
  it("are written before the attempt starts, and are sent to the plugin by value", () => {
    const d = Driver.of(chain, { storesInputs: true });
    const uri = `${DIR}/n0/data/inputs.pb`;
    expect([d.writes, d.takeRequests()]).toEqual([[uri], []]);
    d.observe({ kind: "outputsWritten", uri });
    expect(d.takeRequests()).toEqual(["n0/0 RUN"]);
    const queued = d.events.find(({ event: { event } }) => event.case === "node" && event.value.id?.nodeId === "n0");
    expect(queued?.event).toMatchObject({ inputs: undefined, event: { value: { inputValue: { case: "inputUri", value: uri } } } });
    expect(d.request("n0")).toMatchObject({ inputUri: uri, inputs: numbers({ a: 7 }), inputsWritten: false });
    d.reply("n0", "SUCCEEDED", { outputs: numbers({ o0: 5 }) });
    expect(d.writes).toEqual([uri, `${DIR}/n1/data/inputs.pb`]);
  });

  it("are written for an array and not for each of its items", () => {
    const d = Driver.of(
      { main: { nodes: { n0: { kind: "array", run: { kind: "task" }, lists: { a: [1, 2] } } } } },
      { storesInputs: true },
    );
    const uri = `${DIR}/n0/data/inputs.pb`;
    expect(d.writes).toEqual([uri]);
    d.observe({ kind: "outputsWritten", uri });
    expect(d.takeRequests()).toEqual(["n0/n0/0 RUN", "n0/n1/0 RUN"]);
    expect(d.writes).toEqual([uri]);
  });
});
