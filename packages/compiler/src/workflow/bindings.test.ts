import { describe, expect, it } from "vitest";
import {
  bind,
  compiled,
  type Data,
  dataclass,
  entries,
  errorsOf,
  float,
  int,
  items,
  listOf,
  mapOf,
  type Node,
  none,
  number,
  oneOf,
  promise,
  runs,
  scalar,
  task,
  text,
  type Types,
  union,
  upstreamOf,
  word,
  workflow,
} from "../template.fixture.js";
import { compileWorkflow, formatCompileErrors } from "../index.js";

const source: Types = {
  i: int,
  l: listOf(int),
  m: mapOf(text),
  ll: listOf(listOf(int)),
  u: union(int, none),
  d: dataclass({ f: int, inner: dataclass({ g: listOf(text) }) }),
};
const tasks = (type: Types[string]) => [task("source", {}, source), task("sink", type ? { a: type } : {}, {})];

/** Errors of binding this to an input of that type. */
function errorsOfBinding(type: Types[string], binding: Data | undefined): string[] {
  const nodes: Node[] = [
    { id: "n0", target: runs("source") },
    { id: "n1", inputs: bind({ a: binding }), target: runs("sink") },
  ];
  return errorsOf(workflow("w", { nodes }), { tasks: tasks(type) });
}

describe("bindings", () => {
  it.each<[string, Types[string], Data | undefined, string[]]>([
    ["a constant", int, number(1), []],
    ["a constant of another type", float, number(1), ["MismatchingTypes n1"]],
    ["an enum's value", oneOf("a", "b"), word("a"), []],
    ["a value outside the enum", oneOf("a", "b"), word("c"), ["IllegalEnumValue n1"]],
    ["a number for an enum", oneOf("a"), number(1), ["IllegalEnumValue n1", "MismatchingTypes n1"]],
    ["a scalar without a value", int, scalar({ case: undefined }), ["UnrecognizedValue n1"]],
    ["none for an optional", union(int, none), scalar({ case: "noneType", value: {} }), []],
    ["a list", listOf(int), items(number(1), promise("n0", "i")), []],
    ["an empty list", listOf(int), items(), []],
    ["a list with a wrong element", listOf(int), items(number(1), word("x")), ["MismatchingTypes n1"]],
    ["a list of lists", listOf(listOf(int)), items(items(), promise("n0", "l")), []],
    ["a list for a number", int, items(number(1)), ["MismatchingBindings n1"]],
    ["a list for a map", mapOf(int), items(), ["MismatchingBindings n1"]],
    ["a map", mapOf(int), entries({ k: number(1) }), []],
    ["a map with a wrong value", mapOf(int), entries({ k: word("x"), l: number(1) }), ["MismatchingTypes n1"]],
    ["a binding without a value", int, {}, ["MismatchingBindings n1"]],
    ["no binding", int, undefined, ["ParameterNotBound n1", "ValueRequired n1"]],
    ["a list for the one list of a union", union(listOf(int), text), items(number(1)), []],
    ["a list for two lists of a union", union(listOf(int), listOf(text)), items(), ["AmbiguousBindingUnionValue n1"]],
    ["a list for a union without one", union(int, text), items(number(1)), ["IncompatibleBindingUnionValue n1"]],
    ["a map for a union in a list", listOf(union(mapOf(int), none)), items(entries({ k: number(1) })), []],
    ["an output", int, promise("n0", "i"), []],
    ["an output of another type", text, promise("n0", "i"), ["MismatchingTypes n1"]],
    ["an optional for a required input", int, promise("n0", "u"), ["MismatchingTypes n1"]],
    ["a missing output", int, promise("n0", "zz"), ["ParameterNotBound n1", "VariableNameNotFound n0"]],
    ["an inherited property as an output", int, promise("n0", "toString"), ["ParameterNotBound n1", "VariableNameNotFound n0"]],
    ["the end node's output", int, promise("end-node", "r"), ["ParameterNotBound n1", "VariableNameNotFound end-node"]],
    ["an empty output name", int, promise("n0", ""), ["SyntaxError n1"]],
    ["an element by index", int, promise("n0", "[3].l"), []],
    ["an index into a scalar", int, promise("n0", "[3].i"), ["MismatchingTypes n1"]],
    ["an attribute of a list", int, promise("n0", "l", 0), []],
    ["an attribute of another type", text, promise("n0", "l", 0), ["MismatchingTypes n1"]],
    ["attributes of lists in lists", int, promise("n0", "ll", 0, 1), []],
    ["an attribute of a map", text, promise("n0", "m", "k"), []],
    ["a field", int, promise("n0", "d", "f"), []],
    ["a field of a field's list", text, promise("n0", "d", "inner", "g", 0), []],
    ["a missing field", int, promise("n0", "d", "zz"), ["FieldNotFound n1"]],
    ["an inherited property as a field", int, promise("n0", "d", "constructor"), ["FieldNotFound n1"]],
    ["an index into a data class", int, promise("n0", "d", 0), ["FieldNotFound n1"]],
  ])("judges %s", (_, type, binding, errors) => expect(errorsOfBinding(type, binding)).toEqual(errors));

  it("each input needs one binding", () => {
    const inputs = [...bind({ a: number(1) }), ...bind({ a: number(2) }), ...bind({ q: number(3) })];
    const nodes: Node[] = [{ id: "n1", inputs, target: runs("sink") }];
    expect(errorsOf(workflow("w", { nodes }), { tasks: tasks(int) })).toEqual(["ParameterBoundMoreThanOnce n1", "VariableNameNotFound n1"]);
  });

  it("only an input that accepts None may be unbound", () => {
    const nodes: Node[] = [{ id: "n1", target: runs("sink") }];
    expect(errorsOf(workflow("w", { nodes }), { tasks: tasks(union(int, none)) })).toEqual([]);
    expect(errorsOf(workflow("w", { nodes }), { tasks: tasks(union(int, listOf(int))) })).toEqual(["ParameterNotBound n1"]);
  });

  it("a binding links to the nodes of the matching variant only", () => {
    const nodes: Node[] = [
      { id: "n0", target: runs("source") },
      { id: "n1", inputs: bind({ a: items(promise("n0", "i")) }), target: runs("sink") },
    ];
    const template = workflow("w", { nodes });
    expect(upstreamOf(compiled(template, { tasks: tasks(union(listOf(text), listOf(int))) }))["n1"]).toEqual(["n0"]);
  });

  it("a type mismatch names both variables and both types", () => {
    const nodes: Node[] = [
      { id: "n0", metadata: { name: "load" }, target: runs("source") },
      { id: "n1", metadata: { name: "use" }, inputs: bind({ a: promise("n0", "l") }), target: runs("sink") },
    ];
    const result = compileWorkflow({ template: workflow("w", { nodes }), subWorkflows: [], tasks: tasks(int), launchPlans: [] });
    const message = result.ok ? "" : formatCompileErrors(result.errors);
    for (const part of ["load.l", "use.a", "collection_type:{simple:INTEGER}", "[simple:INTEGER]"]) expect(message).toContain(part);
  });
});

describe("output aliases", () => {
  const aliased = (aliases: [string, string][], from: string): Node[] => [
    { id: "n0", outputAliases: aliases.map(([name, alias]) => ({ var: name, alias })), target: runs("source") },
    { id: "n1", inputs: bind({ a: promise("n0", from) }), target: runs("sink") },
  ];

  it.each<[string, Node[], string[]]>([
    ["are the names of the bindings", aliased([["i", "count"]], "count"), []],
    ["replace the names of the outputs", aliased([["i", "count"]], "i"), ["ParameterNotBound n1", "VariableNameNotFound n0"]],
    [
      "may not repeat an output",
      aliased(
        [
          ["i", "x"],
          ["i", "y"],
        ],
        "x",
      ),
      ["DuplicateAlias n0", "ParameterNotBound n1"],
    ],
    ["must name an output", aliased([["zz", "x"]], "i"), ["ParameterNotBound n0", "ParameterNotBound n1"]],
  ])("%s", (_, nodes, errors) => expect(errorsOf(workflow("w", { nodes }), { tasks: tasks(int) })).toEqual(errors));
});
