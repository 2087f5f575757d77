import { describe, expect, test } from "vitest";
import { launchPlan, reference, workflow } from "../entity/workflow.js";
import { WorkflowBuilder } from "../entity/builder.js";
import { dynamic, task } from "../entity/task.js";
import { compile } from "../testing/compile.js";
import { t } from "../type/t.js";
import { when } from "../branch/branch.js";
import { eq, gt } from "../branch/condition.js";
import { each } from "./each.js";
import { approve, signal, sleep } from "./gate.js";
import { attr, chain } from "./order.js";
import type { Reference } from "./reference-type.js";

const one = task({ name: "one", outputs: t.int }, () => 1);
const add = task(
  { name: "add", inputs: { a: t.int, b: t.default(t.int, 2), c: t.optional(t.string) }, outputs: t.int },
  ({ a, b }) => a + b,
);
const pair = task({ name: "pair", outputs: { x: t.int, y: t.float } }, () => ({ x: 1, y: 2 }));

/** Compiles the graph of a function. */
const errorsOf = (build: () => unknown): readonly string[] =>
  compile(workflow({ name: "w", outputs: t.int }, build as () => Reference<typeof t.int>)).errors;

describe("graphs that cannot be built", () => {
  const cases: readonly (readonly [string, () => unknown, string])[] = [
    ["a missing input", () => add({} as never), "add needs the input a"],
    ["an unknown input", () => add({ a: 1, z: 1 } as never), "add has no input z; it has a, b, c"],
    ["two nodes of one name", () => [one({}, { name: "same" }), one({}, { name: "same" })], "w has two nodes named same"],
    ["a name that is no id", () => one({}, { name: "a b" }), 'the node name "a b" of w must consist of letters, digits and dashes'],
    ["text made of a reference", () => `${one() as unknown as string}`, "has no value while the graph is built"],
    ["a reference as a value", () => JSON.stringify({ one: one() }), "has no value while the graph is built"],
    ["a constant of another type", () => add({ a: "1" as never }), 'a must be an integer, found "1"'],
    ["a missing output", () => undefined, "w does not return its output o0"],
    ["a reference inside of an object", () => objectTask({ value: { a: one() } as never }), "an object is made by a task"],
    ["a local file", () => fileTask({ file: { content: "x" } }), "give { uri }, or let a task make it"],
    ["an arm without a node", () => when(gt(one(), 1), () => undefined).otherwise(() => undefined), "adds no node"],
    ["a map without lists", () => each(add, {} as never, { same: { a: 1 } } as never), "needs a list of values for one input at least"],
    [
      "a map of a workflow",
      () =>
        each(
          workflow({ name: "v", inputs: { a: t.int } }, () => undefined),
          { a: [1] },
        ),
      "make a launch plan of v",
    ],
    ["an unknown attribute", () => attr(pair().x, "z"), "has no attribute z"],
    ["an order of values", () => chain({} as never), "chain() takes what calls of nodes return"],
    ["a wait for a value", () => one({}, { after: [3 as never] }), "after takes what calls of nodes return"],
  ];
  const objectTask = task({ name: "objects", inputs: { value: t.object({ a: t.int }) } }, () => undefined);
  const fileTask = task({ name: "files", inputs: { file: t.file() } }, () => undefined);

  test.each(cases)("%s", (_title, build, message) => {
    expect(errorsOf(build).join()).toContain(message);
  });

  test("a workflow within itself", () => {
    const inner = workflow({ name: "inner", outputs: t.int }, (): Reference<typeof t.int> => inner());
    expect(compile(inner).errors.join()).toContain("the workflow inner contains itself");
  });

  test("an asynchronous function", () => {
    const late = workflow({ name: "late" }, (() => Promise.resolve()) as never);
    expect(compile(late).errors.join()).toContain("await belongs in eager()");
  });

  test("a call outside of a graph", () => {
    expect(() => one()).toThrow("one was called outside of a function that builds a graph; await one.run({…}) gives its values");
    expect(() => signal("s", t.int)).toThrow("outside of a function that builds a graph");
  });

  test("the server's compiler finds an int where a float is wanted", () => {
    const half = task({ name: "half", inputs: { x: t.float }, outputs: t.int }, () => 1);
    const errors = errorsOf(() => half({ x: one() as never }));
    expect(errors).toEqual([expect.stringMatching(/^MismatchingTypes, Node Id: n1, .*INTEGER.*FLOAT/)]);
  });

  test("a reference to a workflow elsewhere", () => {
    const far = reference({ kind: "workflow", name: "far", version: "1" }, { inputs: {}, outputs: t.int });
    expect(errorsOf(() => far()).join()).toContain("refer to its launch plan instead");
  });

  test("a failure handler with inputs of its own", () => {
    const handler = task({ name: "handler", inputs: { other: t.int } }, () => undefined);
    const failing = workflow({ name: "w", inputs: { n: t.int }, onFailure: handler as never }, () => void one());
    expect(compile(failing).errors.join()).toContain("needs the input other, which w does not have");
  });
});

describe("graphs that are built", () => {
  test("a graph is built anew for each compilation", () => {
    const build = workflow({ name: "w", outputs: t.int }, () => add({ a: one() }));
    const reports = [compile(build), compile(build)];
    expect(reports.map(({ nodes }) => nodes)).toEqual([
      ["n0", "n1"],
      ["n0", "n1"],
    ]);
  });

  test("a branch in an arm of a branch, with references from outside of both", () => {
    const nested = workflow({ name: "nested", inputs: { x: t.int }, outputs: t.int }, ({ x }) => {
      const first = one();
      return when(gt(x, 1), () => {
        const inner = add({ a: first });
        return when(eq(inner, x), () => add({ a: inner, b: first })).otherwise(() => add({ a: add({ a: x }) }));
      }).otherwise(() => add({ a: first }));
    });
    expect(compile(nested)).toMatchObject({ ok: true, errors: [], nodes: ["n0", "n1"] });
  });

  test("arms give objects of references", () => {
    const arms = workflow({ name: "arms", inputs: { x: t.int }, outputs: { a: t.int, b: t.float } }, ({ x }) => {
      const { left, right } = when(gt(x, 1), () => ({ left: pair().x, right: pair().y })).otherwise(() => {
        const { x: left, y: right } = pair();
        return { left, right };
      });
      return { a: left, b: right };
    });
    expect(compile(arms)).toMatchObject({ ok: true, errors: [] });
  });

  test("gates, order and plans", () => {
    const plan = launchPlan(
      workflow({ name: "sub", inputs: { a: t.int }, outputs: t.int }, ({ a }) => add({ a })),
      { name: "plan" },
    );
    const full = workflow({ name: "full", outputs: t.int }, () => {
      const value = signal("value", t.int);
      const approved = approve("ok", { after: [value] });
      const made = plan({ a: value }, { after: [approved, sleep("1m")] });
      chain(approved, made);
      return dynamic({ name: "dyn", inputs: { a: t.int }, outputs: t.int }, ({ a }) => add({ a }))({ a: made });
    });
    expect(compile(full)).toMatchObject({ ok: true, errors: [] });
  });

  test("a builder is compiled more than once", () => {
    const builder = new WorkflowBuilder({ name: "built", inputs: { a: t.int } });
    const first = builder.add(add, { a: builder.inputs.a });
    const second = builder.add(add, { a: 1 }, { after: [first] });
    const built = builder.output("a", t.list(t.int), [first, second]).build();
    expect(compile(built)).toEqual(compile(built));
    expect(compile(built)).toMatchObject({ ok: true, nodes: ["n0", "n1"] });
  });
});
