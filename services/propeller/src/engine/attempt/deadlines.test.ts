import { describe, expect, it } from "vitest";
import { Driver } from "../../../simulation/fixtures/driver.js";
import type { WorkflowSpec } from "../../../simulation/fixtures/workflow.js";

const MINUTE = 60_000;

function single(more: object): WorkflowSpec {
  return { main: { nodes: { n0: { kind: "task", inputs: { a: 1 }, ...more } } } };
}

function errorOf(d: Driver, nodeId: string, phase: number): string | undefined {
  const found = d.events.find(
    ({ event }) => event.event.case === "node" && event.event.value.id?.nodeId === nodeId && event.event.value.phase === phase,
  );
  const result = found?.event.event.case === "node" ? found.event.event.value.outputResult : undefined;
  return result?.case === "error" ? result.value.message : undefined;
}

describe("an unanswered ABORT request", () => {
  it("is repeated and finally given up, so that the execution ends ABORTED with the reason", () => {
    const d = Driver.of(single({}), { abortTimeout: 10 * MINUTE });
    d.reply("n0", "RUNNING");
    d.observe({ kind: "abort", reason: "enough" });
    d.advance(9 * MINUTE);
    expect(d.resource.status.phase).toBe(1);
    expect(d.takeRequestTexts().filter((text) => text === "n0/0 ABORT").length).toBeGreaterThan(2);
    d.advance(10 * MINUTE);
    expect(d.resource.status.phase).toBe(6);
    expect(d.eventTexts).toEqual(expect.arrayContaining(["n0 ABORTED", "workflow ABORTED"]));
    expect(errorOf(d, "n0", 6)).toMatch(/^enough \(no plugin service has answered the abort request for \d+m.*; the task may still run\)$/);
  });

  it("is repeated forever if configured", () => {
    const d = Driver.of(single({}), { abortTimeout: 0 });
    d.reply("n0", "RUNNING");
    d.observe({ kind: "abort", reason: "enough" });
    d.advance(48 * 60 * MINUTE);
    expect(d.resource.status.phase).toBe(1);
  });

  it("is given up for a node whose deadline has passed, so that the node ends", () => {
    const d = Driver.of(single({ activeMs: MINUTE }), { abortTimeout: 10 * MINUTE });
    d.reply("n0", "RUNNING");
    d.advance(30 * MINUTE);
    expect(d.eventTexts).toContain("n0 TIMED_OUT");
    expect(d.resource.status.phase).toBe(5);
  });

  it("prevents another attempt while the previous one may still run", () => {
    const d = Driver.of(single({ timeoutMs: MINUTE, attempts: 2 }), { abortTimeout: 10 * MINUTE });
    d.reply("n0", "RUNNING");
    d.advance(60 * MINUTE);
    expect(d.takeRequestTexts()).not.toContain("n0/1 RUN");
    d.reply("n0", "ABORTED");
    d.advance(MINUTE);
    expect(d.takeRequestTexts()).toContain("n0/1 RUN");
  });
});
