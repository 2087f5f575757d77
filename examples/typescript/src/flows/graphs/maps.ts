import { each, launchPlan, t, task, workflow } from "@flyte-ts/sdk";

export const scale = task({ inputs: { value: t.int, factor: t.int }, outputs: t.int }, ({ value, factor }) => value * factor);

/** Fails for odd numbers. */
export const evenOnly = task({ inputs: { value: t.int }, outputs: t.int }, ({ value }) => {
  if (value % 2 !== 0) throw new Error(`${value} is odd`);
  return value;
});

export const sum = task({ inputs: { values: t.list(t.int) }, outputs: t.int }, ({ values }) => values.reduce((all, each) => all + each, 0));
export const countNulls = task(
  { inputs: { values: t.list(t.optional(t.int)) }, outputs: t.int },
  ({ values }) => values.filter((value) => value === null).length,
);

/** Maps a task over a list; in the second node half of the items may fail. */
export const maps = workflow({ inputs: { values: t.list(t.int) }, outputs: { sum: t.int, failed: t.int } }, ({ values }) => {
  const scaled = each(scale, { value: values }, { same: { factor: 10 }, concurrency: 2 });
  const even = each(evenOnly, { value: values }, { minSuccessRatio: 0.5 });
  return { sum: sum({ values: scaled }), failed: countNulls({ values: even }) };
});

export const tenfold = workflow({ inputs: { value: t.int }, outputs: t.int }, ({ value }) => scale({ value, factor: 10 }));
export const tenfoldPlan = launchPlan(tenfold, { name: "graphs.maps.tenfoldPlan" });

/** Maps a launch plan: each item is an execution of its own. */
export const mapsOfPlans = workflow({ inputs: { values: t.list(t.int) }, outputs: t.int }, ({ values }) =>
  sum({ values: each(tenfoldPlan, { value: values }) }),
);
