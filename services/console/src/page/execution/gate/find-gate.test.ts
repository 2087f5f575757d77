import type { WorkflowJson } from "@flyte-ts/idl/flyteidl/admin/workflow_pb";
import { expect, test } from "vitest";
import { mayBeGate, openGates } from "./find-gate.js";

const nodes = [
  { id: "n0", gateNode: { signal: { signalId: "title", type: { simple: "STRING" } } } },
  { id: "n1", taskNode: {} },
  { id: "n2", gateNode: { approve: { signalId: "consent" } } },
  { id: "n3", gateNode: { sleep: { duration: "5s" } } },
];
const workflow = { closure: { compiledWorkflow: { primary: { template: { nodes } } } } } as WorkflowJson;
const signals = [
  { id: { signalId: "title" }, type: { simple: "STRING" as const } },
  { id: { signalId: "consent" }, type: { simple: "BOOLEAN" as const } },
];

test("a gate asks what its node in the workflow asks", () => {
  expect(openGates(workflow, "n0", signals)).toEqual([{ kind: "signal", signalId: "title", type: { simple: "STRING" } }]);
  expect(openGates(workflow, "n2", signals)).toEqual([{ kind: "approval", signalId: "consent", type: { simple: "BOOLEAN" } }]);
  expect([openGates(workflow, "n1", signals), openGates(workflow, "n3", signals)]).toEqual([[], []]);
});

test("a node that a task made shows all open questions, and none that has an answer", () => {
  const answered = [{ ...signals[0], value: { scalar: {} } }, signals[1] ?? {}];
  expect(openGates(workflow, "dn0", answered).map(({ signalId }) => signalId)).toEqual(["consent"]);
});

test.each([
  ["waits", { closure: { phase: "RUNNING" } }, true],
  ["runs a task", { closure: { phase: "RUNNING", taskNodeMetadata: {} } }, false],
  ["has nodes of its own", { closure: { phase: "RUNNING" }, metadata: { isParentNode: true } }, false],
  ["has ended", { closure: { phase: "SUCCEEDED" } }, false],
] as const)("a node that %s may be a gate: %j", (_, node, expected) => expect(mayBeGate(node)).toBe(expected));
