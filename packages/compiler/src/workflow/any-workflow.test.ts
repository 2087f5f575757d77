import { toJson } from "@bufbuild/protobuf";
import { CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import type { WorkflowTemplate } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  bind,
  branches,
  calls,
  compiled,
  type Data,
  downstreamOf,
  entries,
  errorsOf,
  float,
  int,
  items,
  launches,
  launchPlan,
  listOf,
  type Node,
  none,
  number,
  promise,
  runs,
  sleeps,
  task,
  tasks,
  text,
  type Types,
  union,
  upstreamOf,
  word,
  workflow,
} from "../template.fixture.js";
import { compileTask, compileWorkflow, compileDependencies } from "../index.js";

/** A node: its upstream nodes, and whether its input is bound. */
interface Vertex {
  readonly after: readonly number[];
  readonly bound: boolean;
}

const graph: fc.Arbitrary<readonly Vertex[]> = fc.integer({ min: 1, max: 8 }).chain((size) =>
  fc.array(
    fc.record({
      after: fc.uniqueArray(fc.nat(size - 1), { maxLength: 3 }),
      bound: fc.oneof({ weight: 9, arbitrary: fc.constant(true) }, fc.constant(false)),
    }),
    { minLength: size, maxLength: size },
  ),
);
const acyclicGraph = graph.map((vertices) => vertices.map(({ after }, i): Vertex => ({ after: after.filter((j) => j < i), bound: true })));

const template = (vertices: readonly Vertex[], order = vertices.map((_, i) => i)): WorkflowTemplate =>
  workflow("w", {
    inputs: { x: int },
    nodes: order.map((i): Node => {
      const { after, bound } = vertices[i] as Vertex;
      const [data, ...others] = after.map((j) => `n${j}`);
      const a = data === undefined ? promise("", "x") : promise(data, "o");
      return {
        id: `n${i}`,
        inputs: bound ? bind({ a }) : [],
        upstreamNodeIds: bound ? others : [...others, data ?? "start-node"],
        target: runs("t"),
      };
    }),
  });

function isAcyclic(vertices: readonly Vertex[]): boolean {
  const done = new Set<number>();
  for (let round = 0; round < vertices.length; round++) {
    for (const [i, { after }] of vertices.entries()) if (after.every((j) => done.has(j))) done.add(i);
  }
  return done.size === vertices.length;
}

describe("any graph", () => {
  it("compiles if and only if it has no cycle and all inputs are bound", () => {
    fc.assert(
      fc.property(graph, (vertices) => {
        const errors = errorsOf(template(vertices));
        const unbound = vertices.flatMap(({ bound }, i) => (bound ? [] : [`ParameterNotBound n${i}`]));
        const cycles = errors.filter((error) => ["CycleDetected start-node", "UnreachableNodes start-node"].includes(error));
        expect(cycles).toHaveLength(isAcyclic(vertices) ? 0 : 1);
        expect(errors.filter((error) => !cycles.includes(error))).toEqual(unbound);
      }),
      { numRuns: 500 },
    );
  });

  it("has the same edges in both directions, from start to end", () => {
    fc.assert(
      fc.property(acyclicGraph, (vertices) => {
        const primary = compiled(template(vertices));
        const [up, down] = [upstreamOf(primary), downstreamOf(primary)];
        const edges = (of: Record<string, string[]>) => Object.entries(of).flatMap(([a, ids]) => ids.map((b) => [a, b] as const));
        expect(new Set(edges(up).map(([to, from]) => `${from}>${to}`))).toEqual(new Set(edges(down).map(([from, to]) => `${from}>${to}`)));
        for (const i of vertices.keys()) {
          expect(up[`n${i}`]).toEqual(vertices[i]?.after.length ? vertices[i].after.map((j) => `n${j}`).sort() : ["start-node"]);
          expect(down[`n${i}`]?.length).toBeGreaterThan(0);
        }
      }),
    );
  });

  it("compiles to the same closure for any order of its nodes", () => {
    fc.assert(
      fc.property(
        acyclicGraph.chain((vertices) =>
          fc.tuple(fc.constant(vertices), fc.shuffledSubarray([...vertices.keys()], { minLength: vertices.length })),
        ),
        ([vertices, order]) => {
          expect(compiled(template(vertices, order)).connections).toEqual(compiled(template(vertices)).connections);
        },
      ),
    );
  });
});

const launchPlans = [launchPlan("lp", { x: int, y: int }, { defaults: ["y"], outputs: { r: int } })];
const manyTasks = [...tasks, task("many", { a: union(int, none), b: listOf(union(int, text)) }, { o: float, l: listOf(text) })];
const subWorkflows = [
  workflow("s0", { inputs: { y: int }, outputs: { o: int }, bound: { o: promise("", "y") }, nodes: [{ id: "n0", target: runs("z") }] }),
  workflow("s1", { nodes: [{ id: "n0", target: calls("s1") }] }),
];

const id = fc.constantFrom("n0", "n1", "n2", "start-node", "end-node", "", "__proto__", "ghost");
const name = fc.constantFrom("a", "b", "o", "x", "y", "r", "l", "[0].l", "", "toString");
const data: fc.Arbitrary<Data> = fc.letrec<{ data: Data }>((tie) => ({
  data: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<Data>({}, number(1), word("x"), { value: { case: "scalar", value: {} } }),
    fc.tuple(id, name, fc.array(fc.constantFrom(0, "k"), { maxLength: 2 })).map(([node, output, path]) => promise(node, output, ...path)),
    fc.array(tie("data"), { maxLength: 3 }).map((values) => items(...values)),
    fc.dictionary(fc.string(), tie("data"), { maxKeys: 3, noNullPrototype: true }).map(entries),
  ),
})).data;
const target: fc.Arbitrary<Node["target"]> = fc.letrec<{ target: Node["target"]; node: Node }>((tie) => ({
  node: fc.record({
    id,
    inputs: fc.array(fc.record({ var: name, binding: fc.option(data, { nil: undefined }) }), { maxLength: 3 }),
    upstreamNodeIds: fc.array(id, { maxLength: 2 }),
    outputAliases: fc.array(fc.record({ var: name, alias: name }), { maxLength: 1 }),
    target: tie("target"),
  }),
  target: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<Node["target"]>(
      { case: undefined },
      runs("t"),
      runs("z"),
      runs("many"),
      launches("lp"),
      calls("s0"),
      sleeps,
      { case: "gateNode", value: { condition: { case: "approve", value: {} } } },
      { case: "taskNode", value: {} },
      { case: "workflowNode", value: {} },
      { case: "branchNode", value: { ifElse: {} } },
    ),
    fc.array(fc.option(tie("node"), { nil: undefined }), { maxLength: 3 }).map((arms) => branches(arms)),
    fc.option(tie("node"), { nil: undefined }).map((node): Node["target"] => ({ case: "arrayNode", value: { node } })),
  ),
})).target;
const anyTemplate = fc
  .record({
    nodes: fc.array(
      fc.record({
        id,
        inputs: fc.array(fc.record({ var: name, binding: fc.option(data, { nil: undefined }) }), { maxLength: 3 }),
        upstreamNodeIds: fc.array(id, { maxLength: 2 }),
        target,
      }),
      { maxLength: 5 },
    ),
    outputs: fc.constantFrom<Types>({}, { r: int }, { r: text, o: listOf(int) }),
    bound: fc.dictionary(fc.constantFrom("r", "o"), data),
    failureNode: fc.option(fc.record({ id, target }), { nil: undefined }),
  })
  .map((parts) => workflow("w", { inputs: { x: int }, ...parts }));

describe("any template", () => {
  const source = (template: WorkflowTemplate) => ({ template, subWorkflows, tasks: manyTasks, launchPlans });

  it("compiles or is rejected with sorted, unique errors, and never throws", () => {
    fc.assert(
      fc.property(anyTemplate, (template) => {
        const result = compileWorkflow(source(template));
        const lines = result.ok ? [] : result.errors.map(({ code, nodeId, description }) => `${code} ${nodeId} ${description}`);
        expect(result.ok || lines.length > 0).toBe(true);
        expect(lines).toHaveLength(new Set(lines).size);
        expect(result.ok ? [] : result.errors.map(({ code }) => code)).toEqual(
          result.ok ? [] : result.errors.map(({ code }) => code).sort(),
        );
        expect(compileDependencies(template, subWorkflows).errors).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });

  it("compiles deterministically and is changed only with mutateTemplates", () => {
    fc.assert(
      fc.property(anyTemplate, (template) => {
        const before = structuredClone(template);
        const [first, second] = [compileWorkflow(source(template)), compileWorkflow(source(template))];
        expect(second).toEqual(first);
        expect(template).toEqual(before);
        expect(compileWorkflow({ ...source(template), mutateTemplates: true })).toEqual(first);
        expect(first.ok ? toJson(CompiledWorkflowClosureSchema, first.closure) : {}).toBeDefined();
      }),
      { numRuns: 300 },
    );
  });
});

describe("large graphs", () => {
  const chain = (length: number): readonly Vertex[] => Array.from({ length }, (_, i) => ({ after: i === 0 ? [] : [i - 1], bound: true }));

  it("compiles long chains and wide fans", () => {
    const fan = Array.from({ length: 10_000 }, (): Vertex => ({ after: [], bound: true }));
    expect(errorsOf(template(chain(10_000)))).toEqual([]);
    expect(upstreamOf(compiled(template(fan)))["end-node"]).toHaveLength(10_000);
  });

  it("finds the cycle at the end of a long chain", () => {
    const vertices = [...chain(10_000)];
    vertices[5000] = { after: [4999, 9999], bound: true };
    expect(errorsOf(template(vertices))).toEqual(["CycleDetected start-node"]);
  });

  it("rejects nesting beyond the limit with one error and without recursion", () => {
    const branch = workflow("w", { nodes: [{ id: "n0", target: runs("z") }] });
    const binding = workflow("w", { nodes: [{ id: "n0", inputs: bind({ a: number(1) }), target: runs("list") }] });
    const typed = workflow("w", { inputs: { x: int }, nodes: [{ id: "n0", target: runs("z") }] });
    for (let i = 0; i < 10_000; i++) {
      const inner = branch.nodes[0];
      branch.nodes = [{ ...(inner as NonNullable<typeof inner>), target: { case: "arrayNode", value: { node: inner } as never } }];
      const [bound] = binding.nodes[0]?.inputs ?? [];
      if (bound) bound.binding = { value: { case: "collection", value: { bindings: [bound.binding] } } } as never;
      const x = typed.interface?.inputs?.variables["x"];
      if (x?.type) x.type = { ...x.type, type: { case: "unionType", value: { $typeName: "flyteidl.core.UnionType", variants: [x.type] } } };
    }
    for (const deep of [branch, binding, typed]) {
      expect(errorsOf(deep)).toEqual(["InvalidValue root"]);
      expect(compileDependencies(deep, []).errors).toMatchObject([{ code: "InvalidValue" }]);
    }
  });
});

describe("any task", () => {
  it("compiles or is rejected, and never throws", () => {
    const values = fc
      .jsonValue()
      .map((value) => (typeof value === "object" && value !== null && !Array.isArray(value) ? value : { containers: value }));
    fc.assert(
      fc.property(values, fc.string(), (podSpec, quantity) => {
        const pod = task("t", {}, {}).template;
        if (pod === undefined) throw new Error("a task has a template");
        pod.target = { case: "k8sPod", value: { $typeName: "flyteidl.core.K8sPod", podSpec: podSpec as never, primaryContainerName: "" } };
        expect(compileTask(pod)).toHaveProperty("ok");
        pod.target = {
          case: "container",
          value: { image: quantity, command: [], args: [], resources: { requests: [{ name: 1, value: quantity }], limits: [] } } as never,
        };
        expect(compileTask(pod)).toHaveProperty("ok");
      }),
    );
  });
});
