import { describe, expect, it } from "vitest";
import { PRIMARY_POLL } from "../config.js";
import { Driver } from "../../../simulation/fixtures/driver.js";
import { numbers, type WorkflowSpec } from "../../../simulation/fixtures/workflow.js";

const ONE: WorkflowSpec = {
  main: {
    nodes: { n0: { kind: "launch", launchPlan: "child", inputs: { a: ".a" } }, n1: { kind: "task", inputs: { a: "n0.o0" } } },
    outputs: { o0: "n1.o0" },
  },
  inputs: { a: 1 },
};

function child(event: Driver["events"][number] | undefined): string | undefined {
  const published = event?.event.event;
  if (published?.case !== "node" || published.value.targetMetadata.case !== "workflowNodeMetadata") return undefined;
  return published.value.targetMetadata.value.executionId?.name;
}

describe("a launch plan node", () => {
  it("creates its child once its own status is durable, and is RUNNING while the child is", () => {
    const driver = new Driver(Driver.of(ONE).workflow);
    driver.deferWrites = true;
    driver.observe({ kind: "load" });
    expect(driver.pendingCalls("createExecution")).toEqual([]);
    driver.flush();
    const [pending] = driver.pendingCalls("createExecution");
    expect(pending?.request.name).toMatch(/^[a-z][a-z0-9]{19}$|^exec-n0-0$/);
    expect(pending?.request.inputs).toEqual(numbers({ a: 1 }));
    expect(pending?.request.spec?.metadata?.parentNodeExecution?.nodeId).toBe("n0");
    driver.deferWrites = false;
    driver.answer("createExecution", { kind: "value", value: "created" });
    expect(driver.resource.status.nodeStatus?.["n0"]).toMatchObject({ phase: 2, workflowNodeStatus: { phase: 1 } });
    expect(driver.eventTexts.at(-1)).toBe("n0 RUNNING");
    expect(child(driver.events.at(-1))).toBe(pending?.request.name);
  });

  it("ends when admin reports the end of its child, with the child's outputs", () => {
    const driver = Driver.of(ONE);
    driver.answer("createExecution", { kind: "value", value: "exists" });
    driver.answer("readExecution", { kind: "value", value: { phase: "running" } });
    driver.pendingCalls("readExecution");
    driver.advance(20_000);
    expect(driver.pendingCalls("readExecution")).toEqual([]);
    driver.observe({ kind: "wakeup", nodeId: "n0" });
    expect(driver.pendingCalls("readExecution")).toHaveLength(1);
    driver.answer("readExecution", { kind: "value", value: { phase: "succeeded", outputs: numbers({ o0: 7 }) } });
    expect(driver.request("n1").inputs).toEqual(numbers({ a: 7 }));
    expect(
      child(
        driver.events.find(
          ({ event }) => event.event.case === "node" && event.event.value.phase === 3 && event.event.value.id?.nodeId === "n0",
        ),
      ),
    ).toBeDefined();
  });

  it("polls its child with growing delays when the control plane reports no ends", () => {
    const driver = Driver.of(ONE, { wakeupFallbackBackoff: PRIMARY_POLL });
    driver.answer("createExecution", { kind: "value", value: "created" });
    const readings = (ms: number) => {
      let count = 0;
      for (let passed = 0; passed < ms; passed += 500) {
        driver.advance(500);
        for (const _ of driver.pendingCalls("readExecution")) {
          count++;
          driver.answer("readExecution", { kind: "value", value: { phase: "running" } });
        }
      }
      return count;
    };
    driver.answer("readExecution", { kind: "value", value: { phase: "running" } });
    expect(readings(10_000)).toBeGreaterThan(4);
    readings(60_000);
    expect(readings(60_000)).toBeGreaterThan(5);
    expect(readings(60_000)).toBeLessThan(10);
  });

  it("reports its node again before it creates its child after a restart, because the event may be lost", () => {
    const driver = Driver.of(ONE);
    const later = driver.restart();
    later.observe({ kind: "load" });
    expect(later.pendingCalls("createExecution")).toHaveLength(1);
    expect(later.eventTexts).toContain("n0 QUEUED");
  });

  it("reports an output URI when its child has no outputs", () => {
    const driver = Driver.of({ main: { nodes: { n0: { kind: "launch", launchPlan: "child" } } } });
    driver.answer("createExecution", { kind: "value", value: "exists" });
    driver.answer("readExecution", { kind: "value", value: { phase: "succeeded", outputs: undefined } });
    const event = driver.events.find(
      ({ event }) => event.event.case === "node" && event.event.value.phase === 3 && event.event.value.id?.nodeId === "n0",
    );
    expect(event?.event.event.value).toMatchObject({
      outputResult: { value: "s3://my-s3-bucket/metadata/propeller/p-d-exec/n0/data/0/outputs.pb" },
    });
  });

  it("reads its child again when the wake-up by admin is lost", () => {
    const driver = Driver.of(ONE);
    driver.answer("createExecution", { kind: "value", value: "created" });
    driver.answer("readExecution", { kind: "value", value: { phase: "running" } });
    driver.pendingCalls("readExecution");
    driver.advance(61_000);
    expect(driver.pendingCalls("readExecution")).toHaveLength(1);
  });

  it("fails with the child's error and is not retried for it", () => {
    const driver = Driver.of({ ...ONE, main: { nodes: { n0: { kind: "launch", launchPlan: "child", attempts: 3 } } } });
    driver.answer("createExecution", { kind: "value", value: "created" });
    driver.answer("readExecution", {
      kind: "value",
      value: { phase: "failed", error: { code: "USER:Boom", kind: "USER", message: "it broke" } },
    });
    expect(driver.resource.status).toMatchObject({ phase: 5, error: { code: "USER:Boom", message: "it broke", kind: "USER" } });
  });

  it("fails when admin refuses the child, and retries when admin is unavailable", () => {
    const driver = Driver.of(ONE);
    driver.answer("createExecution", { kind: "error", message: "UNAVAILABLE" });
    driver.pendingCalls("createExecution");
    driver.advance(1_000);
    expect(driver.pendingCalls("createExecution")).toHaveLength(1);
    driver.answer("createExecution", { kind: "refused", code: "NOT_FOUND", message: "no such launch plan" });
    expect(driver.resource.status.error).toEqual({
      code: "RuntimeExecutionError",
      kind: "USER",
      message: "[UserError] failed to launch workflow, caused by: rpc error: code = NotFound desc = no such launch plan",
    });
  });

  it("terminates its child when it is aborted, and ends when the child has ended", () => {
    const driver = Driver.of(ONE);
    driver.answer("createExecution", { kind: "value", value: "created" });
    driver.answer("readExecution", { kind: "value", value: { phase: "running" } });
    driver.observe({ kind: "abort" });
    const [pending] = driver.pendingCalls("terminateExecution");
    expect(pending?.cause).toBe("cascading abort as parent execution id [exec] aborted, reason [Workflow aborted.]");
    driver.answer("terminateExecution", { kind: "value", value: "requested" });
    expect(driver.run.terminal).toBe(false);
    driver.answer("readExecution", { kind: "value", value: { phase: "running" } });
    driver.observe({ kind: "wakeup", nodeId: "n0" });
    driver.answer("readExecution", { kind: "value", value: { phase: "aborted" } });
    expect(driver.resource.status.phase).toBe(6);
    expect(driver.eventTexts).toContain("n0 ABORTED");
  });

  it("creates its child before it terminates it when the creation is unconfirmed", () => {
    const driver = Driver.of(ONE);
    driver.pendingCalls("createExecution");
    driver.observe({ kind: "abort" });
    expect(driver.pendingCalls("terminateExecution")).toEqual([]);
    driver.answer("createExecution", { kind: "value", value: "created" });
    expect(driver.pendingCalls("terminateExecution")).toHaveLength(1);
    // Another process that finds the node queued does the same.
    const later = Driver.of(ONE).restart();
    later.observe({ kind: "abort" });
    later.observe({ kind: "load" });
    expect(later.pendingCalls("createExecution")).toHaveLength(1);
    later.answer("createExecution", { kind: "value", value: "exists" });
    later.answer("terminateExecution", { kind: "value", value: "ended" });
    expect(later.resource.status.phase).toBe(6);
  });

  it("ends after a time when it is aborted while every creation of its child fails", () => {
    const driver = Driver.of(ONE, { abortTimeout: 60_000 });
    const fails = () => driver.answer("createExecution", { kind: "error", message: "INTERNAL: no" });
    fails();
    driver.observe({ kind: "abort" });
    for (let tries = 0; driver.pendingCalls("terminateExecution").length === 0; tries++) {
      expect(tries).toBeLessThan(100);
      driver.advance(5_000);
      if (driver.pendingCalls("createExecution").length > 0) fails();
    }
    driver.answer("terminateExecution", { kind: "value", value: "ended" });
    expect(driver.resource.status.phase).toBe(6);
    expect(driver.eventTexts).toContain("n0 ABORTED");
  });

  it("creates another child when its deadline has passed and a retry is left", () => {
    const driver = Driver.of({ main: { nodes: { n0: { kind: "launch", launchPlan: "child", attempts: 2, timeoutMs: 5_000 } } } });
    const [first] = driver.pendingCalls("createExecution");
    driver.answer("createExecution", { kind: "value", value: "created" });
    driver.answer("readExecution", { kind: "value", value: { phase: "running" } });
    driver.advance(5_500);
    driver.answer("terminateExecution", { kind: "value", value: "ended" });
    driver.advance(1_000);
    const [second] = driver.pendingCalls("createExecution");
    expect(second?.request.name).not.toBe(first?.request.name);
    driver.answer("createExecution", { kind: "value", value: "created" });
    driver.answer("readExecution", { kind: "value", value: { phase: "succeeded", outputs: undefined } });
    expect(driver.resource.status.phase).toBe(3);
  });

  it("is continued by the next process", () => {
    const driver = Driver.of(ONE);
    driver.answer("createExecution", { kind: "value", value: "created" });
    const later = driver.restart();
    later.observe({ kind: "load" });
    expect(later.pendingCalls("createExecution")).toEqual([]);
    later.answer("readExecution", { kind: "value", value: { phase: "succeeded", outputs: numbers({ o0: 4 }) } });
    expect(later.request("n1").inputs).toEqual(numbers({ a: 4 }));
  });
});
