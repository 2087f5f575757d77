import { launchPlan, t, task, workflow } from "@flyte-ts/sdk";

export const join = task({ inputs: { words: t.list(t.string), by: t.string }, outputs: t.string }, ({ words, by }) => words.join(by));

export const sentence = workflow(
  { inputs: { words: t.default(t.list(t.string), ["a", "b"]), by: t.string }, outputs: t.string },
  ({ words, by }) => join({ words, by }),
);

/** A schedule with default inputs and notifications. */
export const nightly = launchPlan(sentence, {
  defaults: { by: ", " },
  schedule: { cron: "0 3 * * *", timezone: "Europe/Berlin" },
  notify: [{ phases: ["failed"], email: ["team@example.org"] }],
  maxParallelism: 5,
});

/** A schedule of fixed length; `--activate` activates it. */
export const hourly = launchPlan(sentence, { fixed: { by: " " }, schedule: { every: "1h" } });

/** A fixed input cannot be given again. */
export const dashed = launchPlan(sentence, { fixed: { by: "-" } });

/** Launch plans are nodes: each starts an execution of its own. */
export const plans = workflow({ outputs: { dashed: t.string, nightly: t.string } }, () => ({
  dashed: dashed({ words: ["x", "y"] }),
  nightly: nightly(),
}));
