import { timestampMs } from "@bufbuild/protobuf/wkt";
import { NodeExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { expect, test } from "vitest";
import { Driver } from "../../simulation/build/driver.js";
import { numbers, type WorkflowSpec } from "../../simulation/build/workflow.js";

const SPEC: WorkflowSpec = { main: { nodes: { n0: { kind: "task" } } } };

/** Times, ms, at which a node or the workflow is told to run. */
function starts(driver: Driver, nodeId?: string): number[] {
  return driver.events.flatMap(({ event: { event } }) => {
    if (event.case === "node" && nodeId !== undefined) {
      const { id, phase, occurredAt } = event.value;
      return id?.nodeId === nodeId && phase === NodeExecution_Phase.RUNNING && occurredAt ? [timestampMs(occurredAt)] : [];
    }
    if (event.case !== "workflow" || nodeId !== undefined) return [];
    const { phase, occurredAt } = event.value;
    return phase === WorkflowExecution_Phase.RUNNING && occurredAt ? [timestampMs(occurredAt)] : [];
  });
}

test("after a restart the workflow and its nodes are told to run since their first start, to the second", () => {
  const driver = Driver.of(SPEC);
  driver.advance(5_000);
  driver.reply("n0", "RUNNING");
  const [workflowStart, nodeStart] = [starts(driver)[0] ?? 0, starts(driver, "n0")[0] ?? 0];
  driver.advance(60_000);
  const next = driver.reread();
  next.now = driver.now;
  next.observe({ kind: "load" });
  for (const [told, first] of [
    [starts(next)[0] ?? 0, workflowStart],
    [starts(next, "n0")[0] ?? 0, nodeStart],
  ] as const) {
    expect(told).toBeGreaterThanOrEqual(first);
    expect(told).toBeLessThan(first + 1_000);
  }
});

test("a node that the control plane does not know is told again as it stands", () => {
  const driver = Driver.of({ main: { nodes: { n0: { kind: "task" }, n1: { kind: "task", after: ["n0"] } } } });
  const tellUnknown = (nodeId: string) => {
    driver.takeTold();
    driver.observe({ kind: "unknownNode", nodeId });
    return driver.takeTold();
  };
  expect(tellUnknown("n0")).toEqual(["n0 QUEUED"]);
  driver.reply("n0", "RUNNING");
  expect(tellUnknown("n0")).toEqual(["n0 RUNNING"]);
  expect(tellUnknown("n1")).toEqual([]);
  expect(tellUnknown("n2")).toEqual([]);
  driver.reply("n0", "SUCCEEDED");
  driver.advance(3_600_000);
  expect(tellUnknown("n0")).toEqual(["n0 SUCCEEDED"]);
  driver.observe({ kind: "abort" });
  driver.reply("n1", "ABORTED");
  expect(tellUnknown("n1")).toEqual(["n1 ABORTED"]);
});

test("an end that is told again after a restart has the outputs, also when nothing consumes them any more", () => {
  const driver = Driver.of({
    main: { nodes: { n0: { kind: "task" }, n1: { kind: "task", inputs: { a: "n0.o0" } }, n2: { kind: "task", after: ["n1"] } } },
  });
  driver.reply("n0", "SUCCEEDED", { outputs: numbers({ o0: 5 }) });
  driver.reply("n1", "SUCCEEDED", { outputs: numbers({ o0: 6 }) });
  const next = driver.reread();
  next.observe({ kind: "load" });
  const outputs = Object.fromEntries(
    next.events.flatMap(({ event }) =>
      event.event.case === "node" && event.event.value.phase === NodeExecution_Phase.SUCCEEDED
        ? [[event.event.value.id?.nodeId ?? "", event.outputs]]
        : [],
    ),
  );
  expect(outputs["n0"]).toEqual(numbers({ o0: 5 }));
  expect(outputs["n1"]).toEqual(numbers({ o0: 6 }));
});
