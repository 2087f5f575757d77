import { create } from "@bufbuild/protobuf";
import { LaunchPlanSpecSchema } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { WorkflowSpecSchema } from "@flyte-ts/idl/flyteidl/admin/workflow_pb";
import { expect, test } from "vitest";
import { creationWaves } from "./creation-order.js";

const VERSION = "v1";
const launching = (name: string, version = VERSION) => ({
  target: { case: "workflowNode" as const, value: { reference: { case: "launchplanRef" as const, value: { name, version } } } },
});
type Nodes = NonNullable<Parameters<typeof create<typeof WorkflowSpecSchema>>[1]>["template"];

const workflow = (name: string, template: Nodes = {}) => ({ name, spec: create(WorkflowSpecSchema, { template }) });
const plan = (name: string, of = name) => ({ name, spec: create(LaunchPlanSpecSchema, { workflowId: { name: of } }), active: false });
const namesOf = (waves: ReturnType<typeof creationWaves>) =>
  waves.map(({ workflows, plans }) => [workflows.map(({ name }) => name), plans.map(({ name }) => name)]);

test("workflows and plans that need nothing are created at once", () => {
  expect(namesOf(creationWaves([workflow("a"), workflow("b")], [plan("a"), plan("daily", "b")], VERSION))).toEqual([
    [
      ["a", "b"],
      ["a", "daily"],
    ],
  ]);
});

const branch = (node: object) => ({
  target: {
    case: "branchNode" as const,
    value: { ifElse: { case: { thenNode: {} }, default: { case: "elseNode" as const, value: node } } },
  },
});
const array = (node: object) => ({ target: { case: "arrayNode" as const, value: { node } } });

test.each([
  ["a node", { nodes: [launching("a")] }],
  ["a node within a branch", { nodes: [branch(launching("a"))] }],
  ["the items of an array", { nodes: [array(launching("a"))] }],
  ["a failure node", { failureNode: launching("a") }],
] as const)("a workflow comes after the plan that %s launches", (_what, template) => {
  const waves = creationWaves([workflow("b", template as Nodes), workflow("a")], [plan("b"), plan("a")], VERSION);
  expect(namesOf(waves)).toEqual([
    [["a"], ["a"]],
    [["b"], ["b"]],
  ]);
});

test("a plan of another version is the server's", () => {
  expect(namesOf(creationWaves([workflow("b", { nodes: [launching("b", "v0")] })], [plan("b")], VERSION))).toEqual([[["b"], ["b"]]]);
});

test("workflows that launch one another are refused by name", () => {
  const circle = [workflow("a", { nodes: [launching("b")] }), workflow("b", { nodes: [launching("a")] })];
  expect(() => creationWaves(circle, [plan("a"), plan("b")], VERSION)).toThrow("these workflows launch one another: a, b");
});
