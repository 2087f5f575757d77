import { equals } from "@bufbuild/protobuf";
import { WorkflowTemplateSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { describe, expect, it } from "vitest";
import {
  bind,
  calls,
  compiled,
  downstreamOf,
  errorsOf,
  identifier,
  int,
  items,
  launches,
  launchPlan,
  listOf,
  type Node,
  number,
  promise,
  runs,
  sleeps,
  task,
  tasks,
  text,
  upstreamOf,
  workflow,
} from "../template.fixture.js";
import { compileWorkflow, formatCompileErrors, compileDependencies } from "../index.js";

const step = (id: string, from: string, output = "o"): Node => ({ id, inputs: bind({ a: promise(from, output) }), target: runs("t") });
const idle = (id: string, ...upstreamNodeIds: string[]): Node => ({ id, upstreamNodeIds, target: runs("z") });

describe("the compiled graph", () => {
  it("starts at the start node and ends at the end node", () => {
    const template = workflow("w", {
      inputs: { x: int },
      outputs: { r: int },
      bound: { r: promise("n1", "o") },
      nodes: [step("n0", "", "x"), step("n1", "n0"), idle("n2")],
    });
    const primary = compiled(template);
    expect(primary.template?.nodes.map(({ id }) => id)).toEqual(["start-node", "end-node", "n0", "n1", "n2"]);
    expect(downstreamOf(primary)).toEqual({ "start-node": ["n0", "n2"], n0: ["n1"], n1: ["end-node"], n2: ["end-node"] });
    expect(upstreamOf(primary)).toEqual({ n0: ["start-node"], n1: ["n0"], n2: ["start-node"], "end-node": ["n1", "n2"] });
  });

  it("the end node has the workflow's outputs, and promises without a node refer to the start node", () => {
    const template = workflow("w", {
      inputs: { x: int },
      outputs: { r: int },
      bound: { r: promise("", "x") },
      nodes: [step("n0", "", "x")],
    });
    const nodes = compiled(template).template?.nodes ?? [];
    expect(nodes[2]?.inputs[0]?.binding?.value).toMatchObject({ value: { nodeId: "start-node" } });
    expect(nodes[1]?.inputs).toEqual(compiled(template).template?.outputs);
    expect(nodes[1]?.inputs[0]?.binding?.value).toMatchObject({ value: { nodeId: "start-node" } });
  });

  it("merges declared and bound upstream nodes in sorted order", () => {
    const template = workflow("w", {
      nodes: [
        idle("b"),
        { id: "a", inputs: bind({ a: number(1) }), target: runs("t") },
        { ...step("c", "a"), upstreamNodeIds: ["b", "a"] },
      ],
    });
    const primary = compiled(template);
    expect(upstreamOf(primary)["c"]).toEqual(["a", "b"]);
    expect(primary.template?.nodes.at(-1)?.upstreamNodeIds).toEqual(["a", "b"]);
  });

  it("follows promises within lists", () => {
    const template = workflow("w", {
      nodes: [
        { id: "n0", inputs: bind({ a: number(1) }), target: runs("t") },
        { id: "n1", inputs: bind({ a: items(number(1), promise("n0", "o")) }), target: runs("list") },
      ],
    });
    expect(upstreamOf(compiled(template))["n1"]).toEqual(["n0"]);
  });

  it("does not change its arguments", () => {
    const make = () => workflow("w", { inputs: { x: int }, nodes: [step("n1", "", "x"), idle("n2", "n1", "start-node")] });
    const template = make();
    compiled(template);
    expect(equals(WorkflowTemplateSchema, template, make())).toBe(true);
  });

  it("keeps the first of two nodes with one id, and its own start and end nodes", () => {
    const template = workflow("w", { nodes: [idle("n0"), step("n0", "nowhere"), idle("start-node"), idle("end-node")] });
    expect(compiled(template).template?.nodes.map(({ id }) => id)).toEqual(["start-node", "end-node", "n0"]);
  });

  it("handles ids and names such as __proto__", () => {
    const odd = task("odd", { constructor: int }, { toString: int });
    const template = workflow("w", {
      nodes: [
        { id: "__proto__", inputs: [{ var: "constructor", binding: number(1) }], target: runs("odd") },
        { id: "constructor", inputs: bind({ a: promise("__proto__", "toString") }), target: runs("t") },
      ],
    });
    const primary = compiled(template, { tasks: [...tasks, odd] });
    expect(upstreamOf(primary)["constructor"]).toEqual(["__proto__"]);
    expect(Object.keys(primary.connections?.upstream ?? {}).sort()).toEqual(["__proto__", "constructor", "end-node"]);
  });
});

describe("errors of the graph", () => {
  it.each<[string, Node[], string[]]>([
    ["no nodes", [], ['NoNodesFound resource_type:WORKFLOW project:"p" domain:"d" name:"w" version:"v"']],
    [
      "a cycle that is reachable from the start node",
      [{ ...idle("n0", "n2"), upstreamNodeIds: ["n2", "start-node"] }, idle("n1", "n0"), idle("n2", "n1")],
      ["CycleDetected start-node"],
    ],
    ["an unreachable cycle", [idle("n0", "n1"), idle("n1", "n0")], ["UnreachableNodes start-node"]],
    ["a node upstream of itself", [idle("n0", "n0")], ["UnreachableNodes start-node"]],
    ["a node after a missing node", [idle("n0", "ghost")], ["UnreachableNodes start-node"]],
    ["a promise of a node that does not exist", [step("n0", "ghost")], ["NodeReferenceNotFound ghost", "ParameterNotBound n0"]],
    ["a node without an id", [{ target: runs("z") }], ["ValueRequired <node>"]],
    ["a node without a target", [{ id: "n0" }], ["ValueRequired n0"]],
    ["a task node without a task", [{ id: "n0", target: { case: "taskNode", value: {} } }], ["ValueRequired n0"]],
    ["a workflow node without a workflow", [{ id: "n0", target: { case: "workflowNode", value: {} } }], ["WorkflowReferenceNotFound n0"]],
    ["a missing task", [{ id: "n0", target: runs("absent") }], ["TaskReferenceNotFound start-node"]],
    ["a missing launch plan", [{ id: "n0", target: launches("absent") }], ["WorkflowReferenceNotFound start-node"]],
    ["a missing sub-workflow", [{ id: "n0", target: calls("absent") }], ["WorkflowReferenceNotFound n0"]],
  ])("%s", (_, nodes, errors) => expect(errorsOf(workflow("w", { nodes }))).toEqual(errors));

  it("show the path into a cycle", () => {
    const template = workflow("w", { nodes: [idle("n9"), idle("n0", "n9", "n2"), idle("n1", "n0"), idle("n2", "n1")] });
    const result = compileWorkflow({ template, subWorkflows: [], tasks, launchPlans: [] });
    expect(result.ok ? "" : formatCompileErrors(result.errors)).toContain("[start-node>n9>n0>n1>n2>n0]");
  });

  it("are reported together, sorted, in the format of Flyte's clients", () => {
    const template = workflow("w", { nodes: [{ id: "n1", target: runs("t") }, { id: "n0", target: runs("t") }, { id: "n2" }] });
    const result = compileWorkflow({ template, subWorkflows: [], tasks, launchPlans: [] });
    expect(result.ok ? "" : formatCompileErrors(result.errors)).toMatch(
      /^Collected Errors: 3\n\tError 0: Code: ParameterNotBound, Node Id: n0, Description: .*\[a\].*\n\tError 1: Code: ParameterNotBound, Node Id: n1, .*\n\tError 2: Code: ValueRequired, Node Id: n2, Description: \[Target\].*\n$/,
    );
  });
});

describe("the workflow's interface", () => {
  it.each<[string, Parameters<typeof workflow>[1], string[]]>([
    ["an output that is not bound", { outputs: { r: int }, nodes: [idle("n0")] }, ["ParameterNotBound end-node"]],
    ["a binding of an undeclared output", { bound: { r: number(1) }, nodes: [idle("n0")] }, ["VariableNameNotFound end-node"]],
    ["an output of another type", { outputs: { r: text }, bound: { r: number(1) }, nodes: [idle("n0")] }, ["MismatchingTypes end-node"]],
    ["an unused input", { inputs: { x: int }, nodes: [idle("n0")] }, []],
  ])("%s", (_, parts, errors) => expect(errorsOf(workflow("w", parts))).toEqual(errors));

  it("without types is rejected before other checks", () => {
    const template = workflow("w", { inputs: { x: int }, nodes: [{ id: "n0" }] });
    if (template.interface?.inputs?.variables["x"]) template.interface.inputs.variables["x"].type = undefined;
    expect(errorsOf(template)).toEqual(["ValueRequired start-node"]);
  });

  it("is completed where it is absent, also in tasks", () => {
    const template = workflow("w", { nodes: [idle("n0")] });
    template.interface = undefined;
    const bare = task("z", {}, {});
    if (bare.template) bare.template.interface = { $typeName: "flyteidl.core.TypedInterface" };
    const result = compileWorkflow({ template, subWorkflows: [], tasks: [bare], launchPlans: [] });
    expect(result).toMatchObject({
      ok: true,
      closure: {
        primary: { template: { interface: { inputs: { variables: {} }, outputs: { variables: {} } } } },
        tasks: [{ template: { interface: { inputs: { variables: {} }, outputs: { variables: {} } } } }],
      },
    });
    expect(bare.template?.interface).toEqual({ $typeName: "flyteidl.core.TypedInterface" });
  });
});

describe("the failure node", () => {
  const failing = (failureNode: Node) => workflow("w", { inputs: { x: int }, nodes: [idle("n0")], failureNode });

  it("has upstream nodes but is on no path", () => {
    const primary = compiled(failing(step("fn", "", "x")));
    expect(upstreamOf(primary)["fn"]).toEqual(["start-node"]);
    expect(downstreamOf(primary)).toEqual({ "start-node": ["n0"], n0: ["end-node"] });
    expect(primary.template?.failureNode?.inputs[0]?.binding?.value).toMatchObject({ value: { nodeId: "start-node" } });
    expect(upstreamOf(compiled(failing(idle("fn"))))["fn"]).toBeUndefined();
  });

  it("is checked like other nodes", () => {
    expect(errorsOf(failing({ id: "fn", target: runs("t") }))).toEqual(["ParameterNotBound fn"]);
    expect(errorsOf(failing({ id: "fn", target: runs("absent") }))).toEqual(["TaskReferenceNotFound start-node"]);
  });
});

describe("launch plan nodes", () => {
  const launchPlans = [launchPlan("lp", { x: int, y: int }, { defaults: ["y"], outputs: { r: int } })];
  const node = (inputs: Parameters<typeof bind>[0]): Node => ({ id: "n0", inputs: bind(inputs), target: launches("lp") });

  it.each<[string, Node, string[]]>([
    ["need the required inputs", node({}), ["ParameterNotBound n0"]],
    ["may omit inputs with defaults", node({ x: number(1) }), []],
    ["may bind inputs with defaults", node({ x: number(1), y: number(2) }), []],
    ["may bind no other inputs", node({ x: number(1), z: number(2) }), ["VariableNameNotFound n0"]],
    ["bind values of the declared type", node({ x: number(1), y: items() }), ["MismatchingBindings n0"]],
  ])("%s", (_, n0, errors) => expect(errorsOf(workflow("w", { nodes: [n0] }), { launchPlans })).toEqual(errors));

  it("may not bind a fixed input", () => {
    const fixed = launchPlan("lp", { x: int });
    const fixedInputs = {
      ...fixed.fixedInputs,
      literals: { x: { $typeName: "flyteidl.core.Literal", value: { case: undefined }, hash: "", metadata: {} } },
    } as const;
    expect(errorsOf(workflow("w", { nodes: [node({})] }), { launchPlans: [{ ...fixed, fixedInputs }] })).toEqual([]);
    expect(errorsOf(workflow("w", { nodes: [node({ x: number(1) })] }), { launchPlans: [{ ...fixed, fixedInputs }] })).toEqual([
      "VariableNameNotFound n0",
    ]);
  });

  it("have the outputs of the launch plan's workflow", () => {
    const template = workflow("w", { outputs: { r: int }, bound: { r: promise("n0", "r") }, nodes: [node({ x: number(1) })] });
    expect(errorsOf(template, { launchPlans })).toEqual([]);
  });
});

describe("array nodes", () => {
  const array = (inner: Node | undefined, rest: object = {}): Node["target"] => ({ case: "arrayNode", value: { node: inner, ...rest } });
  const list = items(number(1), number(2));

  it("have the interface of the inner node", () => {
    const nodes: Node[] = [{ id: "n0", inputs: bind({ a: list }), target: array({ id: "sn", target: runs("list") }) }];
    const template = workflow("w", { outputs: { r: listOf(int) }, bound: { r: promise("n0", "o") }, nodes });
    const primary = compiled(template);
    expect(primary.template?.nodes.map(({ id }) => id)).toEqual(["start-node", "end-node", "n0"]);
    expect(upstreamOf(primary)).toEqual({ n0: ["start-node"], "end-node": ["n0"] });
  });

  it("need an inner node", () => {
    expect(errorsOf(workflow("w", { nodes: [{ id: "n0", target: array(undefined) }] }))).toEqual(["ValueRequired "]);
  });

  it("lift inputs into lists only with the option, except bound inputs", () => {
    const launchPlans = [launchPlan("lp", { x: int, y: int }, { defaults: ["y"], outputs: { r: int } })];
    const target = array({ id: "sn", target: launches("lp") }, { isOriginalSubNodeInterface: true, boundInputs: ["y"] });
    const template = workflow("w", {
      outputs: { r: listOf(int) },
      bound: { r: promise("n0", "r") },
      nodes: [{ id: "n0", inputs: bind({ x: list, y: number(1) }), target }],
    });
    expect(errorsOf(template, { launchPlans })).toEqual(["MismatchingBindings n0", "MismatchingTypes end-node", "VariableNameNotFound n0"]);
    expect(errorsOf(template, { launchPlans, liftArrayInterfaces: true })).toEqual([]);
  });
});

describe("sub-workflows", () => {
  const sub = workflow("sub", { inputs: { y: int }, outputs: { r: int }, bound: { r: promise("s0", "o") }, nodes: [step("s0", "", "y")] });
  const middle = workflow("middle", { nodes: [{ id: "m0", inputs: bind({ y: number(1) }), target: calls("sub") }] });
  const use = (name: string, inputs: Parameters<typeof bind>[0] = {}) =>
    workflow("w", { nodes: [{ id: "n0", inputs: bind(inputs), target: calls(name) }] });

  it("are compiled if they are used, in the given order", () => {
    const unused = workflow("unused", { nodes: [idle("n0")] });
    const result = compileWorkflow({ template: use("middle"), subWorkflows: [middle, unused, sub], tasks, launchPlans: [] });
    const subWorkflows = result.ok ? result.closure.subWorkflows : [];
    expect(subWorkflows.map(({ template }) => template?.id?.name)).toEqual(["middle", "sub"]);
    expect(subWorkflows.map(downstreamOf)).toEqual([
      { "start-node": ["m0"], m0: ["end-node"] },
      { "start-node": ["s0"], s0: ["end-node"] },
    ]);
  });

  it("add the tasks that they use, each once and sorted", () => {
    const result = compileWorkflow({ template: use("middle"), subWorkflows: [sub, middle], tasks: [...tasks, ...tasks], launchPlans: [] });
    expect(result.ok ? result.closure.tasks.map(({ template }) => template?.id?.name) : []).toEqual(["t"]);
  });

  it.each<[string, Parameters<typeof errorsOf>, string[]]>([
    [
      "may be used from several places",
      [workflow("w", { nodes: ["n0", "n1"].map((id) => ({ id, target: calls("middle") })) }), { subWorkflows: [middle, sub] }],
      [],
    ],
    [
      "must be given, also those that other sub-workflows use",
      [use("middle"), { subWorkflows: [middle] }],
      ["WorkflowReferenceNotFound m0"],
    ],
    ["must be bound", [use("sub"), { subWorkflows: [sub] }], ["ParameterNotBound n0"]],
    [
      "must be given once",
      [use("sub"), { subWorkflows: [sub, sub] }],
      ['DuplicateId resource_type:WORKFLOW project:"p" domain:"d" name:"sub" version:"v"'],
    ],
    [
      "are checked",
      [use("bad"), { subWorkflows: [workflow("bad", { nodes: [{ id: "b0", target: runs("t") }] })] }],
      ["ParameterNotBound b0"],
    ],
    ["are not checked when not in use", [workflow("w", { nodes: [idle("n0")] }), { subWorkflows: [workflow("bad", { nodes: [] })] }], []],
    [
      "may not use themselves",
      [use("loop"), { subWorkflows: [workflow("loop", { nodes: [{ id: "l0", target: calls("loop") }] })] }],
      ["CycleDetected l0"],
    ],
  ])("%s", (_, args, errors) => expect(errorsOf(...args)).toEqual(errors));

  it("are reported as a cycle if they use themselves", () => {
    const loop = ["a", "b", "c"].map((name, i) =>
      workflow(name, { nodes: [{ id: `${name}0`, target: calls(["b", "c", "b"][i] as string) }] }),
    );
    const result = compileWorkflow({ template: use("a"), subWorkflows: loop, tasks, launchPlans: [] });
    expect(result.ok ? "" : formatCompileErrors(result.errors)).toContain("Node Id: c0, Description: The graph has a cycle [b>c>b].");
  });

  it("may nest thousands of levels deep", () => {
    const chain = Array.from({ length: 5000 }, (_, i) =>
      workflow(`s${i}`, { nodes: [i === 4999 ? { id: "n0", target: sleeps } : { id: "n0", target: calls(`s${i + 1}`) }] }),
    );
    expect(errorsOf(use("s0"), { subWorkflows: chain })).toEqual([]);
    expect(compileDependencies(use("s0"), chain)).toEqual({ tasks: [], launchPlans: [], errors: [] });
  });

  it("are visited once, whatever the number of references", () => {
    const doubling = Array.from({ length: 60 }, (_, i) =>
      workflow(`s${i}`, { nodes: ["n0", "n1"].map((id) => (i === 59 ? { id, target: runs("z") } : { id, target: calls(`s${i + 1}`) })) }),
    );
    expect(errorsOf(use("s0"), { subWorkflows: doubling })).toEqual([]);
  });
});

describe("compileDependencies", () => {
  it("lists the references of all nodes, once and sorted", () => {
    const branch: Node["target"] = {
      case: "branchNode",
      value: {
        ifElse: {
          case: { thenNode: { target: runs("b") } },
          other: [{ thenNode: { target: runs("a") } }],
          default: { case: "elseNode", value: { target: launches("l2") } },
        },
      },
    };
    const template = workflow("w", {
      nodes: [
        { id: "n0", target: branch },
        { id: "n1", target: { case: "arrayNode", value: { node: { target: launches("l1") } } } },
        { id: "n2", target: runs("b") },
        { id: "n3", target: calls("sub") },
        { id: "n4", target: calls("absent") },
      ],
      failureNode: { id: "fn", target: runs("f") },
    });
    const sub = workflow("sub", { nodes: [{ id: "s0", target: runs("c") }] });
    expect(compileDependencies(template, [sub, workflow("unused", { nodes: [{ target: runs("x") }] })])).toEqual({
      tasks: ["a", "b", "c", "f"].map((name) => identifier(1, name)),
      launchPlans: ["l1", "l2"].map((name) => identifier(3, name)),
      errors: [],
    });
    expect(compileDependencies(template, [sub, sub]).errors).toMatchObject([{ code: "DuplicateId" }]);
  });
});
