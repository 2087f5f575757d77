import { t, task, workflow } from "@flyte-ts/sdk";

export const Hyper = t.object({ C: t.float, maxIterations: t.default(t.int, 2500) }, { title: "Hyper" });
const Row = { alcohol: t.float, target: t.int };

/** Makes samples of wines: the same in each run. */
export const getData = task({ outputs: t.dataset(Row), cache: { version: "1" }, retries: 2 }, (_inputs, { log }) => {
  log.info("making samples");
  return Array.from({ length: 100 }, (_, i) => ({ alcohol: 11 + ((i * 37) % 40) / 10, target: i % 3 }));
});

/** Maps the classes to 0 and 1. */
export const binarise = task({ inputs: { table: t.dataset(Row) }, outputs: t.dataset(Row) }, async ({ table }) => {
  const rows: { alcohol: number; target: number }[] = [];
  for await (const row of table.rows()) rows.push({ ...row, target: row.target === 0 ? 0 : 1 });
  return rows;
});

/** Fits a logistic regression by gradient descent; continues from its checkpoint. */
export const fit = task(
  {
    inputs: { table: t.dataset(Row), hyper: Hyper },
    outputs: { model: t.file("json"), accuracy: t.float, iterations: t.int },
    resources: { cpu: "500m", memory: "200Mi" },
    timeout: "10m",
  },
  async ({ table, hyper }, ctx) => {
    const rows: { alcohol: number; target: number }[] = [];
    for await (const row of table.rows()) rows.push(row);
    const state = await ctx.checkpoint.read();
    const weights = state === undefined ? [0, 0] : (JSON.parse(new TextDecoder().decode(state)) as number[]);
    const predict = (alcohol: number): number => 1 / (1 + Math.exp(-((weights[0] ?? 0) + (weights[1] ?? 0) * (alcohol - 13))));
    for (let i = 0; i < hyper.maxIterations; i++) {
      let [bias, slope] = [0, (weights[1] ?? 0) / hyper.C];
      for (const { alcohol, target } of rows) {
        const error = predict(alcohol) - target;
        bias += error;
        slope += error * (alcohol - 13);
      }
      weights[0] = (weights[0] ?? 0) - (0.1 * bias) / rows.length;
      weights[1] = (weights[1] ?? 0) - (0.1 * slope) / rows.length;
    }
    await ctx.checkpoint.write(JSON.stringify(weights));
    ctx.deck("fit").markdown(`C = ${hyper.C}`);
    const right = rows.filter(({ alcohol, target }) => (predict(alcohol) >= 0.5 ? 1 : 0) === target).length;
    return { model: { content: JSON.stringify(weights) }, accuracy: right / rows.length, iterations: hyper.maxIterations };
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
