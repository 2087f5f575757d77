import { describe, expect, test } from "vitest";
import { Driver } from "../../../simulation/fixtures/driver.js";
import { buildWorkflow, type WorkflowSpec } from "../../../simulation/fixtures/workflow.js";

const list = (length: number) => ({ a: Array.from({ length }, (_, i) => i) });

describe("the limit of node instances of an execution", () => {
  test("fails an array with too many items, not the process", () => {
    const spec: WorkflowSpec = { main: { nodes: { n0: { kind: "array", run: { kind: "task" }, lists: list(50) } } } };
    const driver = Driver.of(spec, { maxInstances: 40 });
    expect(driver.resource.status.error).toMatchObject({ code: "WorkflowTooLarge", kind: "USER" });
    expect(driver.resource.status.error?.message).toContain("50 more would exceed the limit of 40");
    expect(driver.takeRequests()).toEqual([]);
  });

  test("fails items whose sub-workflows exceed the limit together", () => {
    const spec: WorkflowSpec = {
      main: { nodes: { n0: { kind: "array", run: { kind: "sub", graph: "g" }, lists: list(10) } } },
      graphs: { g: { nodes: { t0: { kind: "task" }, t1: { kind: "task" }, t2: { kind: "task" } } } },
    };
    const driver = Driver.of(spec, { maxInstances: 40 });
    driver.advance(60_000);
    expect(driver.eventTexts).toContain("workflow FAILING");
    expect(Driver.of(spec, { maxInstances: 100 }).eventTexts).not.toContain("workflow FAILING");
  });

  test("is released by instances that have ended", () => {
    const nodes = Object.fromEntries(
      Array.from({ length: 5 }, (_, i) => [`n${i}`, { kind: "sub" as const, graph: "g", ...(i > 0 ? { after: [`n${i - 1}`] } : {}) }]),
    );
    const driver = Driver.of({ main: { nodes }, graphs: { g: { nodes: { t: { kind: "task" } } } } }, { maxInstances: 7 + 3 });
    for (let i = 0; i < 5; i++) driver.reply(`n${i}/t`, "SUCCEEDED");
    expect(driver.eventTexts).toContain("workflow SUCCEEDED");
  });
});

describe("a round of evaluation", () => {
  const wide: WorkflowSpec = {
    main: { nodes: Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`n${i}`, { kind: "sub" as const, graph: "g" }])) },
    graphs: { g: { nodes: { t: { kind: "task" } } } },
  };

  test("evaluates at most its share of nodes, and requests another round for the rest", () => {
    const driver = new Driver(buildWorkflow(wide), { maxReconcilesPerObservation: 10 });
    driver.hasCapacity = false;
    driver.deferWrites = true;
    driver.observe({ kind: "load", isNew: true });
    expect(driver.run.needsCapacity).toBe(true);
    expect(Object.keys(driver.run.status.nodeStatus ?? {}).length).toBeLessThan(12);
    driver.deferWrites = false;
    driver.hasCapacity = true;
    driver.observe({ kind: "capacity" });
    expect(driver.run.needsCapacity).toBe(false);
    expect(new Set(driver.takeRequests()).size).toBe(30);
  });

  test("takes a part of a large graph by default, so that others wait for some milliseconds only", () => {
    const nodes = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`n${i}`, { kind: "sub" as const, graph: "g" }]));
    const driver = new Driver(buildWorkflow({ ...wide, main: { nodes } }));
    driver.hasCapacity = false;
    driver.deferWrites = true;
    driver.observe({ kind: "load", isNew: true });
    expect(driver.run.needsCapacity).toBe(true);
    expect(Object.keys(driver.run.status.nodeStatus ?? {}).length).toBeLessThan(600);
  });

  test("takes a smaller part when the controller asks for one", () => {
    const nodes = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`n${i}`, { kind: "sub" as const, graph: "g" }]));
    const driver = new Driver(buildWorkflow({ ...wide, main: { nodes } }), { maxReconcilesPerObservation: 20 });
    driver.hasCapacity = false;
    driver.deferWrites = true;
    const started = () => Object.keys(driver.run.status.nodeStatus ?? {}).length;
    driver.observe({ kind: "load", isNew: true });
    const before = started();
    driver.observe({ kind: "capacity", maxReconciles: 5 });
    expect(started() - before).toBeGreaterThan(0);
    expect(started() - before).toBeLessThanOrEqual(5);
    expect(driver.run.needsCapacity).toBe(true);
  });

  test("handles an abort before the remaining nodes", () => {
    const driver = new Driver(buildWorkflow(wide), { maxReconcilesPerObservation: 10 });
    driver.hasCapacity = false;
    driver.deferWrites = true;
    driver.observe({ kind: "load", isNew: true });
    driver.observe({ kind: "abort" });
    driver.deferWrites = false;
    driver.hasCapacity = true;
    driver.observe({ kind: "capacity" });
    driver.advance(1_000);
    expect(driver.takeRequests().filter((text) => text.endsWith("RUN"))).toEqual([]);
    expect(driver.eventTexts).toContain("workflow ABORTED");
  });

  test("has the same result for any share", () => {
    const statuses = [1, 3, 7, 10_000].map((maxReconcilesPerObservation) => {
      const driver = Driver.of(wide, { maxReconcilesPerObservation });
      for (let i = 0; i < 30; i++) driver.reply(`n${i}/t`, "SUCCEEDED");
      return [driver.resource.status.phase, driver.eventTexts.filter((text) => text.startsWith("workflow"))];
    });
    for (const status of statuses) expect(status).toEqual(statuses.at(-1));
    expect(statuses[0]?.[1]).toContain("workflow SUCCEEDED");
  });
});
