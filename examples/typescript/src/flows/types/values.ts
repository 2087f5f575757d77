import { t, task, workflow } from "@flyte-ts/sdk";

/** An object that holds every kind of value. */
export const Everything = t.object(
  {
    count: t.int,
    size: t.bigint,
    rate: t.annotated(t.float, { unit: "1/s" }),
    name: t.string,
    on: t.boolean,
    at: t.datetime,
    took: t.duration,
    mode: t.enum("read", "write"),
    tags: t.list(t.string),
    scores: t.map(t.float),
    note: t.optional(t.string),
    more: t.json,
  },
  { title: "Everything" },
);

/** Changes every field by a little. */
export const change = task({ inputs: { value: Everything }, outputs: Everything }, ({ value }) => ({
  ...value,
  count: value.count + 1,
  size: value.size + 1n,
  rate: value.rate / 2,
  on: !value.on,
  at: new Date(value.at.getTime() + 1000),
  took: "90s" as const,
  mode: "write" as const,
  tags: [...value.tags, "changed"],
}));

/** Describes a value of one of several types. */
export const describe = task({ inputs: { value: t.union(t.int, t.string, t.list(t.float)) }, outputs: t.string }, ({ value }) =>
  Array.isArray(value) ? `${value.length} numbers` : `${typeof value} ${String(value)}`,
);

export const values = workflow(
  { inputs: { value: Everything }, outputs: { changed: Everything, described: t.list(t.string) } },
  ({ value }) => ({
    changed: change({ value }),
    described: [describe({ value: 3 }), describe({ value: "three" }), describe({ value: [1, 2, 3] }), describe({ value: value.name })],
  }),
);
