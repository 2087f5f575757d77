import { t, task, workflow } from "@flyte-ts/sdk";
import { z } from "zod";

/** A schema of zod; `tags` may be left out by callers. */
export const Report = t.schema(z.object({ title: z.string().min(1), score: z.number(), tags: z.array(z.string()).default([]) }));

export const report = task({ inputs: { score: t.float }, outputs: Report }, ({ score }) => ({ title: "wine", score }));

export const publish = task({ inputs: { report: Report }, outputs: t.string }, ({ report: { title, score, tags } }) =>
  [title, score, ...tags].join(" "),
);

export const schemas = workflow({ inputs: { score: t.float }, outputs: { title: t.string, published: t.string } }, ({ score }) => {
  const made = report({ score });
  return { title: made.title, published: publish({ report: made }) };
});
