import { dynamic, t, task, workflow } from "@flyte-ts/sdk";

export const square = task({ inputs: { x: t.int }, outputs: t.int }, ({ x }) => x * x);
export const total = task({ inputs: { values: t.list(t.int) }, outputs: t.int }, ({ values }) =>
  values.reduce((all, each) => all + each, 0),
);

/** Builds a graph from values: one node for each number up to `n`. */
export const sumOfSquares = dynamic({ inputs: { n: t.int }, outputs: t.int }, ({ n }) =>
  total({ values: Array.from({ length: n }, (_, i) => square({ x: i + 1 })) }),
);

export const dynamics = workflow({ inputs: { n: t.int }, outputs: t.int }, ({ n }) => sumOfSquares({ n }));
