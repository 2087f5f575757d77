import { and, approve, chain, connectorTask, eq, gt, launchPlan, lt, or, signal, sleep, t, when, workflow } from "@flyte-ts/sdk";

const Point = t.object({ x: t.float, y: t.float }, { title: "Point" });
const Shape = t.object({ name: t.string, points: t.list(Point), tags: t.map(t.string), note: t.optional(t.string) }, { title: "Shape" });

// Every engine of Flyte executes tasks of the type `echo` itself: they return their input.
export const number = connectorTask({ type: "echo", inputs: { x: t.float }, outputs: t.float });
export const numbers = connectorTask({ type: "echo", inputs: { values: t.list(t.float) }, outputs: t.list(t.float) });
export const text = connectorTask({ type: "echo", inputs: { text: t.string }, outputs: t.string });
export const shape = connectorTask({ type: "echo", inputs: { shape: Shape }, outputs: { shape: Shape } });
export const choice = connectorTask({ type: "echo", inputs: { value: t.union(t.int, t.string) }, outputs: t.union(t.int, t.string) });
export const time = connectorTask({ type: "echo", inputs: { at: t.datetime }, outputs: t.datetime });

/** Passes references to fields, items and entries, and values of each kind. */
export const values = workflow(
  {
    inputs: { shape: Shape, at: t.datetime },
    outputs: { y: t.float, colour: t.string, all: t.list(t.float), one: t.union(t.int, t.string), at: t.datetime },
  },
  ({ shape: given, at }) => {
    const made = shape({ shape: given }).shape;
    const y = number({ x: made.points[1]!.y });
    return {
      y,
      colour: text({ text: made.tags["colour"]! }),
      all: numbers({ values: [made.points[0]!.x, y, 7] }),
      one: choice({ value: 3 }),
      at: time({ at }),
    };
  },
);

/** Chooses by conditions; an arm of several nodes becomes a sub-workflow. */
export const branches = workflow({ inputs: { x: t.float, mode: t.string }, outputs: t.float }, ({ x, mode }) => {
  const first = number({ x });
  return when(eq(mode, "off"), () => number({ x: 0 }))
    .when(and(gt(first, 10), lt(x, 100)), () => number({ x: number({ x: first }) }))
    .when(or(lt(x, 0), gt(x, 1000)), () => number({ x: -1 }))
    .otherwiseFail("x is out of range");
});

/** Orders nodes without data between them, with settings of calls. */
export const order = workflow({ outputs: t.string }, () => {
  const first = text({ text: "first" }, { name: "first", retries: 2, timeout: "1m" });
  const second = text({ text: "second" }, { name: "second" });
  chain(first, second);
  return text({ text: "last" }, { after: [second] });
});

export const inner = workflow(
  { inputs: { x: t.default(t.float, 4), label: t.string }, outputs: { x: t.float, label: t.string } },
  ({ x, label }) => ({
    x: number({ x }),
    label: text({ text: label }),
  }),
);
export const labelled = launchPlan(inner, { name: "echoes.labelled", fixed: { label: "of the plan" } });

/** Calls a workflow, and a launch plan whose execution is one of its own. */
export const nested = workflow({ outputs: { x: t.float, label: t.string, planned: t.string } }, () => {
  const sub = inner({ x: 2, label: "of the call" });
  return { x: sub.x, label: sub.label, planned: labelled({ x: sub.x }).label };
});

export const gates = workflow({ outputs: t.float }, () => {
  const factor = signal("factor", t.float, { timeout: "2h" });
  const first = number({ x: factor });
  const approved = approve("release", { timeout: "1d", after: [first] });
  return number({ x: first }, { after: [approved, sleep("1s")] });
});

/** Runs its failure node with its input. */
export const failing = workflow({ inputs: { x: t.float }, outputs: t.float, onFailure: number }, ({ x }) =>
  when(gt(x, 0), () => number({ x })).otherwiseFail("x must be positive"),
);
