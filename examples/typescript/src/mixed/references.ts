import { reference, t, workflow } from "@flyte-ts/sdk";

/** A task in Python that is registered already; `flyte-ts generate` writes such references. */
export const normalise = reference(
  { kind: "task", project: "flytesnacks", domain: "development", name: "pipelines.prep.normalise", version: "v1" },
  { inputs: { values: t.list(t.float), method: t.enum("minmax", "zscore") }, outputs: t.list(t.float) },
);

/** A launch plan in Python; it runs as an execution of its own. */
export const peak = reference(
  { kind: "launchplan", project: "flytesnacks", domain: "development", name: "pipelines.prep.peak", version: "v1" },
  { inputs: { values: t.list(t.float) }, outputs: t.float },
);

export const references = workflow(
  { inputs: { values: t.list(t.float) }, outputs: { scaled: t.list(t.float), peak: t.float } },
  ({ values }) => ({ scaled: normalise({ values, method: "minmax" }, { retries: 2 }), peak: peak({ values }) }),
);
