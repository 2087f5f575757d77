import { describe, expect, it } from "vitest";
import {
  bind,
  bool,
  branches,
  compiled,
  dataclass,
  downstreamOf,
  equalsOne,
  errorsOf,
  int,
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
  word,
  workflow,
} from "../template.fixture.js";

const arm = (id: string, name = "t"): Node => ({ id, inputs: bind({ a: name === "text" ? word("x") : number(1) }), target: runs(name) });
const branch = (target: Node["target"], inputs: Parameters<typeof bind>[0] = { c: number(1) }): Node => ({
  id: "n1",
  inputs: bind(inputs),
  target,
});
const errorsOfBranch = (node: Node): string[] => errorsOf(workflow("w", { inputs: { x: int }, nodes: [node] }));

describe("a branch", () => {
  it("prefixes the ids of its arms with its own and links them upstream only", () => {
    const inner = {
      ...branch(branches([arm("a"), { id: "b", inputs: bind({ a: promise("n0", "o") }), target: runs("t") }]), { c: promise("n0", "o") }),
      id: "in",
    };
    const nodes: Node[] = [arm("n0"), branch(branches([inner, arm("z")]), { c: promise("", "x") })];
    const primary = compiled(workflow("w", { inputs: { x: int }, outputs: { r: int }, bound: { r: promise("n1", "o") }, nodes }));
    expect(primary.template?.nodes.map(({ id }) => id)).toEqual(["start-node", "end-node", "n0", "n1"]);
    expect(downstreamOf(primary)).toEqual({ "start-node": ["n0", "n1"], n0: ["end-node"], n1: ["end-node"] });
    expect(upstreamOf(primary)).toEqual({
      n0: ["start-node"],
      n1: ["start-node"],
      "n1-in": ["n0"],
      "n1-in-b": ["n0"],
      "end-node": ["n0", "n1"],
    });
    const ifElse = primary.template?.nodes[3]?.target;
    const nested = ifElse?.case === "branchNode" ? ifElse.value.ifElse?.case?.thenNode : undefined;
    expect(nested?.id).toBe("n1-in");
    expect(nested?.target.case === "branchNode" && nested.target.value.ifElse?.other[0]?.thenNode?.id).toBe("n1-in-b");
  });

  it("has the outputs that all its arms have", () => {
    const two = task("two", { a: int }, { o: int, p: int });
    const nodes = [branch(branches([arm("a"), arm("b", "two")]))];
    const template = (output: string) => workflow("w", { outputs: { r: int }, bound: { r: promise("n1", output) }, nodes });
    expect(errorsOf(template("o"), { tasks: [...tasks, two] })).toEqual([]);
    expect(errorsOf(template("p"), { tasks: [...tasks, two] })).toEqual(["ParameterNotBound end-node", "VariableNameNotFound n1"]);
  });

  it.each<[string, Node, string[]]>([
    ["arms that agree", branch(branches([arm("a"), arm("b")])), []],
    ["arms that do not agree on a type", branch(branches([arm("a"), arm("b", "text")])), ["MismatchingTypes n1-b", "ValueRequired n1"]],
    ["an arm whose input is not bound", branch(branches([{ id: "a", target: runs("t") }])), ["ParameterNotBound n1-a"]],
    ["an arm without a target", branch(branches([{ id: "a" }])), ["ValueRequired n1", "ValueRequired n1-a"]],
    [
      "no cases",
      branch({ case: "branchNode", value: {} }),
      ["BranchNodeHasNoCondition n1", "BranchNodeHasNoDefault n1", "ValueRequired n1"],
    ],
    ["a case without a node", branch(branches([undefined])), ["BranchNodeIdNotFound n1", "ValueRequired n1", "ValueRequired n1"]],
    [
      "a second case without a node",
      branch(branches([arm("a"), undefined])),
      ["BranchNodeIdNotFound n1", "ValueRequired n1", "ValueRequired n1"],
    ],
    [
      "a case without a condition",
      branch({ case: "branchNode", value: { ifElse: { case: { thenNode: arm("a") }, default: { case: "elseNode", value: arm("b") } } } }),
      ["BranchNodeHasNoCondition n1"],
    ],
    [
      "neither an else node nor an error",
      branch({ case: "branchNode", value: { ifElse: { case: { condition: equalsOne("c"), thenNode: arm("a") } } } }),
      ["BranchNodeHasNoDefault n1"],
    ],
    [
      "an else node with errors",
      branch({
        case: "branchNode",
        value: {
          ifElse: {
            case: { condition: equalsOne("c"), thenNode: arm("a") },
            default: { case: "elseNode", value: { id: "e", target: runs("t") } },
          },
        },
      }),
      ["ParameterNotBound n1-e"],
    ],
  ])("judges %s", (_, node, errors) => expect(errorsOfBranch(node)).toEqual(errors));

  it("can be bound only to nodes before it", () => {
    const nodes = [branch(branches([arm("a")]), { c: promise("n2", "o") }), { ...arm("n2") }];
    expect(errorsOf(workflow("w", { nodes }))).toContain("NodeReferenceNotFound n2");
    expect(errorsOf(workflow("w", { nodes: nodes.toReversed() }))).toEqual([]);
  });
});

describe("a condition", () => {
  type Expression = NonNullable<NonNullable<Parameters<typeof branches>[1]>["expr"]>;
  const errorsOfCondition = (expr: Expression): string[] => errorsOfBranch(branch(branches([arm("a")], { expr })));
  const one = { val: { case: "primitive", value: { value: { case: "integer", value: 1n } } } } as const;
  const half = { val: { case: "primitive", value: { value: { case: "floatValue", value: 0.5 } } } } as const;
  const c = { val: { case: "var", value: "c" } } as const;
  const unbound = { val: { case: "var", value: "toString" } } as const;

  it.each<[string, Expression, string[]]>([
    ["two constants", { case: "comparison", value: { leftValue: one, rightValue: one } }, []],
    ["a variable and a constant", { case: "comparison", value: { leftValue: c, rightValue: one } }, []],
    ["unlike types", { case: "comparison", value: { leftValue: c, rightValue: half } }, ["MismatchingTypes n1"]],
    ["a variable that is not bound", { case: "comparison", value: { leftValue: unbound, rightValue: one } }, ["VariableNameNotFound n1"]],
    ["a side that is absent", { case: "comparison", value: { leftValue: c } }, ["ValueRequired n1"]],
    ["a side without a value", { case: "comparison", value: { leftValue: c, rightValue: {} } }, ["ValueRequired n1"]],
    [
      "a side that is a scalar",
      {
        case: "comparison",
        value: { leftValue: c, rightValue: { val: { case: "scalar", value: { value: { case: "noneType", value: {} } } } } },
      },
      ["ValueRequired n1"],
    ],
    ["nothing", { case: undefined }, ["ValueRequired n1"]],
    [
      "both sides of a conjunction",
      {
        case: "conjunction",
        value: { leftExpression: { expr: { case: "comparison", value: { leftValue: unbound, rightValue: one } } }, rightExpression: {} },
      },
      ["ValueRequired n1", "VariableNameNotFound n1"],
    ],
    [
      "half of a conjunction",
      { case: "conjunction", value: { leftExpression: { expr: { case: "comparison", value: { leftValue: c, rightValue: one } } } } },
      ["BranchNodeHasNoCondition n1"],
    ],
  ])("has an error for %s", (_, expression, errors) => expect(errorsOfCondition(expression)).toEqual(errors));

  it("uses the type at the end of an attribute path", () => {
    const record = task("record", {}, { d: dataclass({ count: int, ok: bool }) });
    const nodes = (field: string): Node[] => [
      { id: "n0", target: runs("record") },
      branch(branches([arm("a")]), { c: promise("n0", "d", field) }),
    ];
    expect(errorsOf(workflow("w", { nodes: nodes("count") }), { tasks: [...tasks, record] })).toEqual([]);
    expect(errorsOf(workflow("w", { nodes: nodes("ok") }), { tasks: [...tasks, record] })).toEqual(["MismatchingTypes n1"]);
  });
});

describe("a gate", () => {
  type Gate = NonNullable<Extract<Node["target"], { case: "gateNode" }>["value"]["condition"]>;
  const gate = (condition: Gate, inputs: Parameters<typeof bind>[0] = {}): Node => ({
    id: "n1",
    inputs: bind(inputs),
    target: { case: "gateNode", value: { condition } },
  });
  const after = (node: Node, output: string, name = "t"): string[] => {
    const nodes: Node[] = [arm("n0"), node, { id: "n2", inputs: bind({ a: promise("n1", output) }), target: runs(name) }];
    return errorsOf(workflow("w", { nodes }));
  };

  it("outputs the approved inputs", () => {
    expect(after(gate({ case: "approve", value: { signalId: "s" } }, { v: promise("n0", "o") }), "v")).toEqual([]);
    expect(after(gate({ case: "approve", value: { signalId: "s" } }, { v: promise("n0", "o") }), "v", "text")).toEqual([
      "MismatchingTypes n2",
    ]);
    expect(after(gate({ case: "approve", value: {} }), "v")).toEqual(["ParameterNotBound n2", "VariableNameNotFound n1"]);
  });

  it("outputs the value of a signal", () => {
    expect(after(gate({ case: "signal", value: { signalId: "s", type: int, outputVariableName: "v" } }), "v")).toEqual([]);
    expect(after(gate({ case: "signal", value: { signalId: "s", type: text, outputVariableName: "v" } }), "v")).toEqual([
      "MismatchingTypes n2",
    ]);
  });

  it.each<[string, Node, string[]]>([
    ["a signal without a type", gate({ case: "signal", value: { outputVariableName: "v" } }), ["ValueRequired n1"]],
    ["a signal without a name for its value", gate({ case: "signal", value: { type: int } }), ["ValueRequired n1"]],
    ["neither signal, approval nor sleep", gate({ case: undefined }), ["NoConditionFound n1"]],
    ["sleep", { id: "n1", target: sleeps }, []],
    [
      "an approval of a list",
      gate({ case: "approve", value: {} }, { v: { value: { case: "collection", value: {} } } }),
      ["MismatchingBindings n1"],
    ],
  ])("has an error for %s", (_, node, errors) => expect(errorsOf(workflow("w", { nodes: [node] }))).toEqual(errors));

  it("outputs the type at the end of an attribute path", () => {
    const lists = task("lists", {}, { l: listOf(int) });
    const nodes: Node[] = [
      { id: "n0", target: runs("lists") },
      gate({ case: "approve", value: {} }, { v: promise("n0", "l", 0) }),
      { id: "n2", inputs: bind({ a: promise("n1", "v") }), target: runs("t") },
    ];
    expect(errorsOf(workflow("w", { nodes }), { tasks: [...tasks, lists] })).toEqual([]);
  });
});
