import { t, task, workflow } from "@flyte-ts/sdk";

/** Takes its outputs from the cache for the same `x`; `label` is no part of the cache key. */
export const slow = task(
  { inputs: { x: t.int, label: t.string }, outputs: t.int, cache: { version: "1", ignoredInputs: ["label"], serialize: true } },
  ({ x }) => x * x,
);

export const caching = workflow({ inputs: { x: t.int }, outputs: { first: t.int, second: t.int } }, ({ x }) => {
  const first = slow({ x, label: "first" }, { name: "first" });
  const second = slow({ x, label: "second" }, { name: "second", after: [first] });
  return { first, second };
});

/** Writes a new file each time; its literal carries a hash of its bytes. */
export const copy = task({ inputs: { text: t.string }, outputs: t.file("txt", { hash: "content" }) }, ({ text }) => ({ content: text }));

/** Runs once for all files with the same bytes. */
export const count = task({ inputs: { file: t.file("txt") }, outputs: t.int, cache: { version: "1" } }, async ({ file }) => {
  return (await file.text()).length;
});

export const contents = workflow({ inputs: { text: t.string }, outputs: { first: t.int, second: t.int } }, ({ text }) => {
  const first = count({ file: copy({ text }) }, { name: "first" });
  const second = count({ file: copy({ text }) }, { name: "second", after: [first] });
  return { first, second };
});
