import { describe, expect, it } from "vitest";
import { Driver } from "../../../simulation/fixtures/driver.js";
import { buildWorkflow, type NodeSpec } from "../../../simulation/fixtures/workflow.js";

const task: NodeSpec = { kind: "task" };

describe("max parallelism", () => {
  it("starts the next node when one has ended, in the order of the graph", () => {
    const d = Driver.of({ maxParallelism: 2, main: { nodes: { n0: task, n1: task, n2: task, n3: task } } });
    expect(d.takeRequests()).toEqual(["n0/0 RUN", "n1/0 RUN"]);
    expect(d.run.counts).toEqual({ activeNodes: 2, activeTasks: 2, queuedTasks: 2 });
    expect(d.storedStatus.nodeStatus?.["n2"]).toBeUndefined();
    d.reply("n1", "SUCCEEDED");
    expect(d.takeRequests()).toEqual(["n2/0 RUN"]);
    const next = d.restart();
    next.observe({ kind: "load" });
    expect(next.takeRequests().sort()).toEqual(["n0/0 RUN", "n2/0 RUN"]);
    next.reply("n0", "SUCCEEDED");
    expect(next.takeRequests()).toEqual(["n3/0 RUN"]);
  });
});

describe("interruptible attempts", () => {
  it("are interruptible until the last allowed system failure", () => {
    const d = Driver.of({ interruptible: true, main: { nodes: { n0: task } } });
    const seen: boolean[] = [];
    for (let i = 0; i < 4; i++) {
      seen.push(d.request("n0").interruptible);
      d.reply("n0", "FAILED", { kind: "SYSTEM" });
      d.advance(60_000);
    }
    expect(seen).toEqual([true, true, true, false]);
  });
});

describe("an execution that admin refuses", () => {
  it("is aborted and released without a record", () => {
    const d = Driver.of({ main: { nodes: { n0: task } } });
    d.observe({ kind: "rejected", cause: "notFound", message: "no such execution" });
    expect(d.takeRequests()).toContain("n0/0 ABORT");
    d.reply("n0", "ABORTED");
    expect(d.resource.status).toMatchObject({ phase: 5, error: { code: "ExecutionNotFound", kind: "SYSTEM" } });
    d.observe({ kind: "rejected", cause: "notFound", message: "no such execution" });
    expect(d.finished).toBe(true);
  });
});

describe("a status that is too large for the resource", () => {
  it("fails the workflow with a specific code", () => {
    const d = Driver.of({ main: { nodes: { n0: task } } });
    d.observe({ kind: "tooLarge", message: "1.6 MB" });
    d.reply("n0", "ABORTED");
    expect(d.resource.status).toMatchObject({ phase: 5, error: { code: "WorkflowTooLarge", kind: "SYSTEM" } });
  });
});

describe("a large graph", () => {
  it("starts a bounded number of nodes per observation, and the others when there is capacity", () => {
    const nodes = Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`n${index}`, task]));
    const d = new Driver(buildWorkflow({ main: { nodes } }), { maxStartsPerObservation: 2 });
    d.hasCapacity = false;
    d.observe({ kind: "load" });
    expect(d.takeRequests()).toEqual(["n0/0 RUN", "n1/0 RUN"]);
    d.reply("n0", "SUCCEEDED");
    d.observe({ kind: "resync" });
    expect(d.takeRequests()).toEqual([]);
    expect(d.run.needsCapacity).toBe(true);
    d.observe({ kind: "capacity" });
    expect(d.takeRequests()).toEqual(["n2/0 RUN", "n3/0 RUN"]);
    d.observe({ kind: "capacity" });
    expect(d.takeRequests()).toEqual(["n4/0 RUN"]);
    expect(d.run.needsCapacity).toBe(false);
  });

  it("starts nodes before its status is durable, unless a write of the status is due", () => {
    const nodes = Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`n${index}`, task]));
    const { run } = new Driver(buildWorkflow({ main: { nodes } }), { maxStartsPerObservation: 2 });
    const ahead = (kind: "load" | "capacity") => {
      const effects = run.observe(kind === "load" ? { kind, isNew: true } : { kind }, 1_000);
      return effects.flatMap((effect) =>
        effect.kind === "sendTaskRequest" && effect.afterRevision === undefined ? [effect.request.nodePath] : [],
      );
    };
    expect(ahead("load")).toEqual(["n0", "n1"]);
    expect(ahead("capacity")).toEqual(["n2", "n3"]);
    run.takeStatusPatch();
    expect(ahead("capacity")).toEqual([]);
    expect(run.needsCapacity).toBe(false);
  });

  it("neither recurses nor slows down with ten thousand sequential nodes", () => {
    const nodes: Record<string, NodeSpec> = {};
    for (let i = 0; i < 10_000; i++) nodes[`n${i}`] = i === 0 ? task : { kind: "task", after: [`n${i - 1}`] };
    const d = Driver.of({ main: { nodes: { ...nodes, other: task }, finishExecutable: true } });
    d.reply("n0", "FAILED", { recoverable: false });
    d.reply("other", "SUCCEEDED");
    expect(d.resource.status.phase).toBe(5);
    expect(Object.values(d.storedStatus.nodeStatus ?? {}).filter(({ phase }) => phase === 7)).toHaveLength(10_000);
  });
});
