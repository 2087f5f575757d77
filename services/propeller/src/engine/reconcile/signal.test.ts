import { booleanLiteral, integerLiteral, stringLiteral } from "@flyte-ts/domain/literal";
import { describe, expect, it } from "vitest";
import { PRIMARY_POLL } from "../config.js";
import { Driver } from "../../../simulation/fixtures/driver.js";
import { numbers, type WorkflowSpec } from "../../../simulation/fixtures/workflow.js";

const SIGNAL: WorkflowSpec = {
  main: { nodes: { n0: { kind: "signal", signal: "go", timeoutMs: 60_000 }, n1: { kind: "task", inputs: { a: "n0.o0" } } } },
};
const APPROVE: WorkflowSpec = {
  main: { nodes: { n0: { kind: "approve", signal: "ok", inputs: { x: ".a" } }, n1: { kind: "task", inputs: { a: "n0.x" } } } },
  inputs: { a: 3 },
};

describe("a gate node that waits for a signal", () => {
  it("creates the signal, and succeeds with its value when admin reports that it is set", () => {
    const driver = Driver.of(SIGNAL);
    const [pending] = driver.pendingCalls("awaitSignal");
    expect(pending?.id).toMatchObject({ signalId: "go", executionId: { name: "exec" } });
    driver.answer("awaitSignal", { kind: "value", value: undefined });
    expect(driver.resource.status.nodeStatus?.["n0"]).toMatchObject({ phase: 2, gateNodeStatus: { phase: 1 } });
    driver.observe({ kind: "wakeup", signalId: "other" });
    driver.pendingCalls("awaitSignal");
    driver.observe({ kind: "wakeup", signalId: "go" });
    expect(driver.pendingCalls("awaitSignal")).toHaveLength(1);
    driver.answer("awaitSignal", { kind: "value", value: integerLiteral(42n) });
    expect(driver.request("n1").inputs).toEqual(numbers({ a: 42 }));
  });

  it("polls the signal every few seconds when the control plane does not report that it is set", () => {
    const driver = Driver.of(SIGNAL, { wakeupFallbackBackoff: PRIMARY_POLL });
    for (let round = 0; round < 10; round++) {
      driver.answer("awaitSignal", { kind: "value", value: undefined });
      driver.pendingCalls("awaitSignal");
      driver.advance(3_000);
    }
    driver.answer("awaitSignal", { kind: "value", value: integerLiteral(42n) });
    expect(driver.request("n1").inputs).toEqual(numbers({ a: 42 }));
  });

  it("ignores a read that is older than the report that the signal is set", () => {
    const driver = Driver.of(SIGNAL);
    const first = driver.asks.at(-1);
    driver.observe({ kind: "wakeup", signalId: "go" });
    driver.observe({ kind: "callResult", id: first?.id ?? "", result: { kind: "value", value: undefined } });
    driver.answer("awaitSignal", { kind: "value", value: integerLiteral(1n) });
    expect(driver.request("n1").inputs).toEqual(numbers({ a: 1 }));
  });

  it("fails at its timeout", () => {
    const driver = Driver.of(SIGNAL);
    driver.answer("awaitSignal", { kind: "value", value: undefined });
    driver.advance(61_000);
    expect(driver.resource.status.error).toMatchObject({ code: "RetriesExhausted|TimeoutExpired" });
    expect(driver.resource.status.error?.message).toContain("task execution timeout [1m0s] expired");
  });

  it("passes its inputs on when it is approved", () => {
    const driver = Driver.of(APPROVE);
    driver.answer("awaitSignal", { kind: "value", value: booleanLiteral(true) });
    expect(driver.request("n1").inputs).toEqual(numbers({ a: 3 }));
  });

  it.each([
    ["is rejected", booleanLiteral(false), "ReceivedRejectSignal", "received a reject signal to disapprove the node input values"],
    ["gets a value that is not a boolean", stringLiteral("x"), "RuntimeExecutionError", "received a non-boolean approve signal value"],
  ])("fails when it %s", (_, value, code, message) => {
    const driver = Driver.of(APPROVE);
    driver.answer("awaitSignal", { kind: "value", value });
    expect(driver.resource.status.error).toMatchObject({ code, message });
  });

  it("fails when the signal cannot be read", () => {
    const driver = Driver.of(SIGNAL);
    driver.answer("awaitSignal", { kind: "refused", code: "ALREADY_EXISTS", message: "of another type" });
    expect(driver.resource.status.error?.message).toContain("of another type");
  });

  it("is continued by the next process, with its deadline", () => {
    const driver = Driver.of(SIGNAL);
    driver.answer("awaitSignal", { kind: "value", value: undefined });
    const later = driver.restart();
    later.observe({ kind: "load" });
    expect(later.pendingCalls("awaitSignal")).toHaveLength(1);
    later.answer("awaitSignal", { kind: "value", value: integerLiteral(5n) });
    expect(later.request("n1").inputs).toEqual(numbers({ a: 5 }));
  });
});
