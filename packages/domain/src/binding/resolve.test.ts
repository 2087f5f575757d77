import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Binding, type BindingDataSchema, BindingSchema, type Literal, LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { describe, expect, it } from "vitest";
import { collectionLiteral, integerLiteral, literalMap, mapLiteral, stringLiteral } from "../literal/build.js";
import { resolveBindings } from "./resolve.js";
import { parseVariableName } from "./variable-name.js";

type Data = MessageInitShape<typeof BindingDataSchema>;
const bind = (name: string, binding?: Data): Binding => create(BindingSchema, { var: name, binding });
const promise = (nodeId: string, output: string, ...attributes: number[]): Data => ({
  value: {
    case: "promise",
    value: { nodeId, var: output, attrPath: attributes.map((value) => ({ value: { case: "intValue", value } })) },
  },
});
const constant = (value: bigint): Data => ({
  value: { case: "scalar", value: { value: { case: "primitive", value: { value: { case: "integer", value } } } } },
});
const list = (...bindings: Data[]): Data => ({ value: { case: "collection", value: { bindings } } });
const map = (bindings: Record<string, Data>): Data => ({ value: { case: "map", value: { bindings } } });
const outputs = (nodes: Record<string, Record<string, Literal>>) => (nodeId: string) =>
  nodes[nodeId] && literalMap(Object.entries(nodes[nodeId]));

describe("resolveBindings", () => {
  const known = outputs({
    "start-node": { x: integerLiteral(1) },
    n0: { o: collectionLiteral([integerLiteral(7), integerLiteral(8)]), s: stringLiteral("a") },
  });

  it("resolves constants, node outputs, workflow inputs, and lists and maps of them", () => {
    const bindings = [
      bind("c", constant(5n)),
      bind("w", promise("", "x")),
      bind("o", promise("n0", "s")),
      bind("l", list(constant(5n), promise("start-node", "x"))),
      bind("m", map({ k: promise("n0", "s") })),
      bind("e", promise("n0", "[1].o")),
      bind("a", promise("n0", "o", 0)),
    ];
    expect(resolveBindings(bindings, known)).toEqual({
      literals: literalMap([
        ["c", integerLiteral(5)],
        ["w", integerLiteral(1)],
        ["o", stringLiteral("a")],
        ["l", collectionLiteral([integerLiteral(5), integerLiteral(1)])],
        ["m", mapLiteral([["k", stringLiteral("a")]])],
        ["e", integerLiteral(8)],
        ["a", integerLiteral(7)],
      ]),
    });
  });

  it("lists all nodes whose outputs are missing, before it reports any error", () => {
    const bindings = [
      bind("e"),
      bind("a", promise("n1", "o")),
      bind("b", list(promise("n2", "o"), promise("n1", "p"), promise("n0", "s"))),
    ];
    expect(resolveBindings(bindings, known)).toEqual({ missing: ["n1", "n2"] });
  });

  it("requests the offloaded literals that an attribute path enters, and no others", () => {
    const offloaded = create(LiteralSchema, { value: { case: "offloadedMetadata", value: { uri: "s3://b/x" } } });
    const nodes = outputs({ n0: { o: offloaded } });
    expect(resolveBindings([bind("a", promise("n0", "o", 1))], nodes)).toEqual({ offloaded: ["s3://b/x"] });
    expect(resolveBindings([bind("a", promise("n0", "o"))], nodes)).toEqual({ literals: literalMap([["a", offloaded]]) });
    const fetched = { offloaded: () => collectionLiteral([integerLiteral(1), integerLiteral(2)]) };
    expect(resolveBindings([bind("a", promise("n0", "o", 1))], nodes, fetched)).toEqual({
      literals: literalMap([["a", integerLiteral(2)]]),
    });
  });

  it("follows output aliases", () => {
    const unalias = (nodeId: string, name: string) => (nodeId === "n0" && name === "alias" ? "s" : undefined);
    expect(resolveBindings([bind("a", promise("n0", "alias"))], known, { unalias })).toEqual({
      literals: literalMap([["a", stringLiteral("a")]]),
    });
  });

  it.each<[string, Binding, string, RegExp]>([
    ["no binding", bind("v"), "BadSpecificationError", /input \[v\] has no binding/],
    ["an empty binding", bind("v", {}), "BadSpecificationError", /has no binding/],
    ["a missing output", bind("v", promise("n0", "zz")), "OutputsNotFoundError", /\[v\].*\[zz\].*\[n0\]/],
    ["an inherited name", bind("v", promise("n0", "toString")), "OutputsNotFoundError", /toString/],
    ["a missing element", bind("v", promise("n0", "[2].o")), "OutputsNotFoundError", /\[2\]\.o/],
    ["an index into a scalar", bind("v", promise("n0", "[0].s")), "OutputsNotFoundError", /\[0\]\.s/],
    ["an empty output name", bind("v", promise("n0", "")), "BadSpecificationError", /no name/],
    ["an invalid attribute path", bind("v", promise("n0", "o", 2)), "PromiseAttributeResolveError", /\[v\].*\[n0\].*\[2\]/],
  ])("refuses %s", (_, binding, code, message) => {
    expect(resolveBindings([binding], known)).toEqual({ error: { code, message: expect.stringMatching(message) } });
  });

  it("refuses bindings nested beyond the limit", () => {
    const binding = bind("v", constant(1n));
    for (let i = 0; i < 10_000; i++) {
      const inner = binding.binding;
      binding.binding = {
        $typeName: "flyteidl.core.BindingData",
        value: { case: "collection", value: { $typeName: "flyteidl.core.BindingDataCollection", bindings: inner ? [inner] : [] } },
      };
    }
    expect(resolveBindings([binding], known)).toMatchObject({ error: { code: "BadSpecificationError" } });
  });
});

describe("parseVariableName", () => {
  it("parses names and indexed names", () => {
    expect(parseVariableName("o0")).toEqual({ name: "o0", index: undefined });
    expect(parseVariableName("[12].größe")).toEqual({ name: "größe", index: 12 });
    for (const bad of ["", "[1]", "[1].", "[x].o", "[-1].o", "[1]o", `[${"9".repeat(30)}].o`])
      expect.soft(parseVariableName(bad), bad).toBeUndefined();
  });
});
