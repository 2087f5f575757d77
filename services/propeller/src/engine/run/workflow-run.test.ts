import { create } from "@bufbuild/protobuf";
import { TypedInterfaceSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { describe, expect, it } from "vitest";
import { Driver } from "../../../simulation/fixtures/driver.js";
import { type NodeSpec, numbers, type WorkflowSpec } from "../../../simulation/fixtures/workflow.js";

const one = numbers({ o0: 1 });
const chain: WorkflowSpec = {
  inputs: { a: 7 },
  main: {
    nodes: { n0: { kind: "task", inputs: { a: ".a" } }, n1: { kind: "task", inputs: { a: "n0.o0" } } },
    outputs: { o0: "n1.o0" },
  },
};

describe("a chain", () => {
  it("runs node after node, reports the events of Go Flyte, and ends with outputs", () => {
    const d = Driver.of(chain);
    expect(d.takeRequests()).toEqual(["n0/0 RUN"]);
    expect(d.takeEventTexts()).toEqual(["workflow RUNNING", "start-node SUCCEEDED", "n0 QUEUED"]);
    expect(d.resource.status).toEqual({
      phase: 1,
      startedAt: "2026-11-21T10:00:00Z",
      lastUpdatedAt: "2026-11-21T10:00:00Z",
      message: "Workflow Started",
      dataDir: "s3://my-s3-bucket/metadata/propeller/p-d-exec",
      defVersion: 1,
      nodeStatus: {
        "start-node": { phase: 5, stoppedAt: "2026-11-21T10:00:00Z" },
        n0: { phase: 1, message: "node queued", queuedAt: "2026-11-21T10:00:00Z", lastUpdatedAt: "2026-11-21T10:00:00Z" },
      },
    });
    d.reply("n0", "RUNNING");
    expect(d.takeEventTexts()).toEqual(["n0 RUNNING"]);
    expect(d.resource.status.nodeStatus?.["n0"]).toMatchObject({
      phase: 2,
      message: "running",
      laStartedAt: "2026-11-21T10:00:00Z",
      TaskNodeStatus: { phase: 5 },
    });
    d.reply("n0", "SUCCEEDED", { outputs: one });
    expect(d.takeEventTexts()).toEqual(["n1 QUEUED", "n0 SUCCEEDED"]);
    expect(d.takeRequests()).toEqual(["n1/0 RUN"]);
    d.reply("n1", "SUCCEEDED", { outputs: numbers({ o0: 2 }) });
    expect(d.takeEventTexts()).toEqual([
      "end-node QUEUED",
      "workflow SUCCEEDING",
      "n1 SUCCEEDED",
      "end-node SUCCEEDED",
      "workflow SUCCEEDED",
    ]);
    const end = d.events.at(-1)?.event;
    expect(end?.outputs).toEqual(numbers({ o0: 2 }));
    expect(end?.event.value).toMatchObject({
      outputResult: { case: "outputUri", value: "s3://my-s3-bucket/metadata/propeller/p-d-exec/end-node/data/0/outputs.pb" },
    });
    d.observe({ kind: "endRecorded", phase: "SUCCEEDED" });
    expect(d.finished).toBe(true);
    expect(d.resource.metadata).toEqual({ labels: { "termination-status": "terminated", "completed-time": "2026-11-21.10" } });
    expect(d.resource.status).toEqual({
      phase: 3,
      startedAt: "2026-11-21T10:00:00Z",
      stoppedAt: "2026-11-21T10:00:00Z",
      lastUpdatedAt: "2026-11-21T10:00:00Z",
      dataDir: "s3://my-s3-bucket/metadata/propeller/p-d-exec",
      outputRef: "s3://my-s3-bucket/metadata/propeller/p-d-exec/end-node/data/0/outputs.pb",
      defVersion: 1,
      nodeStatus: Object.fromEntries(
        ["start-node", "n0", "n1", "end-node"].map((id) => [id, { phase: 5, stoppedAt: "2026-11-21T10:00:00Z" }]),
      ),
    });
    expect(d.run.nextTimerAt).toBeUndefined();
  });

  it("treats the status of a node named __proto__ as any other, and changes no inherited property", () => {
    const task: NodeSpec = { kind: "task" };
    const nodes: Record<string, NodeSpec> = { ["__proto__"]: task, constructor: task };
    const d = Driver.of({ main: { nodes } });
    expect(d.takeRequests()).toEqual(["__proto__/0 RUN", "constructor/0 RUN"]);
    for (const id of Object.keys(nodes)) d.reply(id, "RUNNING");
    expect(({} as { readonly phase?: unknown }).phase).toBeUndefined();
    const statuses = d.run.status.nodeStatus ?? {};
    for (const id of Object.keys(nodes))
      expect([id, Object.getOwnPropertyDescriptor(statuses, id)?.value]).toMatchObject([id, { phase: 2 }]);
    for (const id of Object.keys(nodes)) d.reply(id, "SUCCEEDED");
    expect(d.takeEventTexts()).toContain("workflow SUCCEEDED");
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it("starts successors before the status is durable, and holds terminal events until it is", () => {
    const d = Driver.of(chain);
    d.deferWrites = true;
    d.reply("n0", "SUCCEEDED", { outputs: one });
    expect(d.takeRequests()).toEqual(["n0/0 RUN", "n1/0 RUN"]);
    expect(d.takeEventTexts()).not.toContain("n0 SUCCEEDED");
    d.flush();
    expect(d.takeEventTexts()).toEqual(["n0 SUCCEEDED"]);
  });

  it("starts new attempts before the resource shows them; when another process may have started them, it waits and aborts all", () => {
    const { workflow } = Driver.of(chain);
    const taken = (isNew: boolean): Driver => {
      const driver = new Driver(workflow);
      driver.deferWrites = true;
      driver.observe({ kind: "load", isNew });
      return driver;
    };
    const first = taken(true);
    expect([first.takeRequests(), first.takeEventTexts()]).toEqual([
      ["n0/0 RUN"],
      ["workflow RUNNING", "start-node SUCCEEDED", "n0 QUEUED"],
    ]);
    first.reply("n0", "SUCCEEDED", { outputs: one });
    expect(first.takeRequests()).toEqual(["n1/0 RUN"]);
    const second = taken(false);
    expect([second.takeRequests(), second.takeEventTexts()]).toEqual([[], []]);
    second.flush();
    expect(second.takeRequests()).toEqual(["n0/0 RUN"]);

    const deleted = { ...workflow, deletionRequested: true };
    const aborted = new Driver(deleted);
    aborted.observe({ kind: "load", isNew: true });
    expect([aborted.run.terminal, aborted.takeRequests()]).toEqual([true, []]);
    const again = new Driver(deleted);
    again.observe({ kind: "load" });
    expect([again.run.terminal, again.takeRequests()]).toEqual([false, ["n0/0 ABORT"]]);
  });

  it("has all fields in its requests", () => {
    const d = Driver.of(chain, {});
    expect(d.request("n0")).toMatchObject({
      generatedName: "exec-n0-0",
      workflowKey: "p-d/exec",
      nodePath: "n0",
      namespace: "p-d",
      owner: { apiVersion: "flyte.lyft.com/v1alpha1", kind: "flyteworkflow", name: "exec", uid: "uid-exec" },
      inputs: numbers({ a: 7 }),
      inputsWritten: false,
      inputUri: "s3://my-s3-bucket/metadata/propeller/p-d-exec/n0/data/inputs.pb",
      outputPrefix: "s3://my-s3-bucket/metadata/propeller/p-d-exec/n0/data/0",
      rawOutputPrefix: expect.stringMatching(/^s3:\/\/my-s3-bucket\/data\/[a-z0-9]{2}\/exec-n0-0$/),
      labels: { "execution-id": "exec", "node-id": "n0", interruptible: "false" },
      previousCheckpointUri: "",
    });
  });
});

describe("an end that asks for cleanup", () => {
  it.each(["SUCCEEDED", "FAILED"] as const)("is followed by a request to finalize the attempt: %s", (phase) => {
    const d = Driver.of({ main: { nodes: { n0: { kind: "task" } } } });
    d.reply("n0", phase, { cleanup: true, recoverable: false });
    expect(d.takeRequests()).toEqual(["n0/0 RUN", "n0/0 FINALIZE"]);
    const other = Driver.of({ main: { nodes: { n0: { kind: "task" } } } });
    other.reply("n0", phase, { recoverable: false });
    expect(other.takeRequests()).toEqual(["n0/0 RUN"]);
  });

  it.each(["SUCCEEDED", "FAILED"] as const)("is followed by such a request during an abort too: %s", (phase) => {
    const d = Driver.of({ main: { nodes: { n0: { kind: "task" } } } });
    d.observe({ kind: "abort" });
    d.reply("n0", phase, { cleanup: true });
    expect(d.takeRequests()).toEqual(["n0/0 RUN", "n0/0 ABORT", "n0/0 FINALIZE"]);
  });

  it("is followed by such a request when an abort comes before the next attempt", () => {
    const d = Driver.of({ main: { nodes: { n0: { kind: "task", attempts: 2 } } } });
    d.reply("n0", "FAILED", { cleanup: true });
    d.observe({ kind: "abort" });
    expect(d.takeRequests()).toEqual(["n0/0 RUN", "n0/0 FINALIZE"]);
  });
});

describe("retries", () => {
  const retrying: WorkflowSpec = { main: { nodes: { n0: { kind: "task", attempts: 2 } } } };

  it("use the user's budget, finalize the old attempt first, and report an exhausted budget", () => {
    const d = Driver.of(retrying);
    d.reply("n0", "RUNNING");
    d.reply("n0", "FAILED", { code: "Error", message: "first" });
    expect(d.resource.status.nodeStatus?.["n0"]).toMatchObject({
      phase: 8,
      retryAt: "2026-11-21T10:00:00.325Z",
      error: { code: "Error", kind: "USER" },
    });
    expect(d.takeRequests()).toEqual(["n0/0 RUN"]);
    d.advance(100);
    expect(d.takeRequests()).toEqual(["n0/0 FINALIZE", "n0/1 RUN"]);
    expect(d.request("n0")).toMatchObject({ previousCheckpointUri: expect.stringContaining("exec-n0-0/_flytecheckpoints") });
    d.takeEventTexts();
    d.reply("n0", "FAILED", { code: "Error", message: "second" });
    expect(d.takeEventTexts()).toEqual(["n0 FAILED", "workflow FAILING", "workflow FAILED"]);
    expect(d.resource.status).toMatchObject({
      phase: 5,
      error: { code: "RetriesExhausted|Error", kind: "USER", message: "[2/2] currentAttempt done. Last Error: USER::second" },
      nodeStatus: { n0: { phase: 6, attempts: 1 } },
    });
  });

  it("do not use the user's budget for system failures", () => {
    const d = Driver.of({ main: { nodes: { n0: { kind: "task" } } } });
    for (let i = 0; i < 3; i++) {
      d.reply("n0", "FAILED", { kind: "SYSTEM", code: "Interrupted" });
      d.advance(60_000);
    }
    expect(d.takeRequests().filter((text) => text.endsWith("RUN"))).toContain("n0/3 RUN");
    d.reply("n0", "FAILED", { kind: "SYSTEM", code: "Interrupted", message: "gone" });
    expect(d.resource.status.error).toMatchObject({
      code: "RetriesExhausted|Interrupted",
      message: "[3/3] currentAttempt done. Last Error: SYSTEM::gone",
    });
  });

  it("are not made for permanent failures", () => {
    const d = Driver.of({ main: { nodes: { n0: { kind: "task", attempts: 5 } } } });
    d.reply("n0", "FAILED", { code: "USER:RuntimeError", message: "bad value", recoverable: false });
    expect(d.resource.status).toMatchObject({ phase: 5, error: { code: "USER:RuntimeError", message: "bad value" } });
  });

  it("wait across a restart", () => {
    const d = Driver.of(retrying);
    d.reply("n0", "FAILED");
    const next = d.restart();
    next.observe({ kind: "load" });
    expect(next.takeRequests()).toEqual([]);
    next.advance(200);
    expect(next.takeRequests()).toEqual(["n0/0 FINALIZE", "n0/1 RUN"]);
    const last = next.restart();
    last.observe({ kind: "load" });
    // The cleanup before the attempt may have been lost.
    expect(last.takeRequests()).toEqual(["n0/0 FINALIZE", "n0/1 RUN"]);
  });
});

describe("deadlines", () => {
  it("end an attempt that runs too long, not counting its time in the queue", () => {
    const d = Driver.of({ main: { nodes: { n0: { kind: "task", timeoutMs: 8_000 } } } });
    d.advance(9_000);
    d.takeRequests();
    d.reply("n0", "RUNNING");
    d.advance(8_001);
    expect(d.takeRequests()).toEqual(["n0/0 ABORT"]);
    expect(d.resource.status.nodeStatus?.["n0"]).toMatchObject({ phase: 3 });
    d.reply("n0", "ABORTED");
    expect(d.resource.status).toMatchObject({
      phase: 5,
      error: {
        code: "RetriesExhausted|TimeoutExpired",
        kind: "USER",
        message: "[1/1] currentAttempt done. Last Error: USER::task execution timeout [8s] expired",
      },
    });
  });

  it("permit no further attempt if they are the node's", () => {
    const d = Driver.of({ main: { nodes: { n0: { kind: "task", attempts: 3, activeMs: 16_000 } } } });
    d.reply("n0", "RUNNING");
    d.advance(16_001);
    expect(d.takeRequests()).toContain("n0/0 ABORT");
    d.reply("n0", "ABORTED");
    expect(d.takeEventTexts()).toContain("n0 TIMED_OUT");
    expect(d.resource.status).toMatchObject({
      phase: 5,
      error: { code: "Timeout", kind: "USER", message: "Timeout in node" },
      nodeStatus: { n0: { phase: 10 } },
    });
  });

  it("are reported as the node's, regardless of earlier failures", () => {
    const d = Driver.of({ main: { nodes: { n0: { kind: "task", attempts: 3, activeMs: 16_000 } } } });
    d.reply("n0", "FAILED", { kind: "USER" });
    d.advance(16_001);
    d.reply("n0", "ABORTED");
    expect(d.resource.status).toMatchObject({
      phase: 5,
      error: { code: "Timeout" },
      nodeStatus: { n0: { phase: 10, error: { kind: "USER" } } },
    });
  });

  it("accept a success that arrived first", () => {
    const d = Driver.of({ main: { nodes: { n0: { kind: "task", timeoutMs: 1_000 } } } });
    d.reply("n0", "RUNNING");
    d.advance(1_001);
    d.reply("n0", "SUCCEEDED");
    expect(d.resource.status.phase).toBe(3);
  });

  it("are kept across a restart", () => {
    const d = Driver.of({ main: { nodes: { n0: { kind: "task", timeoutMs: 8_000 } } } });
    d.reply("n0", "RUNNING");
    d.now += 3_000;
    const next = d.restart();
    next.observe({ kind: "load" });
    expect(next.takeRequests()).toEqual(["n0/0 RUN"]);
    next.advance(6_000);
    expect(next.takeRequests()).toEqual(["n0/0 ABORT"]);
  });
});

describe("a branch", () => {
  const branching: WorkflowSpec = {
    inputs: { a: 10 },
    main: {
      nodes: {
        n0: { kind: "task", inputs: { a: ".a" } },
        n1: {
          kind: "branch",
          on: "n0.o0",
          arms: [
            { below: 5, run: { kind: "task", inputs: { a: "n0.o0" } } },
            { below: 50, run: { kind: "task", inputs: { a: "n0.o0" } } },
          ],
          otherwise: { kind: "task" },
        },
        n2: { kind: "task", inputs: { a: "n1.o0" } },
      },
      outputs: { o0: "n2.o0" },
    },
  };

  it("runs the arm whose condition holds, below itself, and skips the others without events", () => {
    const d = Driver.of(branching);
    d.reply("n0", "SUCCEEDED", { outputs: numbers({ o0: 10 }) });
    d.takeEventTexts();
    expect(d.takeRequests()).toEqual(["n0/0 RUN", "n1-n1/0 RUN"]);
    expect(d.request("n1-n1")).toMatchObject({
      id: { nodeExecutionId: { nodeId: "n1-0-n1-n1" } },
      inputUri: "s3://my-s3-bucket/metadata/propeller/p-d-exec/n1/data/0/n1-n1/inputs.pb",
      outputPrefix: "s3://my-s3-bucket/metadata/propeller/p-d-exec/n1/data/0/n1-n1/0",
    });
    expect(
      d.events.find(({ event }) => event.event.case === "node" && event.event.value.id?.nodeId === "n1-0-n1-n1")?.event.event.value,
    ).toMatchObject({
      specNodeId: "n1-n1",
      retryGroup: "0",
      parentNodeMetadata: { nodeId: "n1" },
      isParent: false,
    });
    d.reply("n1-n1", "SUCCEEDED", { outputs: numbers({ o0: 3 }) });
    expect(d.takeEventTexts()).toEqual(["n2 QUEUED", "n1-0-n1-n1 SUCCEEDED", "n1 SUCCEEDED"]);
    expect(d.request("n2").inputs).toEqual(numbers({ a: 3 }));
    d.reply("n2", "SUCCEEDED", { outputs: one });
    d.observe({ kind: "endRecorded", phase: "SUCCEEDED" });
    expect(d.resource.status.nodeStatus).toMatchObject({
      n1: { phase: 5 },
      "n1-n0": { phase: 7 },
      "n1-n1": { phase: 5, parentNode: "n1" },
      "n1-n2": { phase: 7 },
    });
  });

  it("within an arm that is not taken skips none of its own arms", () => {
    const nested: NodeSpec = { kind: "branch", on: 1, arms: [{ below: 5, run: { kind: "task" } }], otherwise: { kind: "task" } };
    const d = Driver.of({
      main: { nodes: { n0: { kind: "branch", on: 9, arms: [{ below: 5, run: nested }], otherwise: { kind: "task" } } } },
    });
    d.reply("n0-n1", "SUCCEEDED", { outputs: one });
    d.observe({ kind: "endRecorded", phase: "SUCCEEDED" });
    expect(d.resource.status.phase).toBe(3);
    expect(d.resource.status.nodeStatus).toMatchObject({ n0: { phase: 5 }, "n0-n0": { phase: 7 }, "n0-n1": { phase: 5 } });
    expect(Object.keys(d.resource.status.nodeStatus ?? {})).not.toContain("n0-n0-n0");
  });

  it("reports an output URI of its own when its arm's task declares no outputs", () => {
    const { workflow } = Driver.of({ main: { nodes: { n0: { kind: "branch", on: 9, arms: [], otherwise: { kind: "task" } } } } });
    for (const task of workflow.model.tasks.values()) task.interface = create(TypedInterfaceSchema);
    const d = new Driver(workflow);
    d.observe({ kind: "load" });
    d.reply("n0-n0", "SUCCEEDED");
    const event = d.events.find(
      ({ event }) => event.event.case === "node" && event.event.value.id?.nodeId === "n0" && event.event.value.phase === 3,
    );
    expect(event?.event.event.value).toMatchObject({
      outputResult: { value: "s3://my-s3-bucket/metadata/propeller/p-d-exec/n0/data/0/outputs.pb" },
    });
  });

  it("fails with the author's message when no arm matches", () => {
    const d = Driver.of({
      main: { nodes: { n0: { kind: "branch", on: 9, arms: [{ below: 5, run: { kind: "task" } }], error: "a must be one" } } },
    });
    expect(d.takeEventTexts()).toEqual([
      "workflow RUNNING",
      "start-node SUCCEEDED",
      "n0 QUEUED",
      "n0 FAILED",
      "workflow FAILING",
      "workflow FAILED",
    ]);
    expect(d.resource.status).toMatchObject({
      phase: 5,
      error: { code: "UserProvidedError", kind: "USER", message: "[UserProvidedError] a must be one" },
      nodeStatus: { n0: { phase: 6 }, "n0-n0": { phase: 7 } },
    });
  });
});

describe("a sub-workflow", () => {
  const nested: WorkflowSpec = {
    inputs: { a: 7 },
    graphs: {
      inner: { nodes: { n0: { kind: "task", inputs: { a: ".a" } } }, outputs: { o0: "n0.o0" } },
      outer: {
        nodes: { n0: { kind: "task", inputs: { a: ".a" } }, n1: { kind: "sub", graph: "inner", inputs: { a: "n0.o0" } } },
        outputs: { o0: "n1.o0" },
      },
    },
    main: { nodes: { n0: { kind: "sub", graph: "outer", inputs: { a: ".a" } } }, outputs: { o0: "n0.o0" } },
  };

  it("runs below its node, with unique ids of its lineage", () => {
    const d = Driver.of(nested);
    expect(d.takeEventTexts()).toEqual([
      "workflow RUNNING",
      "start-node SUCCEEDED",
      "n0 QUEUED",
      "n0 RUNNING",
      "n0-0-start-node SUCCEEDED",
      "n0-0-n0 QUEUED",
    ]);
    d.reply("n0/n0", "SUCCEEDED", { outputs: numbers({ o0: 8 }) });
    expect(d.request("n0/n1/n0")).toMatchObject({
      id: { nodeExecutionId: { nodeId: "n0-0-n1-0-n0" } },
      inputs: numbers({ a: 8 }),
      inputUri: "s3://my-s3-bucket/metadata/propeller/p-d-exec/n0/data/0/n1/0/n0/inputs.pb",
    });
    expect(d.resource.status.nodeStatus?.["n0"]).toMatchObject({
      phase: 2,
      workflowNodeStatus: { phase: 1 },
      subNodeStatus: { n0: { phase: 5 }, n1: { phase: 2, subNodeStatus: { n0: { phase: 1 } } } },
    });
    d.takeEventTexts();
    d.reply("n0/n1/n0", "SUCCEEDED", { outputs: numbers({ o0: 9 }) });
    expect(d.takeEventTexts().filter((text) => text.endsWith("SUCCEEDED"))).toEqual([
      "n0-0-n1-0-n0 SUCCEEDED",
      "n0-0-n1-0-end-node SUCCEEDED",
      "n0-0-n1 SUCCEEDED",
      "n0-0-end-node SUCCEEDED",
      "n0 SUCCEEDED",
      "end-node SUCCEEDED",
      "workflow SUCCEEDED",
    ]);
    expect(d.events.at(-1)?.event.outputs).toEqual(numbers({ o0: 9 }));
    d.observe({ kind: "endRecorded", phase: "SUCCEEDED" });
    expect(d.resource.status.nodeStatus?.["n0"]).toEqual({ phase: 5, stoppedAt: "2026-11-21T10:00:00Z" });
  });

  it("continues after a restart, with inputs bound again", () => {
    const d = Driver.of(nested);
    d.reply("n0/n0", "SUCCEEDED", { outputs: numbers({ o0: 8 }) });
    const next = d.restart();
    next.observe({ kind: "load" });
    expect(next.takeRequests()).toEqual(["n0/n1/n0/0 RUN"]);
    expect(next.request("n0/n1/n0").inputs).toEqual(numbers({ a: 8 }));
    next.reply("n0/n1/n0", "SUCCEEDED", { outputs: numbers({ o0: 9 }) });
    expect(next.resource.status.phase).toBe(3);
  });

  it("aborts its nodes, runs its failure node with the error, and fails with it", () => {
    const d = Driver.of({
      graphs: {
        inner: {
          nodes: { n0: { kind: "task" }, n1: { kind: "task" } },
          onFailure: { kind: "task", inputs: { err: 0, a: ".a" } },
        },
      },
      main: { nodes: { n0: { kind: "sub", graph: "inner", inputs: { a: 4 } } } },
    });
    d.takeRequests();
    d.reply("n0/n0", "FAILED", { recoverable: false, message: "boom" });
    expect(d.takeRequests()).toEqual(["n0/n1/0 ABORT"]);
    d.reply("n0/n1", "ABORTED");
    expect(d.takeRequests()).toEqual(["n0/fn0/0 RUN"]);
    expect(d.request("n0/fn0")).toMatchObject({ id: { nodeExecutionId: { nodeId: "n0-0-fn0" } } });
    const error = d.request("n0/fn0").inputs?.literals["err"]?.value;
    expect(error).toMatchObject({
      value: {
        value: { case: "union", value: { value: { value: { value: { value: { value: { message: "boom", failedNodeId: "n0" } } } } } } },
      },
    });
    expect(d.resource.status.phase).toBe(1);
    d.reply("n0/fn0", "SUCCEEDED");
    expect(d.resource.status).toMatchObject({ phase: 5, error: { code: "Boom", message: "boom" } });
    expect(d.takeEventTexts()).toEqual(expect.arrayContaining(["n0-0-n1 ABORTED", "n0-0-fn0 SUCCEEDED", "n0 FAILED", "workflow FAILED"]));
  });
});

describe("a sleeping gate node", () => {
  const sleeping: WorkflowSpec = { main: { nodes: { n0: { kind: "sleep", ms: 20_000 }, n1: { kind: "task", after: ["n0"] } } } };

  it("delays its successors for its duration, also across a restart, and reports no outputs", () => {
    const d = Driver.of(sleeping);
    expect(d.takeEventTexts()).toEqual(["workflow RUNNING", "start-node SUCCEEDED", "n0 QUEUED", "n0 RUNNING"]);
    expect(d.resource.status.nodeStatus?.["n0"]).toMatchObject({ phase: 2, message: "running", gateNodeStatus: { phase: 1 } });
    d.advance(12_000);
    const next = d.restart();
    next.observe({ kind: "load" });
    next.takeEventTexts();
    next.advance(7_000);
    expect(next.takeEventTexts()).toEqual([]);
    next.advance(2_000);
    expect(next.takeEventTexts()).toEqual(["n0 SUCCEEDED", "n1 QUEUED"]);
    expect(next.resource.status.nodeStatus?.["n0"]).toEqual({
      phase: 5,
      gateNodeStatus: { phase: 1 },
      startedAt: "2026-11-21T10:00:00Z",
      stoppedAt: expect.any(String),
    });
  });

  it("sleeps again when its deadline has passed and a retry is left, and then fails", () => {
    const d = Driver.of(sleeping, { defaultMaxAttempts: 2, defaultExecutionDeadline: 15_000 });
    const beganAt = d.now;
    for (let seconds = 0; seconds < 60 && !d.run.terminal; seconds++) d.advance(1_000);
    expect(d.takeEventTexts()).toEqual([
      "workflow RUNNING",
      "start-node SUCCEEDED",
      "n0 QUEUED",
      "n0 RUNNING",
      "n0 FAILED",
      "workflow FAILING",
      "workflow FAILED",
    ]);
    expect(d.now - beganAt).toBeGreaterThanOrEqual(30_000);
    expect(d.resource.status.error).toMatchObject({ code: "RetriesExhausted|TimeoutExpired" });
  });

  it("is aborted at once with the workflow", () => {
    const d = Driver.of(sleeping);
    d.takeEventTexts();
    d.observe({ kind: "abort" });
    expect(d.takeEventTexts()).toEqual(["n0 ABORTED", "workflow ABORTED"]);
    expect(d.run.nextTimerAt ?? 0).toBeLessThan(d.now + 19_000);
  });
});

describe("the failure of a workflow", () => {
  it("aborts running nodes, then runs the failure node, and keeps the first error when that fails too", () => {
    const d = Driver.of({
      main: { nodes: { n0: { kind: "task" }, n1: { kind: "task" } }, onFailure: { kind: "task" } },
    });
    d.takeRequests();
    d.reply("n0", "FAILED", { recoverable: false, message: "boom" });
    expect(d.takeRequests()).toEqual(["n1/0 ABORT"]);
    d.reply("n1", "ABORTED");
    expect(d.takeRequests()).toEqual(["fn0/0 RUN"]);
    expect(d.resource.status).toMatchObject({ phase: 7, nodeStatus: { n1: { phase: 1 }, fn0: { phase: 1 } } });
    d.reply("fn0", "FAILED", { recoverable: false, message: "worse" });
    expect(d.resource.status).toMatchObject({ phase: 5, error: { message: "boom\n\nThe failure node [fn0] failed too: Boom: worse" } });
  });

  it("waits for nodes that can finish, if requested, and skips the rest", () => {
    const d = Driver.of({
      main: { finishExecutable: true, nodes: { n0: { kind: "task" }, n1: { kind: "task", after: ["n0"] }, n2: { kind: "task" } } },
    });
    d.takeEventTexts();
    d.reply("n0", "FAILED", { recoverable: false, message: "first" });
    expect(d.takeEventTexts()).toEqual(["n0 FAILED", "n1 SKIPPED"]);
    expect(d.resource.status.phase).toBe(1);
    d.reply("n2", "FAILED", { recoverable: false, message: "last" });
    expect(d.resource.status).toMatchObject({
      phase: 5,
      error: { message: "last" },
      nodeStatus: { n1: { phase: 7 } },
    });
    // The last failure fails the graph at once.
    expect(Object.keys(d.resource.status.nodeStatus ?? {})).not.toContain("end-node");
  });
});

describe("an abort", () => {
  it("requests ABORT for every attempt, waits for their ends, then reports ABORTED", () => {
    const d = Driver.of({ main: { nodes: { n0: { kind: "task" }, n1: { kind: "task" } } } });
    d.reply("n0", "RUNNING");
    d.takeRequests();
    d.takeEventTexts();
    d.observe({ kind: "abort" });
    expect(d.takeRequests().sort()).toEqual(["n0/0 ABORT", "n1/0 ABORT"]);
    d.reply("n0", "ABORTED");
    d.reply("n1", "ABORTED");
    expect(d.takeEventTexts()).toEqual(["n0 ABORTED", "n1 ABORTED", "workflow ABORTED"]);
    expect(
      d.events.find(({ event }) => event.event.case === "node" && event.event.value.outputResult.case === "error")?.event.event.value,
    ).toMatchObject({
      outputResult: { value: { code: "NodeAborted", message: "Workflow aborted." } },
    });
    d.observe({ kind: "endRecorded", phase: "ABORTED" });
    expect(d.resource.status).toMatchObject({ phase: 6 });
    expect(d.resource.metadata["finalizers"]).toBeUndefined();
  });

  it("completes at once for a workflow that never ran", () => {
    const workflow = { ...Driver.of(chain).workflow, deletionRequested: true };
    const d = new Driver(workflow);
    d.observe({ kind: "load", isNew: true });
    expect([d.takeRequests(), d.takeEventTexts()]).toEqual([[], ["workflow ABORTED"]]);
  });

  it("after a restart reaches attempts that the status does not contain", () => {
    const d = Driver.of(chain);
    d.deferWrites = true;
    d.reply("n0", "SUCCEEDED", { outputs: one });
    expect(d.takeRequests()).toContain("n1/0 RUN");
    // The process ends before the success is written, and the execution is terminated.
    const next = d.restart({}, true);
    next.observe({ kind: "load" });
    expect(next.takeRequests()).toEqual(["n0/0 ABORT"]);
    next.reply("n0", "SUCCEEDED", { outputs: one });
    expect(next.takeRequests()).toEqual(["n1/0 ABORT"]);
    next.reply("n1", "ABORTED");
    expect(next.resource.status).toMatchObject({ phase: 6, nodeStatus: { n0: { phase: 5 } } });
  });

  it("reaches attempts that may have followed a sleep of no duration before the status showed it", () => {
    const [n0, n1] = [{ kind: "sleep", ms: 0 } as const, { kind: "task", after: ["n0"] } as const];
    const { workflow } = Driver.of({ main: { nodes: { n0, n1, n2: { ...n0, ms: 1 }, n3: { ...n1, after: ["n2"] } } } });
    const first = new Driver(workflow);
    first.deferWrites = true;
    first.observe({ kind: "load", isNew: true });
    expect(first.takeRequests()).toEqual(["n1/0 RUN"]);
    // The process ends before anything is written, and the execution is terminated.
    const next = new Driver({ ...workflow, deletionRequested: true });
    next.observe({ kind: "load" });
    expect(next.takeRequests()).toEqual(["n1/0 ABORT"]);
    next.reply("n1", "ABORTED");
    expect(next.takeEventTexts()).toEqual(expect.arrayContaining(["n0 ABORTED", "n1 ABORTED", "n2 ABORTED", "workflow ABORTED"]));
  });
});

describe("late, duplicate and lost messages", () => {
  it("change nothing or are compensated", () => {
    const d = Driver.of({ main: { nodes: { n0: { kind: "task", attempts: 3 }, n1: { kind: "task", after: ["n0"] } } } });
    const first = d.request("n0");
    d.reply("n0", "RUNNING");
    const before = d.run.revision;
    d.reply("n0", "RUNNING");
    d.reply("n0", "QUEUED");
    expect(d.run.revision).toBe(before);
    d.advance(30_001);
    expect(d.takeRequests()).toEqual(["n0/0 RUN", "n0/0 RUN"]);
    expect(d.request("n0")).toMatchObject({ knownPhase: 2 });
    d.reply("n0", "FAILED");
    d.reply("n0", "FAILED");
    d.advance(200);
    expect(d.takeRequests()).toEqual(["n0/0 FINALIZE", "n0/1 RUN"]);
    d.requests.push({ request: first, text: "" });
    d.reply("n0", "SUCCEEDED");
    expect(d.resource.status.nodeStatus?.["n0"]).toMatchObject({ phase: 2, attempts: 1 });
  });

  it("change nothing if they are of a deleted execution whose name this one has", () => {
    const d = Driver.of({ main: { nodes: { n0: { kind: "task" } }, outputs: {} } });
    d.takeEventTexts();
    d.reply("n0", "SUCCEEDED", { ownerUid: "uid-of-another" });
    expect(d.takeEventTexts()).toEqual([]);
    d.reply("n0", "SUCCEEDED", { ownerUid: "uid-exec" });
    expect(d.takeEventTexts()).toContain("n0 SUCCEEDED");
  });

  it("are answered with ABORT if they are from an ended attempt that runs again", () => {
    const d = Driver.of({ main: { nodes: { n0: { kind: "task", attempts: 3 } } } });
    const first = d.request("n0");
    d.reply("n0", "FAILED");
    d.advance(5_000);
    d.takeRequests();
    d.requests.push({ request: first, text: "old" });
    d.reply("n0", "RUNNING");
    expect(d.takeRequests().at(-1)).toBe("n0/0 ABORT");
  });

  it("are compensated for terminal events by repetition until admin has recorded them", () => {
    const d = Driver.of({ main: { nodes: { n0: { kind: "task" } } } });
    d.reply("n0", "SUCCEEDED");
    d.takeEventTexts();
    d.advance(20_000);
    expect(d.takeEventTexts()).toEqual(["workflow SUCCEEDED", "workflow SUCCEEDED"]);
    const next = d.restart();
    next.observe({ kind: "load" });
    expect(next.takeEventTexts()).toContain("workflow SUCCEEDED");
    next.observe({ kind: "endRecorded", phase: "SUCCEEDED" });
    expect(next.finished).toBe(true);
    next.advance(600_000);
    expect(next.takeEventTexts().filter((text) => text.startsWith("workflow"))).toEqual([]);
  });
});
