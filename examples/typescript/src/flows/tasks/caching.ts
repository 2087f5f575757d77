import { t, task, workflow } from "@flyte-ts/sdk";

/** Its outputs are kept for equal inputs; `label` does not count. */
export const slow = task(
  { inputs: { x: t.int, label: t.string }, outputs: t.int, cache: { version: "1", ignoredInputs: ["label"], serialize: true } },
  ({ x }) => x * x,
);

export const caching = workflow({ inputs: { x: t.int }, outputs: { first: t.int, second: t.int } }, ({ x }) => {
  const first = slow({ x, label: "first" }, { name: "first" });
  const second = slow({ x, label: "second" }, { name: "second", after: [first] });
  return { first, second };
});
