import { describe, expect, it } from "vitest";
import { Driver } from "../../../simulation/fixtures/driver.js";
import { decideInterruptible } from "./interruptible.js";

describe("the interruptible setting of an attempt", () => {
  const { model } = Driver.of({ main: { nodes: { n0: { kind: "task" } } } }).workflow;
  const node = model.root.nodes.get("n0");
  const config = { interruptibleFailureThreshold: -1, maxSystemFailures: 3 };

  it.each([
    { by: "the node, regardless of the execution", own: true, execution: false, workflow: false, expected: true },
    { by: "the node, also if it is false", own: false, execution: true, workflow: true, expected: false },
    { by: "the execution, if the node has no setting", own: undefined, execution: true, workflow: false, expected: true },
    { by: "the workflow, if neither has a setting", own: undefined, execution: undefined, workflow: true, expected: true },
  ])("is determined by $by", ({ own, execution, workflow, expected }) => {
    if (node === undefined) throw new Error("no node");
    const options = { ...model.options, interruptible: execution, defaultInterruptible: workflow };
    expect(decideInterruptible({ ...node, interruptible: own }, options, { systemFailures: 0, config })).toBe(expected);
  });
});
