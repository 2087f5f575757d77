import type { NodeSpec, TaskSpec, WorkflowSpec } from "./register.js";

/** Tasks of the workload: outputs by value, outputs in the blob store, and each kind of failure. */
const TASKS: readonly TaskSpec[] = [
  { name: "small", behaviour: "small" },
  { name: "large", behaviour: "large" },
  { name: "cached", behaviour: "small", cached: true },
  { name: "fails", behaviour: "fails" },
  { name: "crashes", behaviour: "crashes", retries: 1 },
  { name: "recovers", behaviour: "recovers", retries: 3 },
  { name: "echo", behaviour: "echo" },
];

const task = (id: string, name: string, from = ""): NodeSpec => ({ id, target: { kind: "task", name }, from });
const child = (name: string): NodeSpec => ({ id: "n0", target: { kind: "launchPlan", name }, from: "" });

const SMALL = { name: "small", nodes: [task("n0", "small"), task("n1", "echo", "n0")] } as const satisfies WorkflowSpec;

/** Each workflow takes `x` and returns the output `o` of its last node. */
const WORKFLOWS = [
  SMALL,
  { name: "large", nodes: [task("n0", "echo"), task("n1", "large", "n0")] },
  { name: "cached", nodes: [task("n0", "cached"), task("n1", "echo", "n0")] },
  { name: "parent", nodes: [child("small"), task("n1", "echo", "n0")] },
  { name: "parent-of-large", nodes: [child("large")] },
  {
    name: "nested",
    nodes: [{ id: "n0", target: { kind: "workflow", name: "small" }, from: "" }, task("n1", "echo", "n0")],
    subWorkflows: [SMALL],
  },
  { name: "recovers", nodes: [task("n0", "recovers"), task("n1", "echo", "n0")] },
  { name: "fails", nodes: [task("n0", "fails"), task("n1", "echo", "n0")] },
  { name: "crashes", nodes: [task("n0", "crashes")] },
  { name: "cleans", nodes: [task("n0", "fails")], failureNode: task("fn0", "small") },
  { name: "parent-of-failing", nodes: [child("fails"), task("n1", "echo", "n0")] },
] as const satisfies readonly WorkflowSpec[];

export type Scenario = (typeof WORKFLOWS)[number]["name"];

export const SCENARIOS: readonly Scenario[] = WORKFLOWS.map(({ name }) => name);

/** All tasks and workflows in order of registration. */
export const DEFINITIONS: { readonly tasks: readonly TaskSpec[]; readonly workflows: readonly WorkflowSpec[] } = {
  tasks: TASKS,
  workflows: WORKFLOWS,
};

/** Expected end of an execution and of its nodes. */
export interface ExpectedEnd {
  readonly phase: "SUCCEEDED" | "FAILED";
  /** Value of the output `o` of an execution that succeeds. */
  readonly output?: string;
  /** Part of the error message of an execution that fails: the execution of the failed task. */
  readonly error?: string;
  /**
   * Task nodes by id at any depth, with their final phases; a child's nodes belong to the child.
   */
  readonly nodes: Readonly<Record<string, "SUCCEEDED" | "FAILED">>;
  /** Shape of the child execution, which has its parent's input. */
  readonly child?: Scenario;
}

const LARGE_BYTES = 300_000;
const SMALL_NODES = { n0: "SUCCEEDED", n1: "SUCCEEDED" } as const;

/** @param child name of the child execution, once it is known */
export function expectedEnd(
  scenario: Scenario,
  { name, x, child }: { readonly name: string; readonly x: string; readonly child?: string },
): ExpectedEnd {
  const small = { phase: "SUCCEEDED", output: `${x}-small`, nodes: SMALL_NODES } as const;
  const large = { ...small, output: `${x}-`.repeat(Math.ceil(LARGE_BYTES / (x.length + 1))) };
  switch (scenario) {
    case "small":
    case "cached":
    case "recovers":
      return small;
    case "large":
      return large;
    case "parent":
      return { ...small, child: "small" };
    case "parent-of-large":
      return { ...large, nodes: { n0: "SUCCEEDED" }, child: "large" };
    case "nested":
      return { ...small, nodes: { ...SMALL_NODES, "n0-0-n0": "SUCCEEDED", "n0-0-n1": "SUCCEEDED" } };
    case "fails":
      return { phase: "FAILED", error: `planned failure of ${name}`, nodes: { n0: "FAILED" } };
    case "crashes":
      return { phase: "FAILED", error: `planned crash of ${name}`, nodes: { n0: "FAILED" } };
    case "cleans":
      return { phase: "FAILED", error: `planned failure of ${name}`, nodes: { n0: "FAILED", fn0: "SUCCEEDED" } };
    case "parent-of-failing":
      return { phase: "FAILED", error: `planned failure of ${child ?? ""}`, nodes: { n0: "FAILED" }, child: "fails" };
  }
}
