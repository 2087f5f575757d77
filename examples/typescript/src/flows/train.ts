import {
  and,
  approve,
  each,
  eager,
  dynamic,
  gt,
  launchPlan,
  lt,
  RecoverableError,
  signal,
  sleep,
  t,
  task,
  when,
  workflow,
} from "@flyte-ts/sdk";
import { z } from "zod";

export const Hyper = t.object({ C: t.float, maxIterations: t.default(t.int, 2500) });
const Row = { alcohol: t.float, target: t.int };

export const getData = task({ outputs: t.dataset(Row), cache: true, retries: 2 }, async (_inputs, { log }) => {
  log.info("fetched");
  if (Math.random() < 0) throw new RecoverableError("x");
  return [{ alcohol: 13, target: 1 }];
});

export const binarise = task({ inputs: { table: t.dataset(Row) }, outputs: t.dataset(Row) }, async ({ table }) => {
  const rows: { alcohol: number; target: number }[] = [];
  for await (const row of table.rows()) rows.push({ ...row, target: row.target === 0 ? 0 : 1 });
  return rows;
});

export const fit = task(
  {
    inputs: { table: t.dataset(Row), hyper: Hyper },
    outputs: { model: t.file("json"), accuracy: t.float, iterations: t.int },
    resources: { cpu: 2, memory: "2Gi" },
    timeout: "10m",
    secrets: [{ group: "registry", key: "token" }],
  },
  async ({ table, hyper }, ctx) => {
    const before = await ctx.checkpoint.read();
    const weights = before === undefined ? [0] : (JSON.parse(Buffer.from(before).toString()) as number[]);
    for await (const row of table.rows()) weights[0] = (weights[0] ?? 0) + row.alcohol * hyper.C;
    await ctx.checkpoint.write(JSON.stringify(weights));
    ctx.deck("fit").markdown(`C = ${hyper.C}`);
    return { model: { content: JSON.stringify(weights) }, accuracy: 0.97, iterations: hyper.maxIterations };
  },
);

export const trainingWorkflow = workflow(
  { inputs: { hyper: t.default(Hyper, { C: 0.1 }) }, outputs: { accuracy: t.float, model: t.file("json") } },
  ({ hyper }) => {
    const table = getData();
    const model = fit({ table: binarise({ table }), hyper }, { name: "fit", retries: 1 });
    return { accuracy: model.accuracy, model: model.model };
  },
);

// Branches, maps, gates, a sub-workflow, attributes of objects
const Report = t.schema(z.object({ title: z.string(), score: z.number(), tags: z.array(z.string()).default([]) }));
const report = task({ inputs: { accuracy: t.float, threshold: t.float }, outputs: Report }, ({ accuracy }) => ({
  title: "wine",
  score: accuracy,
}));
const publish = task(
  { inputs: { score: t.float, note: t.optional(t.string) }, outputs: t.string },
  ({ score, note }) => `${note ?? ""}${score}`,
);
const discard = task({ inputs: { why: t.string }, outputs: t.string }, ({ why }) => why);
const best = task({ inputs: { accuracies: t.list(t.optional(t.float)) }, outputs: t.float }, ({ accuracies }) =>
  Math.max(...accuracies.map((each) => each ?? 0)),
);
export const notify = task({ inputs: { hypers: t.list(Hyper), err: t.optional(t.error) } }, ({ err }) => console.error(err?.message));

export const search = workflow(
  { inputs: { hypers: t.list(Hyper), minimum: t.default(t.float, 0.9) }, outputs: { said: t.string, first: t.float }, onFailure: notify },
  ({ hypers, minimum }) => {
    const table = binarise({ table: getData() });
    const models = each(fit, { hyper: hypers }, { same: { table }, concurrency: 8, minSuccessRatio: 0.5 });
    const top = best({ accuracies: models.accuracy });
    const once = trainingWorkflow({ hyper: { C: 1 } });
    const threshold = signal("threshold", t.float, { timeout: "2h" });
    const approved = approve("release", { timeout: "1d", after: [top] });
    const made = report({ accuracy: top, threshold }, { after: [approved, sleep("10s")] });
    const said = when(and(gt(top, minimum), gt(once.accuracy, 0.5)), () => publish({ score: made.score }))
      .when(lt(top, 0.1), () => discard({ why: "useless" }))
      .otherwise(() => discard({ why: made.title }));
    return { said, first: hypers[0]!.C };
  },
);

export const nightly = launchPlan(trainingWorkflow, {
  name: "nightly",
  defaults: { hyper: { C: 0.3 } },
  schedule: { cron: "0 3 * * *", timezone: "Europe/Berlin" },
  notify: [{ phases: ["failed"], email: ["team@example.org"] }],
});

// Graph at run time: real values in, a graph out
export const searchAround = dynamic({ inputs: { centre: t.float, n: t.int }, outputs: t.float }, ({ centre, n }) => {
  const table = binarise({ table: getData() });
  const accuracies = Array.from({ length: n }, (_, i) => fit({ table, hyper: { C: centre * (i + 1) } }).accuracy);
  return best({ accuracies });
});

// Ordinary asynchronous TypeScript; every run is an execution of its own
export const untilGood = eager(
  { inputs: { goal: t.float }, outputs: { C: t.float, accuracy: t.float }, concurrency: 4 },
  async ({ goal }, { log }) => {
    const table = await binarise.run({ table: await getData.run() });
    for (let C = 0.01; ; C *= 10) {
      const [low, high] = await Promise.all([fit.run({ table, hyper: { C } }), fit.run({ table, hyper: { C: C * 3 } })]);
      log.info("tried", { C, low: low.accuracy, high: high.accuracy });
      if (Math.max(low.accuracy, high.accuracy) >= goal || C > 1e3)
        return low.accuracy >= high.accuracy ? { C, accuracy: low.accuracy } : { C: C * 3, accuracy: high.accuracy };
    }
  },
);
